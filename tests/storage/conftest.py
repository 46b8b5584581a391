"""Every test that asks for `database` runs on SQLite and on PostgreSQL."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Iterator
from itertools import count
from pathlib import Path

import asyncpg  # type: ignore[import-untyped]
import pytest

from storage.database import Database
from tests.storage.postgres import NoPostgres, running_postgres

_numbers = count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The folder of a running server's socket; in CI a machine without PostgreSQL is a failure."""
    try:
        with running_postgres() as folder:
            yield folder
    except NoPostgres as error:
        if os.environ.get("CI", "").lower() in ("", "0", "false"):
            pytest.skip(f"needs PostgreSQL: {error}")
        raise


def postgres_url(folder: str, database: str) -> str:
    return f"postgresql://postgres@/{database}?host={folder}"


async def create_database(folder: str, name: str, template: str = "template1") -> str:
    """Make a database and return its URL."""
    connection = await asyncpg.connect(host=folder, user="postgres", database="postgres")
    try:
        await connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    finally:
        await connection.close()
    return postgres_url(folder, name)


async def _migrate(url: str) -> None:
    await (await Database.open(url)).close()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite database of the newest schema, made once by migrating."""
    path = tmp_path_factory.mktemp("template") / "template.db"
    asyncio.run(_migrate(f"sqlite:///{path}"))
    return path


@pytest.fixture(scope="session")
def postgres_template(postgres: str) -> str:
    """The name of a PostgreSQL database of the newest schema, made once by migrating."""

    async def make() -> None:
        await _migrate(await create_database(postgres, "migrated"))

    asyncio.run(make())
    return "migrated"


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
    return asyncio.run(
        create_database(request.getfixturevalue("postgres"), f"test{next(_numbers)}", template)
    )


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    """An open database with all tables and no rows."""
    opened = await Database.open(url)
    yield opened
    await opened.close()
