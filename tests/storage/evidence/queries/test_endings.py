"""How games ended, and how long our moves took, counted by hand."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import update

from storage.database import Database
from storage.evidence.queries.endings import EndingCount, count_endings
from storage.evidence.queries.thinking_times import ThinkingTimes, thinking_times
from storage.ledger.games import finish_game
from storage.records import GameResult, GameStatus
from storage.tables.games import DecisionRow, GameRow
from tests.storage.samples import decision, opened, settled

NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)


async def test_endings(database: Database) -> None:
    async with database.write() as session:
        for number, (result, reason) in enumerate(
            [
                (GameResult.WIN, "time"),
                (GameResult.WIN, "time"),
                (GameResult.LOSS, "time"),
                (GameResult.LOSS, "old"),
                (None, None),
            ]
        ):
            at = NOON + timedelta(minutes=number) - timedelta(days=9 if reason == "old" else 0)
            game = await opened(session, f"g{number}", at=at)
            await finish_game(session, game.id, result=result, end_reason=reason, at=at)
        aborted = await opened(session, "aborted", at=NOON)
        await session.execute(
            update(GameRow).where(GameRow.id == aborted.id).values(state=GameStatus.ABORTED)
        )
        await opened(session, "open", at=NOON)
        elsewhere = await opened(session, "elsewhere", at=NOON, site="match")
        await finish_game(session, elsewhere.id, result=GameResult.WIN, end_reason="", at=NOON)
    since = NOON - timedelta(days=1)
    async with database.read() as session:
        assert await count_endings(session, since) == [
            EndingCount("arena", "win", "time", 2, NOON + timedelta(minutes=1)),
            EndingCount("arena", "aborted", "", 1, NOON),
            EndingCount("arena", "loss", "time", 1, NOON + timedelta(minutes=2)),
            EndingCount("arena", "unknown", "", 1, NOON + timedelta(minutes=4)),
        ]
        assert [each.site for each in await count_endings(session, since, site="match")] == ["match"]
        assert await count_endings(session, NOON + timedelta(days=1)) == []


async def test_thinking_times(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session, "first", at=NOON)
        for number in range(20):
            made = await settled(session, game.id, 2 * number, decision(), None)
            taken = update(DecisionRow).where(DecisionRow.id == made).values(time_s=(number + 1) / 10)
            await session.execute(taken)
        old = await opened(session, "old", at=NOON - timedelta(days=9))
        await settled(session, old.id, 0, decision(), None)
        other = await opened(session, "other", at=NOON, site="match")
        await settled(session, other.id, 0, decision(), None)
    since = NOON - timedelta(days=1)
    async with database.read() as session:
        assert await thinking_times(session, since) == [ThinkingTimes("arena", "othello", 20, 1.0, 1.9, 2.0)]
        (match,) = await thinking_times(session, since, site="match")
        assert (match.site, match.moves) == ("match", 1)
        assert await thinking_times(session, NOON + timedelta(days=1)) == []
