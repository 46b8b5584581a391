"""Time management: computes a depth and a time for a move from the game clock."""

from dataclasses import dataclass, replace

MIN_TIME_S = 0.01
"""Minimum thinking time, in seconds; enough for any shallow search."""

MIN_MOVE_OVERHEAD_S = 0.07
"""Fixed allowance per move, in seconds, besides lag and the main search: shallow search, recording, machine
load."""

LAG_SAFETY_FACTOR = 1.1
"""Safety factor by which the measured lag is multiplied."""

RESERVED_MOVES = 100
"""Number of further moves for which we reserve lag and overhead in a game without an increment; fewer if the
game must end sooner."""

MAX_LAG_SHARE = 0.8
"""Maximum share of the clock reserved for the lag of all later moves: a measured lag may be temporary, so
some thinking time must remain."""

MAX_MOVE_TIME_SHARE = 0.2
"""Maximum share of the clock for thinking about one move."""


MAX_TIME_STRETCH = 3.0
"""A search short of processor time may take up to this multiple of its planned share of the clock."""

MAX_TIME_STRETCH_WITHOUT_CLOCK = 10.0
"""Without a clock, a search short of processor time may take up to this multiple of its planned time."""

STRETCH_RESERVE_PER_MOVE_S = 0.25
"""Time reserved for each move of a long game, in addition to its cost, before a search may exceed its
share."""

MIN_REST_SHARE = 0.2
"""A paused search answers at once if less than this fraction of its time is left."""

MAX_ENGINE_SHARE = 0.5
"""Maximum share of the clock for one move by another engine that manages its own time."""


@dataclass(frozen=True, slots=True)
class EngineClock:
    """The clocks for another engine that manages its own time, in seconds."""

    remaining_s: float
    """Our time left, minus the reserve for this move's lag."""
    their_remaining_s: float
    increment_s: float

    @property
    def longest_s(self) -> float:
        """The time after which the engine must stop."""
        return max(MIN_TIME_S, MAX_ENGINE_SHARE * self.remaining_s)


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a search; the first limit reached ends it."""

    depth: int
    """Deepest search in plies, at least 2."""
    time_s: float | None = None
    """Thinking time in seconds, measured by the stop flag's clock; None if there is no time limit."""
    engine_clock: EngineClock | None = None
    """The clock for an engine that manages its own time; `time_s` then applies only if we choose the move."""
    nodes: int | None = None
    """Approximate number of positions to visit; None if unlimited. Applies only to our own searches."""
    stretch: float = 1.0
    """Maximum ratio of wall-clock time to `time_s` when a busy machine interrupts the search."""

    @property
    def longest_s(self) -> float | None:
        """The time in seconds after which the search must end; None if there is no limit."""
        return self.time_s if self.engine_clock is None else self.engine_clock.longest_s

    def after(self, spent_s: float) -> "Limits | None":
        """The limits of the rest of a search that was paused; None if too little is left to go on.

        Args:
            spent_s: Time used before the pause, in seconds; 0 if the search has not begun.
        """
        if spent_s <= 0 or self.time_s is None:
            return self
        rest_s = self.time_s - spent_s
        return replace(self, time_s=rest_s) if rest_s > MIN_REST_SHARE * self.time_s else None

    def __post_init__(self) -> None:
        if self.depth < 2:
            raise ValueError(f"depth is {self.depth}, must be at least 2: a trap needs a move and a reply")
        if self.time_s is not None and self.time_s <= 0:
            raise ValueError(f"time_s is {self.time_s}, must be above 0")
        if self.nodes is not None and self.nodes < 1:
            raise ValueError(f"nodes is {self.nodes}, must be at least 1")


def limits_from_clock(
    remaining_s: float | None,
    increment_s: float,
    plies_left: int,
    most_plies_left: int,
    *,
    max_depth: int,
    max_time_s: float,
    overhead_s: float,
    lag_s: float = 0.0,
    queue_per_thread: float = 0.0,
) -> Limits:
    """Divide the time left on the clock among the remaining moves.

    We reserve the cost of every move of a long game, lag included, and divide the rest. The reserve for lag
    takes at most `MAX_LAG_SHARE` of the clock; one move, with a margin for lag, takes at most
    `MAX_MOVE_TIME_SHARE`, so we stay within the clock even if lag takes four fifths of it. We lose on time
    only if lag alone takes nearly all of the clock.

    Args:
        remaining_s: Our time left in seconds; None without a clock.
        increment_s: Time added after each of our moves, in seconds.
        plies_left: Estimate of the remaining plies (`Game.plies_left`).
        most_plies_left: Upper bound on the remaining plies (`Game.most_plies_left`).
        max_depth: Maximum search depth in plies.
        max_time_s: Maximum time for one move, in seconds.
        overhead_s: Assumed lag of each move, in seconds, until the lag is measured; afterwards the value only
            bounds the time for this move, which matters when the clock is nearly empty.
        lag_s: Measured round-trip lag, in seconds, that most moves do not exceed; 0 if not measured yet.
        queue_per_thread: Number of other games' searches waiting for each thread. They and this search share
            the move's time, so together they take no longer than this search alone would.
    """
    if remaining_s is None:
        time_s = max(MIN_TIME_S, max_time_s / (1 + queue_per_thread))
        return Limits(max_depth, time_s, stretch=MAX_TIME_STRETCH_WITHOUT_CLOCK)
    measured_s = LAG_SAFETY_FACTOR * lag_s
    our_moves = max(2, (plies_left + 1) // 2)
    long_game = max(our_moves, min(RESERVED_MOVES, (most_plies_left + 1) // 2))
    # What each move costs without thinking, minus its increment; a negative cost is time to spend.
    cost_s = (measured_s + MIN_MOVE_OVERHEAD_S if lag_s > 0 else overhead_s) - 0.8 * increment_s
    least_reserve_s = long_game * max(0.0, MIN_MOVE_OVERHEAD_S - 0.8 * increment_s)
    reserve_s = least_reserve_s + MAX_LAG_SHARE * remaining_s
    reserve_s = min((long_game if cost_s > 0 else our_moves) * cost_s, reserve_s)
    share_s = (remaining_s - reserve_s) / our_moves
    # A slow machine or connection must not make us lose on time in one move.
    largest_s = MAX_MOVE_TIME_SHARE * remaining_s
    ceiling_s = largest_s - max(overhead_s, min(measured_s, largest_s / 2))
    time_s = max(MIN_TIME_S, min(max_time_s, share_s, ceiling_s) / (1 + queue_per_thread))
    starved_reserve_s = max(reserve_s, long_game * (cost_s + STRETCH_RESERVE_PER_MOVE_S))
    starved_share_s = (remaining_s - starved_reserve_s) / our_moves
    longest_s = min(MAX_TIME_STRETCH * starved_share_s, ceiling_s) / (1 + queue_per_thread)
    stretch = min(MAX_TIME_STRETCH_WITHOUT_CLOCK, max(1.0, longest_s / time_s))
    return Limits(max_depth, time_s, stretch=stretch)


def engine_clock(
    remaining_s: float, their_remaining_s: float | None, increment_s: float, overhead_s: float, lag_s: float
) -> EngineClock:
    """The clocks for an engine that manages its own time.

    Args:
        remaining_s: Our time left in seconds.
        their_remaining_s: The opponent's time left, or None if unknown (assumed to equal ours).
        increment_s: Time added after each move, in seconds.
        overhead_s: See `limits_from_clock`.
        lag_s: See `limits_from_clock`.
    """
    reserve_s = min(max(overhead_s, LAG_SAFETY_FACTOR * lag_s), MAX_LAG_SHARE * remaining_s)
    ours_s = max(MIN_TIME_S, remaining_s - reserve_s)
    return EngineClock(ours_s, remaining_s if their_remaining_s is None else their_remaining_s, increment_s)
