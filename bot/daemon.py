"""The daemon: opens everything, plays until a stop signal, and shuts down in order."""

import asyncio
import logging
import os
import random
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from bot.account.lobby import Lobby
from bot.arena.server import Arena, stored_report
from bot.base import log
from bot.base.config import Config, read_token
from bot.base.dialects import get_dialect
from bot.base.errors import AuthError, ConfigError, ServerError, TransientError
from bot.base.reconnect import delays
from bot.game.player import first_error
from bot.game.saved_games import SavedGames
from bot.game.search_pool import SearchPool
from bot.game.services import Services
from bot.game.unfinished_games import unfinished_games
from bot.servers import Account, Server
from bot.servers.adapters import make_server
from bot.servers.online_lookup import open_lookup
from engine.uci.source import EnginePool
from storage.database import Database

logger = logging.getLogger(__name__)


def run(config: Config) -> int:
    """Play until SIGINT or SIGTERM, and return the exit status.

    The first signal stops accepting challenges and waits for running games as long as the settings say; the
    next start resumes the rest.  A second signal exits at once, which loses nothing either.

    Raises:
        ConfigError, AuthError, StorageError: The message is one line for the operator to act on.
    """
    log.set_up(config.log)
    try:
        asyncio.run(play(config))
    except BaseExceptionGroup as group:
        raise first_error(group) from group
    return 0


async def play(config: Config) -> None:
    """Open everything, play until a signal comes, close everything."""
    stop = _signalled()
    async with AsyncExitStack() as stack:
        strong, models = config.engine.strong(), config.human.model_registry()
        database = await Database.open(config.storage.url)
        stack.push_async_callback(database.close)
        server = await stack.enter_async_context(open_server(config, database))
        engines = EnginePool(config.uci.settings())
        stack.push_async_callback(asyncio.to_thread, engines.close)  # closed after the pool, its user
        pool = await stack.enter_async_context(SearchPool(config.engine.workers, config.engine.table_mb))
        # Selecting players and spreading out retries need no cryptographic randomness.
        rng = random.Random(config.selection.seed or None)  # noqa: S311
        # Sites send each event once: two programs on one account would each get half of them.  Where signing
        # in disconnects the other program, the role has to be taken before.
        if server.login:
            await stack.enter_async_context(database.sole(role_of(server.login, server.site)))
        account = await sign_in(server, stop, rng)
        if account is None:
            return
        if not server.login:
            await stack.enter_async_context(database.sole(role_of(account.name, server.site)))
        online = open_lookup(config)
        if online is not None:
            stack.push_async_callback(online.close)
        folder = config.storage.games_folder
        saved_games = SavedGames(Path(folder), account.name) if folder else None
        shared = Services(
            server,
            database,
            pool,
            config,
            account.name,
            strong,
            rng,
            engines=engines,
            models=models,
            saved_games=saved_games,
            online=online,
        )
        lobby = Lobby(shared)
        async with asyncio.TaskGroup() as tasks:
            listening = tasks.create_task(lobby.listen())
            await stop.wait()
            await _drain(lobby, config.shutdown.drain_s)
            listening.cancel()


def role_of(name: str, site: str) -> str:
    """The role that only one program may hold at a time (`Database.sole`)."""
    return f"account {name} at {site}"


@asynccontextmanager
async def open_server(config: Config, database: Database) -> AsyncIterator[Server]:
    """Open the server to play on; the embedded arena runs as long as the context lasts.

    Raises:
        ConfigError: The arena cannot listen, or the token for another server is missing.
        StorageError: Another program runs the arena on this database.
    """
    async with AsyncExitStack() as stack:
        dialect = get_dialect(config.server.dialect)
        url = config.server.url or dialect.home
        # Read before the arena opens: a missing token must not result in an arena without a bot.
        token = "" if config.uses_arena else read_token(config.server)
        if config.arena.enabled:
            arena = Arena(config.arena, database, report=stored_report(database))
            name = config.server.name if config.uses_arena else None
            arena_url = await stack.enter_async_context(arena.running(bot=name))
            if config.uses_arena:
                url, token = arena_url, arena.bot_token
                dialect = replace(dialect, keep_alive_s=config.arena.keep_alive_s)
            who = f"{config.server.name} plays" if config.uses_arena else "The arena is open"
            sys.stdout.write(f"{who} at {config.arena.public_url or arena_url}\n")
            sys.stdout.flush()
        server = make_server(config, dialect, url, token, partial(unfinished_games, database, dialect.name))
        stack.push_async_callback(server.close)
        yield server


async def sign_in(server: Server, stop: asyncio.Event, rng: random.Random) -> Account | None:
    """Return our account once the server answers; None if stopped first.

    Raises:
        AuthError: The server does not accept the token; the message has its own words.
        ConfigError: The account is not a bot account.
    """
    for wait_s in delays(rng):
        try:
            account = await server.account()
        except AuthError as error:
            raise AuthError(f"server.token: {server.site} does not accept it: {error}") from error
        except ServerError as error:  # also a proxy's page or any other refusal while the site is down
            if isinstance(error, TransientError):
                wait_s = max(wait_s, error.retry_after_s or 0.0)
            logger.warning("cannot sign in at %s: %s; next try in %.1f s", server.site, error, wait_s)
        else:
            if not account.is_bot:
                raise ConfigError(
                    f"server.token: the account {account.name} is not a bot account; "
                    "`desdemona upgrade-account` makes it one"
                )
            about = f" ({account.about})" if account.about else ""
            logger.info("signed in at %s as %s%s", server.site, account.name, about)
            return account
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                await stop.wait()
        if stop.is_set():
            break
    return None


async def _drain(lobby: Lobby, drain_s: float) -> None:
    lobby.accepting = False
    logger.info("stopping; games going on: %d", lobby.running)
    with suppress(TimeoutError):
        async with asyncio.timeout(drain_s):
            await lobby.drained()
    if lobby.running:
        logger.info("games left to the next start: %d", lobby.running)


def _signalled() -> asyncio.Event:
    """An event that the first SIGINT or SIGTERM sets; the second one ends the program."""
    stop = asyncio.Event()

    def on_signal(number: int) -> None:
        if stop.is_set():
            logger.warning("second signal: leaving at once")
            logging.shutdown()
            # Not sys.exit, which would wait for hung threads.  The database is consistent at any moment.
            os._exit(128 + number)
        stop.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal, number)
    return stop
