"""How long people think about a move; with it, a program takes the time that a person would."""

import math
import random

MOVES_LEFT = 40
"""Moves for which people reserve the rest of their clock, at any stage of the game."""
MAX_CLOCK_SHARE = 0.2
"""Largest share of the remaining time that a move takes."""
MIN_CLOCK_S = 5.0
"""With less time on the clock, a move is played as soon as it is found."""
MAX_TIME_WITHOUT_CLOCK_S = 30.0
"""Longest time for a move without a clock, in seconds."""
MAX_FIRST_MOVE_S = 10.0
"""Longest time for a side's first move, in seconds: sites abort games that do not begin."""

# Mean and spread of ln(time / even share) at Lichess with two minutes or more left (counting 40 increments),
# for moves 1 to 10, 11 to 20 and so on (`python -m bench.people.pace`). People play faster with less.
_MEANS = (-1.23, -0.34, -0.22, -0.47, -0.96)
_SPREAD, _MOST_SPREADS = 1.1, 2.0
_FORCED_SHARE = 0.3  # of the time of other moves
_EVEN_SHARE_WITHOUT_CLOCK_S = 8.0


def even_share_s(remaining_s: float, increment_s: float) -> float:
    """An even share of the clock, in seconds: the rest over `MOVES_LEFT` moves, and the increment."""
    return remaining_s / MOVES_LEFT + increment_s


def max_thinking_time_s(remaining_s: float | None) -> float:
    """The longest time for a move, in seconds.

    Args:
        remaining_s: Time on the clock when the turn began; None without a clock.
    """
    if remaining_s is None:
        return MAX_TIME_WITHOUT_CLOCK_S
    return 0.0 if remaining_s < MIN_CLOCK_S else MAX_CLOCK_SHARE * remaining_s


def thinking_time_s(
    seed: int, remaining_s: float | None, increment_s: float, moves_made: int, choices: int
) -> float:
    """The time that a person would take for a move, in seconds; drawn at random.

    Args:
        seed: Determines the draw.
        remaining_s: Time on the clock when the turn began; None without a clock.
        increment_s: Increment of the clock, in seconds.
        moves_made: Number of moves that this side has made.
        choices: Number of legal moves; a forced move takes little time.
    """
    limit_s = max_thinking_time_s(remaining_s)
    if not moves_made:
        limit_s = min(limit_s, MAX_FIRST_MOVE_S)
    draw = random.Random(seed).gauss(0.0, 1.0)  # noqa: S311 - needs no secrecy
    log = _MEANS[min(moves_made // 10, len(_MEANS) - 1)]
    log += _SPREAD * max(-_MOST_SPREADS, min(_MOST_SPREADS, draw))
    factor = math.exp(log) * (1.0 if choices > 1 else _FORCED_SHARE)
    if remaining_s is None:
        return min(limit_s, factor * _EVEN_SHARE_WITHOUT_CLOCK_S)
    return min(limit_s, factor * even_share_s(remaining_s, increment_s))
