"""Represents rows copied between databases as values that mean the same in both.

The column types convert most values. There are two exceptions: packed records are copied byte by
byte, and JSON is copied as text, because databases may write the same JSON value differently.
"""

import hashlib
import json
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from sqlalchemy import (
    JSON,
    ColumnElement,
    Delete,
    Insert,
    LargeBinary,
    Select,
    String,
    Table,
    Text,
    TextClause,
    bindparam,
    cast,
    collate,
    delete,
    insert,
    select,
    text,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from storage.errors import StorageError, is_damage, reason_of
from storage.tables.types import PackedRecord, as_stored

COPY_BATCH = 500
"""Maximum number of rows in memory at a time."""

Row = tuple[Any, ...]
"""A row's values in the order of the table's columns."""


class CopiedTable:
    """One table to copy: how its rows are read, written and compared.

    Args:
        table: The table, which has a primary key.
    """

    def __init__(self, table: Table) -> None:
        self.name = table.name
        self._table = table
        self._columns = list(table.columns)
        self._key = [self._columns.index(column) for column in table.primary_key.columns]

    def key_of(self, row: Row) -> Row:
        """The values of a row's primary key."""
        return tuple(row[index] for index in self._key)

    def row_label(self, key: Row) -> str:
        """A label that identifies a row in messages."""
        return f"row {', '.join(map(str, key))} of {self.name}"

    def _in_order(self, columns: Sequence[Any], dialect: str) -> Select[Any]:
        """Selects the rows, ordered by key; strings are ordered by code point, as in Python."""
        order: list[Any] = [self._columns[index] for index in self._key]
        if dialect == "postgresql":
            order = [collate(each, "C") if isinstance(each.type, String) else each for each in order]
        return select(*columns).order_by(*order)

    def _read(self) -> list[ColumnElement[Any]]:
        return [_read(column).label(column.name) for column in self._columns]

    async def rows(self, connection: AsyncConnection) -> AsyncGenerator[Row, None]:
        """Yield all rows in the order of their keys, in batches.

        Raises:
            StorageError: A row has an invalid value.
        """
        dialect = connection.dialect.name
        statement = self._in_order(self._read(), dialect)
        try:
            async with connection.stream(statement, execution_options={"yield_per": COPY_BATCH}) as result:
                async for some in result.partitions():
                    for row in some:
                        yield self._copied(row, dialect)
        except Exception as error:
            if not is_damage(error):
                raise
            raise StorageError(
                f"a row of {self.name} cannot be copied ({reason_of(error)}); `desdemona db recheck` moves "
                "such rows to the quarantine"
            ) from error

    def _copied(self, row: Any, dialect: str) -> Row:
        values = list(row)
        for index, column in enumerate(self._columns):
            value = values[index]
            if isinstance(column.type, JSON) and dialect == "postgresql" and value is not None:
                values[index] = json.dumps(json.loads(value), separators=(",", ":"))  # JSONB adds spaces
        return tuple(values)

    def insertion(self, dialect: str) -> Insert:
        """The statement that inserts rows from `parameters`."""
        return insert(self._table).values({each: _written(each, dialect) for each in self._columns})

    def emptying(self) -> Delete:
        """The statement that deletes all rows."""
        return delete(self._table)

    def parameters(self, row: Row) -> dict[str, Any]:
        """The parameters of `insertion` for a row."""
        return {f"to_{column.name}": value for column, value in zip(self._columns, row, strict=True)}

    def canonical(self, row: Row) -> Row:
        """A canonical form of a row, which is the same in every database."""
        return tuple(
            json.dumps(_whole(json.loads(value)), sort_keys=True)
            if isinstance(column.type, JSON) and isinstance(value, str)
            else value
            for column, value in zip(self._columns, row, strict=True)
        )

    def sequence(self) -> TextClause | None:
        """Statement that sets PostgreSQL's sequence, if the key has one, to continue after existing rows."""
        column = self._table.autoincrement_column
        if column is None:
            return None
        name = column.name
        return text(
            f"SELECT setval(pg_get_serial_sequence('{self.name}', '{name}'),"  # noqa: S608 - our own names
            f" GREATEST(MAX({name}), 1), MAX({name}) IS NOT NULL) FROM {self.name}"
        )


class RowDigest:
    """Number and checksum of rows; equal rows give equal values on every database."""

    def __init__(self) -> None:
        self.rows = 0
        self._sha256 = hashlib.sha256()

    def add(self, row: str) -> None:
        """Add a row in canonical form (`CopiedTable.canonical`)."""
        self.rows += 1
        self._sha256.update(row.encode())

    @property
    def sha256(self) -> str:
        """The checksum in hexadecimal."""
        return self._sha256.hexdigest()


def _read(column: Any) -> ColumnElement[Any]:
    kind = column.type
    if isinstance(kind, PackedRecord):
        return as_stored(column)
    if isinstance(kind, JSON):
        return cast(column, Text)
    return column  # type: ignore[no-any-return]


def _written(column: Any, dialect: str) -> ColumnElement[Any]:
    kind, name = column.type, f"to_{column.name}"
    if isinstance(kind, PackedRecord):
        return bindparam(name, type_=LargeBinary())
    if isinstance(kind, JSON):
        parameter = bindparam(name, type_=Text())
        return cast(parameter, kind) if dialect == "postgresql" else parameter
    return bindparam(name, type_=kind)


def _whole(value: Any) -> Any:
    """Convert whole numbers in a JSON value to integers: JSONB writes 1e22 without a decimal point."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: _whole(each) for name, each in value.items()}
    return [_whole(each) for each in value] if isinstance(value, list) else value
