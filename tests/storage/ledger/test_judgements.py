"""Judgements in the database, by versions of the judge."""

from dataclasses import replace

import pytest
from sqlalchemy import func, select, update

from engine.bait_rule import FORECAST_RULE
from engine.errors import RecordError
from engine.judge import JUDGE_VERSION, ReplyCost, ReplyCosts
from storage.database import Database
from storage.ledger.games import finish_game, reopen_game, settle_game
from storage.ledger.judgements import (
    count_games_to_judge,
    judge_missing_again,
    judgements_of_game,
    next_game_to_judge,
    replies_to_judge,
    store_judgements,
)
from storage.maintenance.malformed import quarantine_malformed, whole_database
from storage.records import MATCH_SITE, GameResult
from storage.tables.games import DecisionRow, GameRow, JudgedGameRow, JudgementRow
from tests.storage.ledger.test_forecasts import MADE, made_forecast
from tests.storage.samples import FELL, UNANSWERED, decision, opened, settled, store_forecast

BEST = ReplyCost("f6", -120, 0, 15, is_solved=True)
COSTS = ReplyCosts(JUDGE_VERSION, BEST, (ReplyCost("d6", -480, 1500, 14, is_solved=False), BEST))


async def a_game(database: Database, key: str, *, is_over: bool = True) -> tuple[int, int]:
    """A game with two decisions, of which the first is answered; its key, and that decision's."""
    async with database.write() as session:
        game = await opened(session, key)
        answered = await settled(session, game.id, 0, MADE, FELL)
        await settled(session, game.id, 2, decision(), UNANSWERED)
        if is_over:
            await finish_game(session, game.id, result=GameResult.WIN, end_reason="normal", settled=False)
    return game.id, answered


async def settle(database: Database, *games: int) -> None:
    async with database.write() as session:
        for game in games:
            await settle_game(session, game)


async def backlog(database: Database) -> tuple[int | None, int]:
    """The next game to judge, and the number of games."""
    async with database.read() as session:
        game, count = await next_game_to_judge(session), await count_games_to_judge(session)
        assert (game is None) is (count == 0)
        return game, count


async def test_the_latest_settled_games_come_first(database: Database) -> None:
    first, _ = await a_game(database, "first")
    second, answered = await a_game(database, "second")
    await a_game(database, "open", is_over=False)
    assert await backlog(database) == (None, 0)
    await settle(database, first, second)
    assert await backlog(database) == (second, 2)
    async with database.write() as session:
        await store_judgements(session, second, {answered: ("d6", COSTS)})
    assert await backlog(database) == (first, 1)


async def test_games_of_matches_follow_all_others(database: Database) -> None:
    first, _ = await a_game(database, "first")
    second, _ = await a_game(database, "second")
    await settle(database, first, second)
    async with database.write() as session:
        await session.execute(update(GameRow).where(GameRow.id == second).values(site=MATCH_SITE))
    assert await backlog(database) == (first, 2)
    async with database.write() as session:
        await store_judgements(session, first, {})
    assert await backlog(database) == (second, 1)


async def test_a_judgement_comes_back(database: Database) -> None:
    game, answered = await a_game(database, "first")
    async with database.write() as session:
        await store_forecast(session, answered, MADE, made_forecast())
        (asked,) = await replies_to_judge(session, game, FORECAST_RULE)
        assert (asked.decision_id, asked.reply, asked.forecast) == (answered, "d6", made_forecast())
        assert (asked.decision.move, asked.decision.chosen.replies) == (MADE.move, MADE.chosen.replies)
        await store_judgements(session, game, {answered: ("d6", COSTS)})
        assert await replies_to_judge(session, game, FORECAST_RULE) == []
        assert await judgements_of_game(session, game) == {answered: COSTS}
        assert await session.scalar(select(JudgementRow.cost)) == 1500


async def test_the_best_reply_is_stored_whether_or_not_it_was_asked_for(database: Database) -> None:
    game, answered = await a_game(database, "first")
    async with database.write() as session:
        await store_judgements(session, game, {answered: ("d6", replace(COSTS, replies=COSTS.replies[:1]))})
        assert await judgements_of_game(session, game) == {answered: COSTS}


async def test_a_forecast_by_earlier_rules_is_work_for_the_judge(database: Database) -> None:
    """Also where nobody replied; not where the profile is incomplete, or for forecasts as of now."""
    async with database.write() as session:
        game = await opened(session, "first")
        unanswered = await settled(session, game.id, 0, MADE, UNANSWERED)
        await store_forecast(session, unanswered, MADE, replace(made_forecast(), rule=FORECAST_RULE - 1))
        (asked,) = await replies_to_judge(session, game.id, FORECAST_RULE)
        assert (asked.decision_id, asked.reply) == (unanswered, None)
        await session.execute(update(DecisionRow).values(is_complete=False))
        assert await replies_to_judge(session, game.id, FORECAST_RULE) == []
        await session.execute(update(DecisionRow).values(is_complete=True))
        await store_forecast(session, unanswered, MADE, made_forecast())
        assert await replies_to_judge(session, game.id, FORECAST_RULE) == []


async def test_a_new_version_judges_again_and_replaces(database: Database) -> None:
    game, answered = await a_game(database, "first")
    await settle(database, game)
    async with database.write() as session:
        await store_judgements(session, game, {answered: ("d6", COSTS)})
        older = {"version": JUDGE_VERSION - 1, "cost": 7}
        await session.execute(update(JudgementRow).values(older))
        await session.execute(update(JudgedGameRow).values(version=JUDGE_VERSION - 1))
    assert await backlog(database) == (game, 1)
    async with database.write() as session:
        assert await judgements_of_game(session, game) == {}
        await store_judgements(session, game, {answered: ("d6", COSTS)})
        assert await session.scalar(select(func.count()).select_from(JudgementRow)) == 1
        assert await judgements_of_game(session, game) == {answered: COSTS}


@pytest.mark.parametrize("times", [1, 2])
async def test_judging_twice_changes_nothing(database: Database, times: int) -> None:
    game, answered = await a_game(database, "first")
    for _ in range(times):
        async with database.write() as session:
            await store_judgements(session, game, {answered: ("d6", COSTS)})
    async with database.read() as session:
        assert await judgements_of_game(session, game) == {answered: COSTS}


async def test_a_game_that_goes_on_is_judged_again(database: Database) -> None:
    game, _ = await a_game(database, "first")
    await settle(database, game)
    async with database.write() as session:
        await store_judgements(session, game, {})
    assert await backlog(database) == (None, 0)
    async with database.write() as session:
        await reopen_game(session, game)
        await finish_game(session, game, result=GameResult.WIN, end_reason="normal")
    assert await backlog(database) == (game, 1)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"replies": {}}, "f6 is not the best of its replies"),
        ({"replies": [["f6", 1]]}, "missing 3 required"),
        ({"replies": [["f6", -120, "much", 15, 1]]}, "cost: 'much' is not of the type int"),
        ({"replies": [["f6", -120, 0, 15, 1], ["d6", -480, 10001, 14, 0]]}, "cost: 10001 is out of range"),
        ({"best": "d6"}, "d6 is not the best of its replies"),
        ({"cost": 9999}, "none of its replies costs 9999"),
    ],
)
async def test_a_damaged_judgement_is_named_and_moved_and_its_reply_judged_again(
    database: Database, change: dict[str, object], said: str
) -> None:
    game, answered = await a_game(database, "first")
    await settle(database, game)
    async with database.write() as session:
        await store_judgements(session, game, {answered: ("d6", COSTS)})
        await judge_missing_again(session)
        await session.execute(update(JudgementRow).values(**change))
    assert await backlog(database) == (None, 0)
    async with database.read() as session:
        with pytest.raises(RecordError, match=said):
            await judgements_of_game(session, game)
    (row,) = await quarantine_malformed(database, whole_database())
    assert row.table == "judgements"
    assert said in row.reason
    async with database.write() as session:
        await judge_missing_again(session)
    assert await backlog(database) == (game, 1)


async def test_a_judgement_by_a_later_program_is_left_alone(database: Database) -> None:
    game, answered = await a_game(database, "first")
    await settle(database, game)
    async with database.write() as session:
        await store_judgements(session, game, {answered: ("d6", COSTS)})
        await session.execute(update(JudgementRow).values(version=JUDGE_VERSION + 1, replies={"other": 1}))
    assert await quarantine_malformed(database, whole_database()) == []
    async with database.read() as session:
        assert await judgements_of_game(session, game) == {}
