"""The judge beside the games, on both databases."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import func, select, update

from bot.threads import reply_judge, role_worker
from bot.threads.reply_judge import ReplyJudge
from bot.threads.search_pool import SearchPool
from engine.bait_rule import FORECAST_RULE
from storage.database import Database, Role
from storage.errors import RoleLost
from storage.evidence.reading import replies_of
from storage.evidence.replies import UNKNOWN_COST
from storage.ledger.forecasts import forecasts_of_game
from storage.ledger.judgements import count_games_to_judge, forget_judgement, judgements_of_game
from storage.tables.games import DecisionRow, ForecastRow, GameRow, JudgementRow, OutcomeRow
from tests.bot.game.test_recheck import play
from tests.storage.conftest import backend, database, url

__all__ = ["backend", "database", "url"]  # fixtures

GAME = 1


@pytest.fixture
async def pool() -> AsyncIterator[SearchPool]:
    async with SearchPool(1, 1) as pool:
        yield pool


async def judge_costs(database: Database) -> list[int]:
    """Costs by the judge in the array of judged replies."""
    async with database.read() as session:
        return list((await replies_of(session)).replies["cost"])


async def test_a_finished_game_is_judged_and_counted(database: Database, pool: SearchPool) -> None:
    await play(database)
    assert set(await judge_costs(database)) == {UNKNOWN_COST}
    judge = ReplyJudge(database, pool)
    judge.wake()
    assert judge.games_left == 1
    assert await judge.judge_all(Role("judge")) == 1
    assert judge.games_left == 0
    assert await judge.judge_all(Role("judge")) == 0
    async with database.read() as session:
        judged = await judgements_of_game(session, GAME)
        costs = list(await session.scalars(select(JudgementRow.cost).order_by(JudgementRow.decision_id)))
        assert await count_games_to_judge(session) == 0
    assert len(judged) > 2
    assert [costs.replies[0].cost for _, costs in sorted(judged.items())] == costs
    assert [cost for cost in await judge_costs(database) if cost != UNKNOWN_COST] == costs
    assert all(1 <= len(each.replies) <= 2 for each in judged.values())


async def test_an_interrupted_game_is_judged_again(
    database: Database, pool: SearchPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    await play(database)
    run, calls = pool.run, 0

    async def die(*given: Any, **more: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise asyncio.CancelledError
        return await run(*given, **more)

    judge = ReplyJudge(database, pool)
    with monkeypatch.context() as patched:
        patched.setattr(pool, "run", die)
        with pytest.raises(asyncio.CancelledError):
            await judge.judge_all(Role("judge"))
    async with database.read() as session:
        assert await judgements_of_game(session, GAME) == {}
    assert await judge.judge_all(Role("judge")) == 1


async def test_what_changes_while_a_game_is_judged_is_judged_again(
    database: Database, pool: SearchPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `db recheck` may store a reply meanwhile."""
    await play(database)
    async with database.write() as session:
        first = await session.scalar(select(func.min(OutcomeRow.decision_id)))
        reply = await session.scalar(select(OutcomeRow.reply).where(OutcomeRow.decision_id == first))
        await session.execute(update(OutcomeRow).where(OutcomeRow.decision_id == first).values(reply=None))
    run = pool.run

    async def store_meanwhile(*given: Any, **more: Any) -> Any:
        monkeypatch.undo()
        found = await run(*given, **more)
        async with database.write() as session:
            row = update(OutcomeRow).where(OutcomeRow.decision_id == first)
            await session.execute(row.values(reply=reply))
            await forget_judgement(session, GAME, first or 0)
        return found

    monkeypatch.setattr(pool, "run", store_meanwhile)
    await ReplyJudge(database, pool).judge_all(Role("judge"))
    async with database.read() as session:
        judged = await judgements_of_game(session, GAME)
        assert await count_games_to_judge(session) == 0
    assert judged[first or 0].replies[0].reply == reply


async def test_a_game_that_is_resumed_is_not_judged(
    database: Database, pool: SearchPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    await play(database)
    run = pool.run

    async def resume(*given: Any, **more: Any) -> Any:
        async with database.write() as session:
            await session.execute(update(GameRow).values(is_settled=False))
        return await run(*given, **more)

    monkeypatch.setattr(pool, "run", resume)
    await ReplyJudge(database, pool).judge_all(Role("judge"))
    async with database.read() as session:
        assert await judgements_of_game(session, GAME) == {}


async def test_a_damaged_game_stops_no_other(
    database: Database, pool: SearchPool, caplog: pytest.LogCaptureFixture
) -> None:
    await play(database)
    async with database.write() as session:
        first = select(func.min(OutcomeRow.decision_id)).scalar_subquery()
        await session.execute(update(OutcomeRow).where(OutcomeRow.decision_id == first).values(reply="a1"))
    assert await ReplyJudge(database, pool).judge_all(Role("judge")) == 1
    assert "cannot be judged: IllegalMove" in caplog.text
    async with database.read() as session:
        assert await count_games_to_judge(session) == 0
        assert len(await judgements_of_game(session, GAME)) > 1


async def test_a_record_that_cannot_be_read_stops_no_other_game(
    database: Database, pool: SearchPool, caplog: pytest.LogCaptureFixture
) -> None:
    await play(database)
    async with database.write() as session:
        await session.execute(update(DecisionRow).values(record={}))
    assert await ReplyJudge(database, pool).judge_all(Role("judge")) == 1
    assert f"game {GAME} cannot be judged: " in caplog.text


async def test_forecasts_by_earlier_rules_are_renewed(database: Database, pool: SearchPool) -> None:
    """With their own probabilities; what they knew of baits is found again."""
    await play(database)
    async with database.read() as session:
        before = await forecasts_of_game(session, GAME)
    async with database.write() as session:
        for key, made in before.items():
            record = replace(made, rule=FORECAST_RULE - 1, costs=None, bait_replies=()).to_record()
            old = {"rule": FORECAST_RULE - 1, "bait": None, "bait_probability": None, "bait_cost": None}
            row = update(ForecastRow).where(ForecastRow.decision_id == key)
            await session.execute(row.values(**old, is_taken=None, record=record))
    assert await ReplyJudge(database, pool).judge_all(Role("judge")) == 1
    async with database.read() as session:
        assert await forecasts_of_game(session, GAME) == before
        taken = await session.scalars(select(ForecastRow.is_taken))
        assert sum(each is not None for each in taken) > 2
        table = await replies_of(session)
    assert table.of.games["outdated"].sum() == 0


async def test_only_the_holder_of_the_role_writes(database: Database, pool: SearchPool) -> None:
    class Lost(Role):
        async def verify(self, _: Any) -> None:
            raise RoleLost("lost")

    await play(database)
    with pytest.raises(RoleLost):
        await ReplyJudge(database, pool).judge_all(Lost("judge"))
    async with database.read() as session:
        assert await judgements_of_game(session, GAME) == {}


async def test_another_program_waits_for_the_role(database: Database, pool: SearchPool) -> None:
    waits: list[float] = []
    done = asyncio.Event()

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        done.set()
        await asyncio.Event().wait()

    await play(database)
    judge = ReplyJudge(database, pool, sleep=sleep)
    judge.games_left = 50  # the other program has judged all but one
    async with database.hold_role(reply_judge.ROLE):
        running = asyncio.create_task(judge.run())
        await done.wait()
        running.cancel()
    assert judge.games_left == 1
    assert waits == [role_worker.RETRY_S]
    assert set(await judge_costs(database)) == {UNKNOWN_COST}


async def test_it_wakes_when_a_game_ends(database: Database, pool: SearchPool) -> None:
    counts = asyncio.Queue[int]()

    class Counting(ReplyJudge):
        async def judge_all(self, role: Role, on_game: Callable[[int], None] | None = None) -> int:
            counts.put_nowait(await super().judge_all(role, on_game))
            return 0

    judge = Counting(database, pool)
    running = asyncio.create_task(judge.run())
    assert await counts.get() == 0
    await play(database)
    judge.wake()
    assert await counts.get() == 1
    running.cancel()


async def test_it_finds_the_games_of_other_programs(database: Database, pool: SearchPool) -> None:
    counts, waits = asyncio.Queue[int](), asyncio.Queue[float]()
    passed = asyncio.Event()

    async def sleep(seconds: float) -> None:
        waits.put_nowait(seconds)
        await passed.wait()
        passed.clear()

    class Counting(ReplyJudge):
        async def judge_all(self, role: Role, on_game: Callable[[int], None] | None = None) -> int:
            counts.put_nowait(await super().judge_all(role, on_game))
            return 0

    running = asyncio.create_task(Counting(database, pool, sleep=sleep).run())
    assert (await counts.get(), await waits.get()) == (0, role_worker.RETRY_S)
    await play(database)
    passed.set()
    assert await counts.get() == 1
    running.cancel()
