"""`Link`: the interface to a running engine, whatever protocol it speaks."""

from dataclasses import dataclass
from typing import Protocol

from engine.protocols.process import WaitLimit
from engine.time_management import EngineClock


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """Parameters of one search, which starts with an empty transposition table."""

    position: str
    """`Game.position_text`."""
    depth: int
    lines: int
    """Number of best moves to report (MultiPV)."""
    moves: tuple[str, ...] = ()
    """The moves to search; empty means all legal moves."""


@dataclass(frozen=True, slots=True)
class BestMoveRequest:
    """A search for the engine's own best move, with an empty transposition table; it ends at the first
    limit that it reaches, or when the caller stops waiting."""

    position: str
    """`Game.position_text`."""
    depth: int | None = None
    """Plies."""
    nodes: int | None = None
    """Positions."""
    clock: EngineClock | None = None
    """The state of the clocks; the engine manages its own time."""


@dataclass(frozen=True, slots=True)
class InfoLine:
    """An engine's score for one move at one depth: an exact score, not a bound."""

    depth: int
    value: int
    """Centi-units or, if `is_mate`, moves to mate: N if the side to move mates with its Nth move, -N if it is
    mated by the other side's Nth move, 0 if it is already mated."""
    is_mate: bool
    variation: tuple[str, ...]
    """The principal variation in the game's notation; its first move is the move that has this score."""


_MAX_PLAUSIBLE_NODES = 10**15
"""Maximum plausible number of nodes in a search (days of work for a large machine); sums of such numbers fit
into the database's integers."""
_MAX_PLAUSIBLE_DEPTH = 999
"""Maximum plausible depth, in plies; engines stop at 256 or less."""


def plausible_nodes(nodes: int | None) -> int | None:
    """Return a reported number of nodes, or None if it is missing or implausible."""
    return nodes if nodes is not None and 0 <= nodes <= _MAX_PLAUSIBLE_NODES else None


def plausible_depth(depth: int | None) -> int | None:
    """Return a reported depth in plies, or None if it is missing or implausible."""
    return depth if depth is not None and 0 <= depth <= _MAX_PLAUSIBLE_DEPTH else None


@dataclass(frozen=True, slots=True)
class EngineOutput:
    """All output of an engine during one search."""

    lines: tuple[InfoLine, ...]
    """The lines in order of arrival; the same move and depth may occur more than once."""
    nodes: int
    best: str | None = None
    """The move that the engine would play; None if it named no move."""


ANSWER_S = 0.5
"""Longest wait for an engine's move after the stop command, in seconds; long enough for a busy machine."""


class Link(Protocol):
    """A running engine, used by one thread at a time."""

    @property
    def name(self) -> str:
        """The engine's own name with its version, for instance ``Stockfish 15.1``."""

    @property
    def max_lines(self) -> int:
        """The largest MultiPV value that the engine allows."""

    def processor_time_s(self) -> float | None:
        """See `engine.protocols.process.EngineProcess.processor_time_s`."""

    def search(self, ask: SearchRequest | BestMoveRequest, wait: WaitLimit) -> EngineOutput:
        """Search one position within the requested limits.

        If the wait for the answer to a `BestMoveRequest` ends early, stop the engine and return the best move
        that it has found.

        Args:
            ask: The search to run.
            wait: Limits the wait; reaching the limit is not an engine error (`WaitLimit.late` is None).

        Raises:
            Stopped: The wait ended early; the engine stops its search and is ready for another search.
            EngineError: The engine is no longer usable; close it.
        """

    def close(self, *, quickly: bool = False) -> None:
        """End the engine, after a short grace period unless `quickly` is set; further calls do nothing."""
