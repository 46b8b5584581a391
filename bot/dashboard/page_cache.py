"""Computes each page once for all viewers, and again only after the database has changed."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from bot.base.errors import DesdemonaError
from bot.views.page import Page, Query, View
from storage.database import Database
from storage.evidence.queries.changes import ChangeWatch

logger = logging.getLogger(__name__)

PAGE_TIMEOUT_S = 10.0
"""Timeout for computing a page, in seconds."""
MAX_CACHED_VIEWS = 60
"""Maximum number of views in memory. A view of ten thousand games takes a megabyte."""
MAX_VIEW_AGE_S = 60.0
"""Maximum age of a view, in seconds, even if no data has changed, because a view may say "today"."""
VERSION_TTL_S = 1.0
"""Shortest interval between checks of the database for changes, in seconds."""

Key = tuple[str, tuple[tuple[str, str], ...]]
Version = tuple[int, int]


class PageTimeout(DesdemonaError):
    """The computation of a page took too long; a narrower query may succeed."""


@dataclass(frozen=True, slots=True)
class CachedView:
    """A view, and the database version that it was computed from."""

    view: View
    version: Version
    at: float
    cache_ttl_s: float
    """Seconds after `at` for which the view is served regardless of the database's version. After that, the
    view is served until the database changes or `MAX_VIEW_AGE_S` have passed since `at`."""


class PageCache:
    """Caches the views of all pages.

    Args:
        database: The source of the views.
        clock: Returns the time of a monotonic clock, in seconds.
    """

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock
        self._watch = ChangeWatch(database)
        self._watching = asyncio.Lock()
        self._version: Version = (0, 0)
        self._seen_at = float("-inf")
        self._views: OrderedDict[Key, CachedView] = OrderedDict()
        self._running: dict[Key, asyncio.Task[CachedView]] = {}

    async def version(self) -> Version:
        """The database's version, at most `VERSION_TTL_S` old.

        Raises:
            StorageError: The database failed.
        """
        async with self._watching:
            if self._clock() - self._seen_at >= VERSION_TTL_S:
                self._version = await self._watch.version()
                self._seen_at = self._clock()
        return self._version

    async def get(self, page: Page, query: Query) -> CachedView:
        """Return a page's view, from the cache if possible.

        Raises:
            PageTimeout: The computation took longer than `PAGE_TIMEOUT_S`.
            StorageError, DesdemonaError: Raised by the page's `load`.
        """
        key = (page.name, tuple(sorted(query.texts().items())))
        cached = self._views.get(key)
        if cached is not None and (
            self._is_fresh(cached, None) or self._is_fresh(cached, await self.version())
        ):
            self._views.move_to_end(key)
            return cached
        version = await self.version()
        running = self._running.get(key)
        if running is None:
            running = asyncio.create_task(self._compute(page, query, version, key))
            self._running[key] = running
            running.add_done_callback(lambda done: self._forget(key, done))
        return await asyncio.shield(running)  # a client that disconnects must not cancel it for the others

    async def close(self) -> None:
        """Cancel running computations."""
        for task in list(self._running.values()):
            task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)
        await self._watch.close()

    def _forget(self, key: Key, done: asyncio.Task[CachedView]) -> None:
        self._running.pop(key, None)
        if not done.cancelled():
            done.exception()  # everybody who waited for it may have gone

    def _forget_stale(self) -> None:
        """Drop outdated views; the database's version only increases, so they can never be served again."""
        for key, each in list(self._views.items()):
            if not self._is_fresh(each, self._version):
                del self._views[key]

    def _is_fresh(self, cached: CachedView, version: Version | None) -> bool:
        """Whether a view may be served at this database version, which is None if not known yet."""
        has_changed = cached.version != version or cached.cache_ttl_s <= 0
        return self._clock() - cached.at < (cached.cache_ttl_s if has_changed else MAX_VIEW_AGE_S)

    async def _compute(self, page: Page, query: Query, version: Version, key: Key) -> CachedView:
        try:
            async with asyncio.timeout(PAGE_TIMEOUT_S):
                view = await page.load(self._database, query)
        except TimeoutError:
            raise PageTimeout(
                f"This query takes longer than {PAGE_TIMEOUT_S:.0f} s. Limit the query to a month or a game."
            ) from None
        cached = CachedView(view, version, self._clock(), page.cache_ttl_s)
        self._forget_stale()
        self._views[key] = cached
        self._views.move_to_end(key)
        if len(self._views) > MAX_CACHED_VIEWS:
            self._views.popitem(last=False)
        return cached
