"""The search pool: a few threads run searches by rank and deadline, so that no game loses on time.

A job runs on one thread to its end.  When all threads are busy and a job of a higher rank waits, a job of a
lower rank is stopped and restarted later; most of its results are then still in the thread's transposition
table. If a live job has waited longer than it can afford, another live job that has more time left must end
early.

A job may borrow the cores of idle threads, for helper threads of its own search. It keeps these cores until
it ends, so another job of the same rank may have to share a core with it. The job is stopped and restarted if
a job of a higher rank needs these cores.
"""

import asyncio
import heapq
import itertools
import logging
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from functools import partial
from typing import Any, Self, TypeVar

from engine.search.reference import Searcher
from engine.search.searchers import make_searcher
from engine.stop import StopFlag, Stopped

logger = logging.getLogger(__name__)

T = TypeVar("T")

_MIN_HURRY_S = 0.005


class JobRank(IntEnum):
    """Priority of a job: a job never occupies a thread while a job with a lower number waits."""

    LIVE = 0
    """A move of a game with a real-time clock."""
    SLOW = 1
    """A move of a game without a real-time clock."""
    BACKGROUND = 2
    """A result that is needed eventually."""
    SPARE = 3
    """A result that might be needed later."""


class JobStop(StopFlag):
    """The stop flag of one run of a job on a thread; it is set when the job must end."""

    def __init__(self, queue_per_thread: float, borrow: Callable[[int], int] = lambda _: 0) -> None:
        super().__init__()
        self.queue_per_thread = queue_per_thread
        """Number of waiting live jobs per thread when this run began."""
        self.borrow = borrow
        """Lends this run at most the requested number of idle threads' cores; returns the number lent."""
        self.is_paused = False
        """Whether the thread is needed for a job of a higher rank; if so, this job must raise `Stopped` and
        will be restarted."""


Job = Callable[[Searcher, JobStop], T]
"""Work for a thread: uses the searcher, and raises `Stopped` or ends early when its stop flag is set."""


@dataclass(order=True)
class _Task:
    urgency: tuple[JobRank, float, int]
    """Sort key: rank, then deadline, then arrival."""
    job: Job[Any] = field(compare=False)
    game: str = field(compare=False)
    loop: asyncio.AbstractEventLoop = field(compare=False)
    result: asyncio.Future[Any] = field(compare=False)
    stop: JobStop | None = field(compare=False, default=None)
    """The stop flag of the current run; None while the job waits."""
    borrowed: int = field(compare=False, default=0)
    """Number of cores that the job borrows from idle threads, in addition to its own."""
    is_hurried: bool = field(compare=False, default=False)
    """Whether the job has been asked to end early."""
    cancelled: bool = field(compare=False, default=False)
    """Whether the caller no longer waits for the result."""

    @property
    def rank(self) -> JobRank:
        return self.urgency[0]

    @property
    def is_leaving(self) -> bool:
        """Whether the job's thread is about to become free."""
        return self.is_hurried or self.cancelled or (self.stop is not None and self.stop.is_paused)


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


class SearchPool:
    """A pool of threads, each with a searcher for each game.

    Args:
        workers: Number of threads; 0 means one per core.
        table_mb: Size of the transposition table for each thread and game, in MiB.
        searcher: Creates a searcher from the game's name and `table_mb`.
    """

    def __init__(
        self, workers: int, table_mb: int, searcher: Callable[[str, int], Searcher] = make_searcher
    ) -> None:
        self._table_mb = table_mb
        self._make_searcher = searcher
        self._numbers = itertools.count()
        self._changed = threading.Condition()
        # All of these are guarded by `_changed`.
        self._queue: list[_Task] = []
        self._running: list[_Task] = []
        self._closed = False
        self._threads = [
            threading.Thread(target=self._run_jobs, name=f"search-{number}", daemon=True)
            for number in range(workers or os.cpu_count() or 1)
        ]

    async def __aenter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop running jobs and end the threads; callers that still wait get `CancelledError`."""
        with self._changed:
            self._closed = True
            for task in [*self._queue, *self._running]:
                task.cancelled = True
                if task.stop is not None:
                    task.stop.set()
                task.result.cancel()
            self._queue.clear()
            self._changed.notify_all()
        for thread in self._threads:
            await asyncio.to_thread(thread.join)

    @property
    def load(self) -> PoolLoad:
        """The pool's current load."""
        with self._changed:
            return PoolLoad(
                len(self._threads),
                len(self._running),
                sum(task.rank is JobRank.LIVE for task in self._running),
                sum(task.rank < JobRank.SPARE for task in self._queue),
                sum(task.rank < JobRank.BACKGROUND for task in self._queue),
            )

    async def run(
        self,
        job: Job[T],
        game: str,
        deadline: float,
        *,
        rank: JobRank = JobRank.LIVE,
        hurry_after_s: float | None = None,
    ) -> T:
        """Run a job. If the caller is cancelled, stop the job and wait until its thread is free.

        Args:
            job: Called on one of the threads; possibly more than once unless it is a live job.
            game: Name of the searcher's game.
            deadline: Time in seconds on the shared clock; within a rank, the earliest deadline comes first.
            rank: Jobs with a lower number are served first, whatever their deadlines.
            hurry_after_s: For a live job: each time it has waited this many seconds for a thread, a live job
                with a later deadline must end early. None means that the job can wait.

        Raises:
            Any exception that the job raises.
        """
        loop = asyncio.get_running_loop()
        urgency = (rank, deadline, next(self._numbers))
        task = _Task(urgency, job, game, loop, loop.create_future())
        with self._changed:
            if self._closed:
                raise RuntimeError("the pool is closed")
            heapq.heappush(self._queue, task)
            self._make_room()
            self._changed.notify()
        self._hurry_later(task, hurry_after_s)
        try:
            return await asyncio.shield(task.result)
        except asyncio.CancelledError:
            await self._remove_task(task)
            raise

    def promote(self, job: Job[Any], deadline: float, hurry_after_s: float | None = None) -> None:
        """Turn a job that is already queued or running into a live one; a running job continues.

        Args:
            job: The object that was passed to `run`.
            deadline: See `run`.
            hurry_after_s: See `run`.
        """
        with self._changed:
            task = next((t for t in [*self._queue, *self._running] if t.job is job), None)
            if task is None:  # it has ended
                return
            task.urgency = (JobRank.LIVE, deadline, next(self._numbers))
            heapq.heapify(self._queue)
            self._make_room()
        self._hurry_later(task, hurry_after_s)

    def _make_room(self) -> None:
        """Pause enough jobs of lower rank to free the threads, or lent cores, that waiting jobs need."""
        waiting = sorted(self._queue)
        victims = sorted((task for task in self._running if not task.is_leaving), reverse=True)
        borrowers = [task for task in victims if task.borrowed > 0]
        free = len(self._threads) - len(victims)
        free_cores = max(0, free - sum(task.borrowed for task in borrowers))
        pairs = [*zip(waiting[free:], victims, strict=False)]
        pairs += zip(waiting[free_cores:], borrowers, strict=False)
        for task, victim in pairs:
            if victim.rank > task.rank and victim.stop is not None:
                victim.stop.is_paused = True
                victim.stop.set()

    def _hurry_later(self, task: _Task, hurry_after_s: float | None) -> None:
        if hurry_after_s is not None:
            task.loop.call_later(max(hurry_after_s, _MIN_HURRY_S), self._hurry, task, hurry_after_s)

    def _hurry(self, task: _Task, hurry_after_s: float) -> None:
        """End the live job with the latest deadline early, if this job still waits and has an earlier
        deadline."""
        with self._changed:
            if task not in self._queue:
                return
            live = (other for other in self._running if other.rank is JobRank.LIVE and not other.is_leaving)
            victim = max(live, default=task)
            if victim > task and victim.stop is not None:
                victim.is_hurried = True
                victim.stop.set()
        self._hurry_later(task, hurry_after_s)

    async def _remove_task(self, task: _Task) -> None:
        with self._changed:
            task.cancelled = True
            if task.stop is not None:
                task.stop.set()
            if task in self._queue:
                self._queue.remove(task)
                heapq.heapify(self._queue)
                task.result.cancel()
        while not task.result.done():
            try:
                await asyncio.wait([task.result])
            except asyncio.CancelledError:  # cancelled again; the thread ends in a moment
                continue
        if not task.result.cancelled():
            task.result.exception()  # mark it as retrieved: no caller is left

    # --- On the threads ---------------------------------------------------------------------------------

    def _run_jobs(self) -> None:
        searchers: dict[str, Searcher] = {}
        while (job := self._next()) is not None:
            task, stop = job
            value, error = None, None
            try:
                if task.game not in searchers:
                    searchers[task.game] = self._make_searcher(task.game, self._table_mb)
                value = task.job(searchers[task.game], stop)
            except Exception as caught:  # passed on to the job's caller
                error = caught
            self._finish_task(task, value, error)

    def _next(self) -> tuple[_Task, JobStop] | None:
        with self._changed:
            while not self._queue and not self._closed:
                self._changed.wait()
            if self._closed:
                return None
            task = heapq.heappop(self._queue)
            self._running.append(task)
            live = sum(other.rank is JobRank.LIVE for other in self._queue)
            task.borrowed = 0
            task.stop = JobStop(live / len(self._threads), partial(self._borrow_cores, task))
            return task, task.stop

    def _borrow_cores(self, task: _Task, most: int) -> int:
        with self._changed:
            # Jobs of lower rank that were told to stop, perhaps in favour of this one, count as gone.
            staying = (other for other in self._running if not (other.is_leaving and other.rank > task.rank))
            busy = sum(1 + other.borrowed for other in staying)
            busy += sum(
                other.rank <= task.rank for other in self._queue
            )  # an idle thread is about to take it
            task.borrowed = max(0, min(most, len(self._threads) - busy))
            return task.borrowed

    def _finish_task(self, task: _Task, value: object, error: Exception | None) -> None:
        with self._changed:
            self._running.remove(task)
            if isinstance(error, Stopped) and task.is_leaving and not task.cancelled:
                task.stop, task.is_hurried = None, False
                heapq.heappush(self._queue, task)
                self._changed.notify()
                return
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
