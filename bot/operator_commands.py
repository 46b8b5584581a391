"""The operator's commands to the running program, as the control socket receives them."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from bot.account.lobby import Lobby
from bot.account.runner import AccountRunner
from bot.base.dialects import DIALECTS
from bot.base.events import Clock, Proposal
from bot.control import Command, ControlError
from storage.database import Database
from storage.games import get_game

Tell = Callable[[str], None]


class OperatorCommands:
    """Carries out commands.

    Args:
        runners: The accounts by name.
        database: Where the results of games are.
        reload: Reads the settings again; returns what has changed, and raises `ConfigError`.
    """

    def __init__(
        self, runners: Mapping[str, AccountRunner], database: Database, reload: Callable[[], str]
    ) -> None:
        self._runners = runners
        self._database = database
        self._reload = reload

    def table(self) -> dict[str, Command]:
        """Each command by its name."""
        return {
            "status": self._status,
            "reload": self._read_settings,
            "challenge": self._challenge,
            "tournament": self._tournament,
        }

    async def _status(self, _request: Mapping[str, Any], tell: Tell) -> None:
        for name, runner in self._runners.items():
            if runner.lobby is None:
                tell(f"{name}: {runner.trouble or 'signing in'}")
                continue
            games = runner.lobby.playing
            where = f"{runner.lobby.owner.name} at {runner.lobby.owner.site}"
            tell(f"{name}: playing as {where}; games: {len(games)}{': ' * bool(games)}{', '.join(games)}")

    async def _read_settings(self, _request: Mapping[str, Any], tell: Tell) -> None:
        tell(f"settings read again; changed: {self._reload()}")

    async def _challenge(self, request: Mapping[str, Any], tell: Tell) -> None:
        lobby = self._lobby(request.get("account"))
        name, variant, clock = _word(request["name"]), str(request["variant"]), str(request["clock"])
        known = DIALECTS[lobby.owner.site].variants
        if variant not in known:
            raise ControlError(f"{lobby.owner.site} has no variant {variant!r}; known: {', '.join(known)}")
        sides = {"first": 0, "second": 1}
        side = sides.get(str(request.get("colour")))
        for number in range(int(request.get("games", 1))):
            turn = None if side is None else (side + number) % 2
            proposal = Proposal(variant, bool(request["rated"]), parse_minutes(clock), turn)
            tell(f"challenging {name} to {variant} {clock}")
            game_id = await lobby.challenge(name, proposal)
            tell(f"game {game_id}: {await self._result(lobby, game_id)}")

    async def _tournament(self, request: Mapping[str, Any], tell: Tell) -> None:
        lobby, key = self._lobby(request.get("account")), _word(request["id"])
        if request.get("withdraw"):
            await lobby.leave_tournament(key)
            tell(f"left tournament {key}; a game that has begun goes on")
            return
        password, team = (str(request.get(name) or "") for name in ("password", "team"))
        if not password.isprintable():
            raise ControlError("the password has characters that cannot be sent")
        joined = await lobby.join_tournament(key, password=password, team=team)
        tell(f"joined {joined.name} ({joined.variant}); from now on {lobby.owner.site} pairs the bot")

    def _lobby(self, account: object) -> Lobby:
        wanted = None if account is None else str(account).casefold()
        names = [name for name in self._runners if wanted in (None, name.casefold())]
        if not names:
            raise ControlError(f"no account {account!r}; known: {', '.join(self._runners)}")
        if len(names) > 1:
            raise ControlError(f"there are several accounts ({', '.join(names)}): choose one with --account")
        lobby = self._runners[names[0]].lobby
        if lobby is None:
            raise ControlError(f"account {names[0]} is not signed in at the moment")
        return lobby

    async def _result(self, lobby: Lobby, game_id: str) -> str:
        async with self._database.read() as session:
            game = await get_game(session, lobby.owner, game_id)
        if game is None or game.end_reason is None:
            return "no result is known"
        return f"{game.result.value if game.result else game.state.value} ({game.end_reason})"


def _word(value: object) -> str:
    """A name or an id, which becomes a part of an address or a command.

    Raises:
        ControlError: It cannot be one.
    """
    text = str(value)
    if not re.fullmatch(r"[!-~]{1,64}", text) or not text.strip("."):
        raise ControlError(f"{text!a:.80} is no name: at most 64 ASCII characters, without spaces")
    return text


def parse_minutes(text: str) -> Clock:
    """Parse a clock of minutes, and seconds of increment, for instance ``3+2`` or ``0.5+0``.

    Raises:
        ControlError: It is something else.
    """
    match = re.fullmatch(r"(\d{1,3}(?:\.\d{1,2})?)\+(\d{1,3})", text)
    if match is None:
        raise ControlError(f"clock {text!r} is not of the form 3+2: minutes, and seconds of increment")
    return Clock(round(float(match[1]) * 60), int(match[2]))
