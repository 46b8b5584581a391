"""Every test that asks for `database` runs on SQLite and on PostgreSQL."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path

import asyncpg  # type: ignore[import-untyped]
import pytest

from storage.database import Database
from tests.storage.postgres import create_database, postgres_url

_numbers = count()


_SCHEMA = """
SELECT (SELECT string_agg(version_num, ' ') FROM alembic_version), string_agg(
    concat_ws(' ', attrelid::regclass, attname, atttypid, attnotnull), ', ' ORDER BY attrelid, attnum
)
FROM pg_attribute JOIN pg_class ON attrelid = pg_class.oid
WHERE attnum > 0 AND relnamespace = 'public'::regnamespace
"""
_HANG_UP = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()
"""
_EMPTY = """
SET session_replication_role = replica;  -- so that no table needs another to be emptied first
DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'alembic_version'
    LOOP EXECUTE format('DELETE FROM %I', name); END LOOP;
    FOR name IN SELECT sequencename FROM pg_sequences WHERE schemaname = 'public'
    LOOP PERFORM setval(name::regclass, 1, false); END LOOP;
END $$
"""


async def drop_database(folder: str, name: str) -> None:
    connection = await asyncpg.connect(host=folder, user="postgres", database="postgres")
    await connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
    await connection.close()


_schemas: dict[tuple[str, str], asyncpg.Record] = {}
"""Of the templates, by their server's folder and name."""


async def _schema(folder: str, template: str) -> asyncpg.Record:
    if (folder, template) not in _schemas:
        connection = await asyncpg.connect(host=folder, user="postgres", database=template)
        _schemas[folder, template] = await connection.fetchrow(_SCHEMA)
        await connection.close()
    return _schemas[folder, template]


async def emptied_database(folder: str, template: str) -> str:
    """The URL of a database with all tables and no rows.

    It is the database of the test before, without its rows: to make one takes ten times as long.
    """
    name = "emptied"
    wanted = await _schema(folder, template)
    try:
        connection = await asyncpg.connect(host=folder, user="postgres", database=name)
    except asyncpg.InvalidCatalogNameError:
        return await create_database(folder, name, template)
    await connection.fetch(_HANG_UP, name)
    is_same = await connection.fetchrow(_SCHEMA) == wanted
    if is_same:
        await connection.execute(_EMPTY)
    await connection.close()
    if is_same:
        return postgres_url(folder, name)
    await drop_database(folder, name)
    return await create_database(folder, name, template)


@pytest.fixture(params=["sqlite", "postgresql"])
def backend(request: pytest.FixtureRequest) -> str:
    """The kind of database that a test runs on."""
    return str(request.param)


@pytest.fixture
def empty_url(backend: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database without tables (a file that is not there yet)."""
    if backend == "sqlite":
        return f"sqlite:///{tmp_path / 'new' / 'desdemona.db'}"
    return asyncio.run(create_database(request.getfixturevalue("postgres"), f"empty{next(_numbers)}"))


@pytest.fixture
def url(backend: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database with all tables and no rows."""
    if backend == "sqlite":
        shutil.copy(request.getfixturevalue("sqlite_template"), tmp_path / "desdemona.db")
        return f"sqlite:///{tmp_path / 'desdemona.db'}"
    template = request.getfixturevalue("postgres_template")
    return asyncio.run(emptied_database(request.getfixturevalue("postgres"), template))


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    """An open database with all tables and no rows."""
    opened = await Database.open(url)
    yield opened
    await opened.close()
