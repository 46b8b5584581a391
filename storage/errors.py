"""The exceptions that storage itself raises, and those raised by reading an invalid value."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from engine.errors import EngineFault, RecordError

VALUE_ERRORS = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecordError)
"""Exceptions raised when an invalid stored value is decoded. Bugs can raise the same types, so catch these
only around decoding and convert them to RecordError."""

_MAX_REASON_LENGTH = 200


class StorageError(Exception):
    """The database cannot be opened or used; the message is one line for the operator, without a password."""


class RoleTaken(StorageError):
    """Another program holds a role that only one program may hold on a database (`Database.hold_role`)."""


class RoleLost(StorageError):
    """This program has lost its role; another program may have taken it."""


class UnreadableRow(StorageError):
    """A row contains text that is not UTF-8 (SQLite does not check this); the database itself works."""


class FilterError(Exception):
    """An unknown filter, or an invalid value of a filter; the message names it and lists the valid ones."""


class TrialError(Exception):
    """A trial cannot be started or ended, or its plan is invalid; the message is one line."""


class DuplicateDecision(Exception):
    """The game already has a decision at this ply that was not taken back."""

    def __init__(self, game_id: int, ply: int) -> None:
        super().__init__(f"game {game_id} already has a decision at ply {ply}")
        self.game_id = game_id
        self.ply = ply


def is_undecodable(error: BaseException) -> bool:
    """Whether SQLite's driver found text that is not UTF-8; only the error's message shows this."""
    # SQLAlchemy's errors have the driver's error as `orig`; importing SQLAlchemy to check types is slow.
    cause = getattr(error, "orig", error)
    return isinstance(cause, sqlite3.OperationalError) and str(cause).startswith("Could not decode to UTF-8")


def reason_of(error: Exception) -> str:
    """What is wrong with a record, as one line, possibly with unprintable characters from the value."""
    cause = getattr(error, "orig", error)
    is_plain = cause is not error or isinstance(error, EngineFault)
    reason = str(cause) if is_plain else f"{type(error).__name__}: {error}"
    return " ".join(reason.split())[:_MAX_REASON_LENGTH]


def is_damage(error: Exception) -> bool:
    """Whether an error means that a row has an invalid value rather than that the database failed."""
    return isinstance(error, RecordError) or is_undecodable(error)


def damage_text(error: Exception) -> str:
    """The message for the operator about a record with an invalid value."""
    return f"a record is damaged ({error}); `desdemona db recheck` lists such records"


@contextmanager
def decoding(what: str = "") -> Iterator[None]:
    """Raise `RecordError` if the `with` block cannot decode a record.

    Only decode in the block and compute with the values after it, so that a bug in the computation is not
    reported as a damaged record.

    Args:
        what: The record's name in the message, for instance ``game 12``.

    Raises:
        RecordError: The block raised one of `VALUE_ERRORS`.
    """
    try:
        yield
    except VALUE_ERRORS as error:
        raise RecordError(f"{what}: {reason_of(error)}" if what else reason_of(error)) from error
