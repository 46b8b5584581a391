"""`desdemona check`: tests the database, the engines and the accounts."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import typer

from bot.base.config import Config, config_source, read_dashboard_token
from bot.base.log import printable
from bot.base.network.http_session import check_network, outgoing_urls
from bot.cli.account_check import Finding, check_account, check_arena, run_check
from bot.cli.common import config_of
from bot.servers.online_lookup import open_lookup
from engine import ENGINE_VERSION
from engine._native import UNIT
from engine.completion import complete
from engine.games import ENGINE_GAMES, get_rules
from engine.human.model import SHALLOW, BadModel
from engine.human.opponent_model_search import GameModels
from engine.move_chooser import MoveChooser
from engine.protocols.engine_source import EngineSource
from engine.protocols.process import EngineError
from engine.protocols.score_settings import EngineSettings, MoveLimit
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.registry import STRATEGIES
from engine.time_management import Limits
from engine.verification import verify
from storage.database import Database
from storage.errors import StorageError
from storage.maintenance.malformed import quarantine_malformed, tables_needed_at_start

SELF_TEST_DEPTH = 6
OPPONENT_MODEL_CHECK_DEPTH = 3
EXTERNAL_ENGINE_DEPTH = 4
MAX_EXTERNAL_ENGINE_NODES = 10_000
EXTERNAL_ENGINE_TIMEOUT_S = 10.0
_MAX_NAMED_GAMES = 3
"""Maximum number of database rows that a message names."""


def check_command(context: typer.Context) -> None:
    """Check the configuration, database, engine and accounts.

    Contacts the sites; what it does not try is marked with --. The exit status is 1 if any check fails.
    """
    findings = asyncio.run(check(config_of(context), config_source(context.obj)))
    for finding in findings:
        print(printable(finding.line))
    raise typer.Exit(1 if any(finding.is_good is False for finding in findings) else 0)


async def check(config: Config, source: str = "settings") -> list[Finding]:
    """Run all checks for `desdemona run`; a failure does not stop the other checks.

    Args:
        config: The settings.
        source: Where the settings come from, as shown to the operator.
    """
    accounts = config.by_account()
    uses_arena = any(each.uses_arena for each in accounts.values())
    return [
        await run_check("configuration", lambda: _configuration(config, source)),
        *await _network(accounts),
        await run_check("database", lambda: _database(config)),
        await run_check("engine", lambda: asyncio.to_thread(_engine, config)),
        await run_check("human", lambda: asyncio.to_thread(_check_opponent_models, config)),
        *[
            await run_check(
                f"uci.engines, {each.game}", partial(asyncio.to_thread, _check_external_engine, config, each)
            )
            for each in config.uci.settings()
        ],
        *([await run_check("online", lambda: _online(config))] if config.online.is_used else []),
        *([await run_check("arena", lambda: check_arena(config))] if uses_arena else []),
        *[
            replace(finding, what=f"{finding.what} {name}" if len(accounts) > 1 else finding.what)
            for name, each in accounts.items()
            for finding in await check_account(each)
        ],
    ]


def _games(config: Config) -> list[str]:
    """The configured games of all accounts, except those that need an external engine."""
    names = dict.fromkeys(name for each in config.by_account().values() for name in each.challenges.games)
    return [name for name in names if name not in ENGINE_GAMES]


async def _network(accounts: Mapping[str, Config]) -> list[Finding]:
    """How the network is reached, if the environment says anything about that."""

    async def probe() -> str:
        return check_network(outgoing_urls(accounts))

    finding = await run_check("network", probe)
    return [finding] if finding.text else []


async def _configuration(config: Config, source: str) -> str:
    if config.dashboard.enabled:
        read_dashboard_token(config.dashboard)  # refuses what `run` does
    renamed = f"; renamed: {'; '.join(config.notices)}" if config.notices else ""
    return f"{source}: every setting is known and in range{renamed}"


async def _database(config: Config) -> str:
    database, moved = await Database.open(config.storage.url), list[str]()
    try:
        await database.try_writing()
        moved += [row.text for row in await quarantine_malformed(database, tables_needed_at_start())]
        if moved:
            names = "; ".join(moved[:_MAX_NAMED_GAMES])
            raise StorageError(f"moved to the quarantine: {names}; `desdemona db recheck` checks all rows")
        return f"{_where(database.url)} can be read and written, and its schema is up to date"
    finally:
        await database.close()


def _where(url: str) -> str:
    """A database file's absolute path (a relative path depends on the working directory), or else the URL."""
    file = Path(url)
    return str(file.absolute()) if file.exists() else url


def _engine(config: Config) -> str:
    """Have each player choose a move in each game, and verify the decision from its record."""
    shown, strong = [], config.engine.strong_options()
    for name in _games(config):
        game = get_rules(name)
        position = game.initial()
        position = game.play(position, game.legal_moves(position)[0])
        searcher = make_searcher(name, config.engine.table_mb)
        began = time.monotonic()
        for kind in STRATEGIES.values():
            if kind.uses_people_models:
                continue  # tried with their models
            player = MoveChooser(kind, game, config.trap.params(), searcher, strong)
            decision = player.choose(position, Limits(SELF_TEST_DEPTH), StopFlag())
            verify(complete(decision, searcher, StopFlag()))
        took_s = time.monotonic() - began
        shown.append(f"{name} to depth {SELF_TEST_DEPTH} in {took_s:.2f} s ({searcher.source})")
    sources = [source.description for found in strong.sources.values() for source in found]
    books = ", ".join(sources) or "no book"
    return f"version {ENGINE_VERSION} for {UNIT} processors, {books}: {', '.join(shown)}"


def _check_opponent_models(config: Config) -> str:
    """Have each player with an opponent model choose a move, and verify the decision from its record."""
    shown, registry = [], config.human.model_registry()
    for name in _games(config):
        game = get_rules(name)
        position = game.initial()
        searcher = make_searcher(name, 1)
        with registry.lend(name) as models:
            for kind in STRATEGIES.values():
                if kind.asks_engine or not kind.uses_people_models:
                    continue
                player = MoveChooser(kind, game, config.trap.params(), searcher, models=models)
                decision = player.choose(position, Limits(OPPONENT_MODEL_CHECK_DEPTH), StopFlag())
                verify(complete(decision, searcher, StopFlag()))
                if decision.model_use is not None and decision.model_use.trouble:
                    raise BadModel(decision.model_use.trouble)
            calibrated = (
                "" if models.calibrated is None else f", probabilities by {models.calibrated.info.name}"
            )
            shown.append(f"{name} by {models.human.info.name}{calibrated}{_model_mismatch_warning(models)}")
    return "replies expected: " + "; ".join(shown)


def _model_mismatch_warning(models: GameModels) -> str:
    """A warning if the calibrated model was trained with a human-move model other than the one in use."""
    human, calibrated = models.human.info, models.calibrated
    if human.kind == SHALLOW or calibrated is None or calibrated.trained_with_model in ("", human.name):
        return ""  # a calibrated model does not use a guess
    return f" (which was trained with {calibrated.trained_with_model}, not with {human.name})"


def _check_external_engine(config: Config, settings: EngineSettings) -> str:
    """Have each strategy for external engines choose a move, and verify the decision from its record."""
    game = get_rules(settings.game)
    small = replace(
        settings,
        depth=min(settings.depth, EXTERNAL_ENGINE_DEPTH),
        nodes=min(settings.nodes, MAX_EXTERNAL_ENGINE_NODES),
        limit=MoveLimit.DEPTH if settings.limit is MoveLimit.CLOCK else settings.limit,
    )
    source = EngineSource(small)
    try:
        began = time.monotonic()
        source.open()
        for strategy in filter(lambda each: each.plays_engine_games, STRATEGIES.values()):
            player = MoveChooser(
                strategy, game, config.trap.params(), make_searcher(game.name, 1), source=source
            )
            limits = Limits(EXTERNAL_ENGINE_DEPTH, EXTERNAL_ENGINE_TIMEOUT_S)
            decision = player.choose(game.initial(), limits, StopFlag())
            verify(decision)
            if decision.source is None:
                raise EngineError(f"{settings.command[0]} starts, but fails to analyse: {source.trouble}")
            text = f"{decision.source.name} to depth {decision.depth}"
        return f"{text} in {time.monotonic() - began:.2f} s"
    finally:
        source.close()


async def _online(config: Config) -> str:
    lookup = open_lookup(config)
    if lookup is None:
        return "nothing is looked up"
    try:
        return await lookup.check_services()
    finally:
        await lookup.close()
