"""`desdemona run` plays games, and `desdemona arena` serves only the arena, until stopped."""

import asyncio
from typing import Annotated

import typer

from bot.cli.common import config_of


def run(
    context: typer.Context,
    only: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Play this account only; may be repeated.")
    ] = None,
    standby: Annotated[
        bool,
        typer.Option("--standby", help="Wait until no other program plays the accounts, then play them."),
    ] = False,
) -> None:
    """Play until SIGINT or SIGTERM.

    Also starts the arena, if enabled, and prints its page's address.  SIGHUP makes the bot reload settings.
    """
    from bot.daemon import program

    raise typer.Exit(program.run(config_of(context), context.obj, only=only or (), is_standby=standby))


def arena(context: typer.Context) -> None:
    """Run the arena alone, until SIGINT or SIGTERM."""
    from bot.base import log
    from bot.daemon import program

    config = config_of(context)
    log.configure_logging(config.log)
    asyncio.run(program.serve_arena(config))
