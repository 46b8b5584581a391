"""The arena's accounts, with their tokens and ratings."""

import asyncio
import hashlib
import re
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from sqlalchemy.ext.asyncio import AsyncSession

from bot.base.errors import ConfigError
from storage.arena import accounts as arena
from storage.arena.account_actions import DELETED
from storage.arena.accounts import AccountRecord, AccountTaken, ArenaAccess, RatingRecord
from storage.database import Database
from storage.tables.types import now_utc

NAME = re.compile(r"[A-Za-z0-9_-]{2,20}")
# Words in the API's own paths, and names that nobody may impersonate.
RESERVED = frozenset({"open", "ai", "lichess", "arena", "server", "system", "admin", "bot", "me", "you"})

_TOKEN_CACHE_TTL_S = 10.0  # how long a token counts as valid without a new database query
_MAX_KNOWN_TOKENS = 10_000


class NameTaken(ConfigError):
    """Error: a person's account in the arena already has the bot's name."""


def hash_token(token: str) -> str:
    """The stored form of a token; a plain hash is safe because tokens are long and random."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


def new_token() -> str:
    return "dsd_" + secrets.token_urlsafe(32)


async def add_bot(database: Database, name: str, token: str = "") -> str:
    """Create an account for a program, or give its existing account a new token.

    Args:
        database: The arena's database.
        name: Name of the account.
        token: The account's token; if it is empty, a random one is created.

    Returns:
        The token, which is stored nowhere else.

    Raises:
        ConfigError: The name is not allowed, or a person has it.
        StorageError: The database failed.
    """
    token = token or new_token()
    async with database.write() as session:
        account = await bot_account(session, name)
        if account is not None:
            await arena.set_token(session, account.id, hash_token(token))
        else:
            await _add(session, name, token, is_bot=True)
    return token


async def bot_account(session: AsyncSession, name: str) -> AccountRecord | None:
    """The program's account with this name, or None if there is none yet.

    Raises:
        ConfigError: The name is not allowed, a person has it (`NameTaken`), or the account is banned.
    """
    if not NAME.fullmatch(name) or is_reserved(name):
        raise ConfigError(
            f"{name!r} cannot be a bot's name: 2 to 20 letters, digits, - or _, and no reserved word"
        )
    account = await arena.get_account(session, name.lower())
    if account is not None and not account.is_bot:
        raise NameTaken(f"the name {name} is taken by a person in the arena; choose another for the bot")
    if account is not None and account.access is ArenaAccess.BANNED:
        raise ConfigError(f"the account {name} is banned; run `desdemona arena-account unban {name}` first")
    return account


async def _add(
    session: AsyncSession,
    name: str,
    token: str,
    *,
    is_bot: bool,
    access: ArenaAccess = ArenaAccess.ACTIVE,
) -> None:
    await arena.add_account(
        session,
        account_id=name.lower(),
        name=name,
        is_bot=is_bot,
        token_hash=hash_token(token),
        created_at=now_utc(),
        access=access,
    )


def is_reserved(name: str) -> bool:
    """Whether a name is reserved."""
    return name.lower() in RESERVED or name.lower().startswith(DELETED)


class Accounts:
    """Caches the accounts seen since startup, to save database queries.

    The cache drops tokens but never accounts: an account takes half a kilobyte, and account creation is
    rate-limited.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._clock = clock
        self._known: dict[str, AccountRecord] = {}
        self._tokens: dict[str, tuple[str, float]] = {}
        self.edition = 0
        """Incremented by each change to an account, except changes to its ratings; tells pages to refresh."""
        self.start_lock = asyncio.Lock()
        """Lock held while a game starts or an account becomes a bot, so that each sees the other's change."""

    def knows(self, token: str) -> bool:
        """Whether the token was valid when last seen; needs no database query."""
        return hash_token(token) in self._tokens

    async def get(self, account_id: str) -> AccountRecord | None:
        """The account with the given id or name, ignoring case; None if there is none."""
        return (await self.get_all([account_id]))[0]

    async def get_all(self, account_ids: Iterable[str]) -> list[AccountRecord | None]:
        """The accounts with the given ids; sends at most one query."""
        ids = [account_id.lower() for account_id in account_ids]
        unknown = {each for each in ids if each not in self._known and NAME.fullmatch(each)}
        if unknown:
            async with self._database.read() as session:
                for account in await arena.list_accounts_by_id(session, unknown):
                    self._known.setdefault(account.id, account)
        return [self._known.get(each) for each in ids]

    async def by_token(self, token: str) -> AccountRecord | None:
        """The account that a token belongs to."""
        hashed, now = hash_token(token), self._clock()
        account_id, checked = self._tokens.get(hashed, ("", float("-inf")))
        if now - checked > _TOKEN_CACHE_TTL_S:  # another process may have issued a new token
            async with self._database.read() as session:
                account = await arena.find_account_id_by_token(session, hashed)
            self._tokens.pop(hashed, None)
            if account is None:
                return None
            account_id = account
            self._remember(hashed, account_id)
        return await self.get(account_id)

    async def by_tokens(self, tokens: Iterable[str]) -> dict[str, AccountRecord | None]:
        """The account of each token; None for an unknown token."""
        hashes = {token: hash_token(token) for token in tokens}
        async with self._database.read() as session:
            found = await arena.find_tokens(session, hashes.values())
        accounts = await self.get_all(found.values())
        by_hash = dict(zip(found, accounts, strict=True))
        return {token: by_hash.get(hashed) for token, hashed in hashes.items()}

    def _remember(self, hashed: str, account_id: str) -> None:
        self._tokens[hashed] = (account_id, self._clock())
        while len(self._tokens) > _MAX_KNOWN_TOKENS:
            del self._tokens[next(iter(self._tokens))]

    async def add_person(self, name: str, *, is_pending: bool = False) -> tuple[AccountRecord, str]:
        """Create an account for a person, with a token.

        Args:
            name: Name of the account.
            is_pending: Whether the arena's owner must approve the account before it is allowed to play.

        Raises:
            AccountTaken: The name is taken or reserved.
        """
        if is_reserved(name):
            raise AccountTaken(f"the name {name} is reserved")
        token = new_token()
        async with self._database.write() as session:
            access = ArenaAccess.PENDING if is_pending else ArenaAccess.ACTIVE
            await _add(session, name, token, is_bot=False, access=access)
        account = await self.get(name)
        assert account is not None  # noqa: S101 - it has just been added
        self._remember(hash_token(token), account.id)
        return account, token

    async def ensure_bot(self, name: str, token: str = "") -> str:
        """Create a bot account or replace its token, as `add_bot` does; then update the cache."""
        token = await add_bot(self._database, name, token)
        self._forget_tokens(name.lower())
        self._remember(hash_token(token), name.lower())
        return token

    async def replace_token(self, account_id: str) -> str:
        """Give an account a new token; the old one is no longer valid."""
        token = new_token()
        async with self._database.write() as session:
            await arena.set_token(session, account_id, hash_token(token))
        self._forget_tokens(account_id)
        self._remember(hash_token(token), account_id)
        return token

    async def upgrade(self, account: AccountRecord) -> bool:
        """Turn a person's account into a bot account; return False if the account has already played."""
        async with self.start_lock:
            async with self._database.write() as session:
                if await arena.count_games(session, account.id):
                    return False
                await arena.make_bot(session, account.id)
            self._known[account.id] = replace(self._known[account.id], is_bot=True)
        return True

    def forget(self, account_id: str) -> None:
        """Drop an account and its tokens from the cache after a change in the database."""
        self.edition += 1
        self._known.pop(account_id, None)
        self._forget_tokens(account_id)

    def _forget_tokens(self, account_id: str) -> None:
        self._tokens = {hashed: known for hashed, known in self._tokens.items() if known[0] != account_id}

    def put(self, account: AccountRecord) -> None:
        """Cache an account after a committed change."""
        self.edition += 1
        self._known[account.id] = account

    def put_rating(self, account_id: str, variant: str, rating: RatingRecord | None) -> None:
        """Cache an account's newly committed rating in a variant; None means a newcomer's rating."""
        account = self._known[account_id]
        ratings = {key: old for key, old in account.ratings.items() if key != variant}
        if rating is not None:
            ratings[variant] = rating
        self._known[account_id] = replace(account, ratings=ratings)
