"""New SQLite databases with the tables that the migrations made once, for tests.

To migrate an empty database takes a quarter of a second of processor time, and hundreds of tests open one.
Here the first one is copied; the rest of `Database.open` is as ever.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from sqlalchemy import create_engine
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.pool import NullPool

from storage import migrate

_upgrade = migrate.upgrade


@cache
def _migrated() -> bytes:
    """A migrated database."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "migrated.db"
        with create_engine(f"sqlite:///{path}", poolclass=NullPool).begin() as connection:
            migrate._upgrade(connection)
        return path.read_bytes()


def _copy(path: Path) -> None:
    with closing(sqlite3.connect(path)) as new, closing(sqlite3.connect(":memory:")) as migrated:
        migrated.deserialize(_migrated())
        migrated.backup(new)


def _is_empty(path: Path) -> bool:
    return path.is_file() and path.stat().st_size == 0


async def _copied(engine: AsyncEngine, busy_timeout_s: float = 0.0) -> None:
    path = Path(engine.url.database or "")
    if engine.dialect.name == "sqlite" and _is_empty(path):
        _copy(path)
    await _upgrade(engine, busy_timeout_s)


@contextmanager
def migrations(wanted: bool) -> Iterator[None]:
    """New databases that are opened in the block are migrated, as outside the tests, or copied."""
    with patch.object(migrate, "upgrade", _upgrade if wanted else _copied):
        yield
