"""An aiosqlite adapter for SQLAlchemy that makes only one call to the connection's thread per statement.

A round trip to the thread costs more processor time than most statements. SQLAlchemy's own adapter makes four
round trips per statement (open a cursor, execute, fetch, close) and one per rollback, even if no transaction
is open. Here, each statement takes one call to the thread; the first statement's call also begins
the transaction, and a rollback without a transaction makes no call. Results cannot be streamed;
all rows are fetched immediately.
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
    """Cursor attributes that SQLAlchemy reads after running a statement."""

    description: Any = None
    rowcount: int = -1
    lastrowid: int | None = None

    def close(self) -> None:
        """Do nothing: the cursor is already closed."""


def _execute(
    connection: sqlite3.Connection,
    operation: str,
    parameters: Any = (),
    *,
    begin: str = "",
    many: bool = False,
) -> tuple[_Ran, Iterable[Any]]:
    """Run a statement and fetch all its rows; must be called in the connection's thread.

    Args:
        begin: Statement to run first; empty for none.
    """
    if begin:
        connection.execute(begin)
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
    _cursor: Any

    def _make_new_cursor(self, connection: Any) -> Any:  # noqa: ARG002
        return _Ran()

    def _aenter_cursor(self, cursor: Any) -> Any:
        return cursor

    def execute(self, operation: Any, parameters: Any = None) -> None:
        self._run(False, operation, parameters or ())

    def executemany(self, operation: Any, seq_of_parameters: Any) -> None:
        self._run(True, operation, seq_of_parameters)

    def _run(self, many: bool, *arguments: Any) -> None:
        self._cursor, rows = self._adapt_connection.run(many, *arguments)
        self._rows = deque(rows)


class _Connection(AsyncAdapt_aiosqlite_connection):
    __slots__ = ("_begin", "_is_idle", "_try_again")

    _cursor_cls = _Cursor

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._is_idle = True
        self._begin = ""
        self._try_again: Callable[[sqlite3.Error], bool]

    @property
    def sqlite(self) -> sqlite3.Connection:
        """The underlying connection; only its own thread may use it."""
        connection: sqlite3.Connection = self._connection._conn
        return connection

    def begin(self, statement: str, try_again: Callable[[sqlite3.Error], bool]) -> None:
        """Begin a transaction together with the next statement, in the same call to the thread.

        Args:
            statement: The ``BEGIN`` statement to use.
            try_again: Returns whether to retry after an error.
        """
        self._begin, self._try_again = statement, try_again

    def run(self, many: bool, *arguments: Any) -> tuple[_Ran, Iterable[Any]]:
        """Run a statement, once or for each row of parameters, and fetch the results."""
        begin = self._begin
        while True:
            try:
                function = partial(_execute, self.sqlite, begin=begin, many=many)
                result: tuple[_Ran, Iterable[Any]] = self._call(function, *arguments)
            except sqlite3.Error as error:
                if self.sqlite.in_transaction:  # it has begun, and the statement itself failed
                    self._begin = ""
                    raise
                if not begin or not self._try_again(error):
                    raise
            else:
                self._begin = ""
                return result

    def commit(self) -> None:
        self._end(sqlite3.Connection.commit)

    def rollback(self) -> None:
        self._end(sqlite3.Connection.rollback)

    def _end(self, function: Callable[[sqlite3.Connection], None]) -> None:
        self._begin = ""
        known = self._connection._connection
        if known and (known.in_transaction or not self._is_idle):
            self._call(function, known)

    def _call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Run a function in the connection's thread."""
        self._is_idle = False  # and it stays so if the task is cancelled while the thread is at work
        try:
            result = await_(self._connection._execute(function, *arguments))
        except Exception as error:
            self._is_idle = True
            self._handle_exception(error)
        self._is_idle = True
        return result


class SqliteDriver(AsyncAdapt_aiosqlite_dbapi):
    """The database module that SQLAlchemy uses, passed as ``module`` to `create_async_engine`."""

    def __init__(self) -> None:
        super().__init__(aiosqlite, sqlite3)

    def connect(self, *arguments: Any, **more: Any) -> _Connection:
        """Open a connection with its own thread."""
        connection = aiosqlite.connect(*arguments, **more)
        connection._thread.daemon = True  # a program must not hang in its end
        return _Connection(self, await_(connection))
