"""The accounts that the operator has blocked at a site by command, from the database."""

import logging
from collections.abc import Awaitable, Callable

from storage.control.blocks import list_blocks
from storage.database import Database
from storage.errors import StorageError

logger = logging.getLogger(__name__)

REFRESH_S = 60.0
"""Seconds between two readings: another program may have changed the list."""


class StoredBlocks:
    """The blocked accounts of one site, as read last.

    Args:
        database: Where they are.
        site: The site.
    """

    def __init__(self, database: Database, site: str) -> None:
        self._database = database
        self._site = site
        self._names: frozenset[str] = frozenset()
        self._has_failed = False

    def names(self) -> frozenset[str]:
        """The names and ids as they were read last, in lower case."""
        return self._names

    async def refresh(self) -> None:
        """Read them now; the list stays as it was if the database fails."""
        try:
            async with self._database.read() as session:
                self._names = frozenset(await list_blocks(session, self._site))
        except StorageError as error:
            if not self._has_failed:
                logger.error("cannot read the blocked accounts: %s", error)
            self._has_failed = True
        else:
            self._has_failed = False

    async def run(self, sleep: Callable[[float], Awaitable[None]], on_change: Callable[[], None]) -> None:
        """Read them now and every `REFRESH_S` seconds, until cancelled.

        Args:
            sleep: Waits that many seconds.
            on_change: Called when the list has changed.
        """
        while True:
            before = self._names
            await self.refresh()
            if self._names != before:
                on_change()
            await sleep(REFRESH_S)
