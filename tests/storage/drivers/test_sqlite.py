"""SQLite through one call to the connection's thread for each statement."""

import asyncio
import shutil
import sqlite3
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiosqlite import core
from sqlalchemy import bindparam, insert, select, text
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.ext.asyncio import AsyncEngine

from storage.database import create_engine, parse_url
from storage.inserts import core_table
from storage.tables.games import OpponentRow
from storage.tables.types import now_utc
from tests.inline_sqlite import sqlite_threads

T = core_table(OpponentRow)
VALUES = {"site": "arena", "is_bot": False, "first_seen_at": now_utc(), "name": "Anna"}


@pytest.fixture(autouse=True)
def _threads() -> Iterator[None]:
    with sqlite_threads(wanted=True):
        yield


@pytest.fixture
def path(sqlite_template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(sqlite_template, tmp_path / "x.db"))


@pytest.fixture
async def engine(path: Path) -> AsyncIterator[AsyncEngine]:
    made = create_engine(parse_url(f"sqlite:///{path}"))
    yield made
    await made.dispose()


class Calls(list[Any]):
    """The calls to threads, as they are made."""

    def __init__(self) -> None:
        self._one_more = asyncio.Event()

    def add(self, call: Any) -> None:
        self.append(call)
        self._one_more.set()

    async def until(self, count: int) -> None:
        """Wait for so many."""
        while len(self) < count:
            self._one_more.clear()
            await self._one_more.wait()


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    made = Calls()
    real: Any = core.Connection._execute

    async def counted(self: Any, function: Any, *arguments: Any, **more: Any) -> Any:
        made.add(arguments[0] if arguments and isinstance(arguments[0], str) else function)
        return await real(self, function, *arguments, **more)

    monkeypatch.setattr(core.Connection, "_execute", counted)
    return made


async def test_a_transaction_calls_the_thread_once_a_statement_and_to_commit(
    engine: AsyncEngine, calls: Calls
) -> None:
    async with engine.connect() as connection:
        await connection.execute(text("SELECT 1"))  # connected by now
    calls.clear()
    async with engine.begin() as connection:
        made = await connection.execute(insert(T).values(site_id="anna", **VALUES).returning(T.c.id))
        assert made.scalar_one() == 1
        found = await connection.execute(select(T.c.name))
        assert found.scalars().all() == ["Anna"]
    assert len(calls) == 3
    assert calls[2] is sqlite3.Connection.commit


async def test_nothing_is_ended_that_has_not_begun(engine: AsyncEngine, calls: Calls) -> None:
    async with engine.connect() as connection:
        await connection.execute(text("SELECT 1"))
    calls.clear()
    async with engine.begin():
        pass
    async with engine.connect() as connection:
        await connection.rollback()
    assert calls == []


async def test_a_transaction_without_statements_does_not_begin_with_the_next_one(engine: AsyncEngine) -> None:
    async with engine.begin():
        pass
    unguarded = engine.execution_options(
        sqlite_before_begin="PRAGMA foreign_keys = OFF"
    )  # not in a transaction
    async with unguarded.connect() as connection:
        assert (await connection.execute(text("PRAGMA foreign_keys"))).scalar_one() == 0
        await connection.invalidate()


async def test_a_statement_that_fails_is_rolled_back_with_the_others(engine: AsyncEngine) -> None:
    async with engine.connect() as connection:
        await connection.execute(insert(T).values(site_id="anna", **VALUES))
        with pytest.raises(IntegrityError):
            await connection.execute(insert(T).values(site_id="anna", **VALUES))
        await connection.rollback()
    async with engine.begin() as connection:
        assert (await connection.execute(select(T.c.id))).all() == []


async def test_a_first_statement_that_fails_has_begun_the_transaction(engine: AsyncEngine) -> None:
    async with engine.connect() as connection:
        with pytest.raises(OperationalError, match="Could not decode"):
            await connection.execute(text("SELECT CAST(x'ff' AS TEXT)"))
        await connection.execute(insert(T).values(site_id="anna", **VALUES))
        await connection.rollback()
        assert (await connection.execute(select(T.c.id))).all() == []


async def test_many_rows_and_what_is_known_of_a_statement(engine: AsyncEngine) -> None:
    async with engine.begin() as connection:
        rows = [{"site_id": name, **VALUES} for name in ("anna", "ben", "cleo")]
        await connection.execute(insert(T), rows)
        single = await connection.execute(insert(T).values(site_id="dora", **VALUES))
        assert single.inserted_primary_key == (4,)
        changed = await connection.execute(
            T.update().where(T.c.id > bindparam("least")), {"least": 2, "name": "B"}
        )
        assert changed.rowcount == 2
        found = await connection.execute(select(T.c.name).order_by(T.c.id))
        assert found.scalars().all() == ["Anna", "Anna", "B", "B"]


async def test_a_transaction_begins_with_its_first_statement(engine: AsyncEngine, path: Path) -> None:
    other = sqlite3.connect(path, isolation_level=None, timeout=0)
    writing = engine.execution_options(sqlite_begin="BEGIN IMMEDIATE")
    async with writing.connect() as connection:
        await connection.begin()
        other.execute("BEGIN IMMEDIATE").execute("COMMIT")  # nobody has the lock yet
        await connection.execute(select(T.c.id))
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
        await connection.rollback()
        other.execute("BEGIN IMMEDIATE").execute("COMMIT")
    other.close()


async def test_a_transaction_that_could_not_begin_leaves_nothing_behind(
    engine: AsyncEngine, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.database.STATEMENT_BUSY_TIMEOUT_MS", 1)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    writing = engine.execution_options(sqlite_begin="BEGIN IMMEDIATE")
    async with writing.connect() as connection:
        with pytest.raises(OperationalError, match="locked"):
            await connection.execute(insert(T).values(site_id="anna", **VALUES))
        await connection.rollback()
        other.close()
        await connection.execute(insert(T).values(site_id="ben", **VALUES))
        await connection.commit()
        assert (await connection.execute(select(T.c.site_id))).scalars().all() == ["ben"]


async def test_a_task_cancelled_in_a_statement_gives_the_lock_back(engine: AsyncEngine) -> None:
    writing = engine.execution_options(sqlite_begin="BEGIN IMMEDIATE")

    async def write() -> None:
        async with writing.begin() as connection:
            await connection.execute(insert(T).values(site_id="anna", **VALUES))
            raw = await connection.get_raw_connection()
            driver: Any = raw.driver_connection
            await driver.create_function("cancel", 0, lambda: loop.call_soon_threadsafe(task.cancel) and None)
            await connection.execute(text("SELECT cancel()"))
            await asyncio.sleep(60)

    loop = asyncio.get_running_loop()
    task = asyncio.create_task(write())
    with pytest.raises(asyncio.CancelledError):
        await task
    async with writing.begin() as connection:
        assert (await connection.execute(select(T.c.id))).all() == []


async def test_a_task_cancelled_while_it_waits_for_the_lock_gives_it_back(
    engine: AsyncEngine, path: Path, calls: Calls
) -> None:
    writing = engine.execution_options(sqlite_begin="BEGIN IMMEDIATE")
    async with writing.begin() as connection:
        await connection.execute(select(T.c.id))  # connected by now
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    calls.clear()

    async def write() -> None:
        async with writing.begin() as connection:
            await connection.execute(insert(T).values(site_id="anna", **VALUES))

    task = asyncio.create_task(write())
    await calls.until(1)
    task.cancel()
    await calls.until(2)
    other.close()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert calls[1] is sqlite3.Connection.rollback
    async with writing.begin() as connection:
        assert (await connection.execute(select(T.c.id))).all() == []
