"""Drives Othello programs over NBoard version 2: NTest, Edax and others.

Every query sends the whole game (``set game``) and a ``ping``, so the program never uses outdated state.
Output before the ``pong`` belongs to an old position and is ignored.
"""

import contextlib
import math
import re
from dataclasses import replace
from typing import Any

from engine.formats.clock import GgfClock
from engine.formats.ggf import GgfGame, GgfMove, write
from engine.game import Game
from engine.protocols.client import EngineProtocol, EngineReply, MoveRequest, last_move_line, move_wait
from engine.protocols.process import EngineError, EngineProcess, EngineTimeout, WaitLimit
from engine.protocols.settings import Allowance, ExternalSettings
from engine.stop import StopFlag, Stopped

_SQUARE = re.compile(r"[a-h][1-8]|pa(?:ss)?", re.IGNORECASE)
_FIRST_DEPTH = 8
_DEFAULT_DEPTH = 12
"""The protocol always requires a depth; NTest and Edax use only the depth and ignore the clock."""
_MAX_DISCS = 1e6  # discs; anything larger is not an evaluation
_MAX_CLOCK_S = 359_999  # 99:59:59


class NBoardClient(EngineProtocol):
    """A program that speaks NBoard."""

    def __init__(self, process: EngineProcess, settings: ExternalSettings, game: Game[Any]) -> None:
        super().__init__(process, settings, game)
        self._pings = 0
        self._depth: int | None = None
        self._name = ""

    def greet(self) -> str:
        wait = self._command_wait_limit(StopFlag())
        try:
            self._process.send("nboard 2", wait)
            self._set_depth(_FIRST_DEPTH, wait)  # some programs send their name, with the depth, only then
            self._ping(wait)
        except EngineTimeout as error:
            raise self._process.handshake_error("ping 1", "pong 1", "NBoard") from error
        return self._name.removesuffix(str(_FIRST_DEPTH))

    def new_game(self, start: Any) -> None:
        """Do nothing, because every query sends the whole game."""

    def choose(self, question: MoveRequest, stop: StopFlag) -> EngineReply:
        soon, allowance = self._command_wait_limit(stop), question.allowance
        self._set_depth(_DEFAULT_DEPTH if allowance.depth is None else allowance.depth, soon)
        self._process.send(f"set game {self._ggf(question)}", soon)
        self._ping(soon)
        wait = move_wait(question, self._game, self._settings, stop)
        self._process.send("go", wait)
        lines: list[EngineReply] = []
        nodes: int | None = None
        try:
            while not (said := self._process.receive(wait)).startswith("==="):
                self._note_name(said)
                nodes = read_nodes(said) or nodes
                if line := read_search(said):
                    lines = [*lines[-200:], line]
        except Stopped:
            self._pings += 1  # the next query waits for its own pong, after this one's
            with contextlib.suppress(EngineError):  # the next query will report it
                self._process.send(f"ping {self._pings}", self._command_wait_limit(StopFlag()))
            raise
        return replace(read_go(said, lines), nodes=nodes)

    def _set_depth(self, depth: int, wait: WaitLimit) -> None:
        if depth != self._depth:
            self._process.send(f"set depth {depth}", wait)
            self._depth = depth

    def _ping(self, wait: WaitLimit) -> None:
        self._pings += 1
        self._process.send(f"ping {self._pings}", wait)
        while (said := self._process.receive(wait)).split() != ["pong", str(self._pings)]:
            self._note_name(said)

    def _note_name(self, said: str) -> None:
        if said.startswith("set myname "):
            self._name = said.removeprefix("set myname ").strip()

    def _ggf(self, question: MoveRequest) -> str:
        game, start = self._game, question.start
        moves_left = (game.plies_left(question.position) + 1) // 2
        clock = clock_text(question.allowance, game.side_to_move(question.position), moves_left)
        return write(
            GgfGame(
                black="black",
                white="white",
                start=game.position_text(start),
                moves=tuple(GgfMove(move) for move in question.moves),
                black_clock=clock,
                white_clock=clock,
            )
        )


def clock_text(allowance: Allowance, side: int, moves_left: int) -> str:
    """Return a clock on which no time has been used and the time left is the mover's allowance.

    The protocol cannot express a limit per move; instead, the clock shows that limit times the moves left.
    """
    if allowance.remaining_s is not None:
        seconds = allowance.remaining_s[side]
    elif allowance.move_s is not None:
        seconds = allowance.move_s * max(1, moves_left)
    else:
        return ""
    clock = GgfClock(max(1, _whole(seconds)), _whole(allowance.increment_s))
    return clock.text(with_extension=False)


def _whole(seconds: float) -> int:
    return int(min(seconds, _MAX_CLOCK_S))


def read_search(line: str) -> EngineReply | None:
    """Parse a thinking line, ``search F5d6 +0.50 0 12`` or ``book ...``; None if the line is unreadable."""
    words = line.split()
    if len(words) < 4 or words[0] not in ("search", "book"):
        return None
    variation = tuple(_square(text) for text in _SQUARE.findall(words[1]))
    # ``100%`` and ``73%W`` give the confidence of an endgame search, not its depth.
    depth = re.fullmatch(r"\d{1,3}", words[4]) if len(words) > 4 else None
    if not variation:
        return None
    return EngineReply(variation[0], line, read_eval(words[2]), variation, int(depth[0]) if depth else None)


def read_nodes(line: str) -> int | None:
    """The number of positions in a line ``nodestats 123456 0.78``; None for any other line."""
    match = re.match(r"nodestats\s+(\d{1,18})\b", line)
    return int(match[1]) if match else None


def read_go(line: str, lines: list[EngineReply]) -> EngineReply:
    """Parse the answer to ``go``: ``=== F5/0.50/1.2``, ``=== PA//0.00``, or with blanks instead of slashes.

    Args:
        line: The answer as printed.
        lines: The thinking lines before the answer: the line for the move supplies the variation and, if
            the answer has no evaluation, the evaluation.
    """
    text = line.removeprefix("===").strip()
    parts = [part.strip() for part in text.split("/")] if "/" in text else text.split()
    move = _square(parts[0]) if parts else ""
    best = last_move_line(move, lines)
    evaluation = read_eval(parts[1]) if len(parts) > 1 else None
    if best is None:
        return EngineReply(move, line, evaluation)
    evaluation = best.evaluation_centi if evaluation is None else evaluation
    return EngineReply(move, line, evaluation, best.variation, best.depth)


def read_eval(text: str) -> int | None:
    """Convert discs to centidiscs; a pair (draws to black, to white) becomes 0 clamped to that range."""
    values = []
    for part in text.split(","):
        try:
            value = float(part)
        except ValueError:
            return None
        if not math.isfinite(value) or abs(value) > _MAX_DISCS:
            return None
        values.append(value)
    low, high = min(values), max(values)
    return round(100 * (high if high <= 0 else max(low, 0.0)))


def _square(text: str) -> str:
    text = text.lower()
    return "pass" if text in ("pa", "pass", "--", "ps") else text
