"""Answers one question in SQL, in a process of its own that its caller kills when it takes too long.

``python -m storage.ask.reader`` reads one JSON object from standard input and writes one to standard output.
The process reads only: SQLite's file is opened read-only, and an authorizer refuses everything but reading
the views and the tables beneath; PostgreSQL gets a read-only transaction with a time limit, and what a login
may read is for its grants to say.  Memory is limited, too: one function call can allocate gigabytes, and
SQLite looks at no progress handler meanwhile.
"""

import asyncio
import json
import math
import os
import re
import resource
import sqlite3
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from storage.ask.views import TABLES, VIEWS

MEMORY = 1 << 30
"""Bytes of address space."""
LONGEST_CELL = 100_000
"""Characters of one value."""
LONGEST_ANSWER = 20_000_000
"""Characters of all values together."""
LONGEST_ERROR = 500
"""Characters of an error, which is one line."""
_NICENESS = 10
"""Lower priority: moves are searched at the same time."""

_HARMLESS = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}
_FORBIDDEN_FUNCTIONS = {"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"}
_READABLE = {*VIEWS, *TABLES, "json_each"}


class NotAnswered(Exception):
    """The question is not allowed, or has a mistake."""


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Answer a question.

    Args:
        request: ``url`` (SQLAlchemy's, as in the settings), ``sql``, ``limit_s`` and ``most_rows``.

    Returns:
        ``columns``, ``rows`` and ``is_cut``; or ``error``.
    """
    try:
        if request["url"].startswith("sqlite"):
            path = request["url"].partition(":///")[2]
            columns, rows = _of_sqlite(path, request["sql"], request["most_rows"])
        else:
            columns, rows = asyncio.run(
                _of_postgresql(request["url"], request["sql"], request["limit_s"], request["most_rows"])
            )
    # sqlite3.Warning: two statements.  UnicodeError: half a character of UTF-16.
    except (NotAnswered, sqlite3.Error, sqlite3.Warning, UnicodeError) as error:
        return {"error": _told(error)}
    except MemoryError:
        return {"error": "the answer does not fit into memory"}
    is_cut = len(rows) > request["most_rows"]
    return {"columns": columns, "rows": rows[: request["most_rows"]], "is_cut": is_cut}


def _told(error: Exception) -> str:
    """An error in one line; for an unknown name, with the known ones."""
    said = " ".join(str(error).split())
    if re.search(r"no such (table|column)|(relation|column) .* does not exist", said):
        said = f"{said}; ask the views {', '.join(VIEWS)}, whose columns `desdemona sql --views` lists"
    return said[:LONGEST_ERROR]


def _of_sqlite(path: str, sql: str, most_rows: int) -> tuple[list[str], list[list[Any]]]:
    connection = sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True, isolation_level=None)
    with closing(connection):
        return _of_connection(connection, sql, most_rows)


def _of_connection(
    connection: sqlite3.Connection, sql: str, most_rows: int
) -> tuple[list[str], list[list[Any]]]:
    connection.execute("PRAGMA query_only = ON")
    # What is sorted stays within our memory: in files it would fill the disk, and the games could not go on.
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 50_000_000)
    connection.set_authorizer(_authorizer(connection))
    try:
        cursor = connection.execute(sql)
    except sqlite3.DatabaseError as error:
        if "not authorized" in str(error) or "prohibited" in str(error):
            raise NotAnswered(f"only the views can be read: {', '.join(VIEWS)} ({error})") from None
        raise
    if cursor.description is None:
        raise NotAnswered("this is no question: it gives no rows")
    return [each[0] for each in cursor.description], _read(cursor, most_rows)


def _authorizer(connection: sqlite3.Connection) -> Callable[..., int]:
    names = connection.execute("select name from sqlite_master union select name from pragma_module_list")
    others = {name.lower() for (name,) in names} - _READABLE

    def authorize(
        action: int, first: str | None, second: str | None, _base: str | None, _by: str | None
    ) -> int:
        if action == sqlite3.SQLITE_READ:
            name = (first or "").lower()
            # Without a column: rows are counted, of a query's own part, too, whatever its name.
            is_part = not second and name not in others and not name.startswith("sqlite_")
            return sqlite3.SQLITE_OK if name in _READABLE or is_part else sqlite3.SQLITE_DENY
        if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in _FORBIDDEN_FUNCTIONS:
            return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK if action in _HARMLESS else sqlite3.SQLITE_DENY

    return authorize


async def _of_postgresql(
    url: str, sql: str, limit_s: float, most_rows: int
) -> tuple[list[str], list[list[Any]]]:
    import asyncpg  # type: ignore[import-untyped]

    address = "postgresql:" + url.partition(":")[2]
    try:
        settings = {"statement_timeout": f"{limit_s * 1000:.0f}"}
        connection = await asyncpg.connect(address, server_settings=settings)
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise NotAnswered(f"the database cannot be reached: {error}") from None
    try:
        # Never committed: some functions, such as lo_create, write even in a transaction that only reads.
        await connection.transaction(readonly=True).start()
        statement = await connection.prepare(sql)
        columns = [each.name for each in statement.get_attributes()]
        if not columns:
            raise NotAnswered("this is no question: it gives no rows")
        rows = await (await statement.cursor()).fetch(most_rows + 1)
        return columns, _read((list(row) for row in rows), most_rows)
    except (asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise NotAnswered(str(error)) from None
    finally:
        connection.terminate()


def _read(found: Iterable[Sequence[Any]], most_rows: int) -> list[list[Any]]:
    rows, size = [], 0
    for row in found:
        cells = [_plain(cell) for cell in row]
        size += sum(len(cell) if isinstance(cell, str) else 8 for cell in cells)
        if size > LONGEST_ANSWER:
            raise NotAnswered(f"the answer is longer than {LONGEST_ANSWER:,} characters")
        rows.append(cells)
        if len(rows) > most_rows:
            break
    return rows


def _plain(cell: Any) -> Any:
    """A value converted for JSON."""
    if isinstance(cell, Decimal):
        cell = float(cell)
    if cell is None or isinstance(cell, (bool, int)) or (isinstance(cell, float) and math.isfinite(cell)):
        return cell
    text = f"{len(cell)} bytes" if isinstance(cell, (bytes, memoryview)) else str(cell)
    return text if len(text) <= LONGEST_CELL else f"{text[:LONGEST_CELL]}..."


def main() -> None:
    """Read a request, write the answer."""
    os.nice(_NICENESS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    request = json.load(sys.stdin)
    most_s = math.ceil(request["limit_s"]) + 2  # of processor time: should our caller die, we end, too
    resource.setrlimit(resource.RLIMIT_CPU, (most_s, most_s))
    json.dump(answer(request), sys.stdout)


if __name__ == "__main__":
    main()
