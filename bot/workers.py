"""The search pool: a few threads, served by earliest deadline, so that one slow game can't flag another.

A job runs on one thread to its end.  Background jobs only use threads that nobody else wants: when a job with
a deadline finds every thread taken, one background job is stopped, and starts anew later.  What it had found
is mostly still in the thread's transposition table.
"""

import asyncio
import heapq
import itertools
import logging
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

from engine.search import Searcher
from engine.searchers import make_searcher
from engine.stop import StopFlag, Stopped

logger = logging.getLogger(__name__)

T = TypeVar("T")
Job = Callable[[Searcher, StopFlag], T]
"""Work for a thread: searches with the searcher and ends, with `Stopped` or early, when the flag is set."""


@dataclass(order=True)
class _Task:
    urgency: tuple[bool, float, int]
    """Background last, then by deadline, then first come."""
    job: Job[Any] = field(compare=False)
    game: str = field(compare=False)
    loop: asyncio.AbstractEventLoop = field(compare=False)
    result: asyncio.Future[Any] = field(compare=False)
    stop: StopFlag = field(compare=False, default_factory=StopFlag)
    cancelled: bool = field(compare=False, default=False)
    """Nobody waits for it any more."""
    preempted: bool = field(compare=False, default=False)
    """Stopped for a job with a deadline: to be started anew."""

    @property
    def is_background(self) -> bool:
        return self.urgency[0]


class WorkerPool:
    """Threads with a searcher for each game.

    Args:
        workers: Number of threads; 0: one for each core.
        table_mb: Transposition table of each thread and game, in MiB.
        searcher: Makes a searcher from the game's name and `table_mb`.
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
        self._idle = 0
        self._closed = False
        self._threads = [
            threading.Thread(target=self._work, name=f"search-{number}", daemon=True)
            for number in range(workers or os.cpu_count() or 1)
        ]

    async def __aenter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop what is running and end the threads; whoever still waits gets `CancelledError`."""
        with self._changed:
            self._closed = True
            for task in [*self._queue, *self._running]:
                task.cancelled = True
                task.stop.set()
                task.result.cancel()
            self._queue.clear()
            self._changed.notify_all()
        for thread in self._threads:
            await asyncio.to_thread(thread.join)

    async def run(self, job: Job[T], game: str, deadline: float, *, background: bool = False) -> T:
        """Have a job done.  When the caller is cancelled, the job is stopped, and its thread waited for.

        Args:
            job: Called on one of the threads, when it is a background job perhaps more than once.
            game: Name of the game that the searcher is for.
            deadline: When the result is needed, in seconds of any one clock; the earliest is served first.
            background: It can wait, whatever its deadline.

        Raises:
            Whatever the job raises.
        """
        loop = asyncio.get_running_loop()
        urgency = (background, deadline, next(self._numbers))
        task = _Task(urgency, job, game, loop, loop.create_future())
        with self._changed:
            if self._closed:
                raise RuntimeError("the pool is closed")
            heapq.heappush(self._queue, task)
            if not background:
                self._make_room()
            self._changed.notify()
        try:
            return await asyncio.shield(task.result)
        except asyncio.CancelledError:
            await self._withdraw(task)
            raise

    def _make_room(self) -> None:
        """Stop as many background jobs as jobs with a deadline would have to wait."""
        waiting = sum(not task.is_background for task in self._queue)
        leaving = sum(task.preempted for task in self._running)
        victims = sorted((t for t in self._running if t.is_background and not t.preempted), reverse=True)
        for task in victims[: max(0, waiting - self._idle - leaving)]:
            task.preempted = True
            task.stop.set()

    async def _withdraw(self, task: _Task) -> None:
        with self._changed:
            task.cancelled = True
            task.stop.set()
            if task in self._queue:
                self._queue.remove(task)
                heapq.heapify(self._queue)
                task.result.cancel()
        while not task.result.done():
            try:
                await asyncio.wait([task.result])
            except asyncio.CancelledError:  # again; the thread needs but a moment
                continue
        if not task.result.cancelled():
            task.result.exception()  # nobody wants to know any more

    # --- On the threads ---------------------------------------------------------------------------------

    def _work(self) -> None:
        searchers: dict[str, Searcher] = {}
        while (task := self._next()) is not None:
            value, error = None, None
            try:
                if task.game not in searchers:
                    searchers[task.game] = self._make_searcher(task.game, self._table_mb)
                value = task.job(searchers[task.game], task.stop)
            except Exception as caught:  # it belongs to whoever asked for the job
                error = caught
            self._done(task, value, error)

    def _next(self) -> _Task | None:
        with self._changed:
            self._idle += 1
            while not self._queue and not self._closed:
                self._changed.wait()
            self._idle -= 1
            if self._closed:
                return None
            task = heapq.heappop(self._queue)
            self._running.append(task)
            return task

    def _done(self, task: _Task, value: object, error: Exception | None) -> None:
        with self._changed:
            self._running.remove(task)
            if isinstance(error, Stopped) and task.preempted and not task.cancelled:
                task.preempted = False
                task.stop = StopFlag()
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
