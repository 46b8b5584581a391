"""Inserts rows, in one atomic statement, except rows with a unique key that exists already.

Each statement is built once per table and SQL dialect: building it takes longer than running it.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Table, and_, inspect
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from storage.tables.base import Base

INSERT_BATCH_ROWS = 500
"""Number of rows per statement; each value is a parameter, and databases allow about 32,000 parameters."""


async def insert_new(session: AsyncSession, table: type[Base], **values: Any) -> int | None:
    """Insert a row and return its primary key; if one of its unique keys exists already, return None."""
    statement = _insert(table, session.get_bind().dialect.name)
    inserted: int | None = (await session.execute(statement, values)).scalar_one_or_none()
    return inserted


async def insert_all_new(session: AsyncSession, table: type[Base], rows: Sequence[Mapping[str, Any]]) -> int:
    """Insert rows in batches, skipping rows with a unique key that exists already; return the number of new
    rows."""
    count = 0
    insert = _dialect_insert(table, session.get_bind().dialect.name)
    for start in range(0, len(rows), INSERT_BATCH_ROWS):
        statement = insert.values(rows[start : start + INSERT_BATCH_ROWS]).on_conflict_do_nothing()
        count += len((await session.execute(statement.returning(inspect(table).primary_key[0]))).all())
    return count


async def insert_newer(session: AsyncSession, table: type[Base], **values: Any) -> int | None:
    """Insert a row, or replace the row with the same primary key if that row's ``rule`` is lower.

    Args:
        values: The values of all columns.

    Returns:
        The primary key; None if nothing changed, because a row with the same or a higher rule exists.
    """
    statement = _insert_newer(table, session.get_bind().dialect.name)
    inserted: int | None = (await session.execute(statement, values)).scalar_one_or_none()
    return inserted


def core_table(table: type[Base]) -> Table:
    """Return the table of a mapped class; statements on the table bypass the ORM."""
    core = table.__table__
    assert isinstance(core, Table)  # noqa: S101 - no class of ours is a join
    return core


@lru_cache
def _insert(table: type[Base], dialect: str) -> Any:
    statement = _dialect_insert(table, dialect).on_conflict_do_nothing()
    return statement.returning(inspect(table).primary_key[0])


@lru_cache
def _insert_newer(table: type[Base], dialect: str) -> Any:
    key, columns = inspect(table).primary_key[0], core_table(table).columns
    statement = _dialect_insert(table, dialect)
    return statement.on_conflict_do_update(
        index_elements=[key],
        set_={column: statement.excluded[column.key] for column in columns if column is not key},
        where=and_(columns["rule"] < statement.excluded["rule"]),
    ).returning(key)


def _dialect_insert(table: type[Base], dialect: str) -> Any:
    insert = postgresql.insert if dialect == "postgresql" else sqlite.insert
    return insert(core_table(table))
