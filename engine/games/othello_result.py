"""Converts centidiscs to the expected game result, for display and for weighting by probabilities.

The expected result is 1 / (1 + exp(-score / s)), with s = 252 + 9.0 * empty squares: with 40 squares empty, a
lead of one disc is worth 54 %, one of six discs 73 %; with 14 squares empty, 57 % and 83 %. The constants
were fitted on 2026-11-24, with the evaluation weights of that day, by the command ::

    python -m lab.training.othello_result --games 4000

The fit used 121,541 positions of 3,200 games that the engine played against itself at depth 6 after 4 to 16
random moves, with the last 12 squares solved. On the 30,362 positions of 800 further games the log-loss is
0.374 nats (0.375 with s = 532 throughout, 0.693 for a constant 1/2), and the fit is well calibrated::

        expected  0.030 0.148 0.251 0.350 0.451 0.550 0.652 0.750 0.852 0.970   (means of the deciles)
    observed  0.027 0.141 0.267 0.347 0.418 0.550 0.640 0.726 0.847 0.971

The fit is valid for equal players who search to the score's depth. Scores are more certain for deeper
searches and less certain for people: the previous weights gave s = 266 + 4.1 * empty squares in 500 games at
depth 8, and s = 588 + 4.9 * empty squares in 1,500 WTHOR games from 2000 onwards, scored at depth 6.
"""

import math

from engine.game import WIN_CENTI

BASE_CENTI = 251.9
PER_EMPTY_CENTI = 8.98
BOARD = 60
"""Number of empty squares in the starting position."""


def scale_centi(empties: int) -> float:
    """The lead, in centidiscs, at which the odds of winning are e to 1, given the number of empty squares."""
    return BASE_CENTI + PER_EMPTY_CENTI * max(0, min(BOARD, empties))


def expected_result(score_centi: float, empties: int) -> float:
    """Expected result of a game between equal players, from the same side's point of view as the score.

    Args:
        score_centi: Score from a search, in centidiscs; from `WIN_CENTI` on the game is decided.
        empties: Empty squares of the position.

    Returns:
        From 0 (lost) to 1 (won); a draw is 1/2. The result never falls when the score rises, and the two
        sides' results add up to 1.
    """
    if score_centi < 0:
        return 1.0 - expected_result(-score_centi, empties)
    if score_centi >= WIN_CENTI:
        return 1.0
    return 1.0 / (1.0 + math.exp(-score_centi / scale_centi(empties)))
