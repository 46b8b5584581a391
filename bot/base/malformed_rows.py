"""Quarantines malformed rows, so that they cannot stop the program or a page."""

import asyncio
import logging
import math
import time
from collections.abc import Callable

from aiohttp import web
from aiohttp.typedefs import Handler

from engine.errors import RecordError
from storage.database import Database
from storage.errors import UnreadableRow
from storage.maintenance.malformed import Tables, quarantine_malformed, tables_needed_at_start, whole_database

logger = logging.getLogger(__name__)

MIN_CHECK_INTERVAL_S = 3600.0
"""Minimum time between two checks of all rows, in seconds."""


async def check_at_start(database: Database) -> None:
    """Quarantine malformed rows that the program would read, and log each of them.

    `desdemona db recheck` checks all other rows as well.
    """
    await _check(database, tables_needed_at_start())


async def _check(database: Database, tables: Tables) -> bool:
    moved = await quarantine_malformed(database, tables)
    for row in moved:
        logger.error("moved to the quarantine: %s; `desdemona db recheck` checks all rows", row.text)
    return bool(moved)


class MalformedRows:
    """Checks all rows after a page has failed to read one.

    Args:
        database: The database that the pages read.
        clock: Monotonic clock, in seconds.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._clock = clock
        self._turn = asyncio.Lock()
        self._last = -math.inf
        """When the last check ended."""
        self._has_moved = False
        """Whether the last check moved a row."""

    async def move(self) -> bool:
        """Quarantine malformed rows unless a check was made recently; return whether any rows were moved."""
        asked = self._clock()
        async with self._turn:
            if self._last >= asked:  # another request waited for the same check
                return self._has_moved
            if asked - self._last < MIN_CHECK_INTERVAL_S:
                return False
            self._has_moved = await _check(self._database, whole_database())
            self._last = self._clock()
            return self._has_moved

    @web.middleware
    async def guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Middleware: if a page fails to read a row, quarantine malformed rows and retry the request."""
        try:
            return await handler(request)
        except (RecordError, UnreadableRow):
            if request.method != "GET" or not await self.move():
                raise
        return await handler(request)
