"""Damaged rows: a report leaves them out and names them, so that one of them does not hide the sound ones.

SQLite stores any value in any column, and any text where JSON belongs.
"""

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from engine.errors import EngineFault, RecordError
from storage.errors import is_undecodable

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
        if isinstance(error, DBAPIError):
            reason = str(error.orig)
        elif isinstance(error, EngineFault):
            reason = str(error)
        else:
            reason = f"{type(error).__name__}: {error}"
        reason = " ".join(reason.split())
        return cls(what, key, reason[:_LONGEST_REASON])

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)


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
    """Raise an error again unless it says that a row holds a value that its column cannot have.

    The types of columns raise errors of many kinds for such values: LookupError, ValueError, TypeError.
    """
    if isinstance(error, SQLAlchemyError | OSError) and not is_undecodable(error):
        raise error
