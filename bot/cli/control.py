"""`desdemona status`, `reload`, `challenge` and `tournament`: commands to the running program."""

from typing import Annotated, Any

import typer

from bot.base.log import printable
from bot.cli.common import UsageError, config_of

PATIENCE_S = 60.0
"""For commands that are answered at once."""


def status(context: typer.Context) -> None:
    """Show what the running program does: its accounts and games."""
    _ask(context, PATIENCE_S, command="status")


def reload(context: typer.Context) -> None:
    """Make the running program read its settings again, as SIGHUP does.

    Challenge rules, lists, selection, manners, matchmaking and chat may change; all or nothing.
    """
    _ask(context, PATIENCE_S, command="reload")


OurAccount = Annotated[
    str | None, typer.Option("--account", metavar="NAME", help="Our account, if there are several.")
]


def challenge(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Account to challenge, by its name at the site.")],
    variant: Annotated[
        str, typer.Option(help="Variant by the site's key, for instance othello.")
    ] = "standard",
    clock: Annotated[str, typer.Option(help="Minutes, and seconds of increment.")] = "3+2",
    rated: Annotated[bool, typer.Option("--rated/--casual")] = True,
    colour: Annotated[
        str, typer.Option(help="first, second, or random; with --games it changes in turn.")
    ] = "random",
    games: Annotated[int, typer.Option(min=1, max=1000, help="Games, one after the other.")] = 1,
    account: OurAccount = None,
) -> None:
    """Challenge somebody by name, and wait for the end of the game.

    Ctrl-C withdraws an unanswered challenge and sends no more; a game that has begun goes on.
    """
    if colour not in ("first", "second", "random"):
        raise UsageError(f"--colour: {colour!r} is not known; known: first, second, random")
    _ask(
        context,
        command="challenge",
        name=name,
        variant=variant,
        clock=clock,
        rated=rated,
        colour=colour,
        games=games,
        account=account,
    )


def tournament(
    context: typer.Context,
    key: Annotated[
        str, typer.Argument(metavar="ID", help="The tournament, by the last part of its address at the site.")
    ],
    withdraw: Annotated[
        bool, typer.Option("--withdraw", help="Leave it, or pause until the next time you join.")
    ] = False,
    password: Annotated[str, typer.Option(help="Its password, if it has one.")] = "",
    team: Annotated[str, typer.Option(metavar="ID", help="The bot's team, in a battle of teams.")] = "",
    account: OurAccount = None,
) -> None:
    """Join a tournament that lets programs in, or leave it.

    The site then pairs the bot until the tournament ends, also after a restart.
    """
    if withdraw and (password or team):
        raise UsageError("--withdraw takes neither --password nor --team")
    _ask(
        context,
        command="tournament",
        id=key,
        withdraw=withdraw,
        password=password,
        team=team,
        account=account,
    )


def _ask(context: typer.Context, patience_s: float | None = None, **request: Any) -> None:
    from bot.control import ask

    for line in ask(config_of(context).control_socket, request, patience_s):
        print(printable(line), flush=True)
