"""SQLite for SQLAlchemy's asyncio: aiosqlite with one call to the connection's thread for each statement.

A call to the thread and back costs more processor time than most statements.  SQLAlchemy's own adapter makes
four for each statement (open a cursor, execute, fetch, close), and one for each rollback, also of a
transaction that has ended.  Here the thread does all that a statement needs in one call, and a connection
without a transaction is not asked to roll back.  Results that are streamed go through SQLAlchemy's adapter.
"""

import sqlite3
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import aiosqlite
from sqlalchemy.dialects.sqlite.aiosqlite import (
    AsyncAdapt_aiosqlite_connection,
    AsyncAdapt_aiosqlite_cursor,
    AsyncAdapt_aiosqlite_dbapi,
)
from sqlalchemy.util import await_


class _Ran(NamedTuple):
    """What SQLAlchemy asks a cursor after a statement."""

    description: Any = None
    rowcount: int = -1
    lastrowid: int | None = None

    def close(self) -> None:
        """Nothing is open any more."""


def _execute(
    connection: sqlite3.Connection, operation: str, parameters: Any = (), *, many: bool = False
) -> tuple[_Ran, Iterable[Any]]:
    """Run a statement and fetch all its rows; called in the connection's thread."""
    cursor = connection.cursor()
    try:
        if many:
            cursor.executemany(operation, parameters)
        else:
            cursor.execute(operation, parameters)
        rows = cursor.fetchall() if cursor.description else ()
        return _Ran(cursor.description, cursor.rowcount, cursor.lastrowid), rows
    finally:
        cursor.close()


class _Cursor(AsyncAdapt_aiosqlite_cursor):
    __slots__ = ()

    _awaitable_cursor_close = False
    _adapt_connection: "_Connection"

    def _make_new_cursor(self, connection: Any) -> Any:  # noqa: ARG002
        return _Ran()

    def _aenter_cursor(self, cursor: Any) -> Any:
        return cursor

    def execute(self, operation: Any, parameters: Any = None) -> None:
        self._run(False, operation, parameters or ())

    def executemany(self, operation: Any, seq_of_parameters: Any) -> None:
        self._run(True, operation, seq_of_parameters)

    def _run(self, many: bool, *arguments: Any) -> None:
        connection = self._adapt_connection
        self._cursor, rows = connection.call(partial(_execute, connection.sqlite, many=many), *arguments)
        self._rows = deque(rows)


class _Connection(AsyncAdapt_aiosqlite_connection):
    __slots__ = ("_is_idle",)

    _cursor_cls = _Cursor

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._is_idle = True

    @property
    def sqlite(self) -> sqlite3.Connection:
        """The connection itself; only its thread may use it."""
        found: sqlite3.Connection = self._connection._conn
        return found

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Run a function in the connection's thread."""
        self._is_idle = False  # and it stays so if the task is cancelled while the thread is at work
        try:
            result = await_(self._connection._execute(function, *arguments))
        except Exception as error:
            self._is_idle = True
            self._handle_exception(error)
        self._is_idle = True
        return result

    def commit(self) -> None:
        if self._connection._connection:
            self.call(self.sqlite.commit)

    def rollback(self) -> None:
        open_one = self._connection._connection
        if open_one and (open_one.in_transaction or not self._is_idle):
            self.call(open_one.rollback)


class SqliteDriver(AsyncAdapt_aiosqlite_dbapi):
    """The module that SQLAlchemy uses for connections: argument ``module`` of `create_async_engine`."""

    def __init__(self) -> None:
        super().__init__(aiosqlite, sqlite3)

    def connect(self, *arguments: Any, **more: Any) -> _Connection:
        """Open a connection, with a thread of its own."""
        connection = aiosqlite.connect(*arguments, **more)
        connection._thread.daemon = True  # a program must not hang in its end
        return _Connection(self, await_(connection))
