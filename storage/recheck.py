"""Every decision of the database in batches, and what its outcome lacks, written down later."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Text, cast, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.decision import Decision, Outcome
from storage.decisions import store_profile
from storage.outcomes import record_outcome
from storage.records import DecisionState, GameStatus
from storage.tables.games import DecisionRow, GameRow, OutcomeRow


@dataclass(frozen=True, slots=True)
class RecordedDecision:
    """A decision as its row has it, taken-back ones too; nothing in it has been understood yet."""

    id: int
    game_id: int
    site: str
    site_game_id: str
    game_state: GameStatus
    moves: tuple[str, ...]
    """Of the game, as the server showed them."""
    ply: int
    is_taken_back: bool
    state: DecisionState
    has_outcome: bool
    record: object
    """What `Decision.from_record` reads; None: it is no JSON."""
    created_at: datetime


@dataclass(frozen=True, slots=True)
class NextDecision:
    """The first decision that was made two plies after another one."""

    position: str
    """Which shows the reply to the other one."""
    is_taken_back: bool
    created_at: datetime


async def count_decisions(session: AsyncSession) -> tuple[int, int]:
    """How many decisions there are, taken-back ones too, and the highest key of one (0: there is none)."""
    counted = select(func.count(), func.coalesce(func.max(DecisionRow.id), 0)).select_from(DecisionRow)
    count, highest = (await session.execute(counted)).one()
    return count, highest


async def decisions_between(
    session: AsyncSession, after_id: int, last_id: int, limit: int
) -> Sequence[RecordedDecision]:
    """Decisions with keys above `after_id` and up to `last_id`, the lowest first, at most `limit` of them."""
    statement = (
        select(
            DecisionRow.id,
            DecisionRow.game_id,
            GameRow.site,
            GameRow.site_game_id,
            GameRow.state.label("game_state"),
            GameRow.moves,
            DecisionRow.ply,
            DecisionRow.takeback,
            DecisionRow.state,
            OutcomeRow.decision_id.label("judged_id"),
            # As text: one that somebody damaged must not hide the others.
            cast(DecisionRow.record, Text).label("record"),
            DecisionRow.created_at,
        )
        .join(GameRow, GameRow.id == DecisionRow.game_id)
        .outerjoin(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
        .where(DecisionRow.id > after_id, DecisionRow.id <= last_id)
        .order_by(DecisionRow.id)
        .limit(limit)
    )
    return [
        RecordedDecision(
            id=row.id,
            game_id=row.game_id,
            site=row.site,
            site_game_id=row.site_game_id,
            game_state=row.game_state,
            moves=tuple(row.moves.split()),
            ply=row.ply,
            is_taken_back=row.takeback != 0,
            state=row.state,
            has_outcome=row.judged_id is not None,
            record=_read(row.record),
            created_at=row.created_at,
        )
        for row in await session.execute(statement)
    ]


async def next_decision(
    session: AsyncSession, game_id: int, ply: int, decision_id: int
) -> NextDecision | None:
    """The decision that followed on one, also if it was taken back.

    Args:
        ply: Of the one that it followed on.
        decision_id: Its key.
    """
    statement = (
        select(
            cast(DecisionRow.record, Text).label("record"),
            DecisionRow.takeback,
            DecisionRow.created_at,
        )
        .where(DecisionRow.game_id == game_id, DecisionRow.ply == ply + 2, DecisionRow.id > decision_id)
        .order_by(DecisionRow.id)
        .limit(1)
    )
    row = (await session.execute(statement)).one_or_none()
    if row is None:
        return None
    record = _read(row.record)
    position = record.get("position") if isinstance(record, dict) else None
    return NextDecision(str(position), row.takeback != 0, row.created_at)


async def settle_later(
    session: AsyncSession, found: RecordedDecision, decision: Decision, outcome: Outcome | None
) -> bool | None:
    """Store what a confirmed decision of a closed game still lacked.

    Args:
        found: The decision as it was read before.
        decision: The same, with the chosen move's whole profile if that was found.
        outcome: None: it has one, or it cannot be judged.

    Returns:
        Whether the outcome was stored; False if there was none to store, or there is one by now.
        None, and no change: the game was opened again meanwhile, or is another one by now.
    """
    # On PostgreSQL the game cannot be opened again before this is committed.
    lock = select(GameRow.state, GameRow.moves).where(GameRow.id == found.game_id).with_for_update()
    game = (await session.execute(lock)).one_or_none()
    if game is None or game.state is GameStatus.OPEN or tuple(game.moves.split()) != found.moves:
        return None
    row = (
        await session.execute(
            select(DecisionRow.move, DecisionRow.state, DecisionRow.takeback, DecisionRow.is_complete).where(
                DecisionRow.id == found.id
            )
        )
    ).one_or_none()
    if row is None or (row.move, row.state, row.takeback) != (decision.move, DecisionState.CONFIRMED, 0):
        return None
    if decision.is_complete and not row.is_complete:
        await store_profile(session, found.id, decision)
    return outcome is not None and await record_outcome(session, found.id, outcome)


def _read(text: str) -> object:
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
