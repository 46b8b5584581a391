"""The accounts that the operator has blocked at a site by command, from the database."""

import logging

from storage.database import Database
from storage.errors import StorageError
from storage.ledger.blocks import list_blocks

logger = logging.getLogger(__name__)


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
