"""The actions of the arena's owner, whether or not the arena is running in this program."""

from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from enum import StrEnum

from bot.arena.account_admin import AdministeredAccount, ArenaAccountAdmin
from bot.arena.server import Arena
from bot.base.config import Config
from bot.control.audit import Audit
from bot.control.control_socket import ControlError
from storage.database import Database


class ArenaAction(StrEnum):
    """An action of the arena's owner on an account."""

    APPROVE = "approve"
    BAN = "ban"
    UNBAN = "unban"
    REVOKE = "revoke"
    RENAME = "rename"
    DELETE = "delete"
    VOID_GAME = "void-game"
    """Acts on a game, given by its id, instead of an account."""


class ArenaActions:
    """Changes accounts in the arena and records an event for each change (`bot.control.audit`).

    Args:
        config: The settings.
        database: The arena's database.
        running: Returns the arena that is running in this program, or None. If it returns None, changes are
            made directly in the database; they are refused while another process is running the arena.
        bots: Names of our own accounts in the arena, which no action may change.
    """

    def __init__(
        self,
        config: Config,
        database: Database,
        running: Callable[[], Arena | None] = lambda: None,
        bots: Collection[str] = (),
    ) -> None:
        self._config = config
        self._database = database
        self._running = running
        self._bots = bots
        self._audit = Audit(database)

    async def list(self) -> list[AdministeredAccount]:
        """All accounts except deleted ones, by name.

        Raises:
            StorageError: The database failed, or another process is running the arena.
        """
        async with self._owner() as owner:
            return await owner.list()

    async def change(self, action: str, name: str, new_name: str = "", *, by: str) -> str:
        """Change an account; return one line that describes the change.

        Args:
            action: An `ArenaAction`.
            name: The account's name, or the game's id.
            new_name: The new name; used only by `ArenaAction.RENAME`.
            by: See `bot.control.actions.OperatorActions`.

        Raises:
            ControlError: The action does not exist.
            AdminError: See `bot.arena.account_admin.ArenaAccountAdmin`.
            StorageError: See `list`.
        """
        if action not in set(ArenaAction):
            raise ControlError(f"no such action: {action!a:.40}; known: {', '.join(ArenaAction)}")
        # The record of a deletion must not keep the name.
        logged_name = None if action == ArenaAction.DELETE else name
        async with (
            self._audit.recording(
                f"arena-account {action}", by, name=logged_name, new_name=new_name or None
            ) as note,
            self._owner() as owner,
        ):
            note.result = await _carry_out(owner, ArenaAction(action), name, new_name)
        return note.result

    @asynccontextmanager
    async def _owner(self) -> AsyncIterator[ArenaAccountAdmin]:
        arena = self._running()
        if arena is not None:
            yield arena.owner
            return
        arena = Arena(self._config.arena, self._database)
        async with arena.closed(self._bots):
            yield arena.owner


async def _carry_out(owner: ArenaAccountAdmin, action: ArenaAction, name: str, new_name: str) -> str:
    if action is ArenaAction.RENAME:
        return await owner.rename(name, new_name)
    changes = {
        ArenaAction.APPROVE: owner.approve,
        ArenaAction.BAN: owner.ban,
        ArenaAction.UNBAN: owner.unban,
        ArenaAction.REVOKE: owner.revoke,
        ArenaAction.DELETE: owner.delete,
        ArenaAction.VOID_GAME: owner.void_game,
    }
    return await changes[action](name)
