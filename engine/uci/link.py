"""`Link`: the interface to a running engine, whatever protocol it speaks."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from engine.process import EngineError
from engine.stop import StopFlag, Stopped


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One search, with an empty transposition table."""

    position: str
    """`Game.position_text`."""
    depth: int
    lines: int
    """How many of the best moves to show (MultiPV)."""
    moves: tuple[str, ...] = ()
    """Search only these; empty: all."""


@dataclass(frozen=True, slots=True)
class InfoLine:
    """What an engine says of one move after a search of one depth: an exact score, no bound."""

    depth: int
    value: int
    """Centi-units, or, when `is_mate`, moves to mate: N, the side to move mates with its Nth move; -N, it is
    mated by the Nth move of the other side; 0, it is mated already."""
    is_mate: bool
    variation: tuple[str, ...]
    """The line expected, in the game's notation; its first move is the one that the score is about."""


@dataclass(frozen=True, slots=True)
class EngineOutput:
    """All that an engine said during one search."""

    lines: tuple[InfoLine, ...]
    """In the order they came; the same move and depth may come more than once."""
    nodes: int


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for an engine."""

    stop: StopFlag
    """Ends the wait at once."""
    silence_s: float
    """So long an engine may say nothing, in seconds."""
    until: float = math.inf
    """Ends the wait too: a moment of the clock."""
    clock: Callable[[], float] = time.monotonic
    """Seconds of a clock that never goes back."""

    def check(self, name: str, heard_at: float) -> None:
        """Whether to wait on for an engine of that name, of which the last word came at `heard_at`.

        Raises:
            Stopped: The result is not wanted any more.
            EngineError: The engine has been silent for too long.
        """
        now = self.clock()
        if self.stop.is_set() or now >= self.until:
            raise Stopped("the search was told to stop")
        if now - heard_at > self.silence_s:
            raise EngineError(f"{name} has said nothing for {self.silence_s:g} s")


class Link(Protocol):
    """A running engine; for one thread at a time."""

    @property
    def name(self) -> str:
        """The engine's own name with its version, for instance ``Stockfish 15.1``."""

    @property
    def max_lines(self) -> int:
        """Most lines that it can show."""

    def search(self, ask: SearchRequest, patience: Patience) -> EngineOutput:
        """Search one position to the depth asked for.

        Raises:
            Stopped: The wait was ended; the engine is told to stop, and is ready for the next search.
            EngineError: The engine is of no more use; close it.
        """

    def close(self, *, quickly: bool = False) -> None:
        """End the engine, with a moment's time to end by itself unless `quickly`; more calls do nothing."""
