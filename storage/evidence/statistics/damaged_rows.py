"""Rows with an invalid value, or one that the statistics refuse; decisions are left out.

`storage.maintenance.recheck` reads the decisions one by one.  The rows around them are read here, also
those of games
without a decision.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from math import inf
from types import SimpleNamespace
from typing import Any

from sqlalchemy import ColumnElement, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from engine.bait_rule import ReplyForecast
from engine.expected import WHOLE
from storage.damage import column_damage, read_batch, reason_of, require_number, require_types
from storage.evidence.trials import stored_trial
from storage.records import LEAST_RATING, MOST_RATING
from storage.tables.arena import ArenaAccount, ArenaElapsed, ArenaGame, ArenaRating
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

_BATCH = 500
_WITHOUT_COST = 1
"""The version of the rules whose outcomes have no cost."""


_ROUNDED = 0.01
"""Tolerance for the rounding of sums of probabilities."""
_SHARES = (
    *("error_uniform", "error_expected", "fall_uniform", "fall_expected"),
    *("bait_uniform", "bait_expected"),
)


@dataclass(frozen=True, slots=True)
class DamagedRow:
    """A row that reports cannot use."""

    table: str
    id: int | str
    """The row's key; of outcomes, forecasts and reply times the decision's; of a rating at the arena the
    account's id, a comma and the variant."""
    reason: str
    """One line; it may contain unprintable characters of the value."""

    @property
    def text(self) -> str:
        """Which row, and why, in one line."""
        return f"row {self.id} of {self.table}: {self.reason}"


async def damaged_rows(
    session: AsyncSession, tables: Collection[type[Base]] | None = None
) -> list[DamagedRow]:
    """All of them, by table and key.

    Args:
        session: Of the database.
        tables: Only those of these tables; None: of all.
    """
    found = []
    for table, check in _TABLES.items():
        if tables is not None and table not in tables:
            continue
        columns = table.__mapper__.primary_key
        key = columns[0] if len(columns) == 1 else tuple_(*columns)
        rows = (await session.execute(select(*columns).order_by(*columns))).all()
        keys = [row[0] if len(columns) == 1 else tuple(row) for row in rows]
        for start in range(0, len(keys), _BATCH):
            found += await _damaged(session, table, key, keys[start : start + _BATCH], check)
    return found


async def _damaged(
    session: AsyncSession,
    table: type[Base],
    key: ColumnElement[Any],
    keys: Sequence[Any],
    check: Callable[[Any], object],
) -> list[DamagedRow]:
    """The damaged rows among those with these keys."""
    columns = table.__table__.columns
    damaged: dict[Any, DamagedRow] = {}

    async def read(some: Sequence[Any]) -> list[None]:
        for row in (await session.execute(select(*columns).where(key.in_(some)))).all():
            require_types(row, columns)
            check(row)
        return []

    def note(each: Any, error: Exception) -> None:
        name = ", ".join(map(str, each)) if isinstance(each, tuple) else each
        damaged[each] = DamagedRow(table.__tablename__, name, reason_of(error))

    await read_batch(keys, read, note)
    for each, row in damaged.items():
        if reason := await column_damage(session, table, key.in_([each])):
            damaged[each] = replace(row, reason=reason)  # which names the column
    return list(damaged.values())


def require_ratings(row: Any) -> None:
    """Refuse a game's row with invalid ratings.

    Raises:
        RecordError: The message names the value.
    """
    for name in ("opponent_rating", "our_rating"):
        require_rating(name, getattr(row, name))


def require_rating(name: str, rating: object) -> None:
    """Refuse an invalid rating; None means unrated, and is allowed.

    Raises:
        RecordError: The message names the value.
    """
    if rating is not None:
        require_number(name, rating, LEAST_RATING, MOST_RATING)


def require_forecast(row: Any) -> None:
    """Refuse a forecast's row with invalid probabilities or costs.

    Raises:
        RecordError: The message names the value.
    """
    for name in _SHARES:
        require_number(f"the forecast's {name}", getattr(row, name), -_ROUNDED, 1 + _ROUNDED)
    for name in ("cost_uniform", "cost_expected"):
        require_number(f"the forecast's {name}", getattr(row, name), -_ROUNDED, WHOLE + _ROUNDED)


def _check_trial(row: Any) -> None:
    stored_trial(SimpleNamespace(**row._asdict(), planned_n=row.opt), {})  # the column keeps its name


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


_TABLES: dict[type[Base], Callable[[Any], object]] = {
    OpponentRow: _nothing_more,
    EngineConfigRow: _nothing_more,
    TrialRow: _check_trial,
    GameRow: require_ratings,
    OutcomeRow: _check_outcome,
    ForecastRow: _check_forecast,
    ReplyTimeRow: _check_time,
    ArenaAccount: _nothing_more,
    ArenaRating: _nothing_more,
    ArenaGame: _nothing_more,
    ArenaElapsed: _nothing_more,
}
"""The tables with further conditions on their rows."""
