"""Finds rows that contain values not allowed in their columns, and moves these rows to the quarantine.

The tables' constraints reject such values, so only a disk fault or another program can cause them. All
other code assumes valid rows.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import (
    CheckConstraint,
    ColumnElement,
    Float,
    Integer,
    String,
    Table,
    literal_column,
    select,
    tuple_,
    update,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession

from engine.decision import Decision, OutcomeKind
from engine.errors import RecordError
from engine.human.reply_forecast import ReplyForecast
from engine.judge import JUDGE_VERSION
from storage.database import Database
from storage.errors import VALUE_ERRORS, is_undecodable, reason_of
from storage.inserts import core_table
from storage.ledger.judgements import costs_of
from storage.migrate import all_tables
from storage.quarantine import move_to_quarantine
from storage.records import DERIVED
from storage.tables.arena import ArenaAccount, ArenaElapsed, ArenaGame, ArenaRating
from storage.tables.control import BlockRow
from storage.tables.games import DecisionRow, EngineConfigRow, GameRow, OpponentRow, TrialRow
from storage.tables.persons import ForgottenPersonRow
from storage.tables.types import now_utc

_BATCH = 500
_MAX_FLOAT = 1.7976931348623157e308
"""The largest finite floating-point number."""

Tables = Mapping[Table, ColumnElement[bool] | None]
"""Tables to check, each with a condition that selects its rows, or None for all rows."""


@dataclass(frozen=True, slots=True)
class MalformedRow:
    """A row with a value that its column does not allow."""

    table: str
    id: int | str
    """The key's values, separated by commas, or if they are unreadable, ``rowid`` and SQLite's row number."""
    reason: str
    """The reason, in one line that may contain unprintable characters from the value."""
    moved: int = 0
    """Number of rows moved to the quarantine, including dependent rows."""

    @property
    def text(self) -> str:
        """The row and the reason, in one line."""
        others = f", with {self.moved - 1} dependent row{'s' * (self.moved > 2)}" if self.moved > 1 else ""
        return f"row {self.id} of {self.table}{others}: {self.reason}"


def whole_database() -> Tables:
    """Select all rows of all tables, except tables that are computed from other tables."""
    return {table: None for table in all_tables().sorted_tables if table.name not in DERIVED}


def tables_needed_at_start() -> Tables:
    """The tables that the program reads at startup and while it plays open games."""
    unsettled = select(GameRow.id).where(GameRow.is_settled.is_(False))
    tables = (OpponentRow, EngineConfigRow, TrialRow, BlockRow, ArenaAccount, ArenaRating, ArenaElapsed)
    return {
        **{core_table(table): None for table in tables},
        core_table(ArenaGame): ArenaGame.status == "started",
        core_table(GameRow): GameRow.is_settled.is_(False),
        core_table(DecisionRow): DecisionRow.game_id.in_(unsettled),
    }


async def quarantine_malformed(database: Database, tables: Tables) -> list[MalformedRow]:
    """Move the malformed rows of the given tables to the quarantine, with one transaction per row.

    A forgotten person stays forgotten: a malformed date is replaced by the present time.
    """
    rows = []
    for table, where in tables.items():
        last: tuple[Any, ...] | None = None
        while True:
            async with database.read() as session:
                keys = await _keys(session, table, where, last)
                malformed = await _malformed(session, table, keys)
            for key, row in malformed:
                async with database.write() as session:
                    if table.name == ForgottenPersonRow.__tablename__:
                        await _restore_date(session, key)
                        moved = 0
                    else:
                        moved = await quarantine_row(session, table, key, row.reason)
                if moved:
                    rows.append(replace(row, moved=moved))
            if len(keys) < _BATCH:
                break
            last = keys[-1]
    return rows


async def quarantine_row(session: AsyncSession, table: Table, key: tuple[Any, ...], reason: str) -> int:
    """Move a row and the rows that depend on it; returns the number of rows moved.

    Args:
        session: The transaction's session.
        table: The row's table.
        key: The row's values in `_key_columns`.
        reason: Why the row is moved, in one line.
    """
    names = [f'"{column.name}"' for column in _key_columns(session, table)]
    where = " AND ".join(f"{name} = :key{number}" for number, name in enumerate(names))
    values = {f"key{number}": value for number, value in enumerate(key)}
    connection = await session.connection()
    reason = reason.encode(errors="backslashreplace").decode().replace("\0", "")
    return await connection.run_sync(
        lambda sync: move_to_quarantine(sync, table.name, where.replace('"rowid"', "rowid"), reason, values)
    )


async def _restore_date(session: AsyncSession, key: tuple[Any, ...]) -> None:
    table = core_table(ForgottenPersonRow)
    of_row = [column == value for column, value in zip(_key_columns(session, table), key, strict=True)]
    await session.execute(update(table).where(*of_row).values(forgotten_at=now_utc()))


def _key_columns(session: AsyncSession, table: Table) -> Sequence[Any]:
    """The primary key's columns; on SQLite the row number, because a text key may be unreadable."""
    if session.get_bind().dialect.name == "sqlite":
        return [literal_column("rowid", Integer)]
    return [*table.primary_key]


async def _keys(
    session: AsyncSession, table: Table, where: ColumnElement[bool] | None, last: tuple[Any, ...] | None
) -> list[tuple[Any, ...]]:
    """Return the next keys after `last`, in order; the first keys if `last` is None."""
    columns = _key_columns(session, table)
    statement = select(*columns).select_from(table).order_by(*columns).limit(_BATCH)
    if where is not None:
        statement = statement.where(where)
    if last is not None:
        statement = statement.where(tuple_(*columns) > last if len(columns) > 1 else columns[0] > last[0])
    return [tuple(row) for row in await session.execute(statement)]


async def _malformed(
    session: AsyncSession, table: Table, keys: Sequence[tuple[Any, ...]]
) -> list[tuple[tuple[Any, ...], MalformedRow]]:
    """Return the malformed rows with the given keys."""
    malformed: list[tuple[tuple[Any, ...], MalformedRow]] = []
    key_columns = _key_columns(session, table)
    if not keys or await _first_violation(session, table, key_columns, keys) is None:
        return malformed
    for key in keys:
        reason = await _first_violation(session, table, key_columns, [key])
        if reason is not None:
            name = await _name(session, table, key_columns, key)
            malformed.append((key, MalformedRow(table.name, name, reason)))
    return malformed


async def _first_violation(
    session: AsyncSession, table: Table, key_columns: Sequence[Any], keys: Sequence[tuple[Any, ...]]
) -> str | None:
    """Return the error in the first malformed row of a batch; None if no row is malformed."""
    key = (
        tuple_(*key_columns).in_(keys)
        if len(key_columns) > 1
        else key_columns[0].in_([each for (each,) in keys])
    )
    check = _RECORD_CHECKS.get(table.name)
    constraints = _constraints(table)
    conditions: list[ColumnElement[Any]] = [literal_column(f"({condition})") for condition in constraints]
    try:
        for row in (await session.execute(select(*table.columns, *conditions).where(key))).all():
            values, held = row[: len(table.columns)], row[len(table.columns) :]
            for value, column in zip(values, table.columns, strict=True):
                _require_type(value, column)
            for condition, is_held in zip(constraints, held, strict=True):
                if is_held is not None and not is_held:  # null satisfies a constraint
                    raise RecordError(f"not {condition}")
            if check is not None:
                check(row)
    except (DBAPIError, *VALUE_ERRORS) as error:
        if isinstance(error, DBAPIError) and not is_undecodable(error):
            raise
        return reason_of(error)
    return None


async def _name(
    session: AsyncSession, table: Table, key_columns: Sequence[Any], key: tuple[Any, ...]
) -> int | str:
    columns = list(table.primary_key)
    where = [column == value for column, value in zip(key_columns, key, strict=True)]
    try:
        row = (await session.execute(select(*columns).where(*where))).one()
    except DBAPIError as error:
        if not is_undecodable(error):
            raise
        return f"rowid {key[0]}"
    return row[0] if len(row) == 1 and isinstance(row[0], int) else ", ".join(map(str, row))


def _constraints(table: Table) -> list[str]:
    """The conditions that a table's rows must meet; types are checked separately, after reading."""
    checks = [each for each in table.constraints if isinstance(each, CheckConstraint)]
    return sorted(str(each.sqltext) for each in checks if each.name != f"ck_{table.name}_types")


def _require_type(value: object, column: Any) -> None:
    """Reject a value that is not of its column's type; only number and text columns need this check."""
    if value is None:
        is_right = column.nullable
    elif isinstance(column.type, Float):
        is_right = isinstance(value, int | float) and -_MAX_FLOAT <= value <= _MAX_FLOAT
    elif isinstance(column.type, Integer):
        is_right = isinstance(value, int)
    else:
        is_right = not isinstance(column.type, String) or isinstance(value, str)
    if not is_right:
        raise RecordError(f"{column.name} is {value!r:.60}")


def _require_reply(row: Any) -> None:
    if (row.reply is None) is not (row.kind is OutcomeKind.UNANSWERED):
        raise RecordError(f"kind is {row.kind}, but reply is {row.reply!r:.60}")


def _require_names(row: Any) -> None:
    if not isinstance(row.arms, list) or not all(isinstance(each, str) for each in row.arms):
        raise RecordError(f"arms is {row.arms!r:.60}, not a list of names")


_RECORD_CHECKS: dict[str, Callable[[Any], object]] = {
    "trials": _require_names,
    "decisions": lambda row: Decision.from_record(row.record),
    "forecasts": lambda row: ReplyForecast.from_record(row.record),
    "outcomes": _require_reply,
    "judgements": lambda row: row.version != JUDGE_VERSION or costs_of(row),
}
"""Further checks of rows, keyed by table; each raises an error for a malformed row."""
