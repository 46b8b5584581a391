"""Renders pages in worker processes, because rendering in the main process would delay moves.

Rendering a page takes tens to hundreds of milliseconds. Rendering on the event loop, or in a thread (the
interpreter runs one thread at a time), would delay every move due during that time. The processes start with
the first request, run at a lower priority, cache the views, and use separate database connections.
"""

import asyncio
import gc
import os
import time
from contextlib import suppress
from dataclasses import dataclass, field

from bot.base.errors import DesdemonaError
from bot.dashboard.page_cache import PAGE_TIMEOUT_S, PageCache, PageTimeout
from bot.dashboard.page_renderer import PageRenderer, PageRequest, RenderedPage
from bot.dashboard.rendering import environment
from bot.views.menu import pages
from bot.workers.process_pool import ProcessPool, WorkerDied
from storage.database import Database
from storage.evidence.reading import enable_reply_cache

PAGE_WORKERS = 2
"""Number of processes: with two, a slow page does not delay others. The second starts when needed."""
NICENESS = 5
"""Amount by which the processes' niceness is raised."""
WORKER_TIMEOUT_S = 3 * PAGE_TIMEOUT_S
"""Timeout for a response in seconds, including time in the queue and the start of a process."""


class PageWorkers:
    """Processes that answer requests for pages; call `close` after use.

    Args:
        url: The database's URL, with its password.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._pool = ProcessPool(PAGE_WORKERS)

    async def answer(self, asked: PageRequest) -> RenderedPage:
        """Return the response to a request for one of `bot.views.menu.pages`.

        Raises:
            PageTimeout: The computation took too long.
            DesdemonaError: The process died, for instance because memory ran out.
            StorageError, DesdemonaError: As in `bot.dashboard.page_renderer.PageRenderer.answer`.
        """
        job = self._pool.run(_answer, _Job(self._url, asked))
        try:
            async with asyncio.timeout(WORKER_TIMEOUT_S):
                return await asyncio.wrap_future(job)
        except TimeoutError:
            raise PageTimeout("Earlier requests are taking too long; try again.") from None
        except WorkerDied:
            raise DesdemonaError("The process that renders the pages has died; try again.") from None

    async def close(self) -> None:
        """End the processes, even while they are rendering a page."""
        await asyncio.to_thread(self._pool.close)


@dataclass(frozen=True, slots=True)
class _Job:
    """A request, and the database URL that a new process needs."""

    url: str = field(repr=False)
    """Contains the password."""
    asked: PageRequest


class _Worker:
    """The state of a worker process: an event loop, the open database, and the page renderer."""

    def __init__(self, job: _Job) -> None:
        with suppress(OSError):
            os.nice(NICENESS)
        self._runner = asyncio.Runner()
        database = self._runner.run(Database.open(job.url, upgrade=False))
        enable_reply_cache(database)
        cache = PageCache(database, time.monotonic)
        self._maker = PageRenderer(pages(), environment(), cache)
        reduce_garbage_collection()

    def answer(self, asked: PageRequest) -> RenderedPage:
        return self._runner.run(self._maker.answer(asked))


def reduce_garbage_collection() -> None:
    """Exempt existing objects from garbage collection and collect cycles less often.

    A page creates tens of thousands of objects. With the default threshold, the collector would also scan all
    modules' objects several times per page.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GC_THRESHOLD_OBJECTS)


_GC_THRESHOLD_OBJECTS = 10_000
_worker: _Worker | None = None


def _answer(job: _Job) -> RenderedPage:
    """Render a request in a worker process."""
    global _worker
    if _worker is None:
        _worker = _Worker(job)
    return _worker.answer(job.asked)
