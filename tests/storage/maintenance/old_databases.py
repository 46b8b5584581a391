"""Databases that released versions wrote, with games of all kinds that those programs played.

Each is the SQL of a SQLite database, compressed: eight games of scripted people at the arena and four of
matches, 154 decisions. ``0.1.0-damaged`` is that of 0.1.0 after the first version of migration 0012, which
lost the replies of 147 decisions.
"""

import json
import lzma
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from alembic import command
from sqlalchemy import (
    JSON,
    Boolean,
    Connection,
    DateTime,
    MetaData,
    insert,
    make_url,
    text,
)

from storage import migrate
from storage.database import create_engine, parse_url

DAMAGED = "0.1.0-damaged"
_DATA = Path(__file__).parent / "data"


def read_old(name: str) -> sqlite3.Connection:
    """The database in memory, as its program left it."""
    connection = sqlite3.connect(":memory:")
    connection.executescript(lzma.decompress((_DATA / f"{name}.sql.xz").read_bytes()).decode())
    connection.row_factory = sqlite3.Row
    return connection


async def restore(name: str, url: str) -> None:
    """Put the database where a URL says.

    PostgreSQL gets the schema of the same revision, and the same rows.
    """
    with closing(read_old(name)) as old:
        if make_url(url).drivername == "sqlite":
            path = Path(str(make_url(url).database))
            path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(path)) as new:
                old.backup(new)
            return
        engine = create_engine(parse_url(url))
        async with engine.begin() as connection:
            await connection.run_sync(partial(_copy, old))
        await engine.dispose()


def _copy(old: sqlite3.Connection, connection: Connection) -> None:
    revision = old.execute("SELECT version_num FROM alembic_version").fetchone()[0]
    command.upgrade(migrate._config(connection), revision)
    tables = MetaData()
    tables.reflect(connection)
    for table in tables.sorted_tables:
        if table.name == "alembic_version":
            continue
        read: dict[str, Callable[[Any], Any]] = {}
        for column in table.columns:
            if isinstance(column.type, Boolean):
                read[column.name] = bool
            elif isinstance(column.type, JSON):
                read[column.name] = json.loads
            elif isinstance(column.type, DateTime):
                read[column.name] = _moment
        rows = [
            {
                name: row[name] if row[name] is None or name not in read else read[name](row[name])
                for name in row.keys()  # noqa: SIM118 - a row is no dictionary
            }
            for row in old.execute(f'SELECT * FROM "{table.name}"')
        ]
        if rows:
            connection.execute(insert(table), rows)
        if rows and "id" in table.columns and isinstance(rows[0]["id"], int):
            last = text(f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), :last)")
            connection.execute(last, {"last": max(row["id"] for row in rows)})


def _moment(stored: str) -> datetime:
    return datetime.fromisoformat(stored).replace(tzinfo=UTC)
