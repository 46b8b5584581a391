"""What signals that a stored record is damaged, and how it is described in one line.

Constraints and `storage.maintenance.malformed` see to the columns; records of JSON may still contradict
themselves.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Literal

from sqlalchemy.exc import DBAPIError

from engine.errors import EngineFault, RecordError
from storage.errors import is_undecodable

VALUE_ERRORS = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecordError)
"""Exceptions from decoding an invalid stored value.  Bugs raise the same ones, so they are caught only around
decoding, where they become RecordError, the only exception that signals damage."""

_LONGEST_REASON = 200


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


def require_number(name: str, value: object, least: float, most: float) -> None:
    """Refuse a stored value that is not a number from `least` to `most`.

    Raises:
        RecordError: The message names the value.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise RecordError(f"{name} is {value!r:.60}, not a number from {least:g} to {most:g}")


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
