"""Computes pages in processes of their own: on the event loop's processor, moves would wait for them.

A page's numbers take tens to hundreds of milliseconds of Python.  On the loop they delay every move that comes
meanwhile; in a thread of the same process, too, because the interpreter runs one thread at a time.  The
processes start when the first page is asked for, run at a lower priority, and read the database over
connections of their own.
"""

import asyncio
import os
from contextlib import suppress
from dataclasses import dataclass, field

from bot.base.config import DashboardConfig
from bot.base.errors import DesdemonaError
from bot.base.process_pool import ProcessPool, WorkerDied
from bot.dashboard.menu import pages
from bot.dashboard.page import Page, Query, View
from storage.database import Database

PROCESSES = 2
"""So that a slow page does not hold up the others; the second one starts only when both are needed."""
NICE = 5
"""How much lower their priority is."""


class PageWorkers:
    """Processes that compute views; `close` them.

    Args:
        config: The dashboard's settings, from which the pages follow.
        url: The database's URL, with its password.
    """

    def __init__(self, config: DashboardConfig, url: str) -> None:
        self._config = config
        self._url = url
        self._pool = ProcessPool(PROCESSES)

    async def load(self, page: Page, query: Query, limit_s: float) -> View:
        """A page's view.

        Args:
            page: One of `bot.dashboard.menu.pages`.
            query: What its address asks for.
            limit_s: Seconds after which it is given up.

        Raises:
            TimeoutError: It takes longer.
            DesdemonaError: The process ended, for instance for lack of memory.
            StorageError, FilterError, DesdemonaError: As the page's `load`.
        """
        task = _Task(self._config, self._url, page.name, query, limit_s)
        try:
            return await asyncio.wrap_future(self._pool.run(_load, task))
        except WorkerDied:
            raise DesdemonaError("The process that computes pages has ended; try again.") from None

    async def close(self) -> None:
        """End the processes, whatever they are doing."""
        await asyncio.to_thread(self._pool.close)


@dataclass(frozen=True, slots=True)
class _Task:
    """A view to compute."""

    config: DashboardConfig = field(repr=False)
    url: str = field(repr=False)
    """Has the password."""
    page: str
    query: Query
    limit_s: float


class _Worker:
    """What a process keeps between two views: an event loop, the open database, and the pages."""

    def __init__(self, config: DashboardConfig, url: str) -> None:
        self._runner = asyncio.Runner()
        self._url = url
        self._database: Database | None = None
        self._pages = {page.name: page for page in pages(config, url)}
        with suppress(OSError):
            os.nice(NICE)

    def load(self, task: _Task) -> View:
        return self._runner.run(self._load(task))

    async def _load(self, task: _Task) -> View:
        async with asyncio.timeout(task.limit_s):
            if self._database is None:
                self._database = await Database.open(self._url, upgrade=False)
            return await self._pages[task.page].load(self._database, task.query)


_worker: _Worker | None = None


def _load(task: _Task) -> View:
    """Compute a view, in a worker process."""
    global _worker
    if _worker is None:
        _worker = _Worker(task.config, task.url)
    return _worker.load(task)
