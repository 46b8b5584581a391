"""Drives UCI programs (chess, xiangqi) and UCCI programs (xiangqi).

`engine.uci.lines` describes how the two protocols differ, and parses their lines for both.
"""

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from engine.external.protocol import EngineReply, MoveRequest, first_with, wait_for
from engine.external.settings import Allowance, ExternalSettings
from engine.game import Game
from engine.process import (
    POLL_S,
    EngineError,
    EngineProcess,
    EngineTimeout,
    Resigned,
    Waiting,
    WaitLimit,
)
from engine.stop import StopFlag, Stopped
from engine.uci.lines import EngineOption, read_info, read_option, shift_ranks
from engine.uci.scores import centi, plies_played

_CPU_POLL_S = 0.002
"""Interval at which the processor time of a program that has a limit is read, in seconds."""
_ENDS = ("bestmove", "nobestmove")
_MANAGED = ("uci_variant", "uci_chess960", "usemillisec", "ponder")


class _ProcessorTimeUp(Exception):
    """The program has used its processor time."""


@dataclass(frozen=True, slots=True)
class _ProcessorTimeLimit:
    """Waits until a program has used so much processor time; an `engine.process.Waiting`."""

    wait: WaitLimit
    """Ends the wait in any case."""
    used_s: Callable[[], float | None]
    """Processor time that the program has used since it started."""
    until_s: float

    @property
    def clock(self) -> Callable[[], float]:
        return self.wait.clock

    def check(self, name: str, since: float) -> None:
        """See `engine.process.Waiting.check`.

        Raises:
            _ProcessorTimeUp: The program is to end its search.
        """
        self.wait.check(name, since)
        used_s = self.used_s()
        if used_s is not None and used_s >= self.until_s:
            raise _ProcessorTimeUp


@dataclass(slots=True)
class _Thinking:
    """What a program has said during a search."""

    lines: list[EngineReply] = field(default_factory=list)
    nodes: int | None = None


class UciClient:
    """A program that speaks UCI or UCCI; see `engine.external.protocol.EngineProtocol`."""

    is_interruptible = True
    farewell = "quit"

    def __init__(self, process: EngineProcess, settings: ExternalSettings, game: Game[Any]) -> None:
        self._process = process
        self._settings = settings
        self._game = game
        self._is_ucci = settings.protocol == "ucci"
        self._options: dict[str, EngineOption] = {}
        self._is_searching = False

    def greet(self) -> str:
        wait, protocol, name = self._soon(StopFlag()), self._settings.protocol, ""
        try:
            self._process.say(protocol, wait)
            while (said := self._process.hear(wait)) != f"{protocol}ok":
                if said.startswith("id name "):
                    name = said.removeprefix("id name ").strip()
                elif option := read_option(said):
                    self._options[_key(option.name)] = option
        except EngineTimeout as error:
            raise self._process.unanswered(protocol, f"{protocol}ok", protocol.upper()) from error
        self._process.name = name or self._process.name
        for key, value in (("uci_variant", self._settings.game), ("usemillisec", "true")):
            if key in self._options:
                self._set(self._options[key], value, wait)
        for option_name, value in self._settings.options:
            self._set(self._checked(option_name, value), value, wait)
        return name

    def new_game(self, start: Any) -> None:
        wait = self._soon(StopFlag())
        self._settle(wait)
        if "uci_chess960" in self._options:
            castling = self._game.position_text(start).split()[2]
            is_960 = not set(castling) <= set("KQkq-")
            self._set(self._options["uci_chess960"], "true" if is_960 else "false", wait)
        self._process.say("uccinewgame" if self._is_ucci else "ucinewgame", wait)
        self._ready(wait)

    def choose(self, question: MoveRequest, stop: StopFlag) -> EngineReply:
        game, soon, go = self._game, self._soon(stop), self._go(question)
        self._settle(soon)
        text = game.position_text(question.start)
        ply = plies_played(text) + len(question.moves)
        self._process.say(self._position(text, question.moves), soon)
        self._ready(soon)
        thinking = _Thinking()
        try:
            said = self._search(go, question, thinking, ply, stop)
        except Stopped:
            with contextlib.suppress(EngineError):  # the next query will report it
                self._process.say("stop", self._soon(StopFlag()))
            raise
        self._is_searching = False
        words = said.split()
        if "resign" in words:
            raise Resigned(f"{self._process.name} resigns")
        move = self._from_wire(words[1]) if words[0] == "bestmove" and len(words) > 1 else ""
        best = first_with(move, thinking.lines)
        if best is None:
            return EngineReply(move, said, nodes=thinking.nodes)
        return EngineReply(move, said, best.evaluation_centi, best.variation, best.depth, thinking.nodes)

    def _search(self, go: str, question: MoveRequest, thinking: _Thinking, ply: int, stop: StopFlag) -> str:
        """The line that ends the search, within its processor time if that is limited."""
        wait, cpu_s = wait_for(question, self._game, self._settings, stop), question.allowance.cpu_s
        used_s = self._process.processor_time_s()
        if cpu_s is not None and used_s is None:
            raise EngineError(f"{self._process.name}: this system does not tell its processor time")
        self._process.say(go, wait)
        self._is_searching = True
        if cpu_s is None or used_s is None:
            return self._listen(thinking, ply, wait)
        limit = _ProcessorTimeLimit(wait, self._process.processor_time_s, used_s + cpu_s)
        try:
            return self._listen(thinking, ply, limit, _CPU_POLL_S)
        except _ProcessorTimeUp:
            wait = WaitLimit(stop, time.monotonic() + self._settings.silence_s)
            self._process.say("stop", wait)
            return self._listen(thinking, ply, wait)

    def _listen(self, thinking: _Thinking, ply: int, wait: Waiting, poll_s: float = POLL_S) -> str:
        """Note what the program says until the line that ends its search, and return that line."""
        while (said := self._process.hear(wait, poll_s)).split(" ", 1)[0] not in _ENDS:
            found, nodes = read_info(said, self._from_wire)
            thinking.nodes = thinking.nodes if nodes is None else nodes
            if found is not None:
                value = centi(found.value, found.is_mate, ply)
                line = EngineReply(found.variation[0], said, value, found.variation, found.depth)
                thinking.lines = [*thinking.lines[-200:], line]
        return said

    def _position(self, start: str, moves: tuple[str, ...]) -> str:
        words = start.split()
        earlier = tuple(word for word in words[6:] if word not in ("moves", "line"))
        shift = -1 if self._is_ucci else 0
        told = [shift_ranks(move, shift) for move in (*earlier, *moves)]
        return " ".join(["position fen", *words[:6], *(["moves", *told] if told else [])])

    def _go(self, question: MoveRequest) -> str:
        allowance, side = question.allowance, self._game.side_to_move(question.position)
        limits: list[str] = []
        if allowance.depth is not None:
            limits += ["depth", str(allowance.depth)]
        if allowance.nodes is not None:
            limits += ["nodes", str(allowance.nodes)]
        # We end a search that is limited by processor time.  Told to search infinitely, an engine might not
        # end by itself even with nothing left to search: so it gets a time that it will not use up.
        move_s = self._settings.longest_s if allowance.cpu_s is not None else allowance.move_s
        if move_s is not None:
            milliseconds = str(max(1, round(1000 * move_s)))
            # UCCI has no time per move, but a clock with one move to go.
            limits += (
                ["time", milliseconds, "movestogo", "1"] if self._is_ucci else ["movetime", milliseconds]
            )
        if allowance.remaining_s is not None:
            limits += self._clock(allowance, allowance.remaining_s, side)
        if not limits:
            raise ValueError(f"{self._settings.protocol} needs a limit for a move")
        return " ".join(["go", *limits])

    def _clock(self, allowance: Allowance, remaining_s: tuple[float, float], side: int) -> list[str]:
        left = [str(max(1, round(1000 * seconds))) for seconds in remaining_s]
        more = str(round(1000 * allowance.increment_s))
        if not self._is_ucci:
            return ["wtime", left[0], "btime", left[1], "winc", more, "binc", more]
        return ["time", left[side], "increment", more, "opptime", left[1 - side], "oppincrement", more]

    def _ready(self, wait: WaitLimit) -> None:
        self._process.say("isready", wait)
        while self._process.hear(wait) != "readyok":
            pass

    def _settle(self, wait: WaitLimit) -> None:
        """Wait for a stopped search to end."""
        while self._is_searching:
            self._is_searching = self._process.hear(wait).split(" ", 1)[0] not in _ENDS

    def _checked(self, name: str, value: str) -> EngineOption:
        option = self._options.get(_key(name))
        if option is None:
            known = ", ".join(each.name for each in self._options.values())
            raise EngineError(f"{self._process.name} has no option {name!r}; it has: {known}")
        if _key(name) in _MANAGED:
            raise EngineError(f"{self._process.name}: option {name} is set by Desdemona itself")
        if wrong := option.refuse(value):
            raise EngineError(f"{self._process.name}: option {option.name} is {value!r}, {wrong}")
        return option

    def _set(self, option: EngineOption, value: str, wait: WaitLimit) -> None:
        if self._is_ucci:
            self._process.say(f"setoption {option.name} {value}", wait)
        else:
            self._process.say(f"setoption name {option.name} value {value}", wait)

    def _from_wire(self, move: str) -> str:
        return shift_ranks(move, 1) if self._is_ucci else move

    def _soon(self, stop: StopFlag) -> WaitLimit:
        return WaitLimit(stop, time.monotonic() + self._settings.start_s)


def _key(name: str) -> str:
    return name.lower().replace(" ", "_")
