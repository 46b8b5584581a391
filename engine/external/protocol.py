"""The interface that every engine protocol implements."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from engine.external.settings import Allowance, ExternalSettings
from engine.game import Game
from engine.process import WaitLimit
from engine.stop import StopFlag


@dataclass(frozen=True, slots=True)
class MoveRequest:
    """A position that a move is wanted in."""

    start: Any
    """The position that the game began from."""
    moves: tuple[str, ...]
    """All moves since then, in the game's notation."""
    position: Any
    """The position after them; the game goes on in it."""
    allowance: Allowance


@dataclass(frozen=True, slots=True)
class EngineReply:
    """What an engine said, in the game's notation where it could be read; nobody has checked it."""

    move: str
    said: str
    """The line that the move stands in."""
    evaluation_centi: int | None = None
    """Own view, centi-units."""
    variation: tuple[str, ...] = ()
    depth: int | None = None


class EngineProtocol(Protocol):
    """One running program, spoken to by one protocol.

    Any call may raise `engine.uci.link.EngineError` or, when its flag is set, `engine.stop.Stopped`.
    """

    is_interruptible: bool
    """Whether the program can be told to stop, and be asked again after that; else it has to be ended."""
    farewell: str
    """What tells it to end."""

    def greet(self) -> str:
        """Begin to talk; the program's own name."""

    def new_game(self, start: Any) -> None:
        """A new game begins in that position: nothing of the last one counts."""

    def choose(self, question: MoveRequest, stop: StopFlag) -> EngineReply:
        """Ask for a move."""


def first_with(move: str, lines: Sequence[EngineReply]) -> EngineReply | None:
    """The last thinking line that is about a move."""
    return next((line for line in reversed(lines) if line.move == move), None)


def wait_for(question: MoveRequest, game: Game[Any], settings: ExternalSettings, stop: StopFlag) -> WaitLimit:
    """How long the answer may take: the time given and some more; else as long as it talks, within reason."""
    limit_s, now = question.allowance.limit_s(game.side_to_move(question.position)), time.monotonic()
    if limit_s is not None:
        return WaitLimit(stop, now + limit_s + settings.silence_s)
    longest_s = settings.longest_s
    late = f"has told no move in {longest_s:g} s, though it goes on talking"
    return WaitLimit(stop, now + longest_s, settings.silence_s, late)
