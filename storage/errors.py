"""The exceptions that storage raises on purpose."""


class StorageError(Exception):
    """The database cannot be opened or used; the message is one line for the operator, without a password."""


class RoleTaken(StorageError):
    """Another program has a role that only one may have at a database (`Database.sole`)."""


class UnreadableRow(StorageError):
    """A row holds text that is not UTF-8 (SQLite stores it unchecked); the database itself works."""


class DuplicateDecision(Exception):
    """There already is a standing decision for this game and ply."""

    def __init__(self, game_id: int, ply: int) -> None:
        super().__init__(f"game {game_id} already has a decision at ply {ply}")
        self.game_id = game_id
        self.ply = ply
