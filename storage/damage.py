"""Damaged rows: a report omits and names them, so that one bad row does not hide the good ones.

SQLite stores any value in any column, and any text where JSON belongs.
"""

import json
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Literal, TypeVar

from sqlalchemy import ColumnElement, Float, Integer, String, and_, inspect, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import DeclarativeBase

from engine.errors import EngineFault, RecordError
from storage.errors import UnreadableRow, is_undecodable

logger = logging.getLogger(__name__)

T = TypeVar("T")
Where = tuple[type[DeclarativeBase], ColumnElement[bool]]
"""Some rows of a table."""

VALUE_ERRORS = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecordError)
"""Exceptions from decoding an invalid stored value.  Bugs raise the same ones, so they are caught only around
decoding, where they become RecordError, the only exception that signals damage."""

_LONGEST_REASON = 200
_LARGEST = 1.7976931348623157e308
"""The largest finite number."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A decision or a game that a report omits because its stored data is damaged."""

    what: Literal["decision", "game"]
    """``decision`` or ``game``."""
    id: int
    """Our key of it."""
    reason: str
    """One line; it may contain unprintable characters of the damaged value."""

    @classmethod
    def because(cls, what: Literal["decision", "game"], key: int, error: Exception) -> "Unreadable":
        """With an exception's message as the reason."""
        return cls(what, key, reason_of(error))

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)


def reason_of(error: Exception) -> str:
    """Description of a record's damage, in one line; it may contain unprintable characters of the value."""
    if isinstance(error, DBAPIError):
        reason = str(error.orig)
    elif isinstance(error, EngineFault):
        reason = str(error)
    else:
        reason = f"{type(error).__name__}: {error}"
    return " ".join(reason.split())[:_LONGEST_REASON]


def damage_text(error: Exception) -> str:
    """The message to the operator about an unreadable record."""
    return f"a record is damaged ({error}); `desdemona db recheck` lists such records"


@contextmanager
def damage_stops() -> Iterator[None]:
    """Treat a damaged record as a failure of the database, where nothing works without the record.

    Raises:
        UnreadableRow: A record is damaged; the message is one line for the operator.
    """
    try:
        yield
    except RecordError as error:
        raise UnreadableRow(damage_text(error)) from error


@contextmanager
def decoding(what: str = "") -> Iterator[None]:
    """Raise `RecordError` if the block cannot decode a record.

    The block only decodes: what it computes with the values comes after it, so that a bug there stays one.

    Args:
        what: The record that a message names, for instance ``game 12``.

    Raises:
        RecordError: It is damaged: any of `VALUE_ERRORS`.
    """
    try:
        yield
    except VALUE_ERRORS as error:
        raise RecordError(f"{what}: {reason_of(error)}" if what else reason_of(error)) from error


def read_rows(what: str, rows: Iterable[Any], read: Callable[[Any], T]) -> list[T]:
    """Decode each row with a function.

    Args:
        what: The rows are of these: ``game``.
        rows: With the key as `id`.
        read: Decodes one, and computes nothing with it.

    Raises:
        RecordError: A row is damaged; the message names it.
    """
    found = []
    for row in rows:
        with decoding(f"{what} {row.id}"):
            found.append(read(row))
    return found


async def read_batch(
    keys: Sequence[int],
    read: Callable[[Sequence[int]], Awaitable[Sequence[T]]],
    damaged: Callable[[int, Exception], T],
) -> list[T]:
    """Read the rows with these keys with a function.

    One damaged row hides its whole batch, which is then read row by row.

    Args:
        keys: Of the rows, in the order of the result.
        read: Reads rows; raises what `require_damage` lets pass where one is damaged.
        damaged: Stands for a damaged row, by its key and the error.
    """
    try:
        return list(await read(keys))
    except Exception as error:
        require_damage(error)
    found: list[T] = []
    for key in keys:
        try:
            found += await read([key])
        except Exception as error:
            require_damage(error)
            found.append(damaged(key, error))
    return found


async def leave_out_damaged(
    session: AsyncSession,
    read: Callable[[Any], Awaitable[Sequence[T]]],
    keys: Callable[[], Awaitable[Iterable[Any]]],
    rows_of: Callable[[Any], Sequence[Where]],
) -> list[T]:
    """Read with a function, skipping damaged values, each of which is logged once.

    Args:
        session: Of the database.
        read: Reads everything where its argument is None, else what belongs to one key.
        keys: All keys, in order; called only if something is damaged.
        rows_of: The rows that are read for a key.
    """
    try:
        return list(await read(None))
    except Exception as error:
        require_damage(error)
    found: list[T] = []
    for key in await keys():
        try:
            found += await read(key)
        except Exception as error:
            require_damage(error)
            _tell_left_out(str(await named_damage(session, error, *rows_of(key))))
    return found


@lru_cache(maxsize=1000)
def _tell_left_out(damage: str) -> None:
    logger.error("a record is damaged (%s); what shows it leaves it out", damage)


async def named_damage(session: AsyncSession, error: Exception, *rows: Where) -> RecordError:
    """An error that names the table, row and column of the first value that its column cannot have.

    Args:
        session: Of the database.
        error: The exception; its reason is reported if no damaged value is found.
        rows: Those among which it is.
    """
    for table, where in rows:
        keys = inspect(table).primary_key
        for key in (await session.execute(select(*keys).where(where))).all():
            this = and_(*(column == value for column, value in zip(keys, key, strict=True)))
            if reason := await column_damage(session, table, this):
                name = ", ".join(str(value) for value in key)
                return RecordError(f"row {name:.80} of {table.__tablename__}: {reason}")
    return RecordError(reason_of(error))


async def column_damage(
    session: AsyncSession, table: type[DeclarativeBase], where: ColumnElement[bool]
) -> str:
    """The first invalid column of a row, and why; empty: all are valid."""
    for column in table.__table__.columns:
        try:
            for row in await session.execute(select(column).where(where)):
                require_types(row, [column])
        except Exception as error:
            require_damage(error)
            reason = reason_of(error)
            return reason if reason.startswith(f"{column.name} is ") else f"{column.name}: {reason}"
    return ""


def require_types(row: Iterable[Any], columns: Iterable[Any]) -> None:
    """Refuse a value of another type than its column: SQLite does not check types.  Other types check
    themselves.

    Args:
        row: Of a query, or the part of it with these columns.
        columns: What was selected, in order.

    Raises:
        RecordError: The message names the first such column.
    """
    for value, column in zip(row, columns, strict=True):
        if value is None:
            if not getattr(column, "nullable", True):
                raise RecordError(f"{column.name} is missing")
        elif isinstance(column.type, Float):
            require_number(column.name, value, -_LARGEST, _LARGEST)
        elif (isinstance(column.type, Integer) and not isinstance(value, int)) or (
            isinstance(column.type, String) and not isinstance(value, str)
        ):
            raise RecordError(f"{column.name} is {value!r:.60}")


def require_number(name: str, value: object, least: float, most: float) -> None:
    """Refuse a stored value that is not a number from `least` to `most`.

    Raises:
        RecordError: The message names the value.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise RecordError(f"{name} is {value!r:.60}, not a number from {least:g} to {most:g}")


def require_texts(row: object, *names: str) -> None:
    """Refuse stored values that are not texts.

    Args:
        row: With the values as attributes.
        names: Of the values.

    Raises:
        RecordError: The message names the first one.
    """
    for name in names:
        if not isinstance(value := getattr(row, name), str):
            raise RecordError(f"{name} is {value!r:.60}, not text")


def decode_json(text: str) -> Any:
    """The value that a column of JSON holds.

    Raises:
        RecordError: It is no JSON.
        TypeError: It is no text, either.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:  # TypeError tells SQLAlchemy that SQLite holds a number
        raise RecordError(reason_of(error)) from error


def read_json(text: str) -> dict[str, Any]:
    """A record from its text.

    Raises:
        RecordError: It is no JSON object.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError, TypeError) as error:
        raise RecordError(f"no JSON: {error}") from error
    if not isinstance(found, dict):
        raise RecordError(f"no JSON object, but {type(found).__name__}")
    return found


def require_damage(error: Exception) -> None:
    """Re-raise an error unless it reports an invalid value in a row."""
    if not isinstance(error, RecordError) and not is_undecodable(error):
        raise error
