"""`desdemona arena-account`: commands with which the arena's owner lists and changes accounts."""

import json
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import typer

from bot.base.log import printable
from bot.cli.common import ask_database, config_of, print_json, print_note, print_rows

REQUEST_TIMEOUT_S = 60.0

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of the arena account.")]


def list_command(
    context: typer.Context, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False
) -> None:
    """List the accounts with their rights and games."""
    lines = _run_account_change(context, {"command": "arena_accounts"}, _listed)
    accounts = json.loads(lines[0])
    if as_json:
        print_json(accounts)
    elif accounts:
        print_rows(
            [
                {
                    "name": each["name"],
                    "kind": "program" if each["is_bot"] else "person",
                    "access": each["access"],
                    "since": each["created_at"][:10],
                    "games": each["games"],
                    "playing": each["playing"],
                }
                for each in accounts
            ]
        )
    else:
        print_note("The arena has no accounts yet.")


def approve(context: typer.Context, name: NameArgument) -> None:
    """Approve an account that is waiting for approval.

    Accounts wait for approval if the setting `arena.approve_accounts` is on.
    """
    _change(context, "approve", name)


def ban(context: typer.Context, name: NameArgument) -> None:
    """Ban an account: its token stops working, and its streams end.

    The account's running games are aborted if either side has not moved yet, otherwise lost by resignation.
    """
    _change(context, "ban", name)


def unban(context: typer.Context, name: NameArgument) -> None:
    """Lift a ban; the account keeps its token."""
    _change(context, "unban", name)


def revoke(context: typer.Context, name: NameArgument) -> None:
    """Revoke an account's token; the account keeps its name and games."""
    _change(context, "revoke", name)


def rename(
    context: typer.Context,
    name: NameArgument,
    new_name: Annotated[str, typer.Argument(help="The new name.")],
) -> None:
    """Rename an account, which keeps its token, ratings and games."""
    _change(context, "rename", name, new_name)


def delete(
    context: typer.Context,
    name: NameArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Skip the confirmation.")] = False,
) -> None:
    """Delete an account with its token, ratings and chat.

    The account's games stay under the name deleted-N; a running game ends as with `ban`.
    """
    if not yes:
        typer.confirm(
            f"Delete {printable(name)} and everything that identifies it?  This cannot be undone.",
            abort=True,
            err=True,
        )
    _change(context, "delete", name)


def void_game(
    context: typer.Context, game: Annotated[str, typer.Argument(metavar="GAME", help="The game's id.")]
) -> None:
    """Void a rated game and undo its effect on both ratings."""
    _change(context, "void-game", game)


def _change(context: typer.Context, action: str, name: str, new_name: str = "") -> None:
    from bot.control.audit import COMMAND_LINE_ACTOR

    async def alone(actions: Any) -> list[str]:
        return [await actions.change(action, name, new_name, by=COMMAND_LINE_ACTOR)]

    request = {"command": "arena_account", "action": action, "name": name, "new_name": new_name}
    for line in _run_account_change(context, request, alone):
        print(printable(line))


async def _listed(actions: Any) -> list[str]:
    return [json.dumps([account.to_json() for account in await actions.list()])]


def _run_account_change(
    context: typer.Context, request: dict[str, str], alone: Callable[[Any], Awaitable[list[str]]]
) -> list[str]:
    """Have the running program make the change; if no program is running, change the database directly.

    Raises:
        StorageError: The socket does not respond, but a program is running the arena on this database.
    """
    from bot.control.arena_actions import ArenaActions
    from bot.control.control_socket import NotRunning, ask

    config = config_of(context)
    try:
        return list(ask(config.control_socket, request, REQUEST_TIMEOUT_S))
    except NotRunning:
        bots = [each.server.name for each in config.by_account().values() if each.uses_arena]
        return ask_database(context, lambda database: alone(ArenaActions(config, database, bots=bots)))
