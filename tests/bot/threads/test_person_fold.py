"""What is learned of persons from their judged games, on both databases."""

import asyncio
import random
from collections.abc import AsyncIterator
from functools import lru_cache
from typing import Any

import pytest
from sqlalchemy import select, update

from bot.threads import person_fold
from bot.threads.person_fold import PersonFold, fold_persons
from bot.threads.search_pool import SearchPool
from engine.completion import complete
from engine.decision import Decision
from engine.figure_9 import classify_by_figure_9
from engine.games import get_rules
from engine.human.model import BadModel
from engine.human.registry import ModelRegistry
from engine.human.reply_model import ReplyModel
from engine.judge import JUDGE_VERSION, ReplyCost, ReplyCosts
from engine.move_chooser import MoveChooser
from engine.params import TrapParams
from engine.person import state
from engine.person.faced import person_model_of
from engine.person.state import PersonState
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.time_management import Limits
from storage.database import Database, Role
from storage.ledger.games import finish_game
from storage.ledger.judgements import store_judgements
from storage.ledger.persons import forget_person
from storage.records import DecisionState, GameResult
from storage.tables.games import DecisionRow, GameRow
from storage.tables.persons import PersonStateRow
from tests.bot.threads.interrupted_folds import InterruptedFold, fold_and_die, interrupt_folds
from tests.engine.positions import random_position
from tests.storage.conftest import backend, database, url
from tests.storage.ledger.test_persons import ended
from tests.storage.samples import opened, settled

__all__ = ["backend", "database", "url"]  # fixtures

OTHELLO = get_rules("othello")
REPLIES = 3
"""Of each game."""


@pytest.fixture
async def pool() -> AsyncIterator[SearchPool]:
    async with SearchPool(1, 1) as pool:
        yield pool


class Networks(ModelRegistry):
    """Without calibrated models: the networks have priors of the tilt."""

    def _reply_model(self, game_name: str) -> ReplyModel | None:  # noqa: ARG002
        return None


@pytest.fixture(scope="module")
def models() -> ModelRegistry:
    return Networks()


@lru_cache
def decided(seed: int) -> Decision:
    """A move with its whole profile and at least two replies."""
    searcher, rng = make_searcher("othello", 1), random.Random(seed)
    player = MoveChooser(strategy_named("standard"), OTHELLO, TrapParams(), searcher)
    while True:
        position = random_position(OTHELLO, rng, 12)
        made = complete(player.choose(position, Limits(3), StopFlag()), searcher, StopFlag())
        if len(made.chosen.replies) > 1:
            return made


async def play(database: Database, number: int, **changes: Any) -> dict[int, tuple[str, ReplyCosts]]:
    """A game that ended in this hour, and what its replies cost, by decision."""
    costs = {}
    async with database.write() as session:
        game = await opened(session, f"game{number}", **changes)
        for at in range(REPLIES):
            made = decided(at if at == 0 else 10 * number + at)  # the first position comes again
            reply = made.chosen.replies[number % 2 if at == 0 else 0].reply
            outcome = classify_by_figure_9(made, reply)
            key = await settled(session, game.id, 2 * at, made, outcome)
            cost = ReplyCost(reply, -100, 0, 12, is_solved=False)
            costs[key] = reply, ReplyCosts(JUDGE_VERSION, cost, (cost,))
        rows = update(DecisionRow).where(DecisionRow.game_id == game.id)
        await session.execute(rows.values(state=DecisionState.CONFIRMED))
        await finish_game(
            session, game.id, result=GameResult.WIN, end_reason="normal", settled=True, at=ended(number)
        )
    return costs


async def judge(database: Database, costs: dict[int, tuple[str, ReplyCosts]]) -> None:
    async with database.write() as session:
        game = await session.scalar(select(DecisionRow.game_id).where(DecisionRow.id == min(costs)))
        await store_judgements(session, game or 0, costs)


async def played(database: Database, *numbers: int) -> None:
    for number in numbers:
        await judge(database, await play(database, number))


async def states(database: Database) -> list[tuple[int, int, bytes]]:
    """Games, replies and state of each person."""
    async with database.read() as session:
        rows = await session.scalars(select(PersonStateRow).order_by(PersonStateRow.opponent_id))
        return [(row.games, row.replies, row.state) for row in rows]


async def fold(database: Database, pool: SearchPool, models: ModelRegistry) -> int:
    return await PersonFold(database, pool, models).fold_all(Role("person-fold"))


async def test_a_state_is_the_fold_of_the_games(
    database: Database, pool: SearchPool, models: ModelRegistry
) -> None:
    await played(database, 2, 1, 3)
    assert await fold(database, pool, models) == 3
    assert await fold(database, pool, models) == 0
    ((games, replies, packed),) = await states(database)
    known = PersonState.from_bytes(packed)
    assert (games, replies, known.games, known.replies) == (3, 3 * REPLIES, 3, 3 * REPLIES)
    with models.lend("othello") as lent:
        model = person_model_of("othello", lent)
    assert model is not None
    assert known.version == model.version
    assert known.tilts
    # The first position of all games, and the others.
    assert sorted(sum(play.plays for play in plays) for plays in known.memory.positions.values()) == [
        *[1] * 3 * (REPLIES - 1),
        3,
    ]


@pytest.mark.parametrize("order", [(3, 2, 1), (2, 3, 1), (1, 3, 2)])
async def test_the_order_of_judging_does_not_matter(
    database: Database, pool: SearchPool, models: ModelRegistry, order: tuple[int, ...]
) -> None:
    costs = {number: await play(database, number) for number in (1, 2, 3)}
    for number in order:
        await judge(database, costs[number])
        await fold(database, pool, models)
    assert await states(database) == await expected_states(database, pool, models)


async def expected_states(
    database: Database, pool: SearchPool, models: ModelRegistry
) -> list[tuple[int, int, bytes]]:
    """The states if they are built at once from the ledger."""
    async with database.write() as session:
        await session.execute(update(PersonStateRow).values(version="older"))
    await fold(database, pool, models)
    return await states(database)


async def test_an_interrupted_fold_ends_with_the_same_state(
    database: Database, pool: SearchPool, models: ModelRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    await played(database, 1, 2, 3)
    stored = interrupt_folds(monkeypatch)
    for _ in range(3):
        with pytest.raises(InterruptedFold):
            await fold(database, pool, models)
    assert len(stored) == 5
    monkeypatch.undo()
    assert await fold(database, pool, models) == 1
    assert await states(database) == await expected_states(database, pool, models)


async def test_kill_9_in_a_fold(
    database: Database, url: str, pool: SearchPool, models: ModelRegistry
) -> None:
    await played(database, 1, 2, 3)
    await fold_and_die(url, Networks)
    assert [games for games, _, _ in await states(database)] == [1]
    assert await fold(database, pool, models) == 2
    assert await states(database) == await expected_states(database, pool, models)


async def test_a_damaged_state_is_built_again(
    database: Database, pool: SearchPool, models: ModelRegistry, caplog: pytest.LogCaptureFixture
) -> None:
    await played(database, 1, 2)
    await fold(database, pool, models)
    async with database.write() as session:
        await session.execute(update(PersonStateRow).values(state=b"?"))
    await played(database, 3)
    assert await fold(database, pool, models) == 3
    assert "is built again: the state of a person is damaged" in caplog.text
    assert await states(database) == await expected_states(database, pool, models)


async def test_a_damaged_reply_stops_no_other(
    database: Database, pool: SearchPool, models: ModelRegistry, caplog: pytest.LogCaptureFixture
) -> None:
    costs = await play(database, 1)
    first, *_ = costs
    async with database.write() as session:
        await session.execute(update(DecisionRow).where(DecisionRow.id == first).values(record={"odd": 1}))
    await judge(database, costs)
    assert await fold(database, pool, models) == 1
    assert f"decision {first}: nothing is learned from the reply to it: RecordError" in caplog.text
    assert [replies for _, replies, _ in await states(database)] == [REPLIES - 1]


async def test_nothing_is_learned_without_the_models(
    database: Database, pool: SearchPool, models: ModelRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The games wait until the models can be used again."""

    def fail(*_: object, **__: object) -> None:
        raise BadModel("gone")

    await played(database, 1)
    with monkeypatch.context() as patched:
        patched.setattr(person_fold, "face", lambda *_: None)
        assert await fold(database, pool, models) == 0
    with monkeypatch.context() as patched:
        patched.setattr(person_fold, "person_model_of", fail)
        assert await fold(database, pool, models) == 0
    assert await fold(database, pool, models) == 1


async def test_games_without_a_model_of_people_wait(
    database: Database, pool: SearchPool, models: ModelRegistry
) -> None:
    costs = await play(database, 1)
    async with database.write() as session:
        await session.execute(update(GameRow).values(game="tictactoe"))
    await judge(database, costs)
    assert await fold(database, pool, models) == 0
    async with database.write() as session:
        await session.execute(update(GameRow).values(game="othello"))
    assert await fold(database, pool, models) == 1


async def test_a_bug_loses_one_game(
    database: Database, pool: SearchPool, models: ModelRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    await played(database, 1, 2)
    calls = 0

    def fail_once(*given: Any) -> PersonState:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise ValueError("a bug")
        return state.fold_game(*given)

    monkeypatch.setattr(person_fold, "fold_game", fail_once)
    assert await fold(database, pool, models) == 1
    assert await fold(database, pool, models) == 0


async def test_nothing_is_learned_of_who_was_forgotten(
    database: Database, pool: SearchPool, models: ModelRegistry
) -> None:
    await played(database, 1)
    await fold(database, pool, models)
    async with database.write() as session:
        opponent = await session.scalar(select(GameRow.opponent_id))
        await forget_person(session, opponent or 0)
    await played(database, 2)
    assert await fold(database, pool, models) == 0
    assert await states(database) == []


async def test_a_game_without_replies_that_count_waits_no_longer(
    database: Database, pool: SearchPool, models: ModelRegistry
) -> None:
    costs = await play(database, 1)
    async with database.write() as session:
        await session.execute(update(DecisionRow).values(state=DecisionState.SENT))
    await judge(database, costs)
    assert await fold(database, pool, models) == 0
    assert await states(database) == []
    await played(database, 2)
    assert await fold(database, pool, models) == 1


async def test_another_program_has_the_role(database: Database, models: ModelRegistry) -> None:
    await played(database, 1)
    async with database.hold_role(person_fold.ROLE):
        assert await fold_persons(database, models) is None
    assert await fold_persons(database, models) == 1


async def test_it_wakes_when_a_game_was_judged(
    database: Database, pool: SearchPool, models: ModelRegistry
) -> None:
    counts = asyncio.Queue[int]()

    class Counting(PersonFold):
        async def fold_all(self, role: Role) -> int:
            counts.put_nowait(await super().fold_all(role))
            return 0

    worker = Counting(database, pool, models)
    running = asyncio.create_task(worker.run())
    assert await counts.get() == 0
    await played(database, 1)
    worker.wake()
    assert await counts.get() == 1
    running.cancel()
