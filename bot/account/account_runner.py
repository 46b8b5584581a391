"""Plays one account until the program stops, and retries after failures."""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from bot.account.lobby import Lobby
from bot.account.missing_games import name_missing_games, read_span, record_clean_stop
from bot.account.pause import Pause
from bot.base import log
from bot.base.config import Config
from bot.base.errors import AuthError, ConfigError, ServerError, TransientError
from bot.base.game_server import Account, Server
from bot.base.metrics import Metrics
from bot.base.reconnect import Retries, backoff_delays
from bot.game.game_runner import most_severe_error
from bot.game.saved_games import SavedGames
from bot.game.services import GameServices
from bot.game.shared_game_limit import SharedGameLimit
from bot.servers.online_lookup import open_lookup
from bot.threads.search_pool import SearchPool
from engine.human.registry import ModelRegistry
from engine.protocols.engine_source import EnginePool
from engine.strategies.move_context import StrongOptions
from storage.database import Database, Role
from storage.errors import RoleLost, RoleTaken, StorageError
from storage.ledger.events import RecordSpan
from storage.ledger.games import assign_account_to_records
from storage.records import AccountKey

logger = logging.getLogger(__name__)

T = TypeVar("T")

STANDBY_POLL_INTERVAL_S = 1.0
"""Seconds between attempts to take over a role that another program holds."""
AUTH_RETRY_INTERVAL_S = 600.0
"""Seconds before retrying an account whose token or settings were refused."""
MAX_CRASH_RETRY_WAIT_S = 60.0
"""Longest wait, in seconds, before retrying an account after any other failure."""
BACKOFF_RESET_TIME_S = 600.0
"""After this many seconds without a failure, the backoff starts over."""


@dataclass(frozen=True)
class SharedResources:
    """Everything that all accounts share: the database, the search pool, the settings."""

    database: Database
    pool: SearchPool
    strong: StrongOptions
    engines: EnginePool
    models: ModelRegistry
    limit: SharedGameLimit
    rng: random.Random = field(default_factory=random.Random)
    is_standby: bool = False
    """Whether to wait while another program plays an account, and take over the account when it is free."""
    pause: Pause = field(default_factory=Pause)
    """Whether the operator has paused new games."""
    metrics: Metrics = field(default_factory=Metrics)
    """The counters that all accounts update."""
    on_settled: Callable[[], None] = lambda: None
    """Called when a game is over and its decisions have been judged and forecast."""


OpenServer = Callable[[Config], AbstractAsyncContextManager[Server]]
"""Opens the adapter to an account's server."""


class AccountRunner:
    """Signs in, holds the account's role, and runs its lobby; starts over after failures.

    Args:
        name: The operator's name for the account.
        config: The account's settings.
        shared: The services that all accounts share.
        open_server: Opens the account's server.
        is_alone: Whether this is the only account. If so, failures that need the operator end the program.
    """

    def __init__(
        self, name: str, config: Config, shared: SharedResources, open_server: OpenServer, *, is_alone: bool
    ) -> None:
        self.name = name
        self._config = config
        self._shared = shared
        self._open_server = open_server
        self._is_alone = is_alone
        self.trouble = ""
        """The last reported failure."""
        self.retries = Retries(lambda: asyncio.get_running_loop().time())
        """Attempts to sign in or, after a crash, to play again."""
        self._name = ""
        """The account's name at its site, once we have signed in."""
        self._has_played = False
        self.notice = ""
        """What the database lacks since its latest record (`bot.account.missing_games`)."""
        self._span: RecordSpan | None = None
        """The span of the records when the program started; None if nothing is left to compare."""
        self.is_waiting = False
        """Whether we are a standby: another program plays the account, and we wait to take it over."""
        self.lobby: Lobby | None = None
        """The account's lobby; None while the account is not being played."""

    @property
    def site(self) -> str:
        """The site's name."""
        return self._config.server.dialect

    def reload(self, config: Config) -> None:
        """Apply new settings (`bot.account.lobby.Lobby.reload`)."""
        self._config = config
        if self.lobby is not None:
            self.lobby.reload(config)

    async def run(self, stop: asyncio.Event) -> None:
        """Play until stopped.

        Raises:
            AuthError, ConfigError, StorageError: Only if `is_alone` (see the class).
        """
        log.account.set(self.name)
        log.is_alone.set(self._is_alone)
        clock = asyncio.get_running_loop().time
        waits = backoff_delays(self._shared.rng, cap_s=MAX_CRASH_RETRY_WAIT_S)
        while not stop.is_set():
            began_s = clock()
            try:
                await self._sign_in_and_play(stop)
            except Exception as error:
                cause = most_severe_error(error) if isinstance(error, BaseExceptionGroup) else error
                if clock() - began_s >= BACKOFF_RESET_TIME_S:
                    waits = backoff_delays(self._shared.rng, cap_s=MAX_CRASH_RETRY_WAIT_S)
                    self.retries.record_success()
                await _wait_unless_stopped(stop, self._retry_delay_s_or_raise(cause, next(waits)))
            else:
                break
        self.trouble = "stopped"

    def _retry_delay_s_or_raise(self, error: BaseException, wait_s: float) -> float:
        """Return the seconds to wait after a failure, or raise the failure if the program must end."""
        self.is_waiting = isinstance(error, RoleTaken) and self._shared.is_standby
        match error:
            case RoleLost():
                return self._record_failure(error, STANDBY_POLL_INTERVAL_S)
            case RoleTaken() if self._shared.is_standby or not self._is_alone:
                return self._record_failure(error, STANDBY_POLL_INTERVAL_S)
            case StorageError() if self._has_played:  # the database comes back, as after a restart
                return self._record_failure(error, wait_s)
            case _ if self._is_alone:
                raise error
            case AuthError() | ConfigError():
                return self._record_failure(error, AUTH_RETRY_INTERVAL_S)
            case StorageError():
                return self._record_failure(error, wait_s)
            case _:
                self.trouble = f"crashed: {error!r:.200}"
                self.retries.record_failure(self.trouble, wait_s)
                logger.error("the account crashed (%s)", self.retries.text(), exc_info=error)
                return wait_s

    def _record_failure(self, error: BaseException, wait_s: float) -> float:
        is_new, self.trouble = str(error) != self.trouble, str(error)
        is_due = self.retries.record_failure(self.trouble, wait_s)
        # A standby may wait for months.
        if is_new if self.is_waiting else is_due:
            logger.warning("%s (%s)", error, self.retries.text())
        return wait_s

    async def _sign_in_and_play(self, stop: asyncio.Event) -> None:
        async with AsyncExitStack() as stack:
            opening = stack.enter_async_context(self._open_server(self._config))
            server = await _result_unless_stopped(stop, opening)  # the embedded arena may be long in opening
            if server is None:
                return
            log.site.set(server.site)
            # Sites send each event once: two programs on one account would each get half of them.  The role
            # is taken before signing in where that disconnects the other program, and where we know our name
            # from an earlier time: a standby must not ask the site once a second.
            name = server.login or self._name
            if name:
                role = await stack.enter_async_context(self._hold_account_role(name, server.site))
            setting = self._config.server.token_setting
            account = await sign_in(server, stop, self._shared.rng, setting, self._set_trouble, self.retries)
            if account is None:
                return
            self._name = account.name
            if role_of(account.name, server.site) != role_of(name, server.site):  # or the token is another's
                role = await stack.enter_async_context(self._hold_account_role(account.name, server.site))
            self.trouble, self.is_waiting = "", False
            self.retries.record_success(is_stable=False)
            owner = AccountKey(server.site, account.name.lower())
            async with self._shared.database.write() as session:
                await assign_account_to_records(session, owner)
            if not self._has_played:  # before anything new is recorded
                self._span = await read_span(self._shared.database, owner)
            # From here to the lobby nothing waits: settings that are read meanwhile would be lost.
            services = self._game_services(server, account.name, role)
            if services.online is not None:
                stack.push_async_callback(services.online.close)
            stack.callback(self._shared.limit.forget, services.owner)
            logger.info("playing the account %s at %s", services.owner.name, server.site)
            self.lobby, self._has_played = Lobby(services, self._shared.pause), True
            stack.callback(setattr, self, "lobby", None)
            await self._listen(self.lobby, services, stop)

    def _set_trouble(self, trouble: str) -> None:
        self.trouble = trouble

    @asynccontextmanager
    async def _hold_account_role(self, name: str, site: str) -> AsyncIterator[Role]:
        """Hold the account's role during the `with` block; cancel the block if the role is lost.

        Raises:
            RoleLost, RoleTaken: Raised in an exception group.
        """
        async with self._shared.database.hold_role(role_of(name, site)) as role, asyncio.TaskGroup() as tasks:
            watch = tasks.create_task(role.watch())
            yield role
            watch.cancel()

    def _game_services(self, server: Server, name: str, role: Role) -> GameServices:
        shared, config = self._shared, self._config  # as read last
        folder = config.storage.games_folder
        return GameServices(
            server,
            shared.database,
            shared.pool,
            config,
            name,
            shared.strong,
            shared.rng,
            engines=shared.engines,
            models=shared.models,
            saved_games=SavedGames(Path(folder), name) if folder else None,
            online=open_lookup(config),
            role=role,
            shared_limit=shared.limit,
            metrics=shared.metrics,
            on_settled=shared.on_settled,
        )

    async def _listen(self, lobby: Lobby, services: GameServices, stop: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as tasks:
            listening = tasks.create_task(lobby.listen())
            comparing = tasks.create_task(self._name_missing_games(services))
            await stop.wait()
            await _drain_lobby(lobby, self._config.shutdown.drain_s)
            listening.cancel()
            comparing.cancel()
        await record_clean_stop(services)

    async def _name_missing_games(self, services: GameServices) -> None:
        if self._span is not None:
            self.notice = await name_missing_games(services, self._span)
            self._span = None


def role_of(name: str, site: str) -> str:
    """Return the name of an account's role, which one program at a time may hold (`Database.hold_role`)."""
    return f"account {name.lower()} at {site}"


async def sign_in(
    server: Server,
    stop: asyncio.Event,
    rng: random.Random,
    setting: str = "server.token",
    report: Callable[[str], None] = lambda _: None,
    retries: Retries | None = None,
) -> Account | None:
    """Return our account once the server answers, or None if `stop` is set first.

    Args:
        server: The adapter to the account's server.
        stop: Set this event to give up.
        rng: Source of randomness for the waits between attempts.
        setting: The name of the token's setting, for messages.
        report: Called with a message after each failure, before the retry.
        retries: Counts the failed attempts; None if nobody wants to know.

    Raises:
        AuthError: The server does not accept the token; the message includes the server's reply.
        ConfigError: The account is not a bot account, or closed.
    """
    retries = retries or Retries(asyncio.get_running_loop().time)
    for wait_s in backoff_delays(rng):
        try:
            account = await server.account()
        except AuthError as error:
            raise AuthError(f"{setting}: {server.site} does not accept it: {error}") from error
        except ServerError as error:  # also a proxy's page or any other refusal while the site is down
            if isinstance(error, TransientError):
                wait_s = max(wait_s, error.retry_after_s or 0.0)
            trouble = f"cannot sign in: {error}"
            report(trouble)
            is_due = retries.record_failure(trouble, wait_s)
            level = logging.WARNING if is_due else logging.DEBUG  # an outage may last for days
            logger.log(level, "cannot sign in at %s: %s (%s)", server.site, error, retries.text())
        else:
            require_playable(account, setting)
            about = f" ({account.about})" if account.about else ""
            logger.info("signed in at %s as %s%s", server.site, account.name, about)
            return account
        if await _wait_unless_stopped(stop, wait_s):
            break
    return None


def require_playable(account: Account, setting: str) -> None:
    """Check that a bot may play with the account.

    Args:
        account: The account that the token belongs to.
        setting: The name of the token's setting, for the message.

    Raises:
        ConfigError: The account is closed, or not a bot account.
    """
    if account.is_closed:
        raise ConfigError(f"{setting}: the site has closed the account {account.name}")
    if not account.is_bot:
        raise ConfigError(
            f"{setting}: the account {account.name} is not a bot account; "
            "run `desdemona upgrade-account` to make it one"
        )


async def _wait_unless_stopped(stop: asyncio.Event, wait_s: float) -> bool:
    """Wait the given number of seconds; return whether `stop` was set in the meantime."""
    with suppress(TimeoutError):
        async with asyncio.timeout(wait_s):
            await stop.wait()
    return stop.is_set()


async def _result_unless_stopped(stop: asyncio.Event, wanted: Awaitable[T]) -> T | None:
    """Return the result of an awaitable; if `stop` is set first, cancel it and return None."""

    async def result() -> T:
        return await wanted

    async with asyncio.TaskGroup() as tasks:
        task, stopping = tasks.create_task(result()), tasks.create_task(stop.wait())
        await asyncio.wait((task, stopping), return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if not task.done():
            task.cancel()
    return None if task.cancelled() else task.result()


async def _drain_lobby(lobby: Lobby, drain_s: float) -> None:
    lobby.accepting = False
    closing = lobby.closing
    logger.info("stopping; running games: %d; being closed: %d", lobby.running - closing, closing)
    with suppress(TimeoutError):
        async with asyncio.timeout(drain_s):
            await lobby.wait_until_drained()
    if lobby.running:
        logger.info("games to resume at the next start: %d", lobby.running)
