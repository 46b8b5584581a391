"""What was learned of a person in the forecasts of their games, on both databases."""

import pytest
from sqlalchemy import delete, select, update

from bot.game.game_runner import GameRunner
from bot.game.recheck import recheck
from bot.text.person_data import forget_person_everywhere, load_person
from bot.threads.person_fold import PersonFold
from bot.threads.reply_judge import ReplyJudge
from bot.threads.search_pool import SearchPool
from engine.human.registry import ModelRegistry
from engine.human.reply_forecast import ReplyForecast
from storage.database import Database, Role
from storage.tables.games import DecisionRow, ForecastRow, GameRow, OpponentRow
from storage.tables.persons import ForgottenPersonRow
from storage.tables.types import now_utc
from tests.bot.fakes import FakeServer, picker, services
from tests.bot.game.test_player_kill import late_othello
from tests.storage.conftest import backend, database, url

__all__ = ["backend", "database", "url"]  # fixtures


async def play(database: Database, key: str) -> None:
    """The same end of a game of Othello, each time."""
    server = FakeServer("othello", initial_position=late_othello(10, 1), pick=picker(1))
    server.game_id = key
    async with services(server, database) as given:
        await GameRunner(key, given).run()


async def learn(database: Database) -> int:
    async with SearchPool(1, 1) as pool:
        await ReplyJudge(database, pool).judge_all(Role("judge"))
        return await PersonFold(database, pool, ModelRegistry()).fold_all(Role("person-fold"))


async def forecasts(database: Database, key: str) -> list[ReplyForecast]:
    """The forecasts of a game of moves with more than one reply."""
    async with database.read() as session:
        rows = await session.scalars(
            select(ForecastRow.record)
            .join(DecisionRow, DecisionRow.id == ForecastRow.decision_id)
            .join(GameRow, GameRow.id == DecisionRow.game_id)
            .where(GameRow.site_game_id == key)
            .order_by(ForecastRow.decision_id)
        )
        found = [ReplyForecast.from_record(row) for row in rows]
    return [each for each in found if len(each.replies) > 1]


async def person(database: Database) -> int:
    async with database.read() as session:
        return (await session.execute(select(OpponentRow.id))).scalar_one()


async def test_the_second_game_knows_the_first(database: Database) -> None:
    await play(database, "first")
    assert {each.person and each.person.games for each in await forecasts(database, "first")} == {0}
    assert await learn(database) == 1
    await play(database, "second")
    second = await forecasts(database, "second")
    assert {each.person and each.person.games for each in second} == {1}
    assert any(each.person and each.person.recalled for each in second)
    found = await recheck(database)
    assert (found.wrong, found.forgotten) == ([], 0)
    report = (await load_person(database, await person(database))).to_json()
    (game,) = report["games"]
    assert (game["game"], game["games"], game["statements"]) == ("othello", 1, [])


async def test_a_record_that_was_changed_is_wrong(database: Database) -> None:
    await play(database, "first")
    async with database.write() as session:
        for row in await session.scalars(select(ForecastRow)):
            if "person" in row.record:
                row.record = {**row.record, "person": {**row.record["person"], "games": 7}}
    found = await recheck(database)
    assert found.wrong
    assert {each.reason for each in found.wrong} == {
        "its forecast: what the prediction used of the person's state was changed"
    }


async def test_a_forgotten_person_leaves_nothing(database: Database) -> None:
    await play(database, "first")
    await learn(database)
    await play(database, "second")
    who = await person(database)
    assert await forget_person_everywhere(database, who) is True
    assert await forget_person_everywhere(database, who) is False
    every = [*await forecasts(database, "first"), *await forecasts(database, "second")]
    assert {each.person for each in every} == {None}
    assert all(each.is_forgotten for each in every)
    found = await recheck(database)
    assert (found.wrong, found.forgotten) == ([], len(every))
    await play(database, "third")
    third = await forecasts(database, "third")
    assert {(each.person, each.is_forgotten) for each in third} == {(None, False)}
    assert await learn(database) == 0
    report = (await load_person(database, who)).to_json()
    assert report["games"] == []
    assert report["forgotten_at"] is not None


async def forget_unnoticed(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the person while the game that reads what is known of them does not know it yet."""
    who = await person(database)
    async with database.write() as session:
        session.add(ForgottenPersonRow(opponent_id=who, forgotten_at=now_utc()))

    async def not_yet(*_: object) -> bool:
        return False

    monkeypatch.setattr("bot.game.ledger.is_person_of_game_forgotten", not_yet)


async def test_a_person_who_is_forgotten_in_the_game(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A forecast that was under way is stored without what it says of the person."""
    await play(database, "first")
    await forget_unnoticed(database, monkeypatch)
    await play(database, "second")
    second = await forecasts(database, "second")
    assert {(each.person, each.is_forgotten) for each in second} == {(None, True)}


async def test_nothing_is_learned_of_programs(database: Database) -> None:
    await play(database, "first")
    async with database.write() as session:
        await session.execute(delete(ForecastRow))
        await session.execute(update(OpponentRow).values(is_bot=True))
    assert await learn(database) == 0
