"""SQLite without threads of its own, for tests.

aiosqlite hands each call to a thread and back, four times a query, which costs more than the tests' queries.
Here a call runs where it is made, and its result arrives one turn of the event loop later: tasks still take
turns at each call, in the same order on every run.  A busy database is asked again at each turn, because the
task that keeps it busy may need the same loop.
"""

import sqlite3
import time
from asyncio import Future
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from aiosqlite import core

from storage import database

Call = tuple[Future[Any] | None, Any]


class _Calls:
    """In place of the queue of calls to a connection's thread."""

    def put_nowait(self, call: Call) -> None:
        self._run(call, time.monotonic() + database.STATEMENT_BUSY_TIMEOUT_MS / 1000)

    def _run(self, call: Call, give_up: float) -> None:
        future, function = call
        if future is not None and future.cancelled():
            return
        try:
            result = function() if not _is_timeout(function) else function.func("PRAGMA busy_timeout = 0")
        except BaseException as error:
            if future is None:
                return
            is_busy = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
            if is_busy and time.monotonic() < give_up:
                future.get_loop().call_soon(self._run, call, give_up)
            else:
                future.get_loop().call_soon(core.set_exception, future, error)
        else:
            if future is not None:
                future.get_loop().call_soon(core.set_result, future, result)


def _is_timeout(function: Any) -> bool:
    """Whether a call sets how long SQLite itself waits, with the loop, for another connection."""
    return str(getattr(function, "args", ("",))[:1]).startswith("('PRAGMA busy_timeout =")


class _NoThread:
    """In place of the thread."""

    daemon = True

    def start(self) -> None: ...


_make = core.Connection.__init__


def _make_inline(connection: Any, *arguments: Any, **more: Any) -> None:
    _make(connection, *arguments, **more)
    connection._tx, connection._thread = _Calls(), _NoThread()


@contextmanager
def sqlite_threads(wanted: bool) -> Iterator[None]:
    """Connections that are made in the block have a thread, as outside the tests, or none."""
    with patch.object(core.Connection, "__init__", _make if wanted else _make_inline):
        yield
