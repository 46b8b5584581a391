"""Copies a whole database to another one; each may be SQLite or PostgreSQL.

The source is read in one snapshot, so another program can use it during the copy. The target must be
empty or an interrupted copy, which restarts from the beginning. During the copy, the target's revision begins
with `storage.migrate.UNFINISHED_COPY`, so no program opens it. At the end all rows of both databases are read
again and compared one by one.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import inspect, text
from sqlalchemy.exc import StatementError
from sqlalchemy.ext.asyncio import AsyncConnection

from storage import migrate
from storage.database import Database
from storage.errors import VALUE_ERRORS, StorageError, reason_of
from storage.maintenance.copied_rows import COPY_BATCH, CopiedTable, Row, RowDigest

ROLE = "copy"
"""The role that a program holds while it fills the target (`Database.hold_role`)."""

_Pair = tuple[Row | None, Row | None]

OnStep = Callable[[str, str, int], None]
"""Reports progress: the step (``copy`` or ``verify``), the table, and how many of its rows are done."""


@dataclass(frozen=True, slots=True)
class CopiedRows:
    """A table of a verified copy."""

    table: str
    rows: int
    sha256: str
    """Checksum of all rows' values, the same for both databases."""


@dataclass(frozen=True, slots=True)
class CopyReport:
    """A finished and verified copy."""

    source: str
    """The source's URL, without a password."""
    target: str
    tables: tuple[CopiedRows, ...]


async def copy_database(source_url: str, target_url: str, on_step: OnStep | None = None) -> CopyReport:
    """Copy all tables of a database into an empty one.

    Args:
        source_url: URL of a database with the newest schema.  The database is only read.
        target_url: URL of a database without rows, or of an unfinished copy. Missing tables are created.
        on_step: Called to report progress.

    Raises:
        StorageError: A database cannot be used, the target contains other data, or a row cannot be copied.
    """
    source = await Database.open(source_url, upgrade=False)
    try:
        target = await _open_target(source, target_url)
        try:
            async with target.hold_role(ROLE):
                return await _Copying(source, target, on_step or _ignore).run()
        finally:
            await target.close()
    finally:
        await source.close()


def _ignore(_what: str, _table: str, _rows: int) -> None:
    pass


async def _open_target(source: Database, url: str) -> Database:
    """Open the target and create its tables; whether it is empty is checked later."""
    target, revision = await Database.open_unchecked(url, create=True)
    try:
        if _place(source) == _place(target):
            raise StorageError(f"{target.url} cannot be copied to itself")
        if revision is None:
            async with target.read() as session:
                connection = await session.connection()
                strange = await connection.run_sync(lambda sync: sorted(inspect(sync).get_table_names()))
            if strange:
                raise StorageError(f"{target.url} has tables of another program: {', '.join(strange[:5])}")
            await (await Database.open(url)).close()
        elif revision not in (migrate.newest_revision(), _unfinished()):
            newest = migrate.newest_revision()
            raise StorageError(f"the schema of {target.url} is {revision}, not {newest}: use an empty one")
    except BaseException:
        await target.close()
        raise
    return target


def _unfinished() -> str:
    """The revision that marks an unfinished copy."""
    return f"{migrate.UNFINISHED_COPY} {migrate.newest_revision()}"


def _place(database: Database) -> str:
    return str(Path(database.url).resolve()) if database.dialect == "sqlite" else database.url


class _Copying:
    def __init__(self, source: Database, target: Database, on_step: OnStep) -> None:
        self._source = source
        self._target = target
        self._on_step = on_step
        self._tables = [CopiedTable(table) for table in migrate.all_tables().sorted_tables]

    async def run(self) -> CopyReport:
        await self._begin()
        async with self._source.snapshot() as reading:
            for table in self._tables:
                await self._fill(reading, table)
            async with self._target.snapshot() as written:
                verified = [await self._verify(reading, written, table) for table in self._tables]
        await self._finish()
        return CopyReport(self._source.url, self._target.url, tuple(verified))

    async def _begin(self) -> None:
        """Mark the target as an unfinished copy; if it was already marked, delete its rows.

        Raises:
            StorageError: The target contains other data.
        """
        async with self._target.write() as session:
            revision = await session.scalar(text("SELECT version_num FROM alembic_version"))
            for table in reversed(self._tables):
                if revision == _unfinished():
                    await session.execute(table.emptying())
                elif await session.scalar(text(f"SELECT 1 FROM {table.name} LIMIT 1")) is not None:  # noqa: S608 - our own name
                    raise StorageError(
                        f"{self._target.url} is not empty: its table {table.name} has rows; "
                        "nothing was changed"
                    )
            await session.execute(
                text("UPDATE alembic_version SET version_num = :mark"), {"mark": _unfinished()}
            )

    async def _fill(self, reading: AsyncConnection, table: CopiedTable) -> None:
        """Copy a table's rows."""
        rows = 0
        new: list[Row] = []
        async for row in table.rows(reading):
            new.append(row)
            if len(new) >= COPY_BATCH:
                rows += len(new)
                await self._write(table, new)
                self._on_step("copy", table.name, rows)
                new.clear()
        await self._write(table, new)
        self._on_step("copy", table.name, rows + len(new))

    async def _write(self, table: CopiedTable, rows: list[Row]) -> None:
        """Write rows to the target in one transaction.

        Raises:
            StorageError: The target rejects a row; the message names the row and the reason.
        """
        if not rows:
            return
        insertion = table.insertion(self._target.dialect)
        is_refused = False
        try:
            async with self._target.write() as session:
                connection = await session.connection()
                try:
                    await connection.execute(insertion, [table.parameters(row) for row in rows])
                except (StatementError, *VALUE_ERRORS):
                    is_refused = True
                    raise
        except (StorageError, StatementError, *VALUE_ERRORS) as error:
            if not is_refused:
                raise
            if len(rows) == 1:
                cause = error.__cause__ if isinstance(error.__cause__, StatementError) else error
                reason = reason_of(cause) if isinstance(cause, Exception) else str(cause)
                name = table.row_label(table.key_of(rows[0]))
                raise StorageError(f"{name} cannot be copied: {reason}") from error
        else:
            return
        for row in rows:  # find the rejected row
            await self._write(table, [row])

    async def _verify(
        self, reading: AsyncConnection, written: AsyncConnection, table: CopiedTable
    ) -> CopiedRows:
        """Compare all rows of both databases.

        Raises:
            StorageError: The databases differ because of a bug, or another program is writing to the target.
        """
        digest = RowDigest()
        async with aclosing(_paired(table.rows(reading), table.rows(written), table.key_of)) as pairs:
            async for wanted, actual in pairs:
                text_of = [None if row is None else repr(table.canonical(row)) for row in (wanted, actual)]
                if text_of[0] is None or text_of[0] != text_of[1]:
                    row = wanted if wanted is not None else actual
                    assert row is not None  # noqa: S101 - one of a pair is there
                    raise StorageError(
                        f"the copy differs from its source at {table.row_label(table.key_of(row))}: "
                        "is another program writing to it?"
                    )
                digest.add(text_of[0])
                if digest.rows % COPY_BATCH == 0:
                    self._on_step("verify", table.name, digest.rows)
        self._on_step("verify", table.name, digest.rows)
        return CopiedRows(table.name, digest.rows, digest.sha256)

    async def _finish(self) -> None:
        async with self._target.write() as session:
            if self._target.dialect == "postgresql":
                for table in self._tables:
                    if (sequence := table.sequence()) is not None:
                        await session.execute(sequence)
            await session.execute(
                text("UPDATE alembic_version SET version_num = :head"), {"head": migrate.newest_revision()}
            )


async def _paired(
    wanted: AsyncIterator[Row], found: AsyncIterator[Row], key_of: Callable[[Row], Row]
) -> AsyncGenerator[_Pair, None]:
    """Merge two sorted streams of rows by key; rows with the same key are paired."""
    left, right = await anext(wanted, None), await anext(found, None)
    while left is not None or right is not None:
        if right is None or (left is not None and key_of(left) < key_of(right)):
            yield left, None
            left = await anext(wanted, None)
        elif left is None or key_of(right) < key_of(left):
            yield None, right
            right = await anext(found, None)
        else:
            yield left, right
            left, right = await anext(wanted, None), await anext(found, None)
