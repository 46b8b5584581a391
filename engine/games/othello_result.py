"""From a score in centidiscs to the result that it promises: for displays and for adding up chances."""

import math

from engine.game import WIN_CENTI

SCALE_CENTI = 300.0
SLOPE_CENTI = 4.0
LEAST_CENTI = 50.0
BOARD = 60


def scale_centi(empties: int) -> float:
    """Centidiscs that make the odds e to 1 with so many empty squares."""
    return max(LEAST_CENTI, SCALE_CENTI + SLOPE_CENTI * max(0, min(BOARD, empties)))


def expected_result(score_centi: float, empties: int) -> float:
    """Expected result of a game between equals for the side whose score it is.

    Args:
        score_centi: What a search found, in centidiscs; beyond `WIN_CENTI` the game is decided.
        empties: Empty squares of the position.

    Returns:
        0 lost .. 1 won, a draw being 1/2.  It never falls when the score rises, and the other side's is one
        less it.
    """
    if score_centi < 0:
        return 1.0 - expected_result(-score_centi, empties)
    if score_centi >= WIN_CENTI:
        return 1.0
    return 1.0 / (1.0 + math.exp(-score_centi / scale_centi(empties)))
