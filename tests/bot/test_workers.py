"""The search pool: order, stopping, and who has to step back."""

import asyncio
import threading
from contextlib import suppress

import pytest

from bot.workers import WorkerPool
from engine.search import Searcher
from engine.stop import StopFlag, Stopped


class Gate:
    """A job that runs until it is let go or stopped."""

    def __init__(self) -> None:
        self.started = threading.Semaphore(0)
        self.open = threading.Event()
        self.runs = 0

    def __call__(self, _: Searcher, stop: StopFlag) -> str:
        self.runs += 1
        self.started.release()
        while not self.open.is_set():
            if stop.is_set():
                raise Stopped
            self.open.wait(0.001)
        return "done"

    async def has_started(self) -> None:
        assert await asyncio.to_thread(self.started.acquire, timeout=20)


async def test_a_result_and_an_error() -> None:
    def fail(_: Searcher, __: StopFlag) -> None:
        raise ValueError("no")

    async with WorkerPool(2, 1) as pool:
        assert await pool.run(lambda searcher, _: searcher.source, "othello", 0.0) == "native"
        with pytest.raises(ValueError, match="no"):
            await pool.run(fail, "tictactoe", 0.0)


async def test_a_searcher_for_each_thread_and_game() -> None:
    made: list[tuple[str, int]] = []

    def make(game: str, table_mb: int) -> Searcher:
        made.append((game, table_mb))
        from engine.searchers import make_searcher

        return make_searcher(game, table_mb)

    async with WorkerPool(1, 3, make) as pool:
        for game in ("othello", "othello", "tictactoe"):
            await pool.run(lambda *_: None, game, 0.0)
    assert made == [("othello", 3), ("tictactoe", 3)]


async def test_the_earliest_deadline_comes_first() -> None:
    order: list[float] = []

    async with WorkerPool(1, 1) as pool, asyncio.TaskGroup() as tasks:
        gate = Gate()
        tasks.create_task(pool.run(gate, "tictactoe", 0.0))
        await gate.has_started()
        for deadline in (30.0, 10.0, 20.0):
            tasks.create_task(pool.run(lambda *_, d=deadline: order.append(d), "tictactoe", deadline))
        tasks.create_task(pool.run(lambda *_: order.append(-1), "tictactoe", 0.0, background=True))
        await asyncio.sleep(0)
        gate.open.set()
    assert order == [10.0, 20.0, 30.0, -1]


async def test_a_cancelled_search_is_stopped_and_waited_for() -> None:
    async with WorkerPool(1, 1) as pool:
        gate = Gate()
        search = asyncio.create_task(pool.run(gate, "tictactoe", 0.0))
        await gate.has_started()
        search.cancel()
        with pytest.raises(asyncio.CancelledError):
            await search
        assert await pool.run(lambda *_: "free", "tictactoe", 0.0) == "free"


async def test_a_search_that_waits_is_cancelled() -> None:
    async with WorkerPool(1, 1) as pool:
        gate, second = Gate(), Gate()
        first = asyncio.create_task(pool.run(gate, "tictactoe", 0.0))
        await gate.has_started()
        waiting = asyncio.create_task(pool.run(second, "tictactoe", 1.0))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        gate.open.set()
        assert await first == "done"
        assert second.runs == 0


async def test_a_background_job_steps_back_and_starts_anew() -> None:
    async with WorkerPool(1, 1) as pool:
        gate = Gate()
        background = asyncio.create_task(pool.run(gate, "tictactoe", 0.0, background=True))
        await gate.has_started()
        assert await pool.run(lambda *_: "urgent", "tictactoe", 99.0) == "urgent"
        await gate.has_started()
        assert gate.runs == 2
        gate.open.set()
        assert await background == "done"


async def test_nobody_steps_back_while_a_thread_is_idle() -> None:
    async with WorkerPool(2, 1) as pool:
        gate = Gate()
        background = asyncio.create_task(pool.run(gate, "tictactoe", 0.0, background=True))
        await gate.has_started()
        assert await pool.run(lambda *_: "urgent", "tictactoe", 99.0) == "urgent"
        gate.open.set()
        assert await background == "done"
        assert gate.runs == 1


async def test_closing_ends_what_runs_and_what_waits() -> None:
    gate = Gate()
    async with WorkerPool(1, 1) as pool:
        running = asyncio.create_task(pool.run(gate, "tictactoe", 0.0))
        await gate.has_started()
        waiting = asyncio.create_task(pool.run(gate, "tictactoe", 1.0))
        await asyncio.sleep(0)
    for task in (running, waiting):
        with suppress(asyncio.CancelledError):
            await task
        assert task.cancelled()
    with pytest.raises(RuntimeError, match="closed"):
        await pool.run(gate, "tictactoe", 0.0)


async def test_a_running_search_can_be_cancelled_twice() -> None:
    async with WorkerPool(1, 1) as pool:
        gate = Gate()
        search = asyncio.create_task(pool.run(gate, "tictactoe", 0.0))
        await gate.has_started()
        search.cancel()
        await asyncio.sleep(0)
        search.cancel()
        with pytest.raises(asyncio.CancelledError):
            await search
