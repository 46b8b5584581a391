"""A PostgreSQL server, and an empty database of either kind, that all tests of a process share.

They stand in the conftest of the whole suite and nowhere else: a fixture that modules import is another one
in each of them, and ten servers were started, and migrated, where one does.
"""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from storage.database import Database
from tests.storage.postgres import NoPostgres, create_database, running_postgres


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
