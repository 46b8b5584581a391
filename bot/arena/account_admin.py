"""The owner's changes to the arena's accounts; they take effect immediately.

Games of a banned or deleted account end immediately: they are aborted if that is still possible, and
otherwise lost by resignation.
"""

import logging
import secrets
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from bot.arena import game as transitions
from bot.arena.accounts import NAME, hash_token, is_reserved
from bot.arena.arena_services import ArenaServices
from bot.arena.game import ArenaRefusal
from bot.base.errors import DesdemonaError
from storage.arena import accounts as arena
from storage.arena.account_actions import anonymise_account, rename_account, set_access
from storage.arena.accounts import AccountRecord, AccountTaken, ArenaAccess

logger = logging.getLogger(__name__)


class AdminError(DesdemonaError):
    """A change that is not possible; the message says why."""


@dataclass(frozen=True, slots=True)
class AdministeredAccount:
    """An account as the arena's owner sees it."""

    name: str
    is_bot: bool
    access: ArenaAccess
    created_at: datetime
    games: int
    """Number of games that the account has started."""
    playing: int
    """Running games."""

    def to_json(self) -> dict[str, Any]:
        """Convert to plain JSON values."""
        return asdict(self) | {"created_at": self.created_at.isoformat(timespec="seconds")}


class ArenaAccountAdmin:
    """Changes accounts; each method returns one line that describes the change."""

    def __init__(self, parts: ArenaServices) -> None:
        self._database = parts.database
        self._accounts = parts.accounts
        self._referee = parts.referee
        self._lobby = parts.lobby
        self._gate = parts.gate
        self._site = parts.site

    async def list(self) -> list[AdministeredAccount]:
        """All accounts except deleted ones, by name.

        Raises:
            StorageError: The database failed.
        """
        async with self._database.read() as session:
            accounts = await arena.list_accounts(session)
            games = await arena.count_games_by_account(session)
        return [
            AdministeredAccount(
                each.name,
                each.is_bot,
                each.access,
                each.created_at,
                games.get(each.id, 0),
                len(self._referee.games_of(each.id)),
            )
            for each in accounts
            if each.access is not ArenaAccess.DELETED
        ]

    async def approve(self, name: str) -> str:
        """Approve a pending account.

        Raises:
            AdminError: The account does not exist or is not pending.
        """
        account = await self._grant_access(name, ArenaAccess.PENDING, "is not waiting for approval")
        return f"{account.name} may play"

    async def ban(self, name: str) -> str:
        """Ban an account: its token stops working, and its streams and games end (see the module docstring).

        Raises:
            AdminError: The account does not exist, is already banned, or is ours.
        """
        async with self._accounts.start_lock:
            account = await self._find_manageable_account(name)
            if account.access is ArenaAccess.BANNED:
                raise AdminError(f"{account.name} is banned already")
            await self._set_access(account, ArenaAccess.BANNED)  # first: no request may slip in between
            ended = await self._end_all_activity(account)
        return f"{account.name} is banned; games ended: {ended}"

    async def unban(self, name: str) -> str:
        """Lift the ban on an account, which keeps its token.

        Raises:
            AdminError: The account does not exist or is not banned.
        """
        account = await self._grant_access(name, ArenaAccess.BANNED, "is not banned")
        return f"{account.name} may play again, with its old token"

    async def revoke(self, name: str) -> str:
        """Revoke an account's token; its streams end, and its games continue.

        A person can no longer play under this name; `desdemona arena-account add-bot` gives a program a
        new token.

        Raises:
            AdminError: The account does not exist or is ours.
        """
        async with self._accounts.start_lock:
            account = await self._find_manageable_account(name)
            async with self._database.write() as session:
                await arena.set_token(session, account.id, hash_token(secrets.token_urlsafe(32)))
            self._accounts.forget(account.id)
            self._referee.close_streams(account.id)
        return f"the token of {account.name} is no longer valid"

    async def rename(self, name: str, new_name: str) -> str:
        """Rename an account; it keeps its token, ratings and games, and its open streams end.

        Raises:
            AdminError: The account does not exist, is ours or has a running game, or the new name is taken or
                not allowed.
        """
        async with self._accounts.start_lock:
            account = await self._find_manageable_account(name)
            if not NAME.fullmatch(new_name) or is_reserved(new_name):
                raise AdminError(
                    f"{new_name!a:.80} cannot be a name: 2 to 20 letters, digits, - or _, no reserved word"
                )
            if going_on := self._referee.games_of(account.id):
                raise AdminError(f"{account.name} has running games ({len(going_on)}): wait until they end")
            self._lobby.cancel_all(account.id)
            try:
                async with self._database.write() as session:
                    await rename_account(session, account.id, new_name, self._site)
            except AccountTaken as error:
                raise AdminError(str(error)) from None
            self._accounts.forget(account.id)
            self._accounts.forget(new_name.lower())
            self._referee.close_streams(account.id)
        return f"{account.name} is called {new_name} now"

    async def void_game(self, game_id: str) -> str:
        """Undo a rated game's effect on both ratings.

        Raises:
            AdminError: The game does not exist or has changed no rating.
        """
        try:
            game = await self._referee.void_ratings(game_id)
        except ArenaRefusal as error:
            raise AdminError(f"{game_id!a:.40}: {error}") from None
        assert game.record.rating_diffs is not None  # noqa: S101 - else it is refused
        back = [
            f"{account.name} {-diff:+d}"
            for account, diff in zip(game.players, game.record.rating_diffs, strict=True)
        ]
        return f"the game {game.id} is void; ratings changed: {', '.join(back)}"

    async def delete(self, name: str) -> str:
        """Delete an account's name, token, ratings and chat; its games remain, under the name ``deleted-N``.

        Raises:
            AdminError: The account does not exist or is ours.
        """
        async with self._accounts.start_lock:
            account = await self._find_manageable_account(name)
            await self._set_access(account, ArenaAccess.BANNED)
            ended = await self._end_all_activity(account)
            async with self._database.write() as session:
                new_name = await anonymise_account(session, account.id, self._site)
            self._accounts.forget(account.id)
        return f"the account is deleted; its games are now under {new_name}; games ended: {ended}"

    # --- Helpers ----------------------------------------------------------------------------------------

    async def _account(self, name: str) -> AccountRecord:
        account = await self._accounts.get(name)
        if account is None or account.access is ArenaAccess.DELETED:
            raise AdminError(f"the arena has no account {name!a:.80}")
        return account

    async def _find_manageable_account(self, name: str) -> AccountRecord:
        account = await self._account(name)
        if account.id in self._gate.embedded:
            raise AdminError(f"{account.name} is one of our accounts: change it in the settings instead")
        return account

    async def _grant_access(self, name: str, access: ArenaAccess, otherwise: str) -> AccountRecord:
        async with self._accounts.start_lock:
            account = await self._account(name)
            if account.access is not access:
                raise AdminError(f"{account.name} {otherwise}")
            await self._set_access(account, ArenaAccess.ACTIVE)
        return account

    async def _set_access(self, account: AccountRecord, access: ArenaAccess) -> None:
        async with self._database.write() as session:
            await set_access(session, account.id, access)
        self._accounts.put(replace(await self._account(account.id), access=access))

    async def _end_all_activity(self, account: AccountRecord) -> int:
        """End an account's challenges, games and streams; return the number of games ended."""
        self._lobby.cancel_all(account.id)
        games = self._referee.games_of(account.id)
        for game in games:
            # Resigning aborts a game in which not both have moved.
            side = game.record.players.index(account.id)
            give_up = partial(transitions.resign, side=side, when=self._referee.instant())
            with suppress(ArenaRefusal):  # it has ended meanwhile
                await self._referee.change(game.id, give_up)
        self._referee.close_streams(account.id)
        return len(games)
