"""Runs an SQL query, read-only and within a time limit."""

import asyncio
import math
import os
import re
import sqlite3
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from storage.errors import StorageError
from storage.sqlite_access import SqliteAccess, access_to

_INSTRUCTIONS_PER_CLOCK_CHECK = 10_000
"""Number of SQLite instructions between two checks of the time limit."""


class BadQuestion(StorageError):
    """The query is not allowed or has failed; the message gives the reason in one line."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Rows of plain JSON values."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    is_cut: bool
    """Whether rows beyond `most_rows` were omitted."""

    def records(self) -> list[dict[str, Any]]:
        """Return the rows as objects, keyed by column name; a number is appended to repeated names."""
        names: list[str] = []
        for name in self.columns:
            own, number = name, len(names) + 1
            while own in names:
                own, number = f"{name}_{number}", number + 1
            names.append(own)
        return [dict(zip(names, row, strict=True)) for row in self.rows]


def ask(url: str, sql: str, *, limit_s: float, most_rows: int) -> Answer:
    """Run a query and return its rows. Call this in a thread without an event loop.

    Args:
        url: URL of the database, as in the settings.
        sql: A single SELECT.
        limit_s: Time limit in seconds.
        most_rows: Maximum number of rows to return.

    Raises:
        BadQuestion: The SQL is invalid, would change data, or takes too long.
    """
    if not sql.strip():
        raise BadQuestion("the question is empty")
    if url.startswith("sqlite"):
        columns, found = _of_sqlite(url.partition(":///")[2], sql, limit_s, most_rows + 1)
    else:
        columns, found = asyncio.run(_of_postgresql(url, sql, limit_s, most_rows + 1))
    rows = tuple(tuple(map(_plain, row)) for row in found)
    return Answer(tuple(columns), rows[:most_rows], len(rows) > most_rows)


def _of_sqlite(path: str, sql: str, limit_s: float, most_rows: int) -> tuple[list[str], Iterable[Any]]:
    ends = time.monotonic() + limit_s
    try:
        access = access_to(Path(path)) if os.path.exists(path) else SqliteAccess()
        with closing(sqlite3.connect(access.uri(path), uri=True)) as connection:
            for pragma in access.pragmas:
                connection.execute(pragma)
            # Sort in memory: temporary files could fill the disk and stop the games.
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)  # create no other file
            connection.set_progress_handler(lambda: time.monotonic() >= ends, _INSTRUCTIONS_PER_CLOCK_CHECK)
            cursor = connection.execute(sql)
            return _named(cursor.description), cursor.fetchmany(most_rows)
    # sqlite3.Warning: two statements. UnicodeError: half a character of UTF-16.
    except (sqlite3.Error, sqlite3.Warning, UnicodeError) as error:
        if time.monotonic() >= ends:
            raise BadQuestion(f"the question took longer than {limit_s:g} s; narrow it down") from None
        raise BadQuestion(_told(error)) from None


async def _of_postgresql(
    url: str, sql: str, limit_s: float, most_rows: int
) -> tuple[list[str], Iterable[Any]]:
    import asyncpg  # type: ignore[import-untyped]

    address = "postgresql:" + url.partition(":")[2]
    try:
        settings = {"statement_timeout": f"{limit_s * 1000:.0f}"}
        connection = await asyncpg.connect(address, server_settings=settings)
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise BadQuestion(f"the database cannot be reached: {_told(error)}") from None
    try:
        # Never committed: some functions, such as lo_create, write even in a transaction that only reads.
        await connection.transaction(readonly=True).start()
        statement = await connection.prepare(sql)
        columns = _named([(each.name,) for each in statement.get_attributes()])
        return columns, await (await statement.cursor()).fetch(most_rows)
    except (asyncpg.PostgresError, asyncpg.InterfaceError, UnicodeError) as error:
        raise BadQuestion(_told(error)) from None
    finally:
        connection.terminate()


def _named(description: Sequence[Any] | None) -> list[str]:
    if not description:
        raise BadQuestion("this is not a question: it returns no rows")
    return [each[0] for each in description]


def _told(error: Exception) -> str:
    """Format an error as one line; for an unknown name, list the known names."""
    said = " ".join(str(error).split())
    if re.search(r"no such (table|column)|(relation|column) .* does not exist", said):
        from storage.sql.views import VIEWS  # imports the exports, which takes longer than an answer

        said = f"{said}; use the views {', '.join(VIEWS)}; `desdemona sql --views` lists their columns"
    return said


def _plain(cell: Any) -> Any:
    """Convert a value for JSON."""
    if isinstance(cell, Decimal):
        cell = float(cell)
    if cell is None or isinstance(cell, (bool, int)) or (isinstance(cell, float) and math.isfinite(cell)):
        return cell
    return f"{len(cell)} bytes" if isinstance(cell, (bytes, memoryview)) else str(cell)
