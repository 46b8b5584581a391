"""Converts scores to expected scores in hundredths of a per cent, the second scale of trap arithmetic.

A score x is worth 1 / (1 + exp(-x / s)) of a point (s: `Game.expected_scale_centi`). A table shared with the
C++ core contains these values, multiplied by 10,000 and rounded. So Python and C++ compute with the same
integers: sums are exact, and no rounding error can reverse a comparison. Ties between expected scores are
broken by the scores themselves.
"""

import math
from array import array
from functools import lru_cache
from typing import Final

from engine.game import WIN_CENTI

WHOLE = 10_000
"""The value of a certain win; an even game is worth half this value."""
PER_PERCENT = WHOLE // 100
MIN_LOGISTIC_CENTI, MAX_LOGISTIC_CENTI = 1, 1_000_000

_INT16: Final = "h"


@lru_cache(maxsize=256)  # Othello has one for each number of empty squares
def expected_table(logistic_centi: float) -> bytes:
    """Expected scores for 0, 1, 2, ... centi-units, as 16-bit integers in native byte order.

    Scores beyond the end of the table are worth `WHOLE`, like a win; a score of -x is worth `WHOLE` minus the
    value of x.

    Args:
        logistic_centi: The parameter s of the logistic function, in centi-units.
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
    """Expected score, in hundredths of a per cent; exactly 0 or `WHOLE` for a decided game."""
    table = _view(logistic_centi)
    size = abs(score_centi)
    expected: int = table[size] if size < len(table) else WHOLE
    return expected if score_centi >= 0 else WHOLE - expected
