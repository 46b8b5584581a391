"""The search pool: a few threads run searches, so that each waits in proportion to its planned time.

A job runs on one thread to its end.  When all threads are busy and a job of a higher rank waits, a job of a
lower rank is stopped and restarted later; most of its results are then still in the thread's transposition
table. Within a rank, the job that has waited longest, in multiples of its planned time, gets the next thread.
A live job that has waited for its whole plan pauses the live job that has waited least.

A job may borrow the cores of idle threads, for helper threads of its own search. It keeps these cores until
it ends, so another job of the same rank may have to share a core with it. The job is stopped and restarted if
a job of a higher rank needs these cores.
"""

import asyncio
import itertools
import logging
import math
import os
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from typing import Any, Self, TypeVar

from engine.search.reference import Searcher
from engine.search.searchers import make_searcher
from engine.stop import StopFlag, Stopped

logger = logging.getLogger(__name__)

T = TypeVar("T")

_MIN_PATIENCE_S = 0.005
_MARGIN = 0.25
"""A job pauses another only if it has waited this many planned times more; each pause costs a restart."""


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
        """The account's waiting live jobs per thread of its share when this run began."""
        self.borrow = borrow
        """Lends this run at most the requested number of idle threads' cores; returns the number lent."""
        self.is_paused = False
        """Whether the thread is needed for a more urgent job; if so, this job must raise `Stopped` and will
        be restarted."""


Job = Callable[[Searcher, JobStop], T]
"""Work for a thread: uses the searcher, and raises `Stopped` or ends early when its stop flag is set."""


@dataclass(eq=False)
class _Task:
    rank: JobRank
    number: int
    """Increases from job to job."""
    plan_s: float
    """Planned time for the job; infinite if it has none."""
    job: Job[Any]
    game: str
    account: object
    loop: asyncio.AbstractEventLoop
    result: asyncio.Future[Any]
    queued_at: float
    """When the job was last queued."""
    waited_s: float = 0.0
    """Time that the job waited in the queue before its runs, in seconds."""
    stop: JobStop | None = None
    """The stop flag of the current run; None while the job waits."""
    borrowed: int = 0
    """Number of cores that the job borrows from idle threads, in addition to its own."""
    cancelled: bool = False
    """Whether the caller no longer waits for the result."""

    def urgency(self, now: float) -> tuple[int, float, int]:
        """Sort key, most urgent first: rank, then minus the time waited in planned times, then arrival."""
        waited_s = self.waited_s + (now - self.queued_at if self.stop is None else 0.0)
        return self.rank, -waited_s / max(self.plan_s, _MIN_PATIENCE_S), self.number

    @property
    def is_leaving(self) -> bool:
        """Whether the job's thread is about to become free."""
        return self.cancelled or (self.stop is not None and self.stop.is_paused)


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
        self.clock: Callable[[], float] = time.monotonic
        """Returns the current time in seconds."""
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
        *,
        rank: JobRank = JobRank.LIVE,
        plan_s: float = math.inf,
        account: object = None,
    ) -> T:
        """Run a job. If the caller is cancelled, stop the job and wait until its thread is free.

        Args:
            job: Called on one of the threads, and again after each pause.
            game: Name of the searcher's game.
            rank: Jobs with a lower number are served first.
            plan_s: Planned time for the job, in seconds: the longer, the longer the job may have to wait.
                By default the job is served after all others of its rank, in order of arrival.
            account: The account that plays. Accounts with live jobs have equal shares of the threads.

        Raises:
            Any exception that the job raises.
        """
        loop = asyncio.get_running_loop()
        number, result = next(self._numbers), loop.create_future()
        task = _Task(rank, number, plan_s, job, game, account, loop, result, self.clock())
        with self._changed:
            if self._closed:
                raise RuntimeError("the pool is closed")
            self._queue.append(task)
            self._make_room()
            self._changed.notify()
        self._take_thread_later(task, plan_s)
        try:
            return await asyncio.shield(task.result)
        except asyncio.CancelledError:
            await self._remove_task(task)
            raise

    def promote(self, job: Job[Any], plan_s: float = math.inf) -> None:
        """Turn a job that is already queued or running into a live one; a running job continues.

        Args:
            job: The object that was passed to `run`.
            plan_s: See `run`.
        """
        with self._changed:
            task = next((t for t in [*self._queue, *self._running] if t.job is job), None)
            if task is None:  # it has ended
                return
            task.rank, task.plan_s = JobRank.LIVE, plan_s
            task.waited_s, task.queued_at = 0.0, self.clock()
            self._make_room()
        self._take_thread_later(task, plan_s)

    def _make_room(self) -> None:
        """Pause enough jobs of lower rank to free the threads, or lent cores, that waiting jobs need."""
        waiting = self._by_urgency(self._queue)
        victims = self._by_urgency(task for task in self._running if not task.is_leaving)[::-1]
        borrowers = [task for task in victims if task.borrowed > 0]
        free = len(self._threads) - len(victims)
        free_cores = max(0, free - sum(task.borrowed for task in borrowers))
        pairs = [*zip(waiting[free:], victims, strict=False)]
        pairs += zip(waiting[free_cores:], borrowers, strict=False)
        for task, victim in pairs:
            if victim.rank > task.rank and victim.stop is not None:
                victim.stop.is_paused = True
                victim.stop.set()

    def _take_thread_later(self, task: _Task, after_s: float) -> None:
        if after_s < math.inf:
            task.loop.call_later(max(after_s, _MIN_PATIENCE_S), self._take_thread, task)

    def _take_thread(self, task: _Task) -> None:
        """Pause the live job that has waited least, if this job waits and has waited clearly longer."""
        with self._changed:
            live = [other for other in self._running if other.rank is JobRank.LIVE]
            is_waiting = task.rank is JobRank.LIVE and task in self._queue
            if live and is_waiting and not any(other.is_leaving for other in self._running):
                now, victim = self.clock(), self._by_urgency(live)[-1]
                if task.urgency(now)[1] < victim.urgency(now)[1] - _MARGIN and victim.stop is not None:
                    victim.stop.is_paused = True
                    victim.stop.set()
        if not task.result.done():
            self._take_thread_later(task, task.plan_s / 4)

    async def _remove_task(self, task: _Task) -> None:
        with self._changed:
            task.cancelled = True
            if task.stop is not None:
                task.stop.set()
            if task in self._queue:
                self._queue.remove(task)
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
            task = self._by_urgency(self._queue)[0]
            self._queue.remove(task)
            task.waited_s += self.clock() - task.queued_at
            task.borrowed = 0
            task.stop = JobStop(self._queue_per_thread(task.account), partial(self._borrow_cores, task))
            self._running.append(task)
            return task, task.stop

    def _by_urgency(self, tasks: Iterable[_Task]) -> list[_Task]:
        now = self.clock()
        return sorted(tasks, key=lambda task: task.urgency(now))

    def _queue_per_thread(self, account: object) -> float:
        """The account's waiting live jobs per thread of its equal share."""
        waiting = sum(other.rank is JobRank.LIVE and other.account == account for other in self._queue)
        live = (other.account for other in [*self._queue, *self._running] if other.rank is JobRank.LIVE)
        return waiting * len({account, *live}) / len(self._threads)

    def _borrow_cores(self, task: _Task, most: int) -> int:
        with self._changed:
            # Jobs of lower rank that were told to stop, perhaps in favour of this one, count as gone.
            staying = (other for other in self._running if not (other.is_leaving and other.rank > task.rank))
            busy = sum(1 + other.borrowed for other in staying)
            busy += sum(other.rank <= task.rank for other in self._queue)  # idle threads will take these
            task.borrowed = max(0, min(most, len(self._threads) - busy))
            return task.borrowed

    def _finish_task(self, task: _Task, value: object, error: Exception | None) -> None:
        with self._changed:
            self._running.remove(task)
            if isinstance(error, Stopped) and task.is_leaving and not task.cancelled:
                task.stop, task.queued_at = None, self.clock()
                self._queue.append(task)
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
