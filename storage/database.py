"""Opens the database and runs transactions on it.

SQLite runs in WAL mode: readers never wait, and writers in this process queue for our own lock rather than
SQLite's, which times out. A writer takes SQLite's write lock when it begins (``BEGIN IMMEDIATE``), because a
transaction that reads before it writes can fail however long it waits.

Processes compete for SQLite's lock, which is not fair: each process retries every 0.1 s, and on a busy
machine its retries can fail for a long time. The caller therefore limits this wait (`busy_timeout_s`).
"""

import asyncio
import fcntl
import glob
import json
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import (
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    nullcontext,
    suppress,
)
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import quote, unquote

from asyncpg import InterfaceError, PostgresError  # type: ignore[import-untyped]
from sqlalchemy import URL, event, make_url, text
from sqlalchemy.engine import Connection
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import (
    AsyncConnection,
    AsyncEngine,
    AsyncSession,
    async_sessionmaker,
    create_async_engine,
)
from sqlalchemy.pool import ConnectionPoolEntry, NullPool

from storage import migrate
from storage.drivers.postgresql import check_pooled_connections
from storage.drivers.sqlite import SqliteDriver
from storage.errors import RoleLost, RoleTaken, StorageError, UnreadableRow, decoding, is_undecodable
from storage.sqlite_access import SqliteAccess, access_to

T = TypeVar("T")

STATEMENT_BUSY_TIMEOUT_MS = 10_000
"""Maximum time that a statement waits for another *process* to finish writing."""

BUSY_TIMEOUT_S = 10.0
"""Maximum wait for the write lock while a move is due and the game's clock is running."""

LONG_BUSY_TIMEOUT_S = 120.0
"""Maximum wait when no clock is running: when storing match results and analyses, or opening a database."""

_WAL_RETRY_INTERVAL_S = 0.05

ROLE_LOCK = 0xDE5D
"""First half of every PostgreSQL advisory lock key used by `Database.hold_role`; an arbitrary number."""

ROLE_CHECK_INTERVAL_S = 2.0
"""Seconds between checks that a role is still held."""
ROLE_CHECK_TIMEOUT_S = 4.0
"""Seconds without a response to a check after which the role counts as lost. PostgreSQL must not release the
role any sooner."""
POSTGRES_SETTINGS = {
    "tcp_keepalives_idle": "5",
    "tcp_keepalives_interval": "2",
    "tcp_keepalives_count": "3",
    "jit": "off",
}
"""With these settings, PostgreSQL drops an unreachable client's connections and locks after 11 s (by default
2 h). JIT compilation is off, because compiling takes longer than running any of our statements."""

_LOCK_HELD_QUERY = text(
    "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted"
    " AND pid = :backend AND classid = :lock AND objsubid = 2"
    " AND objid = (hashtext(:name)::bigint & 4294967295)::oid"
)

DRIVERS = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+asyncpg", "postgres": "postgresql+asyncpg"}

_DRIVER_EXCEPTIONS = (DBAPIError, PoolTimeoutError, OSError, PostgresError, InterfaceError)
"""The drivers' exceptions; SQLAlchemy does not wrap exceptions that asyncpg raises while connecting."""

_SNAPSHOT_ISOLATION: dict[str, Any] = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
"""PostgreSQL's isolation level in which a transaction reads one snapshot; SQLite transactions always do."""

_UNSTORABLE_VALUE_EXCEPTIONS = (OverflowError, UnicodeError)
"""The drivers' exceptions for a value that does not fit its column."""


class Database:
    """An open database, created by `open` and closed by `close`."""

    def __init__(self, url: URL, engine: AsyncEngine, busy_timeout_s: float = BUSY_TIMEOUT_S) -> None:
        self._url = url
        self._engine = engine
        is_sqlite = engine.dialect.name == "sqlite"
        self._write_turn: asyncio.Lock | nullcontext[None] = asyncio.Lock() if is_sqlite else nullcontext()
        reading = engine if is_sqlite else engine.execution_options(**_SNAPSHOT_ISOLATION)
        self.info: dict[str, Any] = {}
        """The `AsyncSession.info` of all read-only transactions; caches are stored in it."""
        self._readers = async_sessionmaker(reading, expire_on_commit=False, info=self.info)
        writing = engine.execution_options(sqlite_begin="BEGIN IMMEDIATE", sqlite_timeout_s=busy_timeout_s)
        self._writers = async_sessionmaker(writing, expire_on_commit=False)

    @property
    def url(self) -> str:
        """The database's URL, without the password."""
        return _shown(self._url)

    @property
    def dialect(self) -> str:
        """``sqlite`` or ``postgresql``."""
        return self._engine.dialect.name

    @classmethod
    async def open(cls, url: str, *, upgrade: bool = True, busy_timeout_s: float = BUSY_TIMEOUT_S) -> Self:
        """Open a database; upgrade its schema if `upgrade` is set, otherwise require the newest schema.

        Args:
            url: ``sqlite:///folder/file.db`` or ``postgresql://user:password@host/name``.
            upgrade: Create missing parts (the folder, the file, the tables) and upgrade an older schema;
                if false, a missing or older database is an error.
            busy_timeout_s: Maximum time that a writer waits for other programs to finish writing to SQLite.
                Opening waits up to `LONG_BUSY_TIMEOUT_S`, because another program may be creating the tables.

        Raises:
            StorageError: The database cannot be opened; the one-line message names it and the reason.
        """

        async def prepare(engine: AsyncEngine) -> None:
            await (
                migrate.upgrade(engine, LONG_BUSY_TIMEOUT_S) if upgrade else migrate.require_newest(engine)
            )

        return (await cls._prepared(url, upgrade, prepare, busy_timeout_s))[0]

    @classmethod
    async def open_unchecked(cls, url: str, *, create: bool = False) -> tuple[Self, str | None]:
        """Open a database regardless of its schema revision.

        Args:
            url: As for `open`.
            create: Create a missing SQLite file.

        Returns:
            The database and its schema revision, or None if it has none of our tables.

        Raises:
            StorageError: As for `open`.
        """
        return await cls._prepared(url, create, migrate.current_revision)

    @classmethod
    async def _prepared(
        cls,
        url: str,
        create: bool,
        prepare: Callable[[AsyncEngine], Awaitable[T]],
        busy_timeout_s: float = BUSY_TIMEOUT_S,
    ) -> tuple[Self, T]:
        parsed = parse_url(url)
        access = SqliteAccess()
        if parsed.drivername.startswith("sqlite"):
            access = _check_sqlite_file(parsed, create=create)
        engine = create_engine(parsed) if not access.options else _create_reading_engine(parsed, access)
        try:
            with _opening(parsed):
                return cls(parsed, engine, busy_timeout_s), await prepare(engine)
        except BaseException:
            await engine.dispose()
            raise

    async def close(self) -> None:
        """Close every connection; no transaction may be open."""
        await self._engine.dispose()

    async def ping(self) -> float:
        """Ping the database and return the round-trip time in seconds.

        Raises:
            StorageError: The database failed.
        """
        began = time.perf_counter()
        async with self.read() as session:
            await session.execute(text("SELECT 1"))
        return time.perf_counter() - began

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncSession]:
        """A read-only transaction; all its queries see the same snapshot of the database.

        In the block, call only functions of `storage`.

        Raises:
            StorageError: The database failed.
        """
        with _storage_errors(self._url, "cannot use the database"):
            async with self._readers() as session:
                yield session

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[AsyncConnection]:
        """A connection whose queries all see one snapshot of the database, even while others write.

        Blocks no writer, but SQLite's write-ahead log (``-wal``) keeps growing while the snapshot is open.

        Raises:
            StorageError: The database failed.
        """
        with _storage_errors(self._url, "cannot use the database"):
            async with self._engine.connect() as connection:
                if self.dialect == "postgresql":
                    await connection.execution_options(**_SNAPSHOT_ISOLATION)
                async with connection.begin():
                    # The snapshot is taken by the first query.
                    await connection.execute(text("SELECT version_num FROM alembic_version"))
                    yield connection

    @asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncSession]:
        """One transaction, committed when the block ends and rolled back when it raises.

        In the block, call only functions of `storage`: on SQLite every other writer in this process waits.

        Raises:
            StorageError: The database failed; nothing was written.
        """
        with _storage_errors(self._url, "cannot use the database"):
            async with self._write_turn, self._writers.begin() as session:
                yield session

    async def connect(self) -> AsyncConnection:
        """Open a connection in autocommit mode, inside `convert_failures`; the caller must close it."""
        return await self._engine.execution_options(isolation_level="AUTOCOMMIT").connect()

    def convert_failures(self) -> AbstractContextManager[None]:
        """Convert database failures in the block to a `StorageError` that names the database."""
        return _storage_errors(self._url, "cannot use the database")

    async def try_writing(self) -> None:
        """Raise `StorageError` if the database cannot be written to; change nothing."""
        with _storage_errors(self._url, "cannot write to the database"):
            async with self._write_turn, self._writers.begin() as session:
                await session.execute(text("DELETE FROM events WHERE id < 0"))  # there are none

    @asynccontextmanager
    async def autocommit_connection(self) -> AsyncIterator[AsyncConnection]:
        """Open a connection in autocommit mode, for statements that cannot run in a transaction.

        Raises:
            StorageError: The database failed.
        """
        with _storage_errors(self._url, "cannot use the database"):
            async with self._write_turn, self._engine.connect() as connection:
                if self.dialect == "sqlite":  # its driver begins no transaction by itself, see below
                    yield await connection.execution_options(sqlite_begin="SELECT 1")
                else:
                    yield await connection.execution_options(isolation_level="AUTOCOMMIT")

    @asynccontextmanager
    async def hold_role(self, name: str) -> AsyncIterator["Role"]:
        """Hold a role on this database while the block runs; only one program may hold the role at a time.

        If the program dies or loses its connection, the operating system or PostgreSQL releases the role.

        Raises:
            RoleTaken: Another process holds the role.
            StorageError: The database failed.
        """
        taken = RoleTaken(f"another program already runs the {name} on the database {self.url}")
        async with AsyncExitStack() as stack:
            if self._url.drivername.startswith("sqlite"):
                path = _lock_path(self.url, name)
                with _storage_errors(self._url, f"cannot lock the {name} on the database"):
                    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
                stack.callback(os.close, lock)
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    raise taken from None
                yield Role(name)
                return
            # A separate connection, open as long as the role is held.
            engine = create_engine(self._url, poolclass=NullPool)
            stack.push_async_callback(engine.dispose)
            with _storage_errors(self._url, f"cannot lock the {name} on the database"):
                connection = await engine.connect()
                stack.push_async_callback(_close_or_leave, connection)
                await connection.execution_options(isolation_level="AUTOCOMMIT")
                row = await connection.execute(
                    text("SELECT pg_try_advisory_lock(:lock, hashtext(:name)), pg_backend_pid()"),
                    {"lock": ROLE_LOCK, "name": name},
                )
                got, backend = row.one()
            if not got:
                raise taken
            yield Role(name, connection, backend)


class Role:
    """A role that this program holds on a database (`Database.hold_role`).

    On SQLite a file lock protects it until the program ends. On PostgreSQL it depends on a connection; if a
    server restart or a network failure breaks the connection, another program can take the role.
    """

    def __init__(self, name: str, connection: AsyncConnection | None = None, backend: int = 0) -> None:
        self._name = name
        self._connection = connection
        self._backend = backend

    async def watch(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Check regularly that the role is still held; end with `RoleLost` as soon as a check fails.

        Raises:
            RoleLost: The role is no longer held, or the check failed.
        """
        while True:
            await sleep(ROLE_CHECK_INTERVAL_S)
            if self._connection is None:
                continue
            try:
                async with asyncio.timeout(ROLE_CHECK_TIMEOUT_S):
                    await self._connection.execute(text("SELECT 1"))
            except (TimeoutError, *_DRIVER_EXCEPTIONS) as error:
                raise self._lost() from error

    async def verify(self, session: AsyncSession) -> None:
        """Check within a write transaction that the role is still held, so that only its holder writes.

        Raises:
            RoleLost: The role is no longer held.
        """
        if self._connection is None:
            return
        result = await session.execute(
            _LOCK_HELD_QUERY, {"backend": self._backend, "lock": ROLE_LOCK, "name": self._name}
        )
        if result.scalar_one_or_none() is None:
            raise self._lost()

    def _lost(self) -> RoleLost:
        return RoleLost(f"the {self._name} role was lost with the connection to the database")


def _lock_path(database: str, role: str) -> str:
    """The lock file of a role, named after the database's real path, so all links to it share the file."""
    return f"{os.path.realpath(database)}.{quote(role, safe='')}.lock"


def held_roles(database: str) -> list[str]:
    """The roles that programs currently hold on a SQLite database.

    A program that requests a role while this function checks the role's lock is refused.

    Args:
        database: The database file.
    """
    real = Path(os.path.realpath(database))
    roles = []
    for path in sorted(real.parent.glob(f"{glob.escape(real.name)}.*.lock")):
        with path.open("rb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                roles.append(unquote(path.name[len(real.name) + 1 : -len(".lock")]))
    return roles


async def _close_or_leave(connection: AsyncConnection) -> None:
    """Close a connection that may be dead; after a timeout, leave it for PostgreSQL to close."""
    with suppress(TimeoutError, *_DRIVER_EXCEPTIONS):
        async with asyncio.timeout(ROLE_CHECK_TIMEOUT_S):
            await connection.close()


def parse_url(url: str) -> URL:
    """Parse a URL and add the driver to use.

    Raises:
        StorageError: The URL is of an unsupported kind, or is a SQLite URL with options.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        parsed = None
    if parsed is None or parsed.drivername not in {*DRIVERS, *DRIVERS.values()}:
        # Not shown: a URL that can't be parsed may still hold a password.
        raise StorageError(
            "storage.url is not understood: expected sqlite:///path/to/file.db or postgresql://user@host/name"
        )
    if parsed.drivername.startswith("sqlite") and parsed.query:
        # SQLite would treat some of them as part of the file's name.
        raise StorageError(
            "storage.url: a SQLite URL takes no options: remove what follows the question mark"
        )
    return parsed.set(drivername=DRIVERS.get(parsed.drivername, parsed.drivername))


def create_engine(url: URL, **options: Any) -> AsyncEngine:
    """Create an engine that is not yet connected; its connections use this module's settings."""
    if not url.drivername.startswith("sqlite"):
        settings = {"server_settings": POSTGRES_SETTINGS}
        engine = _create_engine(url, connect_args=settings, **options)
        check_pooled_connections(engine.sync_engine)  # connections die when the server is restarted
        return engine
    engine = _create_engine(url, module=SqliteDriver(), **options)
    event.listen(engine.sync_engine, "connect", _set_up_sqlite)
    event.listen(engine.sync_engine, "begin", _begin_sqlite)
    event.listen(engine.sync_engine, "invalidate", _roll_back_sqlite)
    return engine


def _create_reading_engine(url: URL, access: SqliteAccess) -> AsyncEngine:
    """Create an engine for a SQLite file that cannot be written."""
    uri = make_url(f"{url.drivername}:///{access.uri(os.path.realpath(str(url.database)))}&uri=true")
    engine = _create_engine(uri, module=SqliteDriver())

    def set_up(connection: Any, _entry: ConnectionPoolEntry) -> None:
        connection.isolation_level = None
        for pragma in access.pragmas:
            connection.execute(pragma).close()

    event.listen(engine.sync_engine, "connect", set_up)
    event.listen(engine.sync_engine, "begin", _begin_sqlite)
    event.listen(engine.sync_engine, "invalidate", _roll_back_sqlite)
    return engine


def _create_engine(url: URL, **options: Any) -> AsyncEngine:
    try:
        return create_async_engine(
            url, json_serializer=_compact_json, json_deserializer=_from_json, **options
        )
    except (TypeError, ValueError) as error:
        raise _odd_option(error) from error


def _compact_json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _from_json(text: str) -> object:
    with decoding():
        return json.loads(text)


def _odd_option(error: Exception) -> StorageError:
    return StorageError(f"storage.url has an option that is not understood: {_reason(error)}")


def _set_up_sqlite(connection: Any, _entry: ConnectionPoolEntry) -> None:
    # The driver must not begin transactions itself: it would do so only before the first write.
    connection.isolation_level = None
    cursor = connection.cursor()
    try:
        cursor.execute(f"PRAGMA busy_timeout = {STATEMENT_BUSY_TIMEOUT_MS}")
        connection.run_async(_switch_to_wal)
        # A committed decision must survive a power cut: its move may be on the server already.
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute("PRAGMA foreign_keys = ON")
    except BaseException:
        connection.close()  # SQLAlchemy neither closes it nor ends its thread
        raise
    cursor.close()


async def _switch_to_wal(connection: Any) -> None:
    """Switch a new database to WAL mode, retrying because SQLite's busy timeout does not cover this lock."""
    give_up = time.monotonic() + LONG_BUSY_TIMEOUT_S
    while True:
        try:
            await connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if not _is_busy(error) or time.monotonic() >= give_up:
                raise
            await asyncio.sleep(_WAL_RETRY_INTERVAL_S)
        else:
            return


def _begin_sqlite(connection: Connection) -> None:
    options = connection.get_execution_options()
    if options.get("isolation_level") == "AUTOCOMMIT":
        return
    if before := options.get("sqlite_before_begin"):  # some settings cannot change inside a transaction
        connection.exec_driver_sql(before)
    give_up = time.monotonic() + options.get("sqlite_timeout_s", 0.0)

    def try_again(error: sqlite3.Error) -> bool:
        # SQLite has already waited, without blocking the event loop.
        return _is_busy(error) and time.monotonic() < give_up

    driver: Any = connection.connection.dbapi_connection
    driver.begin(options.get("sqlite_begin", "BEGIN"), try_again)


def _is_busy(error: BaseException | None) -> bool:
    """Whether the low byte of SQLite's error code says that another connection holds the lock."""
    code = error.sqlite_errorcode if isinstance(error, sqlite3.OperationalError) else 0
    return code & 0xFF == sqlite3.SQLITE_BUSY


def _roll_back_sqlite(connection: Any, _entry: ConnectionPoolEntry, _error: BaseException | None) -> None:
    # SQLAlchemy closes the connection of a task cancelled in the middle of a statement.  SQLite delays the
    # close while a cursor is open, and would hold the write lock until then.
    connection.rollback()


def _check_sqlite_file(url: URL, *, create: bool) -> SqliteAccess:
    if url.database in (None, "", ":memory:"):
        raise StorageError("storage.url names no file: expected sqlite:///path/to/file.db")
    path = Path(str(url.database))
    if path.is_dir():
        raise StorageError(f"cannot open the database {path}: it is a folder")
    if create:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(
                f"cannot create the folder of the database {path}: {_reason(error)}"
            ) from error
        with suppress(OSError):  # SQLite then says what is wrong; its other files get the same permissions
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    elif not path.exists():
        raise StorageError(f"there is no database at {path}; `desdemona run` creates one")
    return access_to(path) if path.exists() else SqliteAccess()


@contextmanager
def _opening(url: URL) -> Iterator[None]:
    """Convert errors raised by the first connection, including asyncpg's TypeError for unknown options."""
    try:
        with _storage_errors(url, "cannot open the database"):
            yield
    except TypeError as error:
        raise _odd_option(error) from error


@contextmanager
def _storage_errors(url: URL, what: str) -> Iterator[None]:
    """Convert a driver's error to a `StorageError` that names the database."""
    try:
        yield
    except (*_DRIVER_EXCEPTIONS, migrate.SchemaError, *_UNSTORABLE_VALUE_EXCEPTIONS) as error:
        kind = UnreadableRow if is_undecodable(error) else StorageError
        raise kind(f"{what} {_shown(url)}: {_reason(error)}") from error


def _shown(url: URL) -> str:
    if url.drivername.startswith("sqlite"):
        return str(url.database)
    return url.set(drivername="postgresql").render_as_string(hide_password=True)


def _reason(error: BaseException) -> str:
    """The driver's error message, on one line."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    if isinstance(cause, OSError) and cause.strerror:
        # Failures to resolve a name have their own, negative numbers.
        return os.strerror(cause.errno) if cause.errno and cause.errno > 0 else cause.strerror
    lines = str(cause).strip().splitlines()
    return lines[0] if lines else type(cause).__name__
