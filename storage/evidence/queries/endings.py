"""How games ended, including aborted games: results and reasons, by site."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from storage.records import MATCH_SITE, GameStatus
from storage.tables.games import GameRow


@dataclass(frozen=True, slots=True)
class EndingCount:
    """Games that ended in the same way."""

    site: str
    result: str
    """Our result (win, draw or loss), ``aborted`` or ``unknown``."""
    reason: str
    """The reason in the site's own words; empty if it gave none."""
    count: int
    last_at: datetime
    """Start time of the latest of these games."""


async def count_endings(session: AsyncSession, since: datetime, *, site: str = "") -> list[EndingCount]:
    """Count the endings of games that began after a given time, the most frequent first.

    Excludes engine matches played on this machine.
    """
    rows = await session.execute(
        select(
            GameRow.site,
            GameRow.state,
            GameRow.result,
            func.coalesce(GameRow.end_reason, "").label("reason"),
            func.count().label("times"),
            func.max(GameRow.started_at).label("last_at"),
        )
        .where(
            GameRow.started_at >= since,
            GameRow.state != GameStatus.OPEN,
            GameRow.site == site if site else GameRow.site != MATCH_SITE,
        )
        .group_by(GameRow.site, GameRow.state, GameRow.result, "reason")
    )
    counts = [
        EndingCount(row.site, _result(row.state, row.result), row.reason, row.times, row.last_at)
        for row in rows
    ]
    return sorted(counts, key=lambda each: (-each.count, each.site, each.result, each.reason))


def _result(state: GameStatus, result: str | None) -> str:
    return "aborted" if state is GameStatus.ABORTED else "unknown" if result is None else str(result)
