"""The commands of the control socket: each checks its arguments and carries out an action."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from bot.base.events import Clock, Proposal
from bot.control.actions import OperatorActions
from bot.control.arena_actions import ArenaActions
from bot.control.control_socket import Command, ControlError
from bot.control.status_text import status_lines

Tell = Callable[[str], None]
Request = Mapping[str, Any]

SOCKET = "socket"
"""The caller's name in events of actions: a user who may open the control socket."""
MOST_GAMES = 1000
"""Most games that one command challenges to."""


class OperatorCommands:
    """Carries out commands.

    Args:
        actions: The actions behind the commands.
        arena: The same for the arena's accounts.
    """

    def __init__(self, actions: OperatorActions, arena: ArenaActions) -> None:
        self._actions = actions
        self._arena = arena

    def table(self) -> dict[str, Command]:
        """Each command by its name."""
        return {
            "status": self._status,
            "pause": self._pause,
            "resume": self._resume,
            "drain": self._drain,
            "reload": self._reload,
            "log": self._log,
            "ack": self._ack,
            "snooze": self._snooze,
            "abort": self._abort,
            "resign": self._resign,
            "say": self._say,
            "block": self._block,
            "unblock": self._unblock,
            "challenge": self._challenge,
            "tournament": self._tournament,
            **arena_commands(self._arena),
        }

    async def _status(self, request: Request, tell: Tell) -> None:
        as_json = flag(request, "json")
        status = await self._actions.status()
        if as_json:
            tell(json.dumps(status.to_json()))
            return
        for line in status_lines(status):
            tell(line)

    async def _pause(self, request: Request, tell: Tell) -> None:
        tell(await self._actions.pause(number(request, "minutes"), by=SOCKET))

    async def _resume(self, _request: Request, tell: Tell) -> None:
        tell(await self._actions.resume(by=SOCKET))

    async def _drain(self, _request: Request, tell: Tell) -> None:
        tell(await self._actions.drain(by=SOCKET))

    async def _reload(self, _request: Request, tell: Tell) -> None:
        tell(await self._actions.reload(by=SOCKET))

    async def _log(self, request: Request, tell: Tell) -> None:
        tell(await self._actions.set_log_level(text(request, "level"), by=SOCKET))

    async def _ack(self, request: Request, tell: Tell) -> None:
        tell(await self._actions.acknowledge(text(request, "alarm"), by=SOCKET))

    async def _snooze(self, request: Request, tell: Tell) -> None:
        minutes = number(request, "minutes")
        if minutes is None:
            raise ControlError("minutes is missing")
        tell(await self._actions.snooze(text(request, "alarm"), minutes, by=SOCKET))

    async def _abort(self, request: Request, tell: Tell) -> None:
        tell(await self._actions.abort(text(request, "game"), account=_account(request), by=SOCKET))

    async def _resign(self, request: Request, tell: Tell) -> None:
        tell(await self._actions.resign(text(request, "game"), account=_account(request), by=SOCKET))

    async def _say(self, request: Request, tell: Tell) -> None:
        game, line = text(request, "game"), text(request, "text")
        tell(await self._actions.say(game, line, account=_account(request), by=SOCKET))

    async def _block(self, request: Request, tell: Tell) -> None:
        tell(await self._actions.block(text(request, "name"), account=_account(request), by=SOCKET))

    async def _unblock(self, request: Request, tell: Tell) -> None:
        tell(await self._actions.unblock(text(request, "name"), account=_account(request), by=SOCKET))

    async def _challenge(self, request: Request, tell: Tell) -> None:
        name, variant, clock = (text(request, key) for key in ("name", "variant", "clock"))
        games = number(request, "games")
        count = 1 if games is None else round(games)
        if not 1 <= count <= MOST_GAMES or count != (games or 1):
            raise ControlError(f"games: a whole number from 1 to {MOST_GAMES}")
        side = {"first": 0, "second": 1}.get(text(request, "colour", "random"))
        for turn in range(count):
            ours = None if side is None else (side + turn) % 2
            proposal = Proposal(variant, flag(request, "rated"), parse_minutes(clock), ours)
            tell(
                await self._actions.challenge(name, proposal, account=_account(request), by=SOCKET, tell=tell)
            )

    async def _tournament(self, request: Request, tell: Tell) -> None:
        key, account = text(request, "id"), _account(request)
        if flag(request, "withdraw"):
            tell(await self._actions.leave_tournament(key, account=account, by=SOCKET))
            return
        password, team = text(request, "password", ""), text(request, "team", "")
        tell(
            await self._actions.join_tournament(key, password=password, team=team, account=account, by=SOCKET)
        )


def arena_commands(actions: ArenaActions) -> dict[str, Command]:
    """The commands of the arena's owner by name; an arena without a bot has these only."""

    async def list_accounts(_request: Request, tell: Tell) -> None:
        tell(json.dumps([account.to_json() for account in await actions.list()]))

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


def flag(request: Request, key: str) -> bool:
    """A truth value among a command's arguments; missing: false.

    Raises:
        ControlError: It is something else.
    """
    value = request.get(key, False)
    if not isinstance(value, bool):
        raise ControlError(f"{key} is neither true nor false")
    return value


def _account(request: Request) -> str | None:
    return text(request, "account", "") or None


def parse_minutes(text: str) -> Clock:
    """Parse a clock of minutes, and seconds of increment, for instance ``3+2`` or ``0.5+0``.

    Raises:
        ControlError: It is something else.
    """
    match = re.fullmatch(r"(\d{1,3}(?:\.\d{1,2})?)\+(\d{1,3})", text)
    if match is None:
        raise ControlError(f"clock {text!r} is not of the form 3+2: minutes, and seconds of increment")
    return Clock(round(float(match[1]) * 60), int(match[2]))
