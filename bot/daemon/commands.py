"""`desdemona run` plays games, and `desdemona arena` serves only the arena, until stopped."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from bot.base.log import printable
from bot.base.rounding import plural
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


def replay(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A recording made with `servers.record`.")],
    patience: Annotated[
        float, typer.Option(min=0, max=3600, help="Seconds that the bot has for each recorded request.")
    ] = 10.0,
) -> None:
    """Replay a recording of traffic with a site.

    Needs no network. Prints the requests that the bot sends, then each difference; if there is any, the exit
    status is 1.
    """
    from bot.base import log
    from bot.daemon.replay import replay
    from bot.servers.recording import Recording

    recording, config = Recording.read(file), config_of(context)
    log.configure_logging(config.log)
    of_site = [each for each in config.by_account().values() if each.server.dialect == recording.site]
    report = asyncio.run(replay(recording, of_site[0] if of_site else config, patience_s=patience))
    for line in report.requests:
        typer.echo(printable(line))
    for line in report.differences:
        typer.echo(printable(f"DIFFERENCE  {line}"))
    typer.echo(f"{plural(len(report.requests), 'request')}, {plural(len(report.differences), 'difference')}")
    raise typer.Exit(1 if report.differences else 0)


def arena(context: typer.Context) -> None:
    """Run the arena alone, until SIGINT or SIGTERM."""
    from bot.base import log
    from bot.daemon import program

    config = config_of(context)
    log.configure_logging(config.log)
    asyncio.run(program.serve_arena(config))
