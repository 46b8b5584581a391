"""The pace: the number of games per day that people play against the bot."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from storage.filters import Filters, filter_conditions
from storage.records import MATCH_SITE, GameStatus
from storage.tables.games import GameRow, OpponentRow

RECENT_DAYS = 28
"""Days that count as recent: four whole weeks, so that all days of the week have equal weight."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Number of recent games with people, and the number of days over which they were counted."""

    games: int
    """Number of finished games that began in this period."""
    days: float
    """Length of the period, in days: `RECENT_DAYS`, or less if the first game is more recent; at least 1."""

    @property
    def games_per_day(self) -> float:
        """Games per day; 0 if there was no game."""
        return self.games / self.days


async def recent_pace(session: AsyncSession, at: datetime, filters: Filters | None = None) -> Pace:
    """The pace of games with people up to a timezone-aware time; only games that pass the filters count."""
    which = (
        GameRow.state == GameStatus.FINISHED,
        GameRow.site != MATCH_SITE,
        OpponentRow.is_bot.is_(False),
        GameRow.started_at <= at,
        *filter_conditions(filters or Filters()),
    )
    games = select(func.count(GameRow.id), func.min(GameRow.started_at)).join(
        OpponentRow, OpponentRow.id == GameRow.opponent_id
    )
    begin = at - timedelta(days=RECENT_DAYS)
    _, first = (await session.execute(games.where(*which))).one()
    count, _ = (await session.execute(games.where(GameRow.started_at >= begin, *which))).one()
    age = timedelta(0) if first is None else at - first
    return Pace(count, min(max(age / timedelta(days=1), 1.0), float(RECENT_DAYS)))
