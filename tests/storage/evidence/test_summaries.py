"""Summaries of games: when they are made, which are valid, and what is found wrong."""

import random

import pytest
from sqlalchemy import delete, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from engine.figure_9 import FIGURE_9_RULE, MIN_ERROR_COST
from engine.judge import JUDGE_VERSION
from storage.database import Database
from storage.evidence import summaries as summaries_module
from storage.evidence.replies import GameRows, Labels
from storage.evidence.statistics.group_rows import read_groups
from storage.evidence.summaries import games_to_summarise, list_finished_games, repair_summaries, summarise
from storage.ledger.games import finish_game, reopen_game
from storage.ledger.outcomes import record_outcome
from storage.records import GameResult
from storage.tables.games import DecisionRow
from storage.tables.summaries import GameSummaryRow
from tests.storage.evidence.statistics.drawn_database import fill
from tests.storage.evidence.statistics.test_suspect_rows import answered
from tests.storage.samples import FELL, OPTIMAL, decision, judge_replies, opened, settled


async def closed(session: AsyncSession, key: str = "one", *, aborted: bool = False) -> int:
    """A game of two judged replies, of which the second is a slip."""
    game = await opened(session, key)
    await answered(session, game.id, 0, OPTIMAL, 1.5)
    slip = await answered(session, game.id, 2, FELL, 0.2)
    await finish_game(session, game.id, result=GameResult.WIN, end_reason="resign", aborted=aborted)
    await judge_replies(session, game.id, {slip: MIN_ERROR_COST})
    return game.id


async def summaries(session: AsyncSession) -> dict[int, dict[str, object]]:
    """All of them."""
    rows = await session.execute(select(GameSummaryRow.__table__).order_by(GameSummaryRow.game_id))
    return {row.game_id: {**row._mapping, "stamp": 0} for row in rows}


async def test_a_summary_of_a_game(database: Database) -> None:
    async with database.write() as session:
        game = await closed(session)
        assert await games_to_summarise(session, 0, 9) == [game]
        assert await summarise(session, [game]) == 1
        row = await session.get(GameSummaryRow, game)
        assert row is not None
        (facts,) = GameRows.of([row.labels], [row.game]).games
        assert facts[["outdated", "timed", "fast", "classified", "optimal"]].item() == (0, 2, 1, 2, 1)
        assert (row.baits_set, row.baits_taken, row.slips) == (0, 0, 1)
        assert (row.judge_version, row.unjudged) == (JUDGE_VERSION, 0)
        assert facts[["baits_set", "slips", "draws", "draws_answered"]].item() == (0, row.slips, 0, 0)
        assert row.labels == Labels("trappy", "othello", "arena", "blitz", "", ("looks 6.5",)).text
        assert await games_to_summarise(session, 0, 9) == []
        assert await summarise(session, [game, game]) == 1


async def test_games_that_are_open_have_none(database: Database) -> None:
    async with database.write() as session:
        game = await closed(session)
        aborted = await closed(session, "two", aborted=True)
        still_open = (await opened(session, "three")).id
        assert (
            await list_finished_games(session, 0, 9)
            == await games_to_summarise(session, 0, 9)
            == [game, aborted]
        )
        assert await games_to_summarise(session, game, 9) == [aborted]
        assert await games_to_summarise(session, 0, 1) == [game]
        assert await summarise(session, [game, aborted, still_open]) == 2
        await reopen_game(session, game)
        assert await list_finished_games(session, 0, 9) == [aborted]
        # Even before somebody removes it, it does not count.
        assert (await read_groups(session)).statistics()[0].unfinished == 2
        assert await summarise(session, [game]) == 0
        assert list(await summaries(session)) == [aborted]
        assert await list_finished_games(session, aborted, 9) == []


@pytest.mark.parametrize("name", ["FIGURE_9_RULE", "FORECAST_RULE", "JUDGE_VERSION", "LAYOUT"])
async def test_other_rules_make_summaries_invalid(
    database: Database, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    async with database.write() as session:
        game = await closed(session)
        await summarise(session, [game])
        monkeypatch.setattr(summaries_module, name, getattr(summaries_module, name) + 1)
        assert await games_to_summarise(session, 0, 9) == [game]
        await session.execute(update(GameSummaryRow).values(replies=b""))  # which nobody reads any more
        assert (await read_groups(session)).statistics()[0].replies == 2


async def test_whatever_is_wrong_is_found_and_mended(database: Database) -> None:
    async with database.write() as session:
        await fill(session, random.Random(4), games=24)
        games = await list_finished_games(session, 0, 100)
        assert await repair_summaries(session, games) == []
        whole = await summaries(session)
        assert list(whole) == games
        wrong = (("slips", 99), ("labels", "[]"), ("game", bytes(120)), ("replies", bytes(70)))
        for game, (name, value) in zip(games, wrong, strict=False):
            which = GameSummaryRow.game_id == game
            await session.execute(update(GameSummaryRow).where(which).values({name: value}))
        await session.execute(delete(GameSummaryRow).where(GameSummaryRow.game_id == games[4]))
        old = update(GameSummaryRow).where(GameSummaryRow.game_id == games[5])
        await session.execute(old.values(rule=FIGURE_9_RULE - 1))
        assert await repair_summaries(session, games) == games[:4]
        assert await repair_summaries(session, games) == []
        assert await summaries(session) == whole


async def test_a_change_of_a_closed_game_is_found(database: Database) -> None:
    async with database.write() as session:
        game = await closed(session)
        await summarise(session, [game])
        late = await settled(session, game, 4, decision(), None)
        assert await repair_summaries(session, [game]) == [game]  # it lacks a forecast
        await record_outcome(session, late, OPTIMAL)
        await session.execute(update(DecisionRow).where(DecisionRow.id == late).values(takeback=1))
        assert await repair_summaries(session, [game]) == [game]
        assert await repair_summaries(session, [game]) == []


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
async def test_a_row_that_nobody_can_read_hides_no_other_game(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    async with database.write() as session:
        games = [await closed(session, key) for key in ("one", "two", "three")]
        await session.execute(text("PRAGMA ignore_check_constraints = ON"))
        await session.execute(text(f"UPDATE outcomes SET kind = 'odd' WHERE decision_id IN ({_DECISIONS})"))
        assert await summarise(session, games) == 2
        assert list(await summaries(session)) == [games[0], games[2]]
        assert f"game {games[1]} is left out of statistics" in caplog.text
        read = await read_groups(session)
        assert (read.statistics()[0].games, read.left_out) == (2, 1)


_DECISIONS = "SELECT id FROM decisions WHERE game_id = 2"
