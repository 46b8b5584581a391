"""Losing streaks of our accounts."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from storage.records import MATCH_SITE, GameResult
from storage.tables.games import GameRow


async def losing_streaks(session: AsyncSession, most: int = 100) -> dict[tuple[str, str], int]:
    """Return the length of each account's current losing streak, counting only games with a result.

    Args:
        session: A session of the database.
        most: Number of latest games to examine, counted across all accounts.

    Returns:
        The lengths, keyed by site and account; accounts with none of the examined games are omitted.
    """
    rows = await session.execute(
        select(GameRow.site, GameRow.account, GameRow.result)
        .where(GameRow.result.is_not(None), GameRow.site != MATCH_SITE)
        .order_by(GameRow.id.desc())
        .limit(most)
    )
    streaks: dict[tuple[str, str], int] = {}
    over = set()
    for row in rows:
        key = (row.site, row.account)
        streaks.setdefault(key, 0)
        if row.result is not GameResult.LOSS:
            over.add(key)
        elif key not in over:
            streaks[key] += 1
    return streaks
