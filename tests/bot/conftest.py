"""A SQLite database for every test that asks for one: migrated once, then copied."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from storage.database import Database


async def _migrate(url: str) -> None:
    await (await Database.open(url)).close()


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of the newest schema, without a row."""
    path = tmp_path_factory.mktemp("template") / "template.db"
    asyncio.run(_migrate(f"sqlite:///{path}"))
    return path


@pytest.fixture
async def database(template: Path, tmp_path: Path) -> AsyncIterator[Database]:
    """A real database, open."""
    shutil.copy(template, tmp_path / "desdemona.db")
    opened = await Database.open(f"sqlite:///{tmp_path / 'desdemona.db'}")
    try:
        yield opened
    finally:
        await opened.close()
