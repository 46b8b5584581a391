"""Losing streaks by account."""

from sqlalchemy.ext.asyncio import AsyncSession

from storage.database import Database
from storage.evidence.queries.losing_streaks import losing_streaks
from storage.ledger.games import finish_game
from storage.records import MATCH_SITE, GameResult
from tests.storage.samples import opened


async def played(session: AsyncSession, key: str, result: GameResult | None, **changes: str) -> None:
    game = await opened(session, key, **changes)
    await finish_game(session, game.id, result=result, end_reason="normal", aborted=False, moves=())


async def test_streaks_end_at_a_game_that_was_not_lost(database: Database) -> None:
    async with database.write() as session:
        assert await losing_streaks(session) == {}
        await played(session, "1", GameResult.LOSS)
        await played(session, "2", GameResult.DRAW)
        await played(session, "3", GameResult.LOSS)
        await played(session, "4", GameResult.WIN, account="other")
        await played(session, "5", None)  # without a result
        await played(session, "6", GameResult.WIN, site=MATCH_SITE)
        await played(session, "7", GameResult.LOSS)
        assert await losing_streaks(session) == {("arena", "desdemona"): 2, ("arena", "other"): 0}
        assert await losing_streaks(session, most=1) == {("arena", "desdemona"): 1}
