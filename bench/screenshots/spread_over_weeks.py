"""Spreads a database's games, all played within minutes, over the past weeks."""

from bisect import bisect_right
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession

from storage.database import Database
from storage.evidence.summaries import SUMMARY_BATCH_GAMES, summarise
from storage.tables.arena import ArenaAccount, ArenaChatLine, ArenaGame
from storage.tables.base import Base
from storage.tables.games import (
    DecisionRow,
    EventRow,
    ForecastRow,
    GameRow,
    OpponentRow,
    OutcomeRow,
    TrialRow,
)

LEFT_S = 120.0
"""The last game begins this long before the end of the period, so that no time lies in the future."""
BATCH = 2000
OF_GAMES: tuple[tuple[type[Base], tuple[str, ...]], ...] = (
    (GameRow, ("started_at", "ended_at")),
    (DecisionRow, ("created_at", "sent_at", "confirmed_at")),
    (OutcomeRow, ("at",)),
    (ForecastRow, ("at",)),
)
AT_ARENA: tuple[tuple[type[Base], tuple[str, ...]], ...] = (
    (ArenaGame, ("created_at", "last_move_at", "ended_at")),
    (ArenaChatLine, ("created_at",)),
)
"""Tables with times, and the names of their time columns."""


async def spread(url: str, weeks: float, now: datetime | None = None) -> None:
    """Spread the games evenly over the last weeks, in the order in which they began.

    All times of a game and of its events are shifted by the same amount, so durations do not change. An event
    without a game, or the creation of an arena account, is shifted like the last game that began before it.
    Summaries are recomputed.

    Args:
        url: The database's URL, as in the settings; the database must not be in use.
        weeks: Weeks between the first and the last game.
        now: End of the period, with a time zone; None means the current time.
    """
    end = (now or datetime.now(UTC)) - timedelta(seconds=LEFT_S)
    database = await Database.open(url)
    try:
        async with database.write() as session:
            await _spread(session, timedelta(weeks=weeks), end)
    finally:
        await database.close()


async def _spread(session: AsyncSession, length: timedelta, end: datetime) -> None:
    games = (await session.execute(sa.select(GameRow.id, GameRow.site_game_id, GameRow.started_at))).all()
    if not games:
        return
    ordered = sorted(games, key=lambda row: (row.started_at, row.id))
    step, starts = length / max(len(ordered) - 1, 1), [row.started_at for row in ordered]
    by_rank: list[timedelta] = [end - length + rank * step - start for rank, start in enumerate(starts)]

    def shift(at: datetime) -> timedelta:
        return by_rank[max(bisect_right(starts, at) - 1, 0)]

    by_id = {row.id: moved for row, moved in zip(ordered, by_rank, strict=True)}
    by_key = {row.site_game_id: by_id[row.id] for row in games}
    for table, names in OF_GAMES:
        key = sa.inspect(table).primary_key[0]
        game: Any = key if table is GameRow else DecisionRow.game_id
        statement = sa.select(key, game, *(getattr(table, name) for name in names))
        if table not in (GameRow, DecisionRow):
            statement = statement.join(DecisionRow, DecisionRow.id == key)
        await _move(session, table, names, statement, by_id)
    for table, names in AT_ARENA:
        key = sa.inspect(table).primary_key[0]
        game = key if table is ArenaGame else ArenaChatLine.game_id
        await _move(
            session, table, names, sa.select(key, game, *(getattr(table, name) for name in names)), by_key
        )
    accounts = (await session.execute(sa.select(ArenaAccount.id, ArenaAccount.created_at))).all()
    for account in accounts:
        at = account.created_at + shift(account.created_at)
        await session.execute(
            sa.update(ArenaAccount).where(ArenaAccount.id == account.id).values(created_at=at)
        )
    events = (await session.execute(sa.select(EventRow.id, EventRow.game_id, EventRow.at))).all()
    for event in events:
        at = event.at + (by_id[event.game_id] if event.game_id in by_id else shift(event.at))
        await session.execute(sa.update(EventRow).where(EventRow.id == event.id).values(at=at))
    begin = end - length
    await session.execute(sa.update(TrialRow).values(started_at=begin - timedelta(minutes=1)))
    met = sa.select(sa.func.min(GameRow.started_at)).where(GameRow.opponent_id == OpponentRow.id)
    await session.execute(sa.update(OpponentRow).values(first_seen_at=met.scalar_subquery()))
    for at in range(0, len(ordered), SUMMARY_BATCH_GAMES):
        await summarise(session, [row.id for row in ordered[at : at + SUMMARY_BATCH_GAMES]])


async def _move(
    session: AsyncSession,
    table: type[Base],
    names: tuple[str, ...],
    statement: sa.Select[Any],
    by: Mapping[Any, timedelta],
) -> None:
    """Shift the times in a table.

    Args:
        statement: Selects each row's key, its game's key, and its times in the order of `names`.
        by: The shift of each game, keyed by the game's key; rows of games without an entry are unchanged.
    """
    key = sa.inspect(table).primary_key[0]
    rows = [row for row in (await session.execute(statement)).all() if row[1] in by]
    moved = [
        {
            "moved_key": row[0],
            **{
                name: None if time is None else time + by[row[1]]
                for name, time in zip(names, row[2:], strict=True)
            },
        }
        for row in rows
    ]
    update = sa.update(table.__table__).where(key == sa.bindparam("moved_key"))  # type: ignore[arg-type]
    for at in range(0, len(moved), BATCH):
        connection = await session.connection()
        await connection.execute(update, moved[at : at + BATCH])
