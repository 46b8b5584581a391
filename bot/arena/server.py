"""The arena as a running server: assembly, start and shutdown."""

import asyncio
import errno
import logging
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

from aiohttp import web

from bot.arena.accounts import Accounts, add_bot
from bot.arena.connection_limit import IDLE_S, ConnectionLimit, most_connections
from bot.arena.http import MAX_BODY_BYTES, SECURITY_HEADERS, Door
from bot.arena.lobby import ArenaLobby
from bot.arena.proxies import Proxies
from bot.arena.referee import Referee
from bot.arena.routes_play import PlayRoutes
from bot.arena.routes_site import LoadReport, SiteRoutes
from bot.base.config import ArenaConfig, Config
from bot.base.errors import ConfigError
from storage.database import Database
from storage.errors import StorageError
from storage.report import game_report

__all__ = ["Arena", "add_bot", "serve", "stored_report"]

logger = logging.getLogger(__name__)

SITE = "arena"
"""What the bot calls this server in its records."""
_SHUTDOWN_S = 5.0  # for requests that are being answered when the arena stops
_RETRY_S = 1.0  # after a failure of the clockwork, for instance of the database


class Arena:
    """The embedded server."""

    def __init__(
        self,
        config: ArenaConfig,
        database: Database,
        clock: Callable[[], float] = time.monotonic,
        report: LoadReport | None = None,
    ) -> None:
        """Put the parts together; nothing listens yet.

        Args:
            config: Where to listen, and the times.
            database: Open, and stays open longer than the arena.
            clock: Seconds; chess clocks and every deadline follow it.
            report: Trap reports for the page.
        """
        self._config = config
        self._database = database
        self._base_url = config.public_url.rstrip("/")
        self._clock = clock
        self._wake = asyncio.Event()
        self._accounts = Accounts(database, clock)
        self._referee = Referee(
            database,
            self._accounts,
            clock=clock,
            first_move_s=config.first_move_s,
            gone_s=config.gone_s,
            wake=self._wake,
        )
        self._lobby = ArenaLobby(
            self._referee,
            expiry_s=config.challenge_expiry_s,
            base_url=lambda: self._base_url,
            wake=self._wake.set,
        )
        self._proxies = Proxies(config.trusted_proxies)
        self._door = door = Door(self._accounts, self._proxies, clock)
        self.bot_token = ""
        """Of the account that `running` was given."""
        play = PlayRoutes(
            database=database,
            door=door,
            accounts=self._accounts,
            referee=self._referee,
            lobby=self._lobby,
            keep_alive_s=config.keep_alive_s,
        )
        site = SiteRoutes(
            database=database,
            door=door,
            accounts=self._accounts,
            referee=self._referee,
            report=report,
            base_url=lambda: self._base_url,
            keep_alive_s=config.keep_alive_s,
        )
        self._app = web.Application(middlewares=[door.guard], client_max_size=MAX_BODY_BYTES)
        self._app.add_routes([*play.table(), *site.table()])
        self._app.on_response_prepare.append(_add_headers)
        self._app.on_shutdown.append(self._close_streams)

    @asynccontextmanager
    async def running(self, bot: str | None = None) -> AsyncIterator[str]:
        """Listen while the block runs, and give its address.

        Args:
            bot: Account of a program that has to be there before anybody can come and take the name; its
                token is `bot_token` then.

        Raises:
            ConfigError: The address cannot be listened on, or the name is not allowed or a person's.
            StorageError: Another program runs the arena on this database.
        """
        async with self._database.sole("arena"):
            if bot is not None:
                self.bot_token = await self.ensure_bot(bot)
                self._door.embedded = bot.lower()
            await self._referee.load()
            async with self._open() as url:
                yield url

    @asynccontextmanager
    async def _open(self) -> AsyncIterator[str]:
        # Streams look for readers that have gone by themselves; a request that changes a game must not be cut
        # off halfway just because its sender has hung up.
        runner = web.AppRunner(
            self._app,
            access_log=None,
            shutdown_timeout=_SHUTDOWN_S,
            handler_cancellation=False,
            keepalive_timeout=IDLE_S,
            auto_decompress=False,
        )
        await runner.setup()
        async with AsyncExitStack() as stack:
            stack.push_async_callback(runner.cleanup)
            listener = await self._listen(runner)
            stack.callback(listener.close)
            local_url = _url(self._config.host, listener.sockets[0].getsockname()[1])
            self._base_url = self._base_url or local_url
            clockwork = asyncio.create_task(self._keep_time(), name="arena clockwork")
            try:
                yield local_url
            finally:
                clockwork.cancel()
                with suppress(asyncio.CancelledError):
                    await clockwork

    async def ensure_bot(self, name: str) -> str:
        """Make an account for a program, or give an existing one another token.

        Returns:
            The token, which is kept nowhere else.

        Raises:
            ConfigError: The name is not allowed, or a person has it.
        """
        return await self._accounts.ensure_bot(name)

    async def tick(self) -> None:
        """Do what the clocks ask for; `running` calls this whenever something is due."""
        self._lobby.tick()
        await self._referee.tick()

    async def _listen(self, runner: web.AppRunner) -> asyncio.Server:
        host, port = self._config.host, self._config.port
        assert runner.server is not None  # noqa: S101 - it is set up
        most = most_connections()
        connections = ConnectionLimit(runner.server, self._door.busy, most, self._proxies)
        # asyncio accepts so many in each round of its loop, a few rounds before the gate sees them.
        backlog = max(1, min(128, most // 4))
        try:
            return await asyncio.get_running_loop().create_server(connections, host, port, backlog=backlog)
        except (OSError, OverflowError, UnicodeError) as error:  # the latter two: no port, no host's name
            reason = str(error)
            if isinstance(error, OSError):
                reason = "port in use" if error.errno == errno.EADDRINUSE else error.strerror or reason
            raise ConfigError(
                f"cannot listen on {host}:{port}: {reason} (settings arena.host and arena.port)"
            ) from error

    async def _keep_time(self) -> None:
        is_well = True
        while True:
            try:
                await self.tick()
                is_well = True
                wait_s = min(self._referee.next_deadline(), self._lobby.next_deadline()) - self._clock()
            except StorageError as error:
                if is_well:  # a full disk lasts
                    logger.error("the arena's clockwork waits for the database: %s", error)
                is_well, wait_s = False, _RETRY_S
            except Exception:
                # The edge of every game: clocks go on when one change fails.
                logger.exception("the arena's clockwork stumbled")
                wait_s = _RETRY_S
            with suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, wait_s) if wait_s != float("inf") else None):
                    await self._wake.wait()
            self._wake.clear()

    async def _close_streams(self, _app: web.Application) -> None:
        self._referee.account_streams.close_all()
        self._referee.game_streams.close_all()


def stored_report(database: Database) -> LoadReport:
    """Trap reports from the bot's own records in the same database."""

    async def report(game_id: str) -> dict[str, Any] | None:
        async with database.read() as session:
            found = await game_report(session, SITE, game_id)
        return None if found is None else found.to_json()

    return report


async def serve(config: Config) -> None:
    """Run the arena alone until SIGINT or SIGTERM."""
    database = await Database.open(config.storage.url)
    try:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        arena = Arena(config.arena, database, report=stored_report(database))
        async with arena.running() as url:
            logger.info("the arena is open: %s", config.arena.public_url or url)
            await stop.wait()
    finally:
        await database.close()


def _url(host: str, port: int) -> str:
    """An address that a browser on this machine can open."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared, not listened on
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"


async def _add_headers(request: web.Request, response: web.StreamResponse) -> None:
    # Files are asked for again after an update of this program; answers of the API are never kept.
    response.headers.setdefault(
        "Cache-Control", "no-store" if request.path.startswith("/api/") else "no-cache"
    )
    for name, value in SECURITY_HEADERS.items():
        response.headers.setdefault(name, value)
