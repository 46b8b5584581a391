"""The daemon: opens everything, plays with all accounts until a stop signal, and shuts down in order."""

import asyncio
import gc
import logging
import os
import random
import signal
import sys
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from bot.account.account_runner import STANDBY_POLL_INTERVAL_S, AccountRunner, SharedResources
from bot.alarms.evaluator import AlarmEvaluator
from bot.alarms.hooks import AlarmHooks
from bot.arena.blind_report import plain_share
from bot.arena.proxies import Proxies
from bot.arena.server import Arena, stored_report
from bot.arena.traffic.bot_slots import BotSlots
from bot.arena.traffic.reserved_port import ReservedPort
from bot.base import log, service_notify
from bot.base.config import ACCOUNT_SECTIONS, RELOADABLE, Config, choose_accounts, load_config, read_token
from bot.base.dialects import get_dialect
from bot.base.errors import ConfigError, DesdemonaError
from bot.base.game_server import Server
from bot.base.game_summaries import summarise_in_background
from bot.base.malformed_rows import check_at_start
from bot.base.metrics import Metrics
from bot.base.network.http_session import check_network, outgoing_urls
from bot.control.actions import OperatorActions, Runtime
from bot.control.arena_actions import ArenaActions
from bot.control.commands import arena_commands, operator_commands
from bot.control.control_socket import serve_control_socket
from bot.control.health_monitor import HealthMonitor, MonitoredParts
from bot.control.operator_services import OperatorServices
from bot.control.status import ArenaStatus
from bot.daemon.games_to_resume import games_to_resume
from bot.dashboard.page_workers import PageWorkers
from bot.dashboard.server import Dashboard
from bot.game.game_runner import most_severe_error
from bot.game.offer_policy import may_grant_takebacks
from bot.game.shared_game_limit import SharedGameLimit
from bot.servers.adapters import make_server
from bot.threads.person_fold import PersonFold
from bot.threads.reply_judge import ReplyJudge
from bot.threads.search_pool import SearchPool
from bot.views.menu import pages
from engine.games import GAMES
from engine.human.registry import ModelRegistry
from engine.protocols.engine_source import EnginePool
from storage.arena.accounts import list_accounts_by_id
from storage.database import Database
from storage.errors import RoleLost, RoleTaken, StorageError
from storage.records import AccountKey

logger = logging.getLogger(__name__)

MAX_IO_THREADS = 32
"""Maximum number of I/O threads; with too few, one account's host name look-ups would delay another's."""


def run(
    config: Config, path: Path | None = None, *, only: Collection[str] = (), is_standby: bool = False
) -> int:
    """Play until SIGINT or SIGTERM, and return the exit status.

    The first signal stops accepting challenges and waits for running games up to the limit in the settings;
    the next start resumes unfinished games.  A second signal exits immediately, without losing any data.

    Args:
        config: The settings.
        path: The settings file, which is read again on SIGHUP; see `load_config`.
        only: Names of the accounts to use; empty for all accounts.
        is_standby: Whether to wait for accounts in use by another process, and to take them over later.

    Raises:
        ConfigError, AuthError, StorageError: The message is one line and tells the operator what is wrong.
    """
    log.configure_logging(config.log)
    if config.notices:
        logger.warning(
            "settings have new names; the old ones work until 0.4.0: %s", "; ".join(config.notices)
        )
    asyncio.run(play(config, path, only=only, is_standby=is_standby))
    return 0


async def play(
    config: Config, path: Path | None = None, *, only: Collection[str] = (), is_standby: bool = False
) -> None:
    """Open everything, play until a signal, and close everything; arguments and errors as in `run`."""
    try:
        await _play(config, path, only, is_standby)
    except BaseExceptionGroup as group:
        raise most_severe_error(group) from group


async def _play(config: Config, path: Path | None, only: Collection[str], is_standby: bool) -> None:
    stop = _stop_signal_event()
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(MAX_IO_THREADS))
    configs = choose_accounts(config, only)
    for each in configs.values():
        if not each.uses_arena:
            read_token(each.server)  # a missing token must not result in an arena without a bot
    if network := check_network(outgoing_urls(configs)):
        logger.info("network: %s", network)
    async with AsyncExitStack() as stack:
        errors = stack.enter_context(log.capture_errors())
        strong, models = config.engine.strong_options(), config.human.model_registry()
        database = await Database.open(config.storage.url)
        stack.push_async_callback(database.close)
        await check_at_start(database)
        configs = await drop_taken_partners(config, configs, database)
        engines = EnginePool(config.uci.settings())
        stack.push_async_callback(asyncio.to_thread, engines.close)  # closed after the pool, its user
        pool = await stack.enter_async_context(SearchPool(config.engine.workers, config.engine.table_mb))
        fold = PersonFold(database, pool, models)
        judge = ReplyJudge(database, pool, strong.sources, on_judged=fold.wake)
        shared = SharedResources(
            database,
            pool,
            strong,
            engines,
            models,
            SharedGameLimit(config.engine.max_games, pool.is_full),
            # Spreading out retries needs no cryptographic randomness; draws of players have their own.
            random.Random(config.assignment.seed or None),  # noqa: S311
            is_standby,
            on_settled=judge.wake,
        )
        arena = ArenaHost(
            config,
            configs,
            database,
            is_standby=is_standby,
            like_games=[game for game in GAMES if models.has_network(game)],
        )
        runners = {
            name: AccountRunner(
                name,
                each,
                shared,
                partial(open_server, database=database, arena=arena, metrics=shared.metrics),
                is_alone=len(configs) == 1,
            )
            for name, each in configs.items()
        }
        settings = LiveSettings(config, path, runners, arena.set_slots)
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, settings.on_hangup)
        program = Runtime(
            runners,
            database,
            pool,
            shared.pause,
            stop,
            settings.reload,
            lambda: arena.status,
            errors,
            AlarmEvaluator(config.alarms),
            shared.metrics,
            lambda: judge.games_left,
        )
        actions = OperatorActions(program)
        watch = create_health_monitor(config, program, actions, models)
        owner = ArenaActions(config, database, lambda: arena.open, arena.bots)
        await stack.enter_async_context(
            serve_control_socket(config.control_socket, operator_commands(actions, owner))
        )
        if config.dashboard.enabled:
            operator = OperatorServices(actions, watch, program.alarms, models, shared.metrics)
            shown = pages(actions)
            workers = PageWorkers(config.storage.url)
            dashboard = Dashboard(config.dashboard, database, shown, operator, workers=workers)
            if address := await stack.enter_async_context(dashboard.running()):
                logger.info("the dashboard is at %s", address)
        opens_arena = config.arena.enabled and (not only or arena.has_bots)
        async with asyncio.TaskGroup() as tasks:
            opened = tasks.create_task(arena.run()) if opens_arena else None
            helpers = [tasks.create_task(actions.run()), tasks.create_task(watch.run())]
            helpers.append(tasks.create_task(summarise_in_background(database)))
            helpers.append(tasks.create_task(judge.run()))
            helpers.append(tasks.create_task(fold.run()))
            helpers.append(tasks.create_task(_notify_stopping(stop)))
            _freeze_garbage_collector()
            service_notify.notify_systemd(service_notify.READY)
            async with asyncio.TaskGroup() as playing:
                for runner in runners.values():
                    playing.create_task(runner.run(stop), name=f"account {runner.name}")
            for helper in helpers:
                helper.cancel()
            if opened is not None:
                opened.cancel()


async def drop_taken_partners(
    config: Config, configs: Mapping[str, Config], database: Database
) -> dict[str, Config]:
    """The accounts that can play. A bot of `arena.levels` or `arena.like` cannot play if a person took its
    name before the setting included it.

    Args:
        config: All settings.
        configs: Settings of each account.
        database: The arena's database.
    """
    partners = [name for name in config.partner_names if name in configs]
    async with database.read() as session:
        known = await list_accounts_by_id(session, [name.lower() for name in partners])
    people = {account.id for account in known if not account.is_bot}
    for name in (taken := [name for name in partners if name.lower() in people]):
        logger.error(
            "arena.%s: %s cannot play, because a person at the arena has that name; leave out the "
            "number, or rename the person (`desdemona arena-account rename %s NEW`) and start again",
            "like" if name.startswith("Like-") else "levels",
            name,
            name,
        )
    return {name: each for name, each in configs.items() if name not in taken}


def create_health_monitor(
    config: Config, program: Runtime, actions: OperatorActions, models: ModelRegistry
) -> HealthMonitor:
    """The health monitor of the running program, with the notification hooks from the settings."""
    watched = MonitoredParts(
        actions.status,
        program.database,
        config.storage.url,
        models,
        program.metrics,
        config.alarms.backup_folder,
    )
    page = config.dashboard.public_url or f"http://{config.dashboard.host}:{config.dashboard.port}"
    hooks = AlarmHooks(config.alarms, f"{page}/dash/events" if config.dashboard.enabled else "")
    return HealthMonitor(
        watched,
        program.alarms,
        hooks,
        pinged=lambda: service_notify.notify_systemd(service_notify.WATCHDOG),
    )


def _freeze_garbage_collector() -> None:
    """Exempt permanent objects from full garbage collections; otherwise, each collection would delay games
    and searches by 0.1 s."""
    gc.collect()  # what is garbage by now would stay, too
    gc.freeze()


async def _notify_stopping(stop: asyncio.Event) -> None:
    """Notify the service manager when the program begins to stop."""
    await stop.wait()
    service_notify.notify_systemd(service_notify.STOPPING)


async def serve_arena(config: Config) -> None:
    """Run the arena without a bot until SIGINT or SIGTERM; the arena's owner can use the control socket.

    Raises:
        ConfigError: The arena cannot listen.
        StorageError: The database is not available, or another process is running the arena.
    """
    stop = _stop_signal_event()
    database = await Database.open(config.storage.url)
    try:
        await check_at_start(database)
        host = ArenaHost(config, {}, database, is_standby=False)
        owner = ArenaActions(config, database, lambda: host.open)
        running = asyncio.create_task(host.run())
        try:
            await _wait_for_first(running, host.opened.wait())
            if not running.done():
                async with serve_control_socket(config.control_socket, arena_commands(owner)):
                    _freeze_garbage_collector()
                    await _wait_for_first(running, stop.wait())
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running
    finally:
        await database.close()


async def _wait_for_first(running: asyncio.Task[None], event: Coroutine[Any, Any, Any]) -> None:
    """Wait until a task ends or an event is set."""
    waiting = asyncio.create_task(event)
    try:
        await asyncio.wait([running, waiting], return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()


class ArenaHost:
    """Runs the embedded arena, and reopens it after losing the database to another process.

    Args:
        config: The settings.
        configs: Settings of each account; accounts at the arena get their tokens from the arena.
        database: Stores the arena's games, and grants the role of running the arena to one program.
        is_standby: Whether to wait while another process runs the arena on this database.
        like_games: The games at which bots can imitate people.
    """

    def __init__(
        self,
        config: Config,
        configs: Mapping[str, Config],
        database: Database,
        *,
        is_standby: bool,
        like_games: Collection[str] = (),
    ) -> None:
        self._config = config
        own = [each for each in configs.values() if each.uses_arena]
        self.bots = [each.server.name for each in own]
        self._plain_share = plain_share(own[0].assignment.drawn_from if own else ())
        self._draws_casual_games = bool(own) and own[0].assignment.draws_casual_games
        self._no_takebacks = [
            each.server.name for each in own if not may_grant_takebacks(each.assignment, each.manners)
        ]
        self._like_games = like_games
        self._slots: dict[str, BotSlots] = {}
        self.set_slots(configs)
        self._database = database
        self._is_standby = is_standby
        self._port = ReservedPort(Proxies(config.arena.trusted_proxies))
        self._url = ""
        self._tokens: Mapping[str, str] = {}
        self.opened = asyncio.Event()
        """Set while the arena is running."""
        self._tried = asyncio.Event()
        self._taken: RoleTaken | None = None
        """Set on a standby while another process runs the arena."""
        self.open: Arena | None = None
        """The running arena; None if it is not running."""

    @property
    def status(self) -> ArenaStatus | None:
        """The arena's status for the operator; None if the arena is not running."""
        if self.open is None:
            return None
        return ArenaStatus(self._config.arena.public_url or self._url, self.open.open_games)

    def set_slots(self, configs: Mapping[str, Config]) -> None:
        """Apply the limits on concurrent games from the settings of each account."""
        for each in configs.values():
            if each.uses_arena and each.server.name in self.bots:
                limits = BotSlots(each.challenges.max_games, each.challenges.max_slow_games)
                self._slots[each.server.name.lower()] = limits

    @property
    def has_bots(self) -> bool:
        """Whether any account plays at the arena."""
        return bool(self.bots)

    async def run(self) -> None:
        """Run until cancelled; once the arena has opened, wait for missing resources instead of failing.

        Raises:
            ConfigError: The arena cannot listen, or a name is taken.
            RoleTaken: Another process is running the arena, and we are not a standby.
            StorageError: The database is not available.
        """
        try:
            await self._run_again_and_again()
        finally:
            await self._port.release()

    async def _run_again_and_again(self) -> None:
        is_waiting = False
        while True:
            try:
                await self._run_once()
            except RoleLost as error:
                logger.warning("%s; opening it again", error)
                await self._port.answer()
                is_waiting = False
            except (StorageError, ConfigError) as error:
                # Once it has been open, whatever is wrong may pass: with the database, or with the port.
                # And on a standby the other program may still have the port when we have the role.
                is_taken = isinstance(error, RoleTaken)
                if not (self._url or self._taken is not None or (self._is_standby and is_taken)):
                    raise
                # Another program has the arena now, and may need the port, too.
                await (self._port.release() if is_taken else self._port.answer())
                if not is_waiting:
                    logger.info("%s; waiting", error)
                is_waiting = True
                if self._is_standby and isinstance(error, RoleTaken):
                    self._taken = error
                    self._tried.set()
            await asyncio.sleep(STANDBY_POLL_INTERVAL_S)

    async def _run_once(self) -> None:
        report = stored_report(self._database, reveal=self._config.trial.reveal)
        arena = Arena(
            self._config.arena,
            self._database,
            report=report,
            plain_share=self._plain_share,
            draws_casual_games=self._draws_casual_games,
            no_takebacks=self._no_takebacks,
            like_games=self._like_games,
            slots=self._slots,
            port=self._port,
        )
        # The same tokens each time: its accounts may have kept theirs.
        async with arena.running(self.bots, self._tokens) as url:
            self._url, self._tokens, self.open = url, arena.bot_tokens, arena
            names = ", ".join(self.bots)
            who = f"{names} {'play' if len(self.bots) > 1 else 'plays'}" if names else "The arena is open"
            sys.stdout.write(f"{who} at {self._config.arena.public_url or url}\n")
            sys.stdout.flush()
            self._taken = None
            self.opened.set()
            self._tried.set()
            try:
                await arena.role.watch()
            finally:  # at once: an account that starts again meanwhile has to wait
                self.opened.clear()
                self._tried.clear()
                self.open = None

    async def address(self, bot: str) -> tuple[str, str]:
        """Wait until the arena is open, and return its local URL and a bot's token.

        Raises:
            RoleTaken: Another process is running the arena, and we are its standby.
        """
        await self._tried.wait()
        if self._taken is not None:
            raise RoleTaken(str(self._taken))
        await self.opened.wait()
        return self._url, self._tokens[bot]


@asynccontextmanager
async def open_server(
    config: Config, *, database: Database, arena: ArenaHost, metrics: Metrics | None = None
) -> AsyncIterator[Server]:
    """Open the adapter to an account's server; for the embedded arena, wait until it is open.

    The token is read at every call, because a refused token may have been replaced.

    Args:
        config: The account's settings.
        database: The database with the account's open games.
        arena: The embedded arena.
        metrics: Counts requests; None if requests are not counted.

    Raises:
        ConfigError: A setting is invalid.
    """
    dialect = get_dialect(config.server.dialect)
    url = config.server.url or dialect.home
    if config.uses_arena:
        url, token = await arena.address(config.server.name)
        dialect = replace(dialect, keep_alive_s=config.arena.keep_alive_s)
    else:
        token = read_token(config.server)
    owner = AccountKey(dialect.name, config.server.name.lower())
    on_answer = partial((metrics or Metrics()).count_request, dialect.name)
    recall = partial(games_to_resume, database, owner)
    server = make_server(config, dialect, url, token, recall, on_answer)
    try:
        yield server
    finally:
        await server.close()


class LiveSettings:
    """The settings in use, which are read again on SIGHUP and by `desdemona control reload`.

    Args:
        config: The settings read at the start.
        path: See `load_config`.
        runners: The accounts to update, keyed by name.
        on_reload: Called with the new settings of each account.
    """

    def __init__(
        self,
        config: Config,
        path: Path | None,
        runners: Mapping[str, AccountRunner],
        on_reload: Callable[[Mapping[str, Config]], None] = lambda _: None,
    ) -> None:
        self._config = config
        self._on_reload = on_reload
        self._path = path
        self._runners = runners

    def reload(self) -> str:
        """Read the settings again, apply them and return the changes; after an error, nothing has changed.

        Raises:
            ConfigError: The settings are invalid, or a setting that needs a restart has changed.
        """
        old, config = self._config.by_account(), load_config(self._path)
        new = config.by_account()
        if old.keys() != new.keys():
            raise ConfigError("accounts: a change to the list of accounts needs a restart")
        changed = {setting: name for name in old for setting in changed_settings(old[name], new[name])}
        needs_restart = []
        for setting, name in changed.items():
            section = setting.partition(".")[0]
            if section not in RELOADABLE:
                is_own = self._config.accounts and section in ("server", *ACCOUNT_SECTIONS)
                shown = setting.removeprefix("server.").replace("name", "login") if is_own else setting
                needs_restart.append(f"account {name}: {shown}" if is_own else setting)
        if needs_restart:
            raise ConfigError(f"{', '.join(needs_restart)}: a change needs a restart; nothing was changed")
        self._config = config
        for name, runner in self._runners.items():
            runner.reload(new[name])
        self._on_reload(new)
        return ", ".join(changed) or "nothing"

    def on_hangup(self) -> None:
        """Reload on SIGHUP."""
        try:
            logger.info("settings reloaded; changed: %s", self.reload())
        except DesdemonaError as error:
            logger.error("the settings are unchanged: %s", error)


def changed_settings(old: BaseModel, new: BaseModel, section: str = "") -> Iterator[str]:
    """Yield the names of the settings that differ, such as ``engine.max_depth``."""
    for field in type(old).model_fields:
        before, after, name = getattr(old, field), getattr(new, field), section + field
        if isinstance(before, BaseModel) and isinstance(after, BaseModel):
            yield from changed_settings(before, after, f"{name}.")
        elif before != after:
            yield name


def _stop_signal_event() -> asyncio.Event:
    """Return an event that the first SIGINT or SIGTERM sets; a second signal ends the program."""
    stop = asyncio.Event()

    def on_signal(number: int) -> None:
        if stop.is_set():
            logger.warning("second signal: exiting immediately")
            logging.shutdown()
            # Not sys.exit, which would wait for hung threads.  The database is consistent at any moment.
            os._exit(128 + number)
        stop.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal, number)
    return stop
