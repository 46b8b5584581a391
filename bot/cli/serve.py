"""`desdemona run` and `desdemona arena`: play, or serve the arena alone, until stopped."""

import asyncio

import typer

from bot.cli.common import config_of


def run(context: typer.Context) -> None:
    """Play until SIGINT or SIGTERM.

    Opens the arena too, and prints the address of its page.
    """
    from bot import daemon

    raise typer.Exit(daemon.run(config_of(context)))


def arena(context: typer.Context) -> None:
    """Run the arena alone, until SIGINT or SIGTERM."""
    from bot.arena import server
    from bot.base import log

    config = config_of(context)
    log.set_up(config.log)
    asyncio.run(server.serve(config))
