"""The search pool: order, stopping, and who has to step back."""

import asyncio
import math
import threading
from contextlib import suppress
from typing import Any

import pytest

from bot.threads.fair_queue import JobRank
from bot.threads.search_pool import JobStop, PoolLoad, SearchPool
from engine.search.reference import Searcher
from engine.stop import StopFlag, Stopped
from tests.patience import PATIENCE_S


class Gate:
    """A job that runs until it is let go or stopped.

    Args:
        wants: How many idle threads' cores it would use, too.
    """

    def __init__(self, wants: int = 0) -> None:
        self.started = threading.Semaphore(0)
        self.open = threading.Event()
        self.runs = 0
        self.queue_per_thread = 0.0
        self.borrowed: list[int] = []
        self._wants = wants

    def __call__(self, _: Searcher, stop: JobStop) -> str:
        self.runs += 1
        self.queue_per_thread = stop.queue_per_thread
        self.borrowed.append(stop.borrow(self._wants))
        self.started.release()
        while not self.open.is_set():
            if stop.is_set():
                raise Stopped
            self.open.wait(0.001)
        return "done"

    async def has_started(self) -> None:
        assert await asyncio.to_thread(self.started.acquire, timeout=PATIENCE_S)


async def test_a_result_and_an_error() -> None:
    def fail(_: Searcher, __: StopFlag) -> None:
        raise ValueError("no")

    async with SearchPool(2, 1) as pool:
        assert await pool.run(lambda searcher, _: searcher.source, "othello") == "native"
        with pytest.raises(ValueError, match="no"):
            await pool.run(fail, "tictactoe")


async def test_a_searcher_for_each_thread_and_game() -> None:
    made: list[tuple[str, int]] = []

    def make(game: str, table_mb: int) -> Searcher:
        made.append((game, table_mb))
        from engine.search.searchers import make_searcher

        return make_searcher(game, table_mb)

    async with SearchPool(1, 3, make) as pool:
        for game in ("othello", "othello", "tictactoe"):
            await pool.run(lambda *_: None, game)
    assert made == [("othello", 3), ("tictactoe", 3)]


class Clock:
    """Time that passes only when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_who_has_waited_longest_in_proportion_to_its_plan_comes_first() -> None:
    order: list[float] = []
    clock = Clock()
    async with SearchPool(1, 1) as pool, asyncio.TaskGroup() as tasks:
        pool.clock = clock
        gate = Gate()
        tasks.create_task(pool.run(gate, "tictactoe", plan_s=90.0))
        await gate.has_started()
        for plan_s in (30.0, 10.0, 20.0, math.inf):
            tasks.create_task(pool.run(lambda *_, d=plan_s: order.append(d), "tictactoe", plan_s=plan_s))
            await asyncio.sleep(0)
        tasks.create_task(pool.run(lambda *_: order.append(-1), "tictactoe", rank=JobRank.BACKGROUND))
        await asyncio.sleep(0)
        clock.now = 25.0
        tasks.create_task(pool.run(lambda *_: order.append(5.0), "tictactoe", plan_s=5.0))
        await asyncio.sleep(0)
        clock.now = 30.0  # in plans: 1, 3, 1.5, 0, and 1 for the last
        gate.open.set()
    assert order == [10.0, 20.0, 30.0, 5.0, math.inf, -1]


async def test_a_cancelled_search_is_stopped_and_waited_for() -> None:
    async with SearchPool(1, 1) as pool:
        gate = Gate()
        search = asyncio.create_task(pool.run(gate, "tictactoe"))
        await gate.has_started()
        search.cancel()
        with pytest.raises(asyncio.CancelledError):
            await search
        assert await pool.run(lambda *_: "free", "tictactoe") == "free"


async def test_a_search_that_waits_is_cancelled() -> None:
    async with SearchPool(1, 1) as pool:
        gate, second = Gate(), Gate()
        first = asyncio.create_task(pool.run(gate, "tictactoe"))
        await gate.has_started()
        waiting = asyncio.create_task(pool.run(second, "tictactoe"))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        gate.open.set()
        assert await first == "done"
        assert second.runs == 0


async def test_a_background_job_steps_back_and_starts_anew() -> None:
    async with SearchPool(1, 1) as pool:
        gate = Gate()
        background = asyncio.create_task(pool.run(gate, "tictactoe", rank=JobRank.BACKGROUND))
        await gate.has_started()
        assert await pool.run(lambda *_: "urgent", "tictactoe") == "urgent"
        await gate.has_started()
        assert gate.runs == 2
        gate.open.set()
        assert await background == "done"


@pytest.mark.parametrize("rank", [JobRank.BACKGROUND, JobRank.SLOW])
@pytest.mark.parametrize("wants", [0, 1])
async def test_nobody_steps_back_while_a_thread_is_idle(rank: JobRank, wants: int) -> None:
    """Beside the ones whose cores it has borrowed."""
    async with SearchPool(2 + wants, 1) as pool:
        gate = Gate(wants=wants)
        background = asyncio.create_task(pool.run(gate, "tictactoe", rank=rank))
        await gate.has_started()
        assert await pool.run(lambda *_: "urgent", "tictactoe") == "urgent"
        gate.open.set()
        assert await background == "done"
        assert gate.runs == 1


async def test_closing_ends_what_runs_and_what_waits() -> None:
    gate = Gate()
    async with SearchPool(1, 1) as pool:
        running = asyncio.create_task(pool.run(gate, "tictactoe"))
        await gate.has_started()
        waiting = asyncio.create_task(pool.run(gate, "tictactoe"))
        await asyncio.sleep(0)
    for task in (running, waiting):
        with suppress(asyncio.CancelledError):
            await task
        assert task.cancelled()
    with pytest.raises(RuntimeError, match="closed"):
        await pool.run(gate, "tictactoe")


async def test_a_running_search_can_be_cancelled_twice() -> None:
    async with SearchPool(1, 1) as pool:
        gate = Gate()
        search = asyncio.create_task(pool.run(gate, "tictactoe"))
        await gate.has_started()
        search.cancel()
        await asyncio.sleep(0)
        search.cancel()
        with pytest.raises(asyncio.CancelledError):
            await search


# --- Ranks ----------------------------------------------------------------------------------------------


async def test_ranks_come_before_plans() -> None:
    order: list[JobRank] = []

    async with SearchPool(1, 1) as pool, asyncio.TaskGroup() as tasks:
        gate = Gate()
        tasks.create_task(pool.run(gate, "tictactoe"))
        await gate.has_started()
        for rank in reversed(JobRank):
            job = lambda *_, rank=rank: order.append(rank)  # noqa: E731
            tasks.create_task(pool.run(job, "tictactoe", rank=rank, plan_s=10.0 * (4 - rank)))
        await asyncio.sleep(0)
        gate.open.set()
    assert order == list(JobRank)


@pytest.mark.parametrize("rank", [JobRank.SLOW, JobRank.BACKGROUND, JobRank.FORECAST, JobRank.SPARE])
async def test_a_job_is_paused_for_any_of_a_better_rank(rank: JobRank) -> None:
    for better in JobRank:
        async with SearchPool(1, 1) as pool:
            gate = Gate()
            running = asyncio.create_task(pool.run(gate, "tictactoe", rank=rank))
            await gate.has_started()
            other = asyncio.create_task(pool.run(lambda *_: "other", "tictactoe", rank=better))
            if better < rank:
                assert await other == "other"
                await gate.has_started()
            gate.open.set()
            assert await running == "done"
            assert await other == "other"
            assert gate.runs == (2 if better < rank else 1)


async def test_only_as_many_are_paused_as_threads_are_needed() -> None:
    async with SearchPool(3, 1) as pool:
        gates = {rank: Gate() for rank in (JobRank.SLOW, JobRank.BACKGROUND, JobRank.SPARE)}
        running = {
            rank: asyncio.create_task(pool.run(gate, "tictactoe", rank=rank)) for rank, gate in gates.items()
        }
        for gate in gates.values():
            await gate.has_started()
        live = [Gate(), Gate()]
        tasks = [asyncio.create_task(pool.run(gate, "tictactoe")) for gate in live]
        for gate in live:
            await gate.has_started()
        for gate in [*live, *gates.values()]:
            gate.open.set()
        await asyncio.gather(*tasks, *running.values())
        assert [gate.runs for gate in gates.values()] == [1, 2, 2]


async def test_what_a_paused_job_finds_all_the_same_is_taken() -> None:
    class Stubborn(Gate):
        def __call__(self, _: Searcher, stop: JobStop) -> str:
            self.started.release()
            while not stop.is_set():
                self.open.wait(0.001)
            return "done"

    async with SearchPool(1, 1) as pool:
        gate = Stubborn()
        running = asyncio.create_task(pool.run(gate, "tictactoe", rank=JobRank.SLOW))
        await gate.has_started()
        assert await pool.run(lambda *_: "live", "tictactoe") == "live"
        assert await running == "done"


async def test_a_promoted_job_goes_on() -> None:
    async with SearchPool(1, 1) as pool:
        gate = Gate()
        running = asyncio.create_task(pool.run(gate, "tictactoe", rank=JobRank.SPARE))
        await gate.has_started()
        pool.promote(gate, JobRank.LIVE, 50.0)
        live = asyncio.create_task(pool.run(lambda *_: "live", "tictactoe"))
        await asyncio.sleep(0)
        gate.open.set()
        assert await running == "done"
        assert await live == "live"
        assert gate.runs == 1
        pool.promote(gate, JobRank.LIVE, 50.0)  # it has ended


async def test_a_promoted_job_that_waits_comes_ahead() -> None:
    order: list[str] = []

    def first(*_: object) -> None:
        order.append("promoted")

    def second(*_: object) -> None:
        order.append("slow")

    async with SearchPool(1, 1) as pool, asyncio.TaskGroup() as tasks:
        gate = Gate()
        tasks.create_task(pool.run(gate, "tictactoe"))
        await gate.has_started()
        tasks.create_task(pool.run(second, "tictactoe", rank=JobRank.SLOW))
        tasks.create_task(pool.run(first, "tictactoe", rank=JobRank.SPARE))
        await asyncio.sleep(0)
        pool.promote(first, JobRank.LIVE, 99.0)
        gate.open.set()
    assert order == ["promoted", "slow"]


# --- Idle cores -----------------------------------------------------------------------------------------


async def test_a_job_borrows_only_cores_that_nobody_uses() -> None:
    async with SearchPool(5, 1) as pool, asyncio.TaskGroup() as tasks:
        gates = [Gate(wants=1), Gate(wants=9), Gate(wants=9)]
        for gate in gates:
            tasks.create_task(pool.run(gate, "tictactoe"))
            await gate.has_started()
        for gate in gates:
            gate.open.set()
    # The last one came for a core that the second had borrowed.
    assert [gate.borrowed for gate in gates] == [[1], [2], [0]]


async def test_borrowed_cores_are_free_again_at_the_end() -> None:
    async with SearchPool(3, 1) as pool:
        for _ in range(2):
            gate = Gate(wants=2)
            gate.open.set()
            await pool.run(gate, "tictactoe")
            assert gate.borrowed == [2]


@pytest.mark.parametrize("rank", JobRank)
async def test_who_borrowed_gives_cores_back_to_a_better_rank(rank: JobRank) -> None:
    for better in JobRank:
        async with SearchPool(3, 1) as pool:
            borrower, other = Gate(wants=2), Gate(wants=2)
            running = asyncio.create_task(pool.run(borrower, "tictactoe", rank=rank))
            await borrower.has_started()
            coming = asyncio.create_task(pool.run(other, "tictactoe", rank=better))
            await other.has_started()
            if better < rank:
                await borrower.has_started()
            for gate in (borrower, other):
                gate.open.set()
            assert await running == await coming == "done"
            assert borrower.borrowed == ([2, 0] if better < rank else [2])
            assert other.borrowed == ([2] if better < rank else [0])


async def test_only_who_borrowed_gives_back_and_the_lowest_rank_first() -> None:
    async with SearchPool(6, 1) as pool:
        gates = {
            JobRank.SPARE: Gate(),  # has nothing to give back
            JobRank.BACKGROUND: Gate(wants=1),
            JobRank.SLOW: Gate(wants=1),
        }
        running = []
        for rank, gate in gates.items():
            running.append(asyncio.create_task(pool.run(gate, "tictactoe", rank=rank)))
            await gate.has_started()
        live = [Gate(), Gate()]
        for gate in live:
            running.append(asyncio.create_task(pool.run(gate, "tictactoe")))
            await gate.has_started()
        await gates[JobRank.BACKGROUND].has_started()
        for gate in (*live, *gates.values()):
            gate.open.set()
        await asyncio.gather(*running)
        assert [gate.runs for gate in gates.values()] == [1, 2, 1]


async def test_who_borrowed_gives_back_whatever_else_waits() -> None:
    async with SearchPool(2, 1) as pool:
        slow = [Gate(wants=1), Gate()]
        running = []
        for gate in slow:  # the second comes for the core that the first has borrowed
            running.append(asyncio.create_task(pool.run(gate, "tictactoe", rank=JobRank.SLOW)))
            await gate.has_started()
        running += [
            asyncio.create_task(pool.run(lambda *_: "done", "tictactoe", rank=rank))
            for rank in (JobRank.SPARE, JobRank.LIVE)
        ]
        for gate in slow:
            await gate.has_started()
            gate.open.set()
        await asyncio.gather(*running)
        assert slow[0].borrowed == [1, 0]


# --- Crowds ---------------------------------------------------------------------------------------------


async def test_a_job_knows_how_many_live_ones_wait() -> None:
    async with SearchPool(2, 1) as pool, asyncio.TaskGroup() as tasks:
        first = [Gate(), Gate()]
        for gate in first:
            tasks.create_task(pool.run(gate, "tictactoe"))
            await gate.has_started()
        later = [Gate() for _ in range(4)]
        for gate in later:
            tasks.create_task(pool.run(gate, "tictactoe"))
        tasks.create_task(pool.run(Gate(), "tictactoe", rank=JobRank.SLOW)).cancel()
        tasks.create_task(pool.run(lambda *_: None, "tictactoe", rank=JobRank.SLOW))
        await asyncio.sleep(0)
        for before, gate in zip([*first, *later[:2]], later, strict=True):
            before.open.set()
            await gate.has_started()
        for gate in later:
            gate.open.set()
    assert [gate.queue_per_thread for gate in first] == [0, 0]
    assert [gate.queue_per_thread for gate in later] == [1.5, 1, 0.5, 0]


async def test_the_queue_is_that_of_the_account_by_its_share() -> None:
    """Of another account's crowd one counts; those of an account alone count as before."""
    async with SearchPool(1, 1) as pool, asyncio.TaskGroup() as tasks:
        first = Gate()
        tasks.create_task(pool.run(first, "tictactoe", account="a"))
        await first.has_started()
        later = [(Gate(), account) for account in ("b", "a", "a", "a")]
        for gate, account in later:
            tasks.create_task(pool.run(gate, "tictactoe", account=account))
        await asyncio.sleep(0)
        for before, (gate, _) in zip([first, *(gate for gate, _ in later)], later, strict=False):
            before.open.set()
            await gate.has_started()
        later[-1][0].open.set()
    assert [gate.queue_per_thread for gate, _ in later] == [1, 2, 1, 0]


async def test_who_has_waited_for_its_plan_pauses_the_one_that_has_waited_least() -> None:
    clock = Clock()
    async with SearchPool(2, 1) as pool:
        pool.clock = clock
        gates = [Gate(), Gate(), Gate()]
        running = []
        for gate in gates:
            running.append(asyncio.create_task(pool.run(gate, "tictactoe", plan_s=2.0)))
            await asyncio.sleep(0)
        await gates[0].has_started()
        await gates[1].has_started()
        clock.now = 1.0
        gates[0].open.set()
        await gates[2].has_started()  # it has waited for half of its plan
        urgent = asyncio.create_task(pool.run(lambda *_: "urgent", "tictactoe", plan_s=0.01))
        await asyncio.sleep(0)
        clock.now = 1.02
        assert await urgent == "urgent"
        await gates[1].has_started()  # again
        assert [gate.runs for gate in gates] == [1, 2, 1]
        for gate in gates:
            gate.open.set()
        assert [await task for task in running] == ["done"] * 3


async def test_a_pause_tells_the_job_how_many_wait_now() -> None:
    clock, told = Clock(), list[float]()

    class Asking(Gate):
        def __call__(self, searcher: Searcher, stop: JobStop) -> str:
            try:
                return super().__call__(searcher, stop)
            except Stopped:
                told.append(stop.queue_per_thread)
                raise

    async with SearchPool(1, 1) as pool:
        pool.clock = clock
        gate = Asking()
        running = [asyncio.create_task(pool.run(gate, "tictactoe", plan_s=1.0))]
        await gate.has_started()
        running += [
            asyncio.create_task(pool.run(lambda *_: "urgent", "tictactoe", plan_s=0.01)) for _ in "123"
        ]
        await asyncio.sleep(0)
        clock.now = 0.5
        await gate.has_started()
        gate.open.set()
        await asyncio.gather(*running)
    assert told == [3.0]


async def test_no_timer_is_left_of_a_job_that_has_ended() -> None:
    loop = asyncio.get_running_loop()
    made: list[asyncio.TimerHandle] = []

    async with SearchPool(1, 1) as pool:
        with pytest.MonkeyPatch.context() as patch:
            call_later = loop.call_later

            def record(*arguments: Any, **more: Any) -> asyncio.TimerHandle:
                made.append(call_later(*arguments, **more))
                return made[-1]

            patch.setattr(loop, "call_later", record)
            gate = Gate()
            running = asyncio.create_task(pool.run(gate, "tictactoe", rank=JobRank.SPARE, plan_s=900.0))
            await gate.has_started()
            assert made == []  # only live jobs pause others for waiting
            pool.promote(gate, JobRank.LIVE, 900.0)
            pool.promote(gate, JobRank.LIVE, 800.0)
            stopped = asyncio.create_task(pool.run(Gate(), "tictactoe", plan_s=900.0))
            await asyncio.sleep(0)
            stopped.cancel()
            gate.open.set()
            assert await running == "done"
            with suppress(asyncio.CancelledError):
                await stopped
    assert [timer.when() - loop.time() > 150 for timer in made] == [True] * 3
    assert all(timer.cancelled() for timer in made)


class SlowGate(Gate):
    """It takes a while to stop."""

    def __init__(self) -> None:
        super().__init__()
        self.may_stop = threading.Event()

    def __call__(self, searcher: Searcher, stop: JobStop) -> str:
        try:
            return super().__call__(searcher, stop)
        except Stopped:
            assert self.may_stop.wait(PATIENCE_S)
            raise


async def test_who_waits_for_one_thread_pauses_no_second_job() -> None:
    clock = Clock()
    async with SearchPool(2, 1) as pool:
        pool.clock = clock
        gates = [SlowGate(), SlowGate()]
        running = [asyncio.create_task(pool.run(gate, "tictactoe", plan_s=1.0)) for gate in gates]
        for gate in gates:
            await gate.has_started()
        urgent = asyncio.create_task(pool.run(lambda *_: "urgent", "tictactoe", plan_s=0.01))
        await asyncio.sleep(0)
        clock.now = 1.0
        later = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_later(0.05, later.set_result, None)
        await later  # its timer has come several times
        for gate in gates:
            gate.may_stop.set()
        assert await urgent == "urgent"
        for gate in gates:
            gate.open.set()
        assert [await task for task in running] == ["done", "done"]
        assert [gate.runs for gate in gates] == [1, 2]


async def test_a_slow_game_pauses_no_live_one_however_long_it_waits() -> None:
    clock = Clock()
    async with SearchPool(1, 1) as pool:
        pool.clock = clock
        gate = Gate()
        running = asyncio.create_task(pool.run(gate, "tictactoe", plan_s=1.0))
        await gate.has_started()
        slow = asyncio.create_task(pool.run(lambda *_: "slow", "tictactoe", rank=JobRank.SLOW, plan_s=0.01))
        await asyncio.sleep(0)
        clock.now = 9.0
        later = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_later(0.05, later.set_result, None)
        await later  # the loop calls what is due in order, so the slow game's timer has come before
        assert (gate.runs, slow.done(), pool.load.live) == (1, False, 1)
        gate.open.set()
        assert (await running, await slow) == ("done", "slow")


async def test_who_has_waited_as_long_is_not_paused() -> None:
    clock = Clock()
    async with SearchPool(1, 1) as pool:
        pool.clock = clock
        first, gate = Gate(), Gate()
        running = [asyncio.create_task(pool.run(each, "tictactoe", plan_s=1.0)) for each in (first, gate)]
        await first.has_started()
        clock.now = 5.0
        first.open.set()
        await gate.has_started()  # it has waited for five times its plan
        patient = asyncio.create_task(pool.run(lambda *_: "patient", "tictactoe", plan_s=0.06))
        await asyncio.sleep(0)
        clock.now = 5.06  # once
        urgent = asyncio.create_task(pool.run(lambda *_: "urgent", "tictactoe", plan_s=0.01))
        await asyncio.sleep(0)
        clock.now = 5.26  # four times for the one, twenty for the other
        assert await urgent == "urgent"
        await gate.has_started()
        assert (gate.runs, patient.done()) == (2, False)
        gate.open.set()
        assert [await task for task in (*running, patient)] == ["done", "done", "patient"]


async def test_how_busy_it_is() -> None:
    first, second, third = Gate(), Gate(), Gate()
    async with SearchPool(2, 1) as pool:
        assert pool.load == PoolLoad(2, 0, 0, 0)
        jobs = [asyncio.create_task(pool.run(first, "othello"))]
        await first.has_started()
        jobs.append(asyncio.create_task(pool.run(second, "othello", rank=JobRank.BACKGROUND)))
        await second.has_started()
        for rank in (JobRank.BACKGROUND, JobRank.FORECAST, JobRank.SPARE):
            jobs += [asyncio.create_task(pool.run(third, "othello", rank=rank))]
        await asyncio.sleep(0)
        assert pool.load == PoolLoad(2, 2, 1, 2, 0)
        for gate in (first, second, third):
            gate.open.set()
        await asyncio.gather(*jobs)
        assert pool.load.waiting == 0
