"""Damaged rows: a report leaves them out and names them, so that one of them does not hide the sound ones.

SQLite stores any value in any column, and any text where JSON belongs.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeVar

from sqlalchemy.exc import DBAPIError

from engine.errors import EngineFault, RecordError
from storage.errors import is_undecodable

T = TypeVar("T")

VALUE_ERRORS = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecordError)
"""What decoding a stored value raises that its column cannot have.  A bug of ours raises the same, so they
are caught where values are decoded and nowhere else: there they become RecordError, which alone tells of
damage."""

_LONGEST_REASON = 200


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A decision or a game that a report leaves out: what is stored of it is damaged."""

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
    """What is wrong with a record, in one line; it may contain unprintable characters of the value."""
    if isinstance(error, DBAPIError):
        reason = str(error.orig)
    elif isinstance(error, EngineFault):
        reason = str(error)
    else:
        reason = f"{type(error).__name__}: {error}"
    return " ".join(reason.split())[:_LONGEST_REASON]


def damage_text(error: Exception) -> str:
    """What to tell the operator of a record that cannot be read."""
    return f"a record is damaged ({error}); `desdemona db recheck` lists such records"


@contextmanager
def decoding(what: str = "") -> Iterator[None]:
    """Say that a record is damaged where the block cannot decode it.

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
    """What a function decodes from each row.

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
    """What a function reads from the rows with these keys.

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


def require_number(name: str, value: object, least: float, most: float) -> None:
    """Refuse a stored value that is no number from `least` to `most`.

    Raises:
        RecordError: The message names the value.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise RecordError(f"{name} is {value!r:.60}, not a number from {least:g} to {most:g}")


def require_texts(row: object, *names: str) -> None:
    """Refuse stored values that are no texts.

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
    """Raise an error again unless it says that a row holds a value that its column cannot have."""
    if not isinstance(error, RecordError) and not is_undecodable(error):
        raise error
