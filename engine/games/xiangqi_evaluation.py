"""Static evaluation of xiangqi: a sum of learned weights, tapered from middlegame to endgame.

A *feature* is something countable on the board for either side: a horse on a square, a chariot with nine
target squares, a hanging cannon. Its value is the count for the side to move minus the count for the other
side. The weights are learned by ``python -m lab.training.xiangqi``; ``xiangqi_weights.json`` holds them and
states how they were learned.

The C++ core (``engine/native/xiangqi/xiangqi_evaluation.hpp``) does the evaluation;
``tests/engine/games/xiangqi_mirror.py`` is a readable copy of it in Python.
"""

from functools import cache

from engine._native import XiangqiEvaluation, XiangqiSearch
from engine.games.linear_weights import Groups, LinearWeights, own_weights

PLACES = 50
"""Squares of a board folded along its middle file; the index is 5 * rank + distance from the edge."""

DANGERS = 20
"""Number of levels of general danger."""

THREATS = (
    "rook_hangs", "rook_by_cheap", "rook_by_minor", "cannon_hangs", "horse_hangs", "rook_outnumbered",
    "minor_by_cheap", "minor_outnumbered", "elephant_hangs", "advisor_hangs", "cheap_outnumbered",
    "soldier_hangs",
)  # fmt: skip
"""Pieces that a side may lose to the next capture, the most valuable first.

Soldiers, advisors and elephants are cheap; horses and cannons are minor pieces.
"""

GROUPS: Groups = {
    **{
        f"{piece}_place": PLACES
        for piece in ("soldier", "advisor", "elephant", "horse", "cannon", "rook", "general")
    },
    "rook_mobility": 18,
    "cannon_mobility": 18,
    "horse_mobility": 9,
    **{  # of the general of the waiting side, or of the one to move, by its advisors
        f"danger_{whose}_{advisors}_advisors": DANGERS
        for whose in ("waiting", "moving")
        for advisors in range(3)
    },
    "guards": 9,  # three times the advisors plus the elephants
    "advisors_versus": 15,  # five times the advisors plus enemy chariots and horses
    "elephants_versus": 9,  # three times the elephants plus enemy cannons
    "cannon_aim_on_rank": 4,  # by the number of pieces between the cannon and the general
    "cannon_aim_on_file": 4,
    "rook_aim_on_rank": 3,
    "rook_aim_on_file": 3,
    "facing": 1,
    "soldier_links": 1,
    "horse_links": 1,
    "elephant_links": 1,
    **{
        f"threat_{whose}_{place}": len(THREATS)
        for whose in ("moving", "waiting")
        for place in ("first", "second", "more")
    },
    "tempo": 1,
    "in_check": 1,
}
"""The groups of features with their sizes; ranks are counted from the side that has the feature."""


@cache
def weights() -> LinearWeights:
    """The learned weights.

    Raises:
        DamagedFile: The file is missing or damaged.
    """
    return own_weights("xiangqi", GROUPS)


@cache
def native_evaluation() -> XiangqiEvaluation:
    """The weights in the core's format, shared by all searches of the process."""
    return XiangqiEvaluation(weights().to_bytes())


@cache
def _core() -> XiangqiSearch:
    return XiangqiSearch(1, native_evaluation())


def evaluate_centi(position: str) -> int:
    """Evaluate an unfinished game's position (`Game.position_text`) without search, in centi-soldiers for the
    side to move."""
    return _core().evaluate(position)


def middle(board: str) -> int:
    """Compute the game phase from the attacking pieces on the board: 64 is the middlegame, 0 the endgame.

    Args:
        board: 90 letters.
    """
    return min(
        64,
        4 * sum(value * board.count(piece) for value, pieces in ((2, "Rr"), (1, "NnCc")) for piece in pieces),
    )


def expected_scale_centi(board: str) -> float:
    """Return the scale s, in centi-soldiers, of equal players' expected result 1 / (1 + exp(-score / s))."""
    return weights().expected_scale_centi(middle(board))
