"""The exceptions that storage raises on purpose."""

import sqlite3


class StorageError(Exception):
    """The database cannot be opened or used; the message is one line for the operator, without a password."""


class RoleTaken(StorageError):
    """Another program holds a role that only one may hold at a database (`Database.sole`)."""


class RoleLost(StorageError):
    """We lost a role: another program may have taken it."""


class UnreadableRow(StorageError):
    """A row holds text that is not UTF-8 (SQLite stores it unchecked); the database itself works."""


class FilterError(Exception):
    """A filter is unknown or its value invalid; the message names both and the allowed values."""


class TrialError(Exception):
    """A trial cannot be started or ended, or its plan makes no sense; one line for the operator."""


class DuplicateDecision(Exception):
    """This game already has a standing decision at this ply."""

    def __init__(self, game_id: int, ply: int) -> None:
        super().__init__(f"game {game_id} already has a decision at ply {ply}")
        self.game_id = game_id
        self.ply = ply


def is_undecodable(error: BaseException) -> bool:
    """Whether SQLite's driver met text that is not UTF-8; the error has no code, only this message."""
    # SQLAlchemy's errors have the driver's as `orig`; importing SQLAlchemy to check their type is slow.
    cause = getattr(error, "orig", error)
    return isinstance(cause, sqlite3.OperationalError) and str(cause).startswith("Could not decode to UTF-8")
