"""Detects dead PostgreSQL connections when they are taken from the pool.

SQLAlchemy's own check (``pool_pre_ping``) makes three round trips each time a connection is taken: begin, an
empty statement, rollback. These round trips take longer than the transaction itself. Our check detects
without a request that the server has closed a connection; only for an idle connection does it send one
request, because the server's machine may have failed.
"""

import time
from typing import Any

from asyncpg import InterfaceError, PostgresError  # type: ignore[import-untyped]
from sqlalchemy import event
from sqlalchemy.engine import Engine
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.pool import ConnectionPoolEntry
from sqlalchemy.util import await_

MAX_UNCHECKED_IDLE_S = 1.0
"""Idle time in seconds after which a connection is checked before use."""
CHECK_QUERY = "SELECT 1"

_IDLE_SINCE = "idle_since"


def check_pooled_connections(engine: Engine) -> None:
    """Check connections taken from an engine's pool; if one is dead, replace it and all older connections."""
    event.listen(engine, "checkin", _on_checkin)
    event.listen(engine, "checkout", _check_on_checkout)


def _on_checkin(_connection: Any, entry: ConnectionPoolEntry) -> None:
    entry.info[_IDLE_SINCE] = time.monotonic()


def _check_on_checkout(connection: Any, entry: ConnectionPoolEntry, _proxy: Any) -> None:
    known = connection.driver_connection
    if known.is_closed():
        raise InvalidatePoolError("the server has closed the connection")
    idle_since = entry.info.get(_IDLE_SINCE)
    if idle_since is not None and time.monotonic() - idle_since >= MAX_UNCHECKED_IDLE_S:
        try:
            await_(known.execute(CHECK_QUERY))
        except (OSError, PostgresError, InterfaceError) as error:
            raise InvalidatePoolError(f"the connection is dead: {error}") from error
