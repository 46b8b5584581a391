"""The arena as a running server: assembly, start and shutdown."""

import asyncio
import errno
import logging
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

from aiohttp import web
from aiohttp.http import HttpProcessingError

from bot.arena.account_admin import ArenaAccountAdmin
from bot.arena.accounts import Accounts, add_bot
from bot.arena.arena_services import ArenaServices
from bot.arena.blind_report import blind_report, open_report
from bot.arena.connection_limiter import IDLE_CONNECTION_TIMEOUT_S, ConnectionLimiter, max_connections
from bot.arena.fairness.arena_time import ArenaTime
from bot.arena.fairness.freeze_detector import detect_freezes
from bot.arena.fairness.seen_addresses import SeenAddresses
from bot.arena.http import MAX_BODY_BYTES, RequestGate, add_headers
from bot.arena.lobby import ArenaLobby
from bot.arena.person.routes import PersonRoutes
from bot.arena.proxies import Proxies
from bot.arena.public.routes import PublicRoutes
from bot.arena.puzzles.puzzle_importer import PuzzleImporter
from bot.arena.puzzles.routes import PuzzleRoutes
from bot.arena.puzzles.trainer import ReplyTrainer
from bot.arena.referee import NotFound, Referee
from bot.arena.routes_play import PlayRoutes
from bot.arena.routes_site import LoadReport, PlainGames, SiteRoutes
from bot.arena.traffic.bot_slots import NO_SLOTS, BotSlots
from bot.arena.traffic.reserved_port import ReservedPort
from bot.base.config import ArenaConfig
from bot.base.errors import ConfigError
from bot.base.log import LogLineLimiter
from bot.base.malformed_rows import MalformedRows
from bot.text.trap_report import game_report
from storage.arena.accounts import AccountRecord
from storage.database import Database, Role
from storage.errors import StorageError
from storage.ledger.games import list_games_by_site_id
from storage.records import ARENA_SITE

__all__ = ["Arena", "add_bot", "stored_report"]

logger = logging.getLogger(__name__)

SITE = ARENA_SITE
"""The arena's name as a site in the bot's database."""
_SHUTDOWN_TIMEOUT_S = 5.0  # for requests in progress when the arena stops
_MAX_LOG_LINES_PER_MINUTE = 5
_CLOCK_RETRY_INTERVAL_S = 1.0  # after a failure of the clock task, for instance of the database


def _http_logger() -> logging.Logger:
    """aiohttp's logger, limited so that clients cannot flood the log with malformed HTTP."""
    logger = logging.getLogger(f"{__name__}.http")
    if not logger.filters:
        logger.addFilter(ClientErrorFilter())
    return logger


class ClientErrorFilter(logging.Filter):
    """Limits log lines caused by clients to a few per minute.

    A malformed request produces one short line; an aborted request produces no line.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._not_http = LogLineLimiter(_MAX_LOG_LINES_PER_MINUTE, clock)
        self._others = LogLineLimiter(_MAX_LOG_LINES_PER_MINUTE, clock)

    def filter(self, record: logging.LogRecord) -> bool:
        """Change a log record in place; return False to drop it."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, ConnectionError):
            return False
        if not isinstance(error, HttpProcessingError):
            if (dropped := self._others.next()) is not None:
                record.msg, record.args = "%s%s", (record.getMessage(), dropped)
            return dropped is not None
        dropped = self._not_http.next()
        if dropped is None:
            return False
        record.msg, record.args = "received a request that is not HTTP: %.100r%s", (error.message, dropped)
        record.exc_info = record.exc_text = None
        record.levelno, record.levelname = logging.INFO, "INFO"
        return logging.getLogger(record.name).isEnabledFor(logging.INFO)


class Arena:
    """The arena's server, which runs in this process."""

    def __init__(
        self,
        config: ArenaConfig,
        database: Database,
        clock: Callable[[], float] = time.monotonic,
        report: LoadReport | None = None,
        plain_share: float = 0.0,
        draws_casual_games: bool = True,
        no_takebacks: Collection[str] = (),
        like_games: Collection[str] = (),
        slots: Mapping[str, BotSlots] = NO_SLOTS,
        port: ReservedPort | None = None,
    ) -> None:
        """Assemble the server; `running` makes it listen.

        Args:
            config: The address and the time limits.
            database: An open database, which stays open after the arena stops.
            clock: Returns the time in seconds; game clocks and all deadlines use this time minus outages.
            report: Loads a game's trap report for its page; None for pages without trap reports.
            plain_share: The share of our bot's games played by a strategy without traps
                (`bot.arena.blind_report.plain_share`).
            draws_casual_games: Whether that is the share of casual games, too, or of rated games only.
            no_takebacks: Names of our bots that never allow a takeback.
            like_games: The games that the bots of `ArenaConfig.like` play.
            slots: How many games our bots can play at a time, keyed by account id.
            port: Keeps the port when this arena stops; None to free it.
        """
        self._config = config
        self._database = database
        self._clock = clock
        self._wake = asyncio.Event()
        self.accounts = Accounts(database, clock)
        self._time = ArenaTime(database, clock, grace_s=config.outage_grace_s, site=SITE)
        self._stood = False
        self._port = port
        self._referee = Referee(
            database,
            self.accounts,
            config,
            clock=self._time.now,
            wake=self._wake,
            are_clocks_stopped=lambda: self._time.are_clocks_stopped,
            share_address=self._share_address,
            share_network=lambda first, second: self._gate.seen.have_shared_network(first, second),
            own_bots=lambda: self._gate.embedded,
            slots=slots,
        )
        self._lobby = ArenaLobby(
            self._referee, config, base_url=lambda: self._parts.base_url, wake=self._wake.set
        )
        self._proxies = Proxies(config.trusted_proxies)
        self.role = Role("")
        """The exclusive role of the process that runs the arena."""
        self._gate = gate = RequestGate(
            self.accounts,
            self._proxies,
            config,
            self._referee.is_playing,
            clock,
            self._suspect_outage,
            SeenAddresses(config.rating_window_h * 3600, clock),
        )
        self.bot_tokens: dict[str, str] = {}
        """Tokens of the accounts named in `running`, keyed by name."""
        self._parts = parts = ArenaServices(
            config=config,
            site=SITE,
            base_url=config.public_url.rstrip("/"),
            clock=clock,
            time=self._time,
            database=database,
            accounts=self.accounts,
            referee=self._referee,
            lobby=self._lobby,
            gate=gate,
        )
        self._public = PublicRoutes(parts)
        self._referee.on_change = self._public.spectators.publish
        self.owner = ArenaAccountAdmin(parts)
        """Applies the owner's account changes to the running arena."""
        self.importer = PuzzleImporter(database, SITE)
        """Imports positions for the trainer."""
        self.trainer = ReplyTrainer(database, SITE, self.importer, is_public=config.public_games)
        plain = PlainGames(plain_share, casual=draws_casual_games)
        site = SiteRoutes(parts, report, plain, {name.lower() for name in no_takebacks}, like_games)
        puzzles = PuzzleRoutes(parts, self.trainer)
        play = PlayRoutes(parts)
        self._app = web.Application(
            middlewares=[gate.guard, MalformedRows(database).guard], client_max_size=MAX_BODY_BYTES
        )
        routes = (play, puzzles, PersonRoutes(parts), site, self._public)
        self._app.add_routes([route for each in routes for route in each.table()])
        self._app.on_response_prepare.append(add_headers)
        self._app.on_shutdown.append(self._close_streams)

    @asynccontextmanager
    async def running(
        self, bots: Collection[str] = (), tokens: Mapping[str, str] | None = None
    ) -> AsyncIterator[str]:
        """Listen until the `with` block ends; yields the local URL.

        Args:
            bots: Names of accounts for programs; the accounts are created before a visitor can take their
                names, and their tokens are stored in `bot_tokens`.
            tokens: Previous tokens of these accounts, keyed by name; an account not listed gets a new token.

        Raises:
            ConfigError: The arena cannot listen on the address, or a name is not allowed or taken.
            StorageError: Another process is running the arena on this database.
        """
        async with self._database.hold_role("arena") as self.role:
            known = tokens or {}
            self.bot_tokens = {bot: await self.accounts.ensure_bot(bot, known.get(bot, "")) for bot in bots}
            self._gate.embedded = tuple(bot.lower() for bot in bots)
            await self._time.load()
            await self._referee.load()
            try:
                async with self._open() as url:
                    yield url
            finally:
                await self._time.close()

    @property
    def open_games(self) -> int:
        """Number of running games."""
        return self._referee.open_count

    @asynccontextmanager
    async def closed(self, bots: Collection[str] = ()) -> AsyncIterator[None]:
        """Load the arena's games for a `with` block, without listening, so that the owner can make changes.

        Args:
            bots: Names of our own bots.

        Raises:
            RoleTaken: Another process is running the arena on this database.
            StorageError: The database failed.
        """
        async with self._database.hold_role("arena") as self.role:
            self._gate.embedded = tuple(bot.lower() for bot in bots)
            await self._time.load()
            await self._referee.load()
            yield

    def _share_address(self, first: AccountRecord, second: AccountRecord) -> bool:
        """Whether two accounts were seen at the same address; accounts created by the owner are exempt."""
        for account in (first, second):
            if account.id in self._gate.embedded or (account.is_bot and not self._config.open_bots):
                return False
        return self._gate.seen.have_shared_address(first.id, second.id)

    @asynccontextmanager
    async def _open(self) -> AsyncIterator[str]:
        # Streams detect clients that have gone on their own; a request that changes a game must not be
        # cancelled halfway because its sender has hung up.
        runner = web.AppRunner(
            self._app,
            access_log=None,
            shutdown_timeout=_SHUTDOWN_TIMEOUT_S,
            handler_cancellation=False,
            keepalive_timeout=IDLE_CONNECTION_TIMEOUT_S,
            auto_decompress=False,
            logger=_http_logger(),
        )
        await runner.setup()
        async with AsyncExitStack() as stack:
            stack.push_async_callback(runner.cleanup)
            listeners = await self._listen(runner)
            for listener in listeners:
                stack.callback(listener.close)
            address = local_url(self._config.host, listeners[0].sockets[0].getsockname()[1])
            self._parts.base_url = self._parts.base_url or address
            tasks = [
                asyncio.create_task(self._run_clock(), name="arena clock"),
                asyncio.create_task(self.importer.run(), name="arena trainer"),
            ]
            if self._clock is time.monotonic:  # another one does not say whether the process runs
                tasks.append(asyncio.create_task(detect_freezes(self._suspect_freeze), name="arena freezes"))
            try:
                yield address
            finally:
                for task in tasks:
                    task.cancel()
                    with suppress(asyncio.CancelledError):
                        await task

    async def tick(self) -> None:
        """Do all work that is due; `running` calls this at each deadline."""
        began = self._clock()
        try:
            await self._time.save(is_needed=self.open_games > 0)
            self._lobby.tick()
            if not self._time.are_clocks_stopped:
                await self._referee.tick()
        except StorageError:
            self._time.stop_for_outage(began)
            raise
        finally:
            if self._stood != self._time.are_clocks_stopped:
                self._stood = self._time.are_clocks_stopped
                self._referee.publish_clocks()

    def _suspect_outage(self, since: float) -> None:
        self._time.stop_for_outage(since)
        self._wake.set()

    def _suspect_freeze(self, seconds: float) -> None:
        if self.open_games:
            logger.warning("the program did not run for %.0f s; the clocks are set back", seconds)
            self._time.stop_for_freeze(seconds)
            self._wake.set()

    def _wait_s(self) -> float:
        """Seconds until `tick` is due; infinity if never."""
        wait_s = self._time.wait_s(is_needed=self.open_games > 0)
        if self._time.are_clocks_stopped:
            return wait_s
        deadline = min(self._referee.next_deadline(), self._lobby.next_deadline())
        return min(wait_s, deadline - self._time.now())

    async def _listen(self, runner: web.AppRunner) -> list[asyncio.Server]:
        host, port = self._config.host, self._config.port
        assert runner.server is not None  # noqa: S101 - created by setup()
        most = max_connections()
        gate = self._gate
        connections = ConnectionLimiter(
            runner.server, gate.busy, most, self._proxies, gate.priority_of, gate.make_room
        )
        # asyncio accepts this many per loop iteration, a few iterations before the limit sees them.
        backlog = max(1, min(128, most // 4))
        loop = asyncio.get_running_loop()
        if self._port is not None and (kept := await self._port.take()):
            return [await loop.create_server(connections, sock=each, backlog=backlog) for each in kept]
        try:
            server = await loop.create_server(connections, host, port, backlog=backlog)
        except (OSError, OverflowError, UnicodeError) as error:  # the latter two: invalid port, invalid host
            reason = str(error)
            if isinstance(error, OSError):
                reason = "port in use" if error.errno == errno.EADDRINUSE else error.strerror or reason
            raise ConfigError(
                f"cannot listen on {host}:{port}: {reason} (settings arena.host and arena.port)"
            ) from error
        if self._port is not None:
            self._port.keep(server.sockets)
        return [server]

    async def _run_clock(self) -> None:
        has_database = True
        while True:
            try:
                await self.tick()
                has_database = True
                wait_s = self._wait_s()
            except StorageError as error:
                if has_database:  # log once: a full disk lasts
                    logger.error("the arena's clock task is waiting for the database: %s", error)
                has_database, wait_s = False, _CLOCK_RETRY_INTERVAL_S
            except Exception:
                # The edge of every game: the clocks keep running when one change fails.
                logger.exception("the arena's clock task failed; it continues")
                wait_s = _CLOCK_RETRY_INTERVAL_S
            with suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, wait_s) if wait_s != float("inf") else None):
                    await self._wake.wait()
            self._wake.clear()

    async def _close_streams(self, _app: web.Application) -> None:
        self._referee.account_streams.close_all()
        self._referee.game_streams.close_all()
        self._public.spectators.close_all()


def stored_report(database: Database, *, reveal: bool = False) -> LoadReport:
    """Return a function that loads a game's trap report from the bot's records in this database.

    Args:
        reveal: Whether reports reveal the randomly assigned strategy and its random choices (the setting
            `trial.reveal`).
    """

    async def report(game_id: str) -> dict[str, Any] | None:
        async with database.read() as session:
            games = await list_games_by_site_id(session, game_id)
            game_of_ours = next((game for game in games if game.site == SITE), None)
            if game_of_ours is None:
                raise NotFound("There is no report on this game")
            if reveal or not game_of_ours.is_drawn:
                return open_report(await game_report(session, game_of_ours))
            # Not before every reply is judged: how long that takes depends on the player.
            return blind_report(await game_report(session, game_of_ours)) if game_of_ours.is_settled else None

    return report


def local_url(host: str, port: int) -> str:
    """A URL that a browser on this machine can open."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared, not listened on
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"
