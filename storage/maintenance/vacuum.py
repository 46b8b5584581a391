"""Frees the disk space of deleted and shortened rows, and refreshes the query planner's statistics.

SQLite rewrites the whole file, blocking all other writers; PostgreSQL frees the space for new rows
without blocking.
"""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import ARRAY, Text, bindparam, text

from storage import migrate
from storage.database import Database, held_roles
from storage.errors import StorageError

MAX_ONLINE_VACUUM_BYTES = 200 << 20
"""Maximum total size of the rows, in bytes, of a SQLite database that is rewritten while a program uses it.
Rewriting that many bytes takes about two seconds, during which the program's moves wait."""


@dataclass(frozen=True, slots=True)
class DatabaseSize:
    """Size of a database before and after compacting, in bytes."""

    before: int
    after: int


async def vacuum(database: Database, *, force: bool = False) -> DatabaseSize:
    """Compact a database.

    Args:
        database: A database with the newest schema.
        force: Rewrite a large SQLite database even while a program uses it.

    Raises:
        StorageError: The database failed, or is too large to rewrite while it is in use.
    """
    before = await size_of(database)
    if database.dialect == "sqlite":
        used = await _used_bytes(database)
        roles = held_roles(database.url)
        if roles and used > MAX_ONLINE_VACUUM_BYTES and not force:
            raise StorageError(
                f"{database.url} is in use ({', '.join(roles)}), and all writers would wait while its "
                f"{used >> 20} MiB are rewritten: stop the program first, or pass --force"
            )
    async with database.autocommit_connection() as connection:
        if database.dialect == "sqlite":
            await connection.execute(text("VACUUM"))
            await connection.execute(text("PRAGMA optimize"))
            await connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
        else:
            for table in migrate.all_tables().sorted_tables:
                await connection.execute(text(f"VACUUM (ANALYZE) {table.name}"))
    return DatabaseSize(before, await size_of(database))


async def size_of(database: Database) -> int:
    """Disk space of a database's tables, in bytes, including SQLite's write-ahead log."""
    if database.dialect == "sqlite":
        files = (Path(database.url + end) for end in ("", "-wal"))
        return sum(each.stat().st_size for each in files if each.exists())
    async with database.read() as session:
        names = [table.name for table in migrate.all_tables().sorted_tables]
        query = text("SELECT SUM(pg_total_relation_size(CAST(name AS regclass))) FROM unnest(:names) name")
        return int(await session.scalar(query.bindparams(bindparam("names", names, ARRAY(Text)))) or 0)


async def _used_bytes(database: Database) -> int:
    async with database.read() as session:
        query = "SELECT page_count, freelist_count, page_size FROM pragma_page_count, pragma_freelist_count"
        pages, free, size = (await session.execute(text(f"{query}, pragma_page_size"))).one()
    return int((pages - free) * size)
