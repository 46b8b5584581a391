"""The search pool: a few threads run searches in the order of `bot.threads.fair_queue`.

A job runs on one thread to its end, unless another preempts it; it is then restarted later. Most of its
results are still in the transposition table of the thread that ran it, so this thread goes on with it if it
can.

A job may borrow the cores of idle threads, for helper threads of its own search. It keeps these cores until
it ends, so another job of the same rank may have to share a core with it. The job is stopped and restarted if
a job of a higher rank needs these cores.
"""

import asyncio
import logging
import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, TypeVar

from bot.threads.cores import available_cores
from bot.threads.fair_queue import MIN_PATIENCE_S, FairQueue, JobRank, QueuedJob, ThreadWaits
from engine.search.reference import Searcher
from engine.search.searchers import make_searcher
from engine.stop import StopFlag, Stopped

logger = logging.getLogger(__name__)

T = TypeVar("T")


class JobStop(StopFlag):
    """The stop flag of one run of a job on a thread; it is set when the job must end."""

    def __init__(self, queue_per_thread: float, borrow: Callable[[int], int] = lambda _: 0) -> None:
        super().__init__()
        self.queue_per_thread = queue_per_thread
        """The waiting live jobs per thread of the account's share, when this run began or was paused."""
        self.borrow = borrow
        """Lends this run at most the requested number of idle threads' cores; returns the number lent."""
        self.is_paused = False
        """Whether the thread is needed for a more urgent job; if so, this job must raise `Stopped` and will
        be restarted."""


Job = Callable[[Searcher, JobStop], T]
"""Work for a thread: uses the searcher, and raises `Stopped` or ends early when its stop flag is set."""


@dataclass(eq=False, kw_only=True)
class _Task(QueuedJob):
    job: Job[Any]
    game: str
    loop: asyncio.AbstractEventLoop
    result: asyncio.Future[Any]
    stop: JobStop | None = None
    """The stop flag of the current run; None while the job waits."""
    timer: asyncio.TimerHandle | None = None
    """The next check whether the job has waited so long that it preempts another."""


@dataclass(frozen=True, slots=True)
class PoolLoad:
    """The load of the search pool."""

    threads: int
    busy: int
    """Number of threads with a job."""
    live: int
    """Number of threads that are searching for a move in a game with a real-time clock."""
    waiting: int
    """Number of jobs waiting for a thread, excluding spare-time jobs."""
    waiting_moves: int = 0
    """Number of jobs in `waiting` that search for a game's move; the rest are less urgent analyses."""
    is_full: bool = False
    """Whether moves get so little of their planned time that no further game should start."""


class SearchPool:
    """A pool of threads, each with a searcher for each game.

    Args:
        workers: Number of threads; 0 means one for each core that this process may use.
        table_mb: Size of the transposition table for each thread and game, in MiB.
        searcher: Creates a searcher from the game's name and `table_mb`.
    """

    def __init__(
        self, workers: int, table_mb: int, searcher: Callable[[str, int], Searcher] = make_searcher
    ) -> None:
        self.clock: Callable[[], float] = time.monotonic
        """Returns the current time in seconds."""
        self._table_mb = table_mb
        self._make_searcher = searcher
        self._changed = threading.Condition()
        # All of these are guarded by `_changed`.
        threads = workers or available_cores()
        self._queue = FairQueue[_Task](threads)
        self._idle = set[int]()
        self._closed = False
        self._threads = [
            threading.Thread(target=self._run_jobs, args=(number,), name=f"search-{number}", daemon=True)
            for number in range(threads)
        ]

    async def __aenter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop running jobs and end the threads; callers that still wait get `CancelledError`."""
        with self._changed:
            self._closed = True
            for task in [*self._queue.waiting, *self._queue.running]:
                self._queue.cancel(task, self.clock())
                if task.stop is not None:
                    task.stop.set()
                task.result.cancel()
            self._changed.notify_all()
        for thread in self._threads:
            await asyncio.to_thread(thread.join)

    @property
    def load(self) -> PoolLoad:
        """The pool's current load."""
        with self._changed:
            waiting, running = self._queue.waiting, self._queue.running
            return PoolLoad(
                self._queue.threads,
                len(running),
                sum(task.rank is JobRank.LIVE for task in running),
                sum(task.rank < JobRank.SPARE for task in waiting),
                sum(task.rank < JobRank.BACKGROUND for task in waiting),
                self._queue.is_full(self.clock()),
            )

    def is_full(self, new_games: int = 0) -> bool:
        """Whether no further game should start; see `FairQueue.is_full`."""
        with self._changed:
            return self._queue.is_full(self.clock(), new_games)

    @property
    def waits(self) -> Mapping[object, ThreadWaits]:
        """How long each account's latest moves waited for a thread, keyed by account."""
        with self._changed:
            return self._queue.waits

    async def run(
        self,
        job: Job[T],
        game: str,
        *,
        rank: JobRank = JobRank.LIVE,
        plan_s: float = math.inf,
        account: object = None,
        is_preemptible: bool = True,
    ) -> T:
        """Run a job. If the caller is cancelled, stop the job and wait until its thread is free.

        Args:
            job: Called on one of the threads, and again after each pause.
            game: Name of the searcher's game.
            rank: Jobs with a lower number are served first.
            plan_s: Planned time for the job, in seconds: the longer, the longer the job may have to wait.
                By default the job is served after all others of its rank, in order of arrival.
            account: The account that plays. Accounts with live jobs have equal shares of the threads.
            is_preemptible: Whether a live job that has waited for long may preempt this one while it is live.

        Raises:
            Any exception that the job raises.
        """
        loop = asyncio.get_running_loop()
        with self._changed:
            if self._closed:
                raise RuntimeError("the pool is closed")
            now = self.clock()
            task = _Task(
                rank=rank,
                plan_s=plan_s,
                account=account,
                is_preemptible=is_preemptible,
                queued_at=now,
                job=job,
                game=game,
                loop=loop,
                result=loop.create_future(),
            )
            self._queue.add(task, now)
            self._make_room()
            self._changed.notify_all()
        self._check_later(task)
        try:
            return await asyncio.shield(task.result)
        except asyncio.CancelledError:
            await self._remove_task(task)
            raise
        finally:
            if task.timer is not None:
                task.timer.cancel()

    def promote(self, job: Job[Any], rank: JobRank = JobRank.LIVE, plan_s: float = math.inf) -> None:
        """Change the rank and plan of a job that is already queued or running; a running job continues.

        Args:
            job: The object that was passed to `run`.
            rank: See `run`.
            plan_s: See `run`.
        """
        with self._changed:
            tasks = (*self._queue.waiting, *self._queue.running)
            task = next((task for task in tasks if task.job is job), None)
            if task is None:  # it has ended
                return
            self._queue.promote(task, rank, plan_s, self.clock())
            self._make_room()
        self._check_later(task)

    def _make_room(self) -> None:
        for victim in self._queue.preempted_by_rank(self.clock()):
            self._pause(victim)

    def _pause(self, task: _Task) -> None:
        if task.stop is not None:
            task.is_paused = task.stop.is_paused = True
            task.stop.queue_per_thread = self._queue.queue_per_thread(task.account)
            task.stop.set()

    def _check_later(self, task: _Task) -> None:
        """Schedule the next check whether a job has waited so long that it preempts another."""
        if task.timer is not None:
            task.timer.cancel()
        if task.rank is JobRank.LIVE and task.plan_s < math.inf:
            task.timer = task.loop.call_later(max(task.plan_s / 4, MIN_PATIENCE_S), self._check, task)

    def _check(self, task: _Task) -> None:
        with self._changed:
            victim = self._queue.preempted_by_wait(task, self.clock())
            if victim is not None:
                self._pause(victim)
        self._check_later(task)

    async def _remove_task(self, task: _Task) -> None:
        with self._changed:
            self._queue.cancel(task, self.clock())
            if task.stop is not None:
                task.stop.set()
            else:
                task.result.cancel()
        while not task.result.done():
            try:
                await asyncio.wait([task.result])
            except asyncio.CancelledError:  # cancelled again; the thread ends in a moment
                continue
        if not task.result.cancelled():
            task.result.exception()  # mark it as retrieved: no caller is left

    # --- On the threads ---------------------------------------------------------------------------------

    def _run_jobs(self, thread: int) -> None:
        searchers: dict[str, Searcher] = {}
        while (job := self._next(thread)) is not None:
            task, stop = job
            value, error = None, None
            try:
                if task.game not in searchers:
                    searchers[task.game] = self._make_searcher(task.game, self._table_mb)
                value = task.job(searchers[task.game], stop)
            except Exception as caught:  # passed on to the job's caller
                error = caught
            self._finish_task(task, thread, value, error)

    def _next(self, thread: int) -> tuple[_Task, JobStop] | None:
        with self._changed:
            self._idle.add(thread)
            while not self._closed:
                task = self._queue.start(thread, self._idle, self.clock())
                if task is not None:
                    self._idle.discard(thread)
                    queue_per_thread = self._queue.queue_per_thread(task.account)
                    task.stop = JobStop(queue_per_thread, partial(self._borrow_cores, task))
                    return task, task.stop
                self._changed.wait()
            return None

    def _borrow_cores(self, task: _Task, most: int) -> int:
        with self._changed:
            return self._queue.lend_cores(task, most)

    def _finish_task(self, task: _Task, thread: int, value: object, error: Exception | None) -> None:
        with self._changed:
            task.stop = None
            self._idle.add(thread)
            if isinstance(error, Stopped) and task.is_paused and not task.is_cancelled:
                self._queue.add(task, self.clock())
                self._changed.notify_all()
                return
            self._queue.finish(task, self.clock())
            if self._closed:
                return
        task.loop.call_soon_threadsafe(_settle, task.result, value, error)


def _settle(result: asyncio.Future[Any], value: object, error: Exception | None) -> None:
    if result.done():
        return
    if error is None:
        result.set_result(value)
    else:
        result.set_exception(error)
