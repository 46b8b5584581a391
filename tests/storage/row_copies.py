"""All rows of a database in memory: what took long to play is put into the next test's database."""

from typing import Any

from sqlalchemy import Table, insert, select, text

from storage.database import Database
from storage.tables.base import Base

Rows = dict[Table, list[dict[str, Any]]]
"""By table."""


async def all_rows(database: Database) -> Rows:
    """What a database has."""
    async with database.read() as session:
        return {
            table: [
                dict(zip(table.columns.keys(), row, strict=True))
                for row in await session.execute(select(table))
            ]
            for table in Base.metadata.sorted_tables
        }


async def put_rows(database: Database, rows: Rows) -> None:
    """Fill a database that has no rows; its next keys follow those."""
    async with database.write() as session:
        is_postgresql = session.get_bind().dialect.name == "postgresql"
        for table, its in rows.items():
            if not its:
                continue
            await session.execute(insert(table), its)
            key = table.primary_key.columns[0]
            if is_postgresql and table.autoincrement_column is not None:
                sequence = text("SELECT setval(pg_get_serial_sequence(:table, :key), :last)")
                last = max(row[key.key] for row in its)
                await session.execute(sequence, {"table": table.name, "key": key.name, "last": last})


async def remove_rows(database: Database) -> None:
    """As if it were new; a reopened one would have to compile every statement again."""
    async with database.write() as session:
        for table in reversed(Base.metadata.sorted_tables):
            await session.execute(table.delete())
