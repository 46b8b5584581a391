"""Column types for keys, times, JSON and enumerations that have the same meaning on every database."""

from collections.abc import Callable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, TypeVar

from sqlalchemy import BigInteger, ColumnElement, DateTime, Enum, Integer, LargeBinary, String, type_coerce
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import mapped_column
from sqlalchemy.types import JSON, TypeDecorator

from engine.errors import RecordError
from storage.errors import VALUE_ERRORS, reason_of
from storage.packing.records import pack, unpack

T = TypeVar("T")
_Read = Callable[[Any], T | None]


class _Checked(TypeDecorator[T]):
    """A type whose stored values may be damaged, because SQLite stores any value in any column.

    Reading an invalid value raises RecordError, so that damaged data is not mistaken for a bug.
    """

    __abstract__ = True

    def result_processor(self, dialect: Dialect, coltype: object) -> _Read[T] | None:
        read = super().result_processor(dialect, coltype)
        if read is None:
            return None

        def checked(value: Any) -> T | None:
            try:
                return read(value)
            except VALUE_ERRORS as error:
                raise RecordError(reason_of(error)) from error

        return checked


class UtcDateTime(_Checked[datetime]):
    """A timezone-aware datetime in UTC; SQLite stores it without the time zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value} has no time zone")
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class EnumText(_Checked[StrEnum]):
    """A member of a `StrEnum`, stored as its value in plain text.

    A constraint on the table lists the members (`storage.tables.base`), so a new member needs a migration.
    """

    impl = Enum
    cache_ok = True

    def __init__(self, kind: type[StrEnum]) -> None:
        """
        Args:
            kind: The enumeration's class.
        """
        super().__init__(
            kind,
            native_enum=False,
            create_constraint=False,
            length=MAX_VALUE_LENGTH,
            values_callable=lambda members: [member.value for member in members],
        )
        self.kind = kind  # parameters distinguish types in SQLAlchemy's statement cache


MAX_VALUE_LENGTH = 32
"""Maximum number of characters in an enumeration's value."""


class PackedRecord(_Checked[dict[str, Any]]):
    """A record of plain JSON values, stored in packed form (`storage.packing.records`).

    Reading a damaged record raises `RecordError`.
    """

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> bytes | None:  # noqa: ARG002
        return None if value is None else pack(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> dict[str, Any] | None:  # noqa: ARG002
        return None if value is None else unpack(value)


def as_stored(record: Any) -> ColumnElement[bytes]:
    """A column of packed records that is read as bytes; `storage.packing.records.unpack` unpacks them."""
    return type_coerce(record, LargeBinary)


BigInt = BigInteger().with_variant(Integer(), "sqlite")
"""A 64-bit integer. SQLite's INTEGER also has 64 bits and is its only type with generated keys."""

RepliesType = JSON(none_as_null=True)
"""JSON stored as text on every database; on PostgreSQL, text takes half the space of JSONB."""

JsonType = JSON().with_variant(JSONB(), "postgresql")

IntPk = Annotated[int, mapped_column(BigInt, primary_key=True)]
"""A primary key whose values the database generates."""

UtcTime = Annotated[datetime, mapped_column(UtcDateTime())]
"""A timezone-aware datetime in UTC."""

JsonColumn = Annotated[dict[str, Any], mapped_column(JsonType)]
"""Plain JSON values."""

KeyColumn = Annotated[str, mapped_column(String(64))]
"""A short key for a site, an account, a game or a player."""

NameColumn = Annotated[str, mapped_column(String(200))]
"""A short text for humans."""


def render_item(kind: str, item: object, context: Any) -> str | Literal[False]:
    """Render one of these types as its underlying type, because migrations cannot use these types.

    Args:
        context: Alembic's context, which collects the imports that a script needs.

    Returns:
        Python source, or False for types that Alembic itself renders correctly.
    """
    if kind != "type":
        return False
    if isinstance(item, UtcDateTime):
        return "sa.DateTime(timezone=True)"
    if isinstance(item, EnumText):
        return f"sa.String(length={MAX_VALUE_LENGTH})"
    if isinstance(item, PackedRecord):
        return "sa.LargeBinary()"
    if item is RepliesType:
        return "sa.JSON()"
    if isinstance(item, JSON):
        context.imports.add("from sqlalchemy.dialects import postgresql")
        return "sa.JSON().with_variant(postgresql.JSONB(), 'postgresql')"
    return False


def now_utc() -> datetime:
    """The current time, with a time zone."""
    return datetime.now(UTC)
