"""Rows with a value that their column cannot have, or that the statistics refuse; decisions are left out.

`storage.recheck` reads the decisions one by one.  The rows around them are read here, also those of games
without a decision.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from sqlalchemy import ColumnElement, Float, Integer, String, select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.errors import RecordError
from engine.expected import WHOLE
from engine.temptation import ReplyForecast
from storage.damage import read_batch, reason_of, require_number
from storage.statistics.facts import require_forecast, require_ratings
from storage.tables.base import Base
from storage.tables.games import (
    EngineConfigRow,
    ForecastRow,
    GameRow,
    OpponentRow,
    OutcomeRow,
    ReplyTimeRow,
    TrialRow,
)
from storage.trials import stored_trial

_BATCH = 500
_WITHOUT_COST = 1
"""The version of the rules whose outcomes have no cost."""


@dataclass(frozen=True, slots=True)
class DamagedRow:
    """A row that reports cannot use."""

    table: str
    id: int
    """The row's key; of outcomes, forecasts and reply times the decision's."""
    reason: str
    """One line; it may contain unprintable characters of the value."""


async def damaged_rows(session: AsyncSession) -> list[DamagedRow]:
    """All of them, by table and key."""
    found = []
    for table, check in _TABLES.items():
        (key,) = table.__mapper__.primary_key
        keys = (await session.scalars(select(key).order_by(key))).all()
        for start in range(0, len(keys), _BATCH):
            found += await _damaged(session, table, key, keys[start : start + _BATCH], check)
    return found


async def _damaged(
    session: AsyncSession,
    table: type[Base],
    key: ColumnElement[Any],
    keys: Sequence[int],
    check: Callable[[Any], object],
) -> list[DamagedRow]:
    """The damaged rows among those with these keys."""
    columns = table.__table__.columns

    async def read(some: Sequence[int]) -> list[DamagedRow]:
        for row in (await session.execute(select(*columns).where(key.in_(some)))).all():
            _require_types(row, columns)
            check(row)
        return []

    return await read_batch(
        keys, read, lambda each, error: DamagedRow(table.__tablename__, each, reason_of(error))
    )


def _require_types(row: Any, columns: Any) -> None:
    """Refuse a value of another type than its column: SQLite checks none.  Other types check themselves."""
    for column in columns:
        value = row._mapping[column]
        if value is None:
            if not column.nullable:
                raise RecordError(f"{column.name} is missing")
        elif isinstance(column.type, Float):
            require_number(column.name, value, -_LARGEST, _LARGEST)
        elif (isinstance(column.type, Integer) and not isinstance(value, int)) or (
            isinstance(column.type, String) and not isinstance(value, str)
        ):
            raise RecordError(f"{column.name} is {value!r:.60}")


def _check_trial(row: Any) -> None:
    stored_trial(row, {})


def _check_outcome(row: Any) -> None:
    if row.cost is not None or row.rule > _WITHOUT_COST:
        require_number("cost", row.cost, 0, WHOLE)


def _check_forecast(row: Any) -> None:
    require_forecast(row)
    for name in ("optimal_uniform", "optimal_expected"):
        if getattr(row, name) is not None:
            require_number(name, getattr(row, name), 0, 1.01)
    ReplyForecast.from_record(row.record)


def _check_time(row: Any) -> None:
    require_number("time_s", row.time_s, 0, inf)


def _nothing_more(_row: Any) -> None:
    pass


_LARGEST = 1.7976931348623157e308
"""The largest number that is not infinite."""
_TABLES: dict[type[Base], Callable[[Any], object]] = {
    OpponentRow: _nothing_more,
    EngineConfigRow: _nothing_more,
    TrialRow: _check_trial,
    GameRow: require_ratings,
    OutcomeRow: _check_outcome,
    ForecastRow: _check_forecast,
    ReplyTimeRow: _check_time,
}
"""The tables, and what else their rows must be."""
