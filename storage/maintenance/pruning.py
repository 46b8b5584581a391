"""Prunes the records of decisions in old games (`engine.pruning`) in batches, even while the bot plays."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, func, select, type_coerce, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.types import LargeBinary

from engine.decision import Decision
from engine.pruning import pruned
from storage.database import Database
from storage.errors import VALUE_ERRORS
from storage.packing.records import pack, unpack
from storage.records import GameStatus
from storage.tables.games import DecisionRow, GameRow
from storage.tables.types import as_stored

PRUNING_BATCH_DECISIONS = 200
"""Number of decisions per transaction, which blocks other writers for a few hundredths of a second."""

OnCount = Callable[[int], None]
"""Function called with the number of decisions processed since the last call."""


@dataclass(slots=True)
class Pruning:
    """The result of pruning, or of a dry run."""

    decisions: int = 0
    """Number of records that were shortened."""
    already: int = 0
    """Number of records that had been pruned before."""
    incomplete: int = 0
    """Number of records left unchanged because the move's profile is incomplete (see `db recheck`)."""
    damaged: int = 0
    """Number of records left unchanged because they cannot be read."""
    changed: int = 0
    """Number of records left unchanged because another process changed them meanwhile."""
    bytes_before: int = 0
    """Packed size of the shortened records before shortening, in bytes."""
    bytes_after: int = 0
    """Packed size of the shortened records after shortening, in bytes."""


@dataclass(slots=True)
class _Batch:
    last_id: int
    new: list[tuple[int, bytes, bytes]] = field(default_factory=list)
    """A decision's key, its original record, and its pruned record."""


async def prune(
    database: Database, before: datetime, *, really: bool, on_count: OnCount | None = None
) -> Pruning:
    """Prune the records of all decisions in games that ended before a point in time.

    Args:
        database: A database with the newest schema.
        before: Games that are open or ended at or after this time keep their records; if a game's end is
            unknown, its start counts instead.
        really: Whether to change the records; if False, only count them.
        on_count: Reports progress.

    Raises:
        StorageError: The database failed; records pruned before the failure stay pruned.
    """
    result = Pruning()
    after_id = -(2**63)
    while True:
        async with database.read() as session:
            rows = await _rows(session, before, after_id)
        if not rows:
            return result
        batch = _pruned_batch(rows, result)
        after_id = batch.last_id
        if really and batch.new:
            async with database.write() as session:
                await _store(session, batch.new, result)
        else:
            for _, old, new in batch.new:
                _count(result, old, new)
        if on_count is not None:
            on_count(len(rows))


async def count_old(database: Database, before: datetime) -> int:
    """Number of decisions that `prune` would examine."""
    async with database.read() as session:
        statement = select(func.count()).select_from(DecisionRow).join(GameRow).where(*_is_prunable(before))
        return int(await session.scalar(statement) or 0)


def _is_prunable(before: datetime) -> list[Any]:
    ended_at = func.coalesce(GameRow.ended_at, GameRow.started_at, type_=GameRow.ended_at.type)
    return [GameRow.state != GameStatus.OPEN, ended_at < before]


async def _rows(session: AsyncSession, before: datetime, after_id: int) -> Sequence[Any]:
    statement = (
        select(DecisionRow.id, as_stored(DecisionRow.record).label("record"))
        .join(GameRow, GameRow.id == DecisionRow.game_id)
        .where(*_is_prunable(before), DecisionRow.id > after_id)
        .order_by(DecisionRow.id)
        .limit(PRUNING_BATCH_DECISIONS)
    )
    return (await session.execute(statement)).all()


def _pruned_batch(rows: Sequence[Any], result: Pruning) -> _Batch:
    batch = _Batch(rows[-1].id)
    for row in rows:
        try:
            decision = Decision.from_record(unpack(row.record))
            if decision.is_pruned:
                result.already += 1
            elif not decision.is_complete:
                result.incomplete += 1
            else:
                batch.new.append((row.id, row.record, pack(pruned(decision).to_record())))
        except (*VALUE_ERRORS, StopIteration):
            result.damaged += 1
    return batch


async def _store(session: AsyncSession, new: Sequence[tuple[int, bytes, bytes]], result: Pruning) -> None:
    """Write the pruned records, except where another process has changed the original meanwhile."""
    statement = (
        update(DecisionRow)
        .where(
            DecisionRow.id == bindparam("key"),
            type_coerce(DecisionRow.record, LargeBinary) == bindparam("old", type_=LargeBinary),
        )
        .values(record=bindparam("new", type_=LargeBinary))
        .execution_options(synchronize_session=False)
    )
    connection = await session.connection()
    for key, old, record in new:
        done = await connection.execute(statement, {"key": key, "old": old, "new": record})
        if done.rowcount:
            _count(result, old, record)
        else:
            result.changed += 1


def _count(result: Pruning, old: bytes, new: bytes) -> None:
    result.decisions += 1
    result.bytes_before += len(old)
    result.bytes_after += len(new)
