"""The declarative base class of all tables, with the naming convention for constraints.

SQLite stores any value in any column. Each table therefore constrains the types of its columns, so SQLite
rejects the same values as PostgreSQL; both databases check enumerations.
"""

from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Enum,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    TypeDecorator,
)
from sqlalchemy.orm import DeclarativeBase

from storage.records import DERIVED

# Constraints have had names since the first migration: one without a name cannot be dropped or compared.
NAMING_CONVENTION = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}


class Base(DeclarativeBase):
    """Base class of all tables."""

    metadata = MetaData(naming_convention=NAMING_CONVENTION)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        table = cls.__table__
        assert isinstance(table, Table)  # noqa: S101 - no class of ours is a join
        if table.name in DERIVED:
            return
        for column in table.columns:
            if members := members_of(column):
                table.append_constraint(CheckConstraint(members, name=column.name))
        typed = " AND ".join(sorted(filter(None, map(sqlite_type, table.columns))))
        if typed:
            table.append_constraint(CheckConstraint(typed, name="types").ddl_if(dialect="sqlite"))


def members_of(column: Column[Any]) -> str:
    """SQL condition that a value belongs to its column's enumeration; empty if the column has none."""
    kind = column.type
    if not isinstance(kind, TypeDecorator) or not isinstance(kind.impl_instance, Enum):
        return ""
    values = ", ".join(f"'{value}'" for value in kind.impl_instance.enums)
    return f'"{column.name}" IN ({values})'


def sqlite_type(column: Column[Any]) -> str:
    """SQL condition that a value has its column's type; empty if SQLite checks the type itself."""
    name, kind = f'"{column.name}"', column.type
    if isinstance(kind, TypeDecorator):
        kind = kind.impl_instance
    if column.primary_key and isinstance(kind, Integer) and len(column.table.primary_key) == 1:
        return ""
    or_null = f"{name} IS NULL OR " if column.nullable else ""
    if isinstance(kind, Boolean):
        return f"({or_null}{name} IN (0, 1))"
    if isinstance(kind, JSON):
        return f"({or_null}typeof({name}) = 'text' AND json_valid({name}))"
    if isinstance(kind, DateTime):
        return f"({or_null}typeof({name}) = 'text' AND julianday({name}) IS NOT NULL)"
    if isinstance(kind, Float):
        return f"({or_null}typeof({name}) IN ('real', 'integer'))"
    stored = "integer" if isinstance(kind, Integer) else "blob" if isinstance(kind, LargeBinary) else "text"
    return f"({or_null}typeof({name}) = '{stored}')"
