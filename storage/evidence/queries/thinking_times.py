"""How long our moves took to decide, game by game."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from storage.filters import standing
from storage.records import MATCH_SITE
from storage.tables.games import DecisionRow, GameRow

_MOST_TIMES = 20_000
"""Moves of which the times are read; the latest count."""


@dataclass(frozen=True, slots=True)
class ThinkingTimes:
    """Times of our moves at one game, in seconds."""

    site: str
    game: str
    moves: int
    median_s: float
    """The least time that at least half of the moves did not exceed; likewise the next one."""
    p95_s: float
    longest_s: float


async def thinking_times(session: AsyncSession, since: datetime, *, site: str = "") -> list[ThinkingTimes]:
    """The times of moves in games that began after a given time, without matches on this machine.

    Moves that were taken back, or never made, do not count.
    """
    which = (GameRow.started_at >= since, GameRow.site == site if site else GameRow.site != MATCH_SITE)
    found = await session.execute(select(GameRow.id, GameRow.site, GameRow.game).where(*which))
    games = {row.id: (row.site, row.game) for row in found}
    rows = await session.execute(
        select(DecisionRow.game_id, DecisionRow.time_s)
        .where(DecisionRow.game_id.in_(select(GameRow.id).where(*which)), *standing())
        # Not by the key itself, or SQLite would walk all decisions in its order.
        .order_by((DecisionRow.id + 0).desc())
        .limit(_MOST_TIMES)
    )
    by_game: dict[tuple[str, str], list[float]] = defaultdict(list)
    for game_id, time_s in rows:
        by_game[games[game_id]].append(time_s)
    return [
        ThinkingTimes(
            *key, len(times), *map(float, np.quantile(times, (0.5, 0.95, 1), method="inverted_cdf"))
        )
        for key, times in sorted(by_game.items())
    ]
