"""Converts scores to expected score, in hundredths of a per cent: the trap arithmetic's other scale.

A score x promises 1 / (1 + exp(-x / s)) of a point (s: `Game.expected_scale_centi`).  The numbers are rounded
to whole ones, 0 .. 10,000, and looked up in a table that the C++ core gets too.  So both sides compute with
equal numbers, sums of them are exact, and no rounding error ever turns a comparison around.  Of scores that
far apart are worth the same, the arithmetic's last word is the score itself.
"""

import math
from array import array
from functools import lru_cache
from typing import Final

from engine.game import WIN_CENTI

WHOLE = 10_000
"""A certain win; an even game is worth half of it."""
PER_PERCENT = WHOLE // 100
SMALLEST_LOGISTIC_CENTI, LARGEST_LOGISTIC_CENTI = 1, 1_000_000

_INT16: Final = "h"


@lru_cache(maxsize=256)  # Othello has one for each number of empty squares
def expected_table(logistic_centi: float) -> bytes:
    """Expected score of 0, 1, 2, ... centi-units, as 16-bit integers in the machine's own order.

    From where the table ends a score is as good as won, and worth `WHOLE`; a negative score is worth what its
    opposite lacks to `WHOLE`.

    Args:
        logistic_centi: s of the logistic function, in centi-units.
    """
    certain = math.log(2 * WHOLE) * logistic_centi  # less than half a hundredth of a per cent is missing
    size = min(WIN_CENTI, math.ceil(certain) + 1)
    return array(
        _INT16, (int(WHOLE / (1.0 + math.exp(-score / logistic_centi)) + 0.5) for score in range(size))
    ).tobytes()


@lru_cache(maxsize=256)
def _view(logistic_centi: float) -> memoryview:
    return memoryview(expected_table(logistic_centi)).cast(_INT16)


def expected_score(score_centi: int, logistic_centi: float) -> int:
    """What a score promises, in hundredths of a per cent; a decided game exactly 0 or `WHOLE`."""
    table = _view(logistic_centi)
    size = abs(score_centi)
    found: int = table[size] if size < len(table) else WHOLE
    return found if score_centi >= 0 else WHOLE - found
