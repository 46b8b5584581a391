"""Gets moves from UCI programs (chess, xiangqi) and UCCI programs (xiangqi) that play matches."""

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from engine.game import Game
from engine.protocols.client import EngineProtocol, EngineReply, MoveRequest, last_move_line, move_wait
from engine.protocols.link import InfoLine
from engine.protocols.process import (
    STOP_POLL_INTERVAL_S,
    EngineError,
    EngineProcess,
    EngineTimeout,
    Resigned,
    WaitLimit,
)
from engine.protocols.scores import plies_played, score_to_centi, split_position_text
from engine.protocols.settings import Allowance, ExternalSettings
from engine.protocols.uci import UciProgram, option_key
from engine.stop import StopFlag, Stopped

_CPU_POLL_S = 0.002
"""Seconds between readings of a program's processor time, if that time is limited."""
_MANAGED = ("uci_variant", "uci_chess960", "usemillisec", "ponder")


class _ProcessorTimeUp(Exception):
    """The program has used up its processor time."""


@dataclass(frozen=True, slots=True)
class _ProcessorTimeLimit:
    """Waits until a program has used a set amount of processor time; a `WaitPolicy`."""

    wait: WaitLimit
    """Maximum wait, even if the processor time is not used up by then."""
    used_s: Callable[[], float | None]
    """Returns the processor time that the program has used since it started."""
    until_s: float

    @property
    def clock(self) -> Callable[[], float]:
        return self.wait.clock

    def check(self, name: str, since: float) -> None:
        """See `engine.protocols.process.WaitPolicy.check`.

        Raises:
            _ProcessorTimeUp: The processor time is used up, so the program must end its search.
        """
        self.wait.check(name, since)
        used_s = self.used_s()
        if used_s is not None and used_s >= self.until_s:
            raise _ProcessorTimeUp


@dataclass(slots=True)
class _MoveOutput:
    """A program's output during a search."""

    ply: int
    """Plies from the start of the game to the searched position."""
    lines: list[EngineReply] = field(default_factory=list)
    nodes: int | None = None

    def take(self, said: str, found: InfoLine | None, nodes: int | None) -> None:
        self.nodes = self.nodes if nodes is None else nodes
        if found is not None:
            value = score_to_centi(found.value, found.is_mate, self.ply)
            line = EngineReply(found.variation[0], said, value, found.variation, found.depth)
            self.lines = [*self.lines[-200:], line]


class UciClient(EngineProtocol):
    """A program that speaks UCI or UCCI."""

    def __init__(self, process: EngineProcess, settings: ExternalSettings, game: Game[Any]) -> None:
        super().__init__(process, settings, game)
        self._engine = UciProgram(process, settings.protocol, settings.game)

    def greet(self) -> str:
        engine, wait, protocol = self._engine, self._command_wait_limit(StopFlag()), self._settings.protocol
        try:
            name = engine.greet(wait)
        except EngineTimeout as error:
            raise self._process.handshake_error(protocol, f"{protocol}ok", protocol.upper()) from error
        for key, value in (("uci_variant", self._settings.game), ("usemillisec", "true")):
            if key in engine.options:
                engine.set_option(key, value, wait)
        for option_name, value in self._settings.options:
            if option_key(option_name) in _MANAGED and option_key(option_name) in engine.options:
                raise EngineError(f"{self._process.name}: option {option_name} is set by Desdemona itself")
            engine.set_option(option_name, value, wait)
        engine.detect_first_rank(wait)
        return name

    def new_game(self, start: Any) -> None:
        engine, wait = self._engine, self._command_wait_limit(StopFlag())
        engine.wait_for_search_end(wait)
        engine.set_chess960(split_position_text(self._game.position_text(start))[0], wait, always=True)
        engine.new_game(wait)
        engine.wait_until_ready(wait)

    def choose(self, question: MoveRequest, stop: StopFlag) -> EngineReply:
        engine, soon, go = self._engine, self._command_wait_limit(stop), self._go(question)
        engine.wait_for_search_end(soon)
        text = self._game.position_text(question.start)
        engine.set_position(text, question.moves, soon)
        engine.wait_until_ready(soon)
        thinking = _MoveOutput(plies_played(text) + len(question.moves))
        try:
            words = self._search(go, question, thinking, stop)
        except Stopped:
            with contextlib.suppress(EngineError):  # the next query will report it
                engine.stop(self._command_wait_limit(StopFlag()))
            raise
        if "resign" in words:
            raise Resigned(f"{self._process.name} resigns")
        said, move = " ".join(words), engine.best_of(words) or ""
        best = last_move_line(move, thinking.lines)
        if best is None:
            return EngineReply(move, said, nodes=thinking.nodes)
        return EngineReply(move, said, best.evaluation_centi, best.variation, best.depth, thinking.nodes)

    def _search(self, go: str, question: MoveRequest, thinking: _MoveOutput, stop: StopFlag) -> list[str]:
        """Return the words of the line that ends the search, and enforce a limit on processor time."""
        wait, cpu_s = move_wait(question, self._game, self._settings, stop), question.allowance.cpu_s
        used_s = self._process.processor_time_s()
        if cpu_s is not None and used_s is None:
            raise EngineError(f"{self._process.name}: this system does not report its processor time")
        self._engine.go(go, wait)
        if cpu_s is None or used_s is None:
            return self._engine.listen(thinking.take, wait, STOP_POLL_INTERVAL_S)
        limit = _ProcessorTimeLimit(wait, self._process.processor_time_s, used_s + cpu_s)
        try:
            return self._engine.listen(thinking.take, limit, _CPU_POLL_S)
        except _ProcessorTimeUp:
            wait = WaitLimit(stop, time.monotonic() + self._settings.response_timeout_s)
            self._engine.stop(wait)
            return self._engine.listen(thinking.take, wait)

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
                ["time", milliseconds, "movestogo", "1"]
                if self._engine.is_ucci
                else ["movetime", milliseconds]
            )
        if allowance.remaining_s is not None:
            limits += self._clock(allowance, allowance.remaining_s, side)
        if not limits:
            raise ValueError(f"{self._settings.protocol} needs a limit for a move")
        return " ".join(limits)

    def _clock(self, allowance: Allowance, remaining_s: tuple[float, float], side: int) -> list[str]:
        left = [str(max(1, round(1000 * seconds))) for seconds in remaining_s]
        more = str(round(1000 * allowance.increment_s))
        if not self._engine.is_ucci:
            return ["wtime", left[0], "btime", left[1], "winc", more, "binc", more]
        return ["time", left[side], "increment", more, "opptime", left[1 - side], "oppincrement", more]
