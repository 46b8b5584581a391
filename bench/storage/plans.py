"""Collects the SQL statements that a task executes, and detects full table scans."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

LARGE = ("decisions", "outcomes", "forecasts", "reply_times")
"""The tables that count as large: each has one row per decision."""
Statement = tuple[str, Any]
"""A statement as the driver receives it, with its parameters."""


@contextmanager
def recorded(engine: AsyncEngine) -> Iterator[list[Statement]]:
    """Context manager that collects the distinct read-only statements executed in its block."""
    found: dict[str, Any] = {}

    def note(_: Any, __: Any, statement: str, parameters: Any, *___: Any) -> None:
        if statement.lstrip().upper().startswith(("SELECT", "WITH")):
            found.setdefault(statement, parameters)

    statements: list[Statement] = []
    event.listen(engine.sync_engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        event.remove(engine.sync_engine, "before_cursor_execute", note)
        statements += found.items()


async def full_scans(connection: AsyncConnection, statement: Statement) -> list[str]:
    """The lines of the query plan that show full scans of large tables; empty if there are none.

    Reading an index in order until enough rows are found does not count as a full scan.
    """
    text, parameters = statement
    is_limited = " LIMIT " in " ".join(text.split())
    if connection.dialect.name == "sqlite":
        plan = await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}", parameters)
        details = [row.detail for row in plan]
        if is_limited and not any(detail.startswith("USE TEMP B-TREE") for detail in details):
            return []
        return [detail for detail in details if _is_scan(detail)]
    plan = await connection.exec_driver_sql(f"EXPLAIN (FORMAT JSON) {text}", parameters)
    found = plan.scalar_one()
    (top,) = json.loads(found) if isinstance(found, str) else found
    nodes = list(_nodes(top["Plan"]))
    if is_limited and not _SORTING.intersection(node["Node Type"] for node in nodes):
        nodes = [node for node in nodes if node["Node Type"] not in _IN_ORDER]
    return [_told(node) for node in nodes if _is_whole(node)]


_SORTING = {"Sort", "Incremental Sort", "Aggregate", "WindowAgg"}
_IN_ORDER = {"Index Scan", "Index Only Scan"}


async def plan_of(connection: AsyncConnection, statement: Statement) -> list[str]:
    """The query plan of a statement as the database prints it."""
    text, parameters = statement
    is_sqlite = connection.dialect.name == "sqlite"
    plan = await connection.exec_driver_sql(f"EXPLAIN {'QUERY PLAN ' if is_sqlite else ''}{text}", parameters)
    return [row[-1] for row in plan]


def _is_scan(detail: str) -> bool:
    """Whether a line of SQLite's query plan shows a scan of a large table or of one of its indices."""
    words = detail.split()
    return words[:1] == ["SCAN"] and words[1] in LARGE


def _is_whole(node: dict[str, Any]) -> bool:
    """Whether a node of PostgreSQL's query plan scans all of a large table or of one of its indices."""
    if node.get("Relation Name") not in LARGE:
        return False
    is_index = "Index" in node["Node Type"] or "Bitmap" in node["Node Type"]
    return not (is_index and ("Index Cond" in node or "Recheck Cond" in node))


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for each in node.get("Plans", ()):
        yield from _nodes(each)


def _told(node: dict[str, Any]) -> str:
    return f"{node['Node Type']} on {node['Relation Name']}"
