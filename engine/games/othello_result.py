"""Converts centidiscs to the expected game result, for displays and for adding up chances.

The expected result is 1 / (1 + exp(-score / s)), with s = 248 + 9.3 * empty squares: with 40 squares empty a
lead of one disc is worth 54 %, of six discs 72 %; with 14 empty 57 % and 83 %.  Fitted on 2026-11-21 with the
weights of that day by ::

    python -m engine.training.othello_result --games 4000

that is, to 121,544 positions of 3,200 games that the engine played against itself at a depth of 6 after 4 to
16 random moves, the last 12 squares solved.  On the 30,350 positions of 800 further games the log-loss is
0.397 nats (0.401 with s = 536 throughout, 0.693 without knowledge), and the fit is well calibrated::

        promised  0.029 0.149 0.250 0.350 0.449 0.550 0.651 0.751 0.854 0.969   (means of the tenths)
    observed  0.041 0.166 0.266 0.384 0.468 0.542 0.645 0.746 0.856 0.965

It holds for equal players who search as deep as the score was searched.  Deeper searchers make a score more
certain, people less: 500 games at a depth of 8 give s = 266 + 4.1 * empty squares, and 1,500 WTHOR games from
the year 2000 on, scored at a depth of 6, s = 588 + 4.9 * empty squares.
"""

import math

from engine.game import WIN_CENTI

BASE_CENTI = 248.2
PER_EMPTY_CENTI = 9.26
BOARD = 60
"""Empty squares of the start position."""


def scale_centi(empties: int) -> float:
    """Lead in centidiscs that makes the odds e to 1 with this many empty squares."""
    return BASE_CENTI + PER_EMPTY_CENTI * max(0, min(BOARD, empties))


def expected_result(score_centi: float, empties: int) -> float:
    """Expected result of a game between equal players, for the side whose score it is.

    Args:
        score_centi: A search's score, in centidiscs; beyond `WIN_CENTI` the game is decided.
        empties: Empty squares of the position.

    Returns:
        0 lost .. 1 won, a draw being 1/2.  It never falls when the score rises, and the two sides' results
        add up to 1.
    """
    if score_centi < 0:
        return 1.0 - expected_result(-score_centi, empties)
    if score_centi >= WIN_CENTI:
        return 1.0
    return 1.0 / (1.0 + math.exp(-score_centi / scale_centi(empties)))
