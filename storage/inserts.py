"""Inserts a row unless its unique key is taken, in one atomic statement."""

from typing import Any

from sqlalchemy import inspect
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from storage.tables.base import Base


async def insert_new(session: AsyncSession, table: type[Base], **values: Any) -> int | None:
    """Insert a row and return its primary key; None, and no change, if one of its unique keys is taken."""
    key = inspect(table).primary_key[0]
    if session.get_bind().dialect.name == "postgresql":
        in_postgresql = postgresql.insert(table).values(**values).on_conflict_do_nothing()
        result = await session.execute(in_postgresql.returning(key))
    else:
        in_sqlite = sqlite.insert(table).values(**values).on_conflict_do_nothing()
        result = await session.execute(in_sqlite.returning(key))
    inserted: int | None = result.scalar_one_or_none()
    return inserted
