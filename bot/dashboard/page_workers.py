"""Renders pages in worker processes, because in the main process they would delay moves.

A page takes tens to hundreds of milliseconds of Python. On the event loop, and also in a thread (the
interpreter runs one thread at a time), it would delay every move that is due meanwhile. The processes start
with the first request, run at a lower priority, cache the views, and use separate database connections.
"""

import asyncio
import gc
import os
import time
from contextlib import suppress
from dataclasses import dataclass, field

from bot.base.errors import DesdemonaError
from bot.dashboard.answers import PageRenderer, PageRequest, RenderedPage
from bot.dashboard.page_cache import MAX_S, PageCache, TooSlow
from bot.dashboard.rendering import environment
from bot.views.menu import pages
from bot.workers.process_pool import ProcessPool, WorkerDied
from storage.database import Database
from storage.evidence.reading import keep_replies

PROCESSES = 2
"""Number of processes: with two, a slow page does not delay the others. The second starts when needed."""
NICE = 5
"""Increase of the processes' niceness."""
TIMEOUT_S = 3 * MAX_S
"""Timeout of an answer in seconds; includes time in the queue and the start of a process."""


class PageWorkers:
    """Processes that answer requests for pages; `close` them.

    Args:
        url: The database's URL, with its password.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._pool = ProcessPool(PROCESSES)

    async def answer(self, asked: PageRequest) -> RenderedPage:
        """The answer to a request for one of `bot.views.menu.pages`.

        Raises:
            TooSlow: The computation took too long.
            DesdemonaError: The process died, for instance for lack of memory.
            StorageError, DesdemonaError: As in `bot.dashboard.answers.PageRenderer.answer`.
        """
        job = self._pool.run(_answer, _Job(self._url, asked))
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await asyncio.wrap_future(job)
        except TimeoutError:
            raise TooSlow("Earlier requests are taking too long; try again.") from None
        except WorkerDied:
            raise DesdemonaError("The process that renders the pages has died; try again.") from None

    async def close(self) -> None:
        """End the processes, whatever they are doing."""
        await asyncio.to_thread(self._pool.close)


@dataclass(frozen=True, slots=True)
class _Job:
    """A request, with the data that a new process needs."""

    url: str = field(repr=False)
    """Contains the password."""
    asked: PageRequest


class _Worker:
    """The state of a process: an event loop, the open database, and the pages."""

    def __init__(self, job: _Job) -> None:
        with suppress(OSError):
            os.nice(NICE)
        self._runner = asyncio.Runner()
        database = self._runner.run(Database.open(job.url, upgrade=False))
        keep_replies(database)
        cache = PageCache(database, time.monotonic)
        self._maker = PageRenderer(pages(), environment(), cache)
        collect_seldom()

    def answer(self, asked: PageRequest) -> RenderedPage:
        return self._runner.run(self._maker.answer(asked))


def collect_seldom() -> None:
    """Exempt existing objects from garbage collection, and collect cycles less often.

    A page creates tens of thousands of objects. With its default threshold, the collector would also scan all
    modules several times per page.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS)


_NEW_OBJECTS = 10_000
_worker: _Worker | None = None


def _answer(job: _Job) -> RenderedPage:
    """Render a request in a worker process."""
    global _worker
    if _worker is None:
        _worker = _Worker(job)
    return _worker.answer(job.asked)
