"""`desdemona status`, `pause`, `abort` and the like: commands to the running program."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.base.log import printable
from bot.cli.common import UsageError, ask_database, config_of, print_json

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from storage.database import Database

REQUEST_TIMEOUT_S = 60.0
"""Timeout of commands that are answered immediately, in seconds."""

GameArgument = Annotated[
    str,
    typer.Argument(metavar="GAME", help="The site's ID of the game, or a unique prefix of it."),
]
OurAccount = Annotated[
    str | None, typer.Option("--account", metavar="NAME", help="Our account; needed if there are several.")
]
AlarmArgument = Annotated[
    str, typer.Argument(metavar="ALARM", help="Name of the alarm, as shown by `status`.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]


def status(context: typer.Context, as_json: JsonOption = False) -> None:
    """Show what the running program is doing.

    Shows accounts and their connections, games, pending challenges, workers, the database, the last error,
    and whether new games may start.
    """
    if not as_json:
        _ask(context, REQUEST_TIMEOUT_S, command="status")
        return
    (line,) = _answers(context, REQUEST_TIMEOUT_S, command="status", json=True)
    print_json(json.loads(line))


def pause(
    context: typer.Context,
    minutes: Annotated[
        float | None, typer.Argument(help="Length of the pause in minutes; by default, until `resume`.")
    ] = None,
) -> None:
    """Start no new games on any account; running games continue.

    Challenges are declined as "later"; matchmaking, rematches, tournaments and the resumption of adjourned
    games are suspended. A restart of the program ends the pause.
    """
    _ask(context, REQUEST_TIMEOUT_S, command="pause", minutes=minutes)


def resume(context: typer.Context) -> None:
    """End the pause."""
    _ask(context, REQUEST_TIMEOUT_S, command="resume")


def drain(context: typer.Context) -> None:
    """Finish the running games, then stop the program.

    Waits up to `shutdown.drain_s` seconds for running games; the next start resumes unfinished games.
    """
    _ask(context, REQUEST_TIMEOUT_S, command="drain")


def abort(context: typer.Context, game: GameArgument, account: OurAccount = None) -> None:
    """Ask the site to abort a game.

    Most sites allow this only before both players have moved.
    """
    _ask(context, REQUEST_TIMEOUT_S, command="abort", game=game, account=account)


def resign(context: typer.Context, game: GameArgument, account: OurAccount = None) -> None:
    """Resign a game."""
    _ask(context, REQUEST_TIMEOUT_S, command="resign", game=game, account=account)


def say(
    context: typer.Context,
    game: GameArgument,
    text: Annotated[str, typer.Argument(help="At most 140 characters.")],
    account: OurAccount = None,
) -> None:
    """Send a message to the opponent in a game."""
    _ask(context, REQUEST_TIMEOUT_S, command="say", game=game, text=text, account=account)


def block(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Name or ID of the account at the site.")],
    account: OurAccount = None,
) -> None:
    """Block an account: play no more games with it, even after a restart."""
    _change_block(context, "block", name, account)


def unblock(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Name or ID of the account at the site.")],
    account: OurAccount = None,
) -> None:
    """Undo `block`; block lists in the settings still apply."""
    _change_block(context, "unblock", name, account)


def _change_block(context: typer.Context, action: str, name: str, account: str | None) -> None:
    """Have the running program make the change; if none is running, change the database."""
    from bot.control.control_socket import NotRunning

    try:
        _ask(context, REQUEST_TIMEOUT_S, command=action, name=name, account=account)
    except NotRunning:
        from bot.control.audit import COMMAND_LINE_ACTOR
        from bot.control.blocks import change_block_offline

        config = config_of(context)

        def change(database: "Database") -> "Awaitable[str]":
            is_blocked = action == "block"
            return change_block_offline(
                config, database, name, account, is_blocked=is_blocked, by=COMMAND_LINE_ACTOR
            )

        print(printable(ask_database(context, change, upgrade=True)))


def log_level(
    context: typer.Context,
    level: Annotated[str, typer.Argument(help="DEBUG, INFO, WARNING or ERROR.")],
) -> None:
    """Set the log level until the program ends."""
    _ask(context, REQUEST_TIMEOUT_S, command="log", level=level)


def ack(context: typer.Context, alarm: AlarmArgument) -> None:
    """Acknowledge an alarm: send no more notices until it clears."""
    _ask(context, REQUEST_TIMEOUT_S, command="ack", alarm=alarm)


def snooze(
    context: typer.Context,
    alarm: AlarmArgument,
    minutes: Annotated[float, typer.Argument(help="Duration in minutes, at most a week.")] = 60.0,
) -> None:
    """Send no notices of an alarm for a while."""
    _ask(context, REQUEST_TIMEOUT_S, command="snooze", alarm=alarm, minutes=minutes)


def reload(context: typer.Context) -> None:
    """Read the settings again, as on SIGHUP.

    Applies challenge rules and lists, assignment, manners, matchmaking and chat; an error changes nothing.
    """
    _ask(context, REQUEST_TIMEOUT_S, command="reload")


def challenge(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The account's name at the site.")],
    variant: Annotated[
        str, typer.Option(help="Variant, for instance othello or chess, or the site's name for it.")
    ] = "standard",
    clock: Annotated[str, typer.Option(help="Initial time in minutes + seconds per move.")] = "3+2",
    rated: Annotated[bool, typer.Option("--rated/--casual")] = True,
    colour: Annotated[str, typer.Option(help="first, second or random; alternates in a series.")] = "random",
    odds: Annotated[str, typer.Option(help="Odds that we give, such as knight; needs --casual.")] = "",
    games: Annotated[int, typer.Option(min=1, max=1000, help="Number of games, played one by one.")] = 1,
    account: OurAccount = None,
) -> None:
    """Challenge a player and wait for the end of the game.

    Ctrl-C withdraws an unanswered challenge and ends the series; a game that has begun continues.
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
        odds=odds,
        games=games,
        account=account,
    )


def tournament(
    context: typer.Context,
    key: Annotated[
        str, typer.Argument(metavar="ID", help="The last part of the tournament's URL at the site.")
    ],
    withdraw: Annotated[
        bool, typer.Option("--withdraw", help="Leave the tournament, or pause until you join again.")
    ] = False,
    password: Annotated[str, typer.Option(help="Password of the tournament, if it has one.")] = "",
    team: Annotated[str, typer.Option(metavar="ID", help="ID of the bot's team, for a team battle.")] = "",
    account: OurAccount = None,
) -> None:
    """Join or leave a tournament that admits programs.

    Once the bot has joined, the site pairs it until the tournament ends, even after a restart.
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


def _ask(context: typer.Context, timeout_s: float | None = None, **request: Any) -> None:
    for line in _answers(context, timeout_s, **request):
        print(printable(line), flush=True)


def _answers(context: typer.Context, timeout_s: float | None = None, **request: Any) -> Iterator[str]:
    from bot.control.control_socket import ask

    return ask(config_of(context).control_socket, request, timeout_s)
