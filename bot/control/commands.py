"""The commands of the control socket: each checks its arguments and carries out an action."""

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from bot.base.events import Clock, Proposal
from bot.control.actions import OperatorActions
from bot.control.arena_actions import ArenaActions
from bot.control.control_socket import Command, ControlError
from bot.control.status_text import status_lines

Tell = Callable[[str], None]
Request = Mapping[str, Any]
Read = Callable[[Request, str], Any]
"""Reads an argument of a command by its name."""

SOCKET = "socket"
"""The caller's name in events of actions: a user who may open the control socket."""
MOST_GAMES = 1000
"""Most games that one command challenges to."""


def operator_commands(actions: OperatorActions, arena: ArenaActions) -> dict[str, Command]:
    """Each command by its name.

    Args:
        actions: The actions behind the commands.
        arena: The same for the arena's accounts.
    """
    of_game: dict[str, Read] = {"game": text, "account": account}

    async def show_status(request: Request, tell: Tell) -> None:
        as_json = flag(request, "json")
        status = await actions.status()
        for line in [json.dumps(status.to_json())] if as_json else status_lines(status):
            tell(line)

    async def challenge(request: Request, tell: Tell) -> None:
        name, variant, clock = (text(request, key) for key in ("name", "variant", "clock"))
        games = number(request, "games")
        count = 1 if games is None else round(games)
        if not 1 <= count <= MOST_GAMES or count != (games or 1):
            raise ControlError(f"games: a whole number from 1 to {MOST_GAMES}")
        side = {"first": 0, "second": 1}.get(text(request, "colour", "random"))
        for turn in range(count):
            ours = None if side is None else (side + turn) % 2
            proposal = Proposal(variant, flag(request, "rated"), parse_minutes(clock), ours)
            tell(await actions.challenge(name, proposal, account=account(request), by=SOCKET, tell=tell))

    async def join_or_leave(request: Request, tell: Tell) -> None:
        key, ours = text(request, "id"), account(request)
        if flag(request, "withdraw"):
            tell(await actions.leave_tournament(key, account=ours, by=SOCKET))
            return
        password, team = text(request, "password", ""), text(request, "team", "")
        tell(await actions.join_tournament(key, password=password, team=team, account=ours, by=SOCKET))

    return {
        "status": show_status,
        "pause": answering(actions.pause, minutes=number),
        "resume": answering(actions.resume),
        "drain": answering(actions.drain),
        "reload": answering(actions.reload),
        "log": answering(actions.set_log_level, level=text),
        "ack": answering(actions.acknowledge, alarm=text),
        "snooze": answering(actions.snooze, alarm=text, minutes=needed_number),
        "abort": answering(actions.abort, **of_game),
        "resign": answering(actions.resign, **of_game),
        "say": answering(actions.say, **of_game, text=text),
        "block": answering(actions.block, name=text, account=account),
        "unblock": answering(actions.unblock, name=text, account=account),
        "challenge": challenge,
        "tournament": join_or_leave,
        **arena_commands(arena),
    }


def answering(act: Callable[..., Awaitable[str]], **arguments: Read) -> Command:
    """The command that carries out an action and tells its answer.

    Args:
        act: The action.
        arguments: How each of its arguments is read from a request.
    """

    async def command(request: Request, tell: Tell) -> None:
        tell(await act(**{name: read(request, name) for name, read in arguments.items()}, by=SOCKET))

    return command


def arena_commands(actions: ArenaActions) -> dict[str, Command]:
    """The commands of the arena's owner by name; an arena without a bot has these only."""

    async def list_accounts(_request: Request, tell: Tell) -> None:
        tell(json.dumps([each.to_json() for each in await actions.list()]))

    async def change(request: Request, tell: Tell) -> None:
        action, name = text(request, "action"), text(request, "name")
        tell(await actions.change(action, name, text(request, "new_name", ""), by=SOCKET))

    return {"arena_accounts": list_accounts, "arena_account": change}


def text(request: Request, key: str, default: str | None = None) -> str:
    """A text among a command's arguments; null counts as missing.

    Raises:
        ControlError: It is missing and has no default, or it is no text.
    """
    value = request.get(key)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        raise ControlError(f"{key} is missing" if value is None else f"{key} is not a text")
    return value


def number(request: Request, key: str) -> float | None:
    """A number among a command's arguments; None: it is missing or null.

    Raises:
        ControlError: It is no number, or not finite.
    """
    value = request.get(key)
    if value is None:
        return None
    # Whole numbers may be too large for a float.
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e12:
        raise ControlError(f"{key} is not a number that can be used")
    return float(value)


def needed_number(request: Request, key: str) -> float:
    """A number that may not be missing; raises as `number`."""
    value = number(request, key)
    if value is None:
        raise ControlError(f"{key} is missing")
    return value


def flag(request: Request, key: str) -> bool:
    """A truth value among a command's arguments; missing: false.

    Raises:
        ControlError: It is something else.
    """
    value = request.get(key, False)
    if not isinstance(value, bool):
        raise ControlError(f"{key} is neither true nor false")
    return value


def account(request: Request, key: str = "account") -> str | None:
    """The name of one of our accounts; None: any."""
    return text(request, key, "") or None


def parse_minutes(text: str) -> Clock:
    """Parse a clock of minutes, and seconds of increment, for instance ``3+2`` or ``0.5+0``.

    Raises:
        ControlError: It is something else.
    """
    match = re.fullmatch(r"(\d{1,3}(?:\.\d{1,2})?)\+(\d{1,3})", text)
    if match is None:
        raise ControlError(f"clock {text!r} is not of the form 3+2: minutes, and seconds of increment")
    return Clock(round(float(match[1]) * 60), int(match[2]))
