"""Detects, with one cheap query, whether any program has changed the database since the last check."""

from contextlib import suppress

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from storage.database import Database
from storage.errors import StorageError

_SQLITE = text("PRAGMA data_version")
"""The number changes only when another connection commits, so poll it over one connection that never
writes."""
_POSTGRESQL = text("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
"""The number of the next transaction; it also grows when another database on the server changes."""


class ChangeWatch:
    """Polls the database over one connection; call `close` at the end.

    Args:
        database: The database to watch.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection: AsyncConnection | None = None
        self._opened = 0

    async def version(self) -> tuple[int, int]:
        """A value that equals the previous one only if nothing was committed in between.

        Raises:
            StorageError: The database failed; the next call connects again.
        """
        try:
            with self._database.convert_failures():
                if self._connection is None:
                    self._connection = await self._database.connect()
                    self._opened += 1
                is_sqlite = self._connection.dialect.name == "sqlite"
                number = await self._connection.scalar(_SQLITE if is_sqlite else _POSTGRESQL)
        except StorageError:
            await self.close()
            raise
        return self._opened, int(number or 0)

    async def close(self) -> None:
        """Close the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):  # one that is lost already
                await connection.close()
