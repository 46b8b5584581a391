"""Reads tens of thousands of rows by column, for arithmetic on whole columns."""

from typing import Any

from sqlalchemy import Select
from sqlalchemy.ext.asyncio import AsyncSession

_PART = 500
"""Rows that are taken apart at once."""


async def read_columns(session: AsyncSession, statement: Select[*tuple[Any, ...]]) -> dict[str, list[Any]]:
    """The rows of a statement, by the name of the column."""
    # Not by the session, which would make each row twice.
    result = await (await session.connection()).execute(statement)
    columns: dict[str, list[Any]] = {name: [] for name in (*result.keys(),)}
    # Part by part: the garbage collector would look again and again through all rows at once.
    for rows in result.partitions(_PART):
        for column, values in zip(columns.values(), zip(*rows, strict=True), strict=True):
            column.extend(values)
    return columns
