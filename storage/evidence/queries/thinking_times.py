"""How long our decisions took, by site and game."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from storage.evidence.queries.sql_time import latest_moves, quantiles
from storage.records import MATCH_SITE
from storage.tables.games import DecisionRow, GameRow

_MAX_TIMED_MOVES = 20_000
"""Maximum number of moves whose times are read, starting with the latest."""


@dataclass(frozen=True, slots=True)
class ThinkingTimes:
    """The times of our moves in one game (such as chess), in seconds."""

    site: str
    game: str
    moves: int
    median_s: float
    """The shortest time within which at least half of the moves were made; `p95_s` is the same for 95 %."""
    p95_s: float
    longest_s: float


async def thinking_times(session: AsyncSession, since: datetime, *, site: str = "") -> list[ThinkingTimes]:
    """Statistics of the times of our moves in games that began at or after `since`, excluding engine matches.

    Moves that were taken back or never played do not count.
    """
    of_site = GameRow.site == site if site else GameRow.site != MATCH_SITE
    name = (GameRow.site + " " + GameRow.game).label("name")
    games = (GameRow.started_at >= since, of_site)
    latest = latest_moves(name, DecisionRow.time_s.label("value"), games=games, most=_MAX_TIMED_MOVES)
    return [
        ThinkingTimes(site, game, row.size, row.q50, row.q95, row.longest)
        for row in await session.execute(quantiles(latest, (50, 95)))
        for site, game in [row.name.rsplit(" ", 1)]
    ]
