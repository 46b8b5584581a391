"""Databases of the same drawn games: one of each kind, filled once and only read."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import pytest

from storage.database import Database
from storage.sql.question import BadQuestion, ask
from tests.storage.postgres import create_database
from tests.storage.sql.sample_games import Sample, drawn


async def fill(url: str, sample: Sample) -> None:
    """Store a sample in an empty database."""
    database = await Database.open(url)
    async with database.write() as session:
        await sample.store(session)
    await database.close()


@pytest.fixture(scope="session")
def sample() -> Sample:
    return drawn()


@pytest.fixture(scope="session")
def filled_sqlite(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory, sample: Sample) -> str:
    path = tmp_path_factory.mktemp("asked") / "desdemona.db"
    shutil.copy(sqlite_template, path)
    asyncio.run(fill(f"sqlite:///{path}", sample))
    return f"sqlite:///{path}"


@pytest.fixture(scope="session")
def filled_postgresql(postgres: str, postgres_template: str, sample: Sample) -> str:
    """Its connections are far from UTC."""

    async def make() -> str:
        url = await create_database(postgres, "asked", postgres_template)
        connection = await asyncpg.connect(url)
        await connection.execute("ALTER DATABASE asked SET timezone = 'Pacific/Kiritimati'")
        await connection.close()
        await fill(url, sample)
        return url

    return asyncio.run(make())


@pytest.fixture
def filled(backend: str, request: pytest.FixtureRequest) -> str:
    """The URL of a filled database."""
    return str(request.getfixturevalue(f"filled_{backend}"))


def asked(url: str, sql: str, *, limit_s: float = 30.0, most_rows: int = 100_000) -> dict[str, Any]:
    """Columns, rows and whether some were cut, or the error."""
    try:
        found = ask(url, sql, limit_s=limit_s, most_rows=most_rows)
    except BadQuestion as error:
        return {"error": str(error)}
    return {"columns": list(found.columns), "rows": [list(row) for row in found.rows], "is_cut": found.is_cut}
