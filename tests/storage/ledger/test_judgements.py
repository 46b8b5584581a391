"""Judgements in the database, by versions of the judge."""

import pytest
from sqlalchemy import func, select, update

from engine.judge import JUDGE_VERSION, ReplyCost, ReplyCosts
from storage.database import Database
from storage.ledger.games import finish_game, reopen_game, settle_game
from storage.ledger.judgements import (
    ReplyToJudge,
    count_games_to_judge,
    judgements_of_game,
    next_game_to_judge,
    replies_to_judge,
    store_judgements,
)
from storage.records import GameResult
from storage.tables.games import JudgedGameRow, JudgementRow
from tests.storage.ledger.test_forecasts import made_forecast
from tests.storage.samples import FELL, UNANSWERED, decision, opened, settled, store_forecast

COSTS = ReplyCosts(
    JUDGE_VERSION,
    "f6",
    -120,
    (ReplyCost("d6", 1500, 14, is_solved=False), ReplyCost("f6", 0, 15, is_solved=True)),
)


async def a_game(database: Database, key: str, *, is_over: bool = True) -> tuple[int, int]:
    """A game with two decisions, of which the first is answered; its key, and that decision's."""
    async with database.write() as session:
        game = await opened(session, key)
        answered = await settled(session, game.id, 0, decision(quality=225.0), FELL)
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


async def test_a_judgement_comes_back(database: Database) -> None:
    game, answered = await a_game(database, "first")
    async with database.write() as session:
        made = decision(quality=225.0)
        await store_forecast(session, answered, made, made_forecast())
        assert await replies_to_judge(session, game) == [ReplyToJudge(answered, 0, "d6", likeliest())]
        await store_judgements(session, game, {answered: ("d6", COSTS)})
        assert await replies_to_judge(session, game) == []
        assert await judgements_of_game(session, game) == {answered: COSTS}
        assert await session.scalar(select(JudgementRow.cost)) == 1500


def likeliest() -> tuple[str, ...]:
    made = made_forecast()
    by_probability = dict(zip(made.replies, made.probabilities, strict=True))
    return tuple(sorted(by_probability, key=lambda reply: -by_probability[reply])[:2])


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
