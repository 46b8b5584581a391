"""Databases with rows in every table; the values are made up."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import JSON, Boolean, Column, Float, Integer, LargeBinary, String, insert

from storage import migrate
from storage.database import Database
from storage.maintenance.copied_rows import CopiedTable
from storage.packing.records import pack_unreadable
from storage.tables.types import EnumText, PackedRecord, UtcDateTime

FIRST = datetime(2026, 11, 25, 18, 0, 5, 123456, UTC)


def value_of(column: Column[Any], row: int, rows: int) -> Any:
    """What a column has in a row, numbered from 1; different in each row where that is possible."""
    if column.foreign_keys:
        (key,) = column.foreign_keys
        siblings = [each for each in column.table.columns if each.foreign_keys]
        return value_of(key.column, 1 + (row + siblings.index(column)) % rows, rows)
    if column.nullable and row % 3 == 0 and column.name != "cost":  # of outcomes only rule 1 has none
        return None
    kind = column.type
    if isinstance(kind, PackedRecord):
        return {"n": row, "list": [0.5, row], "text": "é"}
    if isinstance(kind, LargeBinary):
        return pack_unreadable(bytes((row % 256, 0, 255)))
    if isinstance(kind, JSON):
        return {"z": 1e22, "a": [row, 0.1, None, True, "ß\\ \"'"], "1": {}}
    if isinstance(kind, Boolean):
        return row % 2 == 0
    if isinstance(kind, UtcDateTime):
        return FIRST + timedelta(hours=row)
    if isinstance(kind, Float):
        return row / (3 * rows)
    if isinstance(kind, EnumText):
        members = list(kind.kind)
        return members[row % len(members)]
    if isinstance(kind, Integer):
        return row % 2 if column.name in ("winner", "our_side") else row
    assert isinstance(kind, String), column
    # Texts whose order by code points is not that of any language.
    return f"{'aZäz_'[row % 5]}{row}"


async def fill(database: Database, rows: int, first: int = 1) -> None:
    """Insert so many rows into each table.

    Args:
        database: With all tables.
        rows: How many rows there are then.
        first: Number of the first one to insert.
    """
    async with database.write() as session:
        for table in migrate.all_tables().sorted_tables:
            for row in range(first, rows + 1):
                values = {each.key: value_of(each, row, rows) for each in table.columns}
                await session.execute(insert(table).values(values))
            sequence = CopiedTable(table).sequence()
            if sequence is not None and database.dialect == "postgresql":
                await session.execute(sequence)
