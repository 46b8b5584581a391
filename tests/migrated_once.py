"""New SQLite databases with the tables that the migrations made once, for tests.

To migrate an empty database takes a quarter of a second of processor time, and hundreds of tests open one.
Here the statements that made the tables of the first run again; the rest of `Database.open` is as ever.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from sqlalchemy import create_engine
from sqlalchemy.engine import Connection
from sqlalchemy.pool import NullPool

from storage import migrate

_upgrade = migrate._upgrade


@cache
def _statements(head: str) -> tuple[str, ...]:
    """What makes the tables, indices and views of a database that was migrated to this revision."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "migrated.db"
        with create_engine(f"sqlite:///{path}", poolclass=NullPool).begin() as connection:
            _upgrade(connection)
        migrated = sqlite3.connect(path)
        made = migrated.execute(
            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid"
        ).fetchall()
        migrated.close()
    return (*(sql for (sql,) in made), f"INSERT INTO alembic_version VALUES ('{head}')")


def _upgrade_once(connection: Connection) -> None:
    if connection.dialect.name != "sqlite" or migrate._current(connection) is not None:
        _upgrade(connection)
        return
    for statement in _statements(migrate.head()):
        connection.exec_driver_sql(statement)


@contextmanager
def migrations(wanted: bool) -> Iterator[None]:
    """New databases that are opened in the block are migrated, as outside the tests, or copied."""
    with patch.object(migrate, "_upgrade", _upgrade if wanted else _upgrade_once):
        yield
