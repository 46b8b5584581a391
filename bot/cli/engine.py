"""`desdemona engine`: runs our engine under a GUI or a match runner."""

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from bot.base.errors import DISK_FULL_ERRNOS, ConfigError
from engine.protocols.settings import PROTOCOL_GAMES
from engine.strategies.registry import own_strategies, strategy_named
from engine.strategies.trappy import TRAPPY

# Functions import what takes long, so that `--help` need not wait for it.
if TYPE_CHECKING:
    from bot.base.config import Config
    from bot.protocols.search_driver import FrontEndSettings, SearchDriver


class ProtocolName(StrEnum):
    """A protocol."""

    NBOARD = "nboard"
    GTP = "gtp"
    UCI = "uci"
    UCCI = "ucci"


def engine(
    context: typer.Context,
    protocol: Annotated[ProtocolName, typer.Option(help="The other program's protocol.")],
    game: Annotated[
        str | None,
        typer.Option(help="UCI game: chess (default) or xiangqi; the other protocols have one game each."),
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(help=f"One of {', '.join(own_strategies())} (default: assignment.strategy)."),
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option(
            min=2,
            max=120,
            help="Search depth if the other program sets no limit (default: the configured depth).",
        ),
    ] = None,
) -> None:
    """Run as an engine for a GUI: UCI, GTP or NBoard.

    Works with NBoard, Novello, chess and xiangqi GUIs, and match runners; ends at `quit` or end of input.
    """
    games = PROTOCOL_GAMES[protocol]
    if game is not None and game not in games:
        raise ConfigError(f"--game: {protocol} is for {' and '.join(games)}, not for {game!r}")
    if strategy is not None and strategy not in own_strategies():
        raise ConfigError(f"--strategy: {strategy!r} is not known; known: {', '.join(own_strategies())}")
    from bot.base.config import load_config
    from bot.protocols.search_driver import SearchDriver
    from engine.games import get_rules
    from engine.search.searchers import make_searcher

    config = load_config(context.obj)
    driver = SearchDriver(get_rules(game or games[0]), settings(config, strategy, depth))
    make_searcher(driver.game.name, 1)  # reads its weights: a damaged file must not wait for the first move
    run(protocol, driver)


def settings(config: "Config", strategy: str | None, depth: int | None) -> "FrontEndSettings":
    """The search driver's settings; options override the configuration."""
    from bot.protocols.search_driver import FrontEndSettings

    usual = config.assignment.strategy if config.assignment.strategy in own_strategies() else TRAPPY.name
    return FrontEndSettings(
        strategy=strategy_named(strategy or usual),
        params=config.trap.params(),
        strong=config.engine.strong_options(),
        models=config.human.model_registry(),
        table_mb=config.engine.table_mb,
        depth=depth,
        full_depth=config.engine.max_depth,
        move_s=config.engine.max_time_s,
    )


def run(protocol: str, driver: "SearchDriver") -> None:
    """Run the protocol on standard input and output until it ends.

    Raises:
        OSError: The disk behind standard output is full.  A closed pipe is not an error.
    """
    from bot.protocols.console import Console

    console = Console(sys.stdin.buffer, sys.stdout.buffer)
    if protocol == "nboard":
        from bot.protocols.nboard import NBoard

        NBoard(console, driver).run()
    elif protocol == "gtp":
        from bot.protocols.gtp import Gtp

        Gtp(console, driver).run()
    else:
        from bot.protocols.uci import Uci

        Uci(console, driver, protocol).run()
    if console.write_error is not None and console.write_error.errno in DISK_FULL_ERRNOS:
        raise console.write_error
