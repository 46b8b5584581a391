"""The interface that every engine protocol implements."""

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine.game import Game
from engine.protocols.process import EngineProcess, WaitLimit
from engine.protocols.settings import Allowance, ExternalSettings
from engine.stop import StopFlag


@dataclass(frozen=True, slots=True)
class MoveRequest:
    """A position in which to move, and the limits for the move."""

    start: Any
    """The start position of the game."""
    moves: tuple[str, ...]
    """All moves from the start position, in the game's notation."""
    position: Any
    """The position after these moves; the game is not over."""
    allowance: Allowance


@dataclass(frozen=True, slots=True)
class EngineReply:
    """An engine's answer, in the game's notation if we could read it; not yet checked."""

    move: str
    said: str
    """The engine's output that contains the move."""
    evaluation_centi: int | None = None
    """The engine's evaluation, from its own point of view, in centi-units."""
    variation: tuple[str, ...] = ()
    depth: int | None = None
    nodes: int | None = None
    """Number of positions visited, as reported by the engine; None if not reported."""


class EngineProtocol(ABC):
    """A running engine program that speaks one protocol.

    Any call may raise `engine.protocols.link.EngineError`, or `engine.stop.Stopped` if its stop flag is set.
    """

    is_interruptible = True
    """Whether a search can be stopped without ending the program."""
    farewell = "quit"
    """The command that ends the program."""

    def __init__(self, process: EngineProcess, settings: ExternalSettings, game: Game[Any]) -> None:
        self._process = process
        self._settings = settings
        self._game = game

    def _command_wait_limit(self, stop: StopFlag) -> WaitLimit:
        """Longest wait for the answer to a command that starts no search."""
        return WaitLimit(stop, time.monotonic() + self._settings.start_s)

    @abstractmethod
    def greet(self) -> str:
        """Perform the handshake; return the program's own name."""

    @abstractmethod
    def new_game(self, start: Any) -> None:
        """Begin a new game from the given position, discarding the previous game."""

    @abstractmethod
    def choose(self, question: MoveRequest, stop: StopFlag) -> EngineReply:
        """Get a move from the program."""


def last_move_line(move: str, lines: Sequence[EngineReply]) -> EngineReply | None:
    """The engine's last thinking line that recommends the given move, if any."""
    return next((line for line in reversed(lines) if line.move == move), None)


def move_wait(
    question: MoveRequest, game: Game[Any], settings: ExternalSettings, stop: StopFlag
) -> WaitLimit:
    """Limit the wait to the move's time plus a margin; if the move has none, limit total time and silence."""
    limit_s, now = question.allowance.limit_s(game.side_to_move(question.position)), time.monotonic()
    if limit_s is not None:
        return WaitLimit(stop, now + limit_s + settings.response_timeout_s)
    longest_s = settings.longest_s
    late = f"has sent no move in {longest_s:g} s, but keeps printing"
    return WaitLimit(stop, now + longest_s, settings.response_timeout_s, late)
