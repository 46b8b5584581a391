"""How long a player may think: a depth, a time, and the way from a game clock to both."""

from dataclasses import dataclass

MIN_TIME_S = 0.01
"""Nobody is asked to decide faster: even then a shallow search is done."""


@dataclass(frozen=True, slots=True)
class Limits:
    """When a search ends: at whichever limit comes first."""

    depth: int
    """Deepest search in plies, at least 2."""
    time_s: float | None = None
    """Thinking time in seconds; None: as long as the depth takes."""

    def __post_init__(self) -> None:
        if self.depth < 2:
            raise ValueError(f"depth is {self.depth}, must be at least 2: a trap needs a move and a reply")
        if self.time_s is not None and self.time_s <= 0:
            raise ValueError(f"time_s is {self.time_s}, must be above 0")


def from_clock(
    remaining_s: float | None,
    increment_s: float,
    plies_left: int,
    *,
    max_depth: int,
    max_time_s: float,
    overhead_s: float,
) -> Limits:
    """Share what is left on the clock among the moves still to come.

    Args:
        remaining_s: Our time in seconds; None: no clock.
        increment_s: Added after each of our moves.
        plies_left: Plies that the game will roughly still last (`Game.plies_left`).
        max_depth: Deepest search in plies.
        max_time_s: Never think longer about one move.
        overhead_s: Lost on the way to the server with every move; kept aside.

    Returns:
        Limits whose time leaves something for every later move, even when every one costs the overhead.
    """
    if remaining_s is None:
        return Limits(max_depth, max_time_s)
    our_moves = max(2, (plies_left + 1) // 2)
    share_s = remaining_s / our_moves + 0.8 * increment_s - overhead_s
    ceiling_s = 0.4 * remaining_s - overhead_s  # a slow machine or line must not flag us in one move
    return Limits(max_depth, max(MIN_TIME_S, min(max_time_s, share_s, ceiling_s)))
