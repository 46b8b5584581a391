"""Arithmetic on times, done by the database: the hour of a time, seconds between times, and quantiles.

Reading the times of fifty thousand moves into Python would block the event loop, and thus all games.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Double,
    Integer,
    Select,
    SelectBase,
    String,
    case,
    cast,
    extract,
    func,
    select,
    type_coerce,
)
from sqlalchemy.ext.asyncio import AsyncSession

from storage.filters import standing_conditions
from storage.tables.games import DecisionRow, GameRow

_MICROSECONDS = 21
"""Position of the six microsecond digits in a time as stored by SQLite."""


def latest_moves(
    *columns: Any, games: Sequence[ColumnElement[bool]], most: int, which: Sequence[ColumnElement[bool]] = ()
) -> Select[*tuple[Any, ...]]:
    """Select columns of our latest moves, excluding those taken back or never played.

    Args:
        columns: Columns of decisions and games to read.
        games: SQL conditions on the games.
        most: Maximum number of rows.
        which: Further conditions on the moves.
    """
    return (
        select(*columns)
        .join(GameRow, GameRow.id == DecisionRow.game_id)
        # By the games' keys, or SQLite would walk all decisions.
        .where(DecisionRow.game_id.in_(select(GameRow.id).where(*games)), *which, *standing_conditions())
        # Not by the key itself, or SQLite would walk all decisions in its order.
        .order_by((DecisionRow.id + 0).desc())
        .limit(most)
    )


def hour_of(session: AsyncSession, at: Any) -> ColumnElement[str]:
    """SQL for the hour (UTC) of a time, in the form ``2026-11-25 18``."""
    if session.get_bind().dialect.name == "sqlite":  # which stores UTC as text
        return func.substr(type_coerce(at, String), 1, 13)
    return func.to_char(func.timezone("UTC", at), "YYYY-MM-DD HH24")


def seconds_between(session: AsyncSession, earlier: Any, later: Any) -> ColumnElement[float]:
    """SQL for the seconds from one time to another, to the microsecond."""
    if session.get_bind().dialect.name != "sqlite":
        return cast(extract("epoch", later - earlier), Double)
    texts = [type_coerce(each, String) for each in (later, earlier)]
    seconds = [cast(func.strftime("%s", text), Integer) for text in texts]
    parts = [cast(func.substr(text, _MICROSECONDS, 6), Integer) for text in texts]
    return cast(seconds[0] - seconds[1], Double) + (parts[0] - parts[1]) / 1e6


def quantiles(values: SelectBase, shares: Sequence[int]) -> Select[*tuple[Any, ...]]:
    """For each group, the number of values, some quantiles, and the maximum.

    The quantile for a share is the smallest value that at least this share of the values do not exceed.

    Args:
        values: Rows with two columns: ``name``, the group's name, and ``value``.
        shares: The shares for which to compute quantiles, as percentages.

    Returns:
        Rows with ``name``, ``size``, ``longest`` and, for each share, a column like ``q50``; sorted by name.
    """
    given = values.subquery()
    ranked = select(
        given.c.name,
        given.c.value,
        func.row_number().over(partition_by=given.c.name, order_by=given.c.value).label("rank"),
        func.count().over(partition_by=given.c.name).label("size"),
    ).subquery()
    columns = [
        func.max(case((ranked.c.rank == (ranked.c.size * share + 99) // 100, ranked.c.value))).label(
            f"q{share}"
        )
        for share in shares
    ]
    return (
        select(ranked.c.name, func.count().label("size"), func.max(ranked.c.value).label("longest"), *columns)
        .group_by(ranked.c.name)
        .order_by(ranked.c.name)
    )
