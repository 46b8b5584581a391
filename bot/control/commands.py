"""The commands of the control socket; each checks its arguments and carries out an action."""

import inspect
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

from pydantic import ConfigDict, Field, ValidationError, validate_call

from bot.base.events import Clock, Proposal
from bot.control.actions import OperatorActions, Tell
from bot.control.arena_actions import ArenaActions
from bot.control.control_socket import Command, ControlError
from bot.control.status_text import status_lines

CALLER = "socket"
"""The caller's name in events, for actions requested through the control socket."""
MAX_GAMES = 1000
"""Maximum number of games in one challenge command."""
_EXACT = ConfigDict(strict=True, allow_inf_nan=False)


def operator_commands(actions: OperatorActions, arena: ArenaActions) -> dict[str, Command]:
    """The commands, keyed by name.

    Args:
        actions: The actions that the commands carry out.
        arena: The actions on the arena's accounts.
    """

    async def show_status(tell: Tell, json: bool = False) -> None:
        status = await actions.status()
        for line in [status.json_text()] if json else status_lines(status):
            tell(line)

    async def challenge(
        name: str,
        variant: str,
        clock: str,
        tell: Tell,
        games: Annotated[int, Field(ge=1, le=MAX_GAMES)] = 1,
        rated: bool = False,
        colour: str = "random",
        odds: str = "",
        account: str | None = None,
    ) -> None:
        side = {"first": 0, "second": 1}.get(colour)
        for turn in range(games):
            ours = None if side is None else (side + turn) % 2
            proposal = Proposal(variant, rated, parse_minutes(clock), ours)
            tell(await actions.challenge(name, proposal, account=account, odds=odds, by=CALLER, tell=tell))

    async def join_or_leave(
        id: str,  # noqa: A002 - as the socket's clients write it
        withdraw: bool = False,
        password: str = "",
        team: str = "",
        account: str | None = None,
    ) -> str:
        if withdraw:
            return await actions.leave_tournament(id, account=account, by=CALLER)
        return await actions.join_tournament(id, password=password, team=team, account=account, by=CALLER)

    return {
        "status": command_for(show_status),
        "pause": command_for(actions.pause),
        "resume": command_for(actions.resume),
        "drain": command_for(actions.drain),
        "reload": command_for(actions.reload),
        "log": command_for(actions.set_log_level),
        "ack": command_for(actions.acknowledge),
        "snooze": command_for(actions.snooze),
        "abort": command_for(actions.abort),
        "resign": command_for(actions.resign),
        "say": command_for(actions.say),
        "block": command_for(actions.block),
        "unblock": command_for(actions.unblock),
        "challenge": command_for(challenge),
        "tournament": command_for(join_or_leave),
        **arena_commands(arena),
    }


def arena_commands(actions: ArenaActions) -> dict[str, Command]:
    """The commands of the arena's owner, keyed by name; an arena without a bot has only these."""

    async def list_accounts() -> str:
        return json.dumps([each.to_json() for each in await actions.list()])

    return {"arena_accounts": command_for(list_accounts), "arena_account": command_for(actions.change)}


def command_for(act: Callable[..., Awaitable[str | None]]) -> Command:
    """Create a command that carries out an action and sends its result.

    Args:
        act: The action. Its parameters' annotations determine the types of the request's values; null counts
            as missing. The caller and the function that sends text are passed as `by` and `tell`.
    """
    known = inspect.signature(act).parameters
    checked = validate_call(config=_EXACT)(act)

    async def command(request: Mapping[str, Any], tell: Tell) -> None:
        given = {key: value for key, value in request.items() if value is not None}
        given |= {"by": CALLER, "tell": tell}
        try:
            answer = await checked(**{key: value for key, value in given.items() if key in known})
        except ValidationError as error:
            first = error.errors()[0]
            name = first["loc"][0]
            is_missing = first["type"].startswith("missing")
            raise ControlError(f"{name} is missing" if is_missing else f"{name}: {first['msg']}") from None
        if answer is not None:
            tell(answer)

    return command


def parse_minutes(text: str) -> Clock:
    """Parse a clock given as minutes and increment in seconds, for instance ``3+2`` or ``0.5+0``.

    Raises:
        ControlError: The text is not a valid clock.
    """
    match = re.fullmatch(r"(\d{1,3}(?:\.\d{1,2})?)\+(\d{1,3})", text)
    if match is None:
        raise ControlError(f"clock {text!r} is not of the form 3+2 (minutes, increment in seconds)")
    return Clock(round(float(match[1]) * 60), int(match[2]))
