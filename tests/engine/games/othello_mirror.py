"""The patterns and the static evaluation of Othello, readable: mirrors engine/native/othello/patterns.hpp."""

import sys
from array import array
from functools import cache

from engine.games.othello_evaluation import turned, weight_bytes

LIMIT_CENTI = 6_000
"""Bound for the absolute value of an evaluation: even 60 discs ahead is not yet a won game."""

UNIT_CENTI = 4
"""A weight of 1 in centidiscs."""

PATTERNS: tuple[tuple[int, ...], ...] = (
    (0, 1, 2, 8, 9, 10, 16, 17, 18),  # corner of three by three
    (0, 1, 2, 3, 4, 8, 16, 24, 32, 9),  # angle: both rims from the corner, with the X square
    (0, 1, 2, 3, 4, 5, 6, 7, 9, 14),  # rim with its two X squares
    (0, 2, 3, 4, 5, 7, 10, 11, 12, 13),  # rim and the block before its middle
    (0, 1, 2, 3, 8, 9, 10, 16, 17, 24),  # triangle in the corner
    (8, 9, 10, 11, 12, 13, 14, 15),  # second row
    (16, 17, 18, 19, 20, 21, 22, 23),  # third row
    (24, 25, 26, 27, 28, 29, 30, 31),  # fourth row
    (0, 9, 18, 27, 36, 45, 54, 63),  # diagonals, the longest first
    (1, 10, 19, 28, 37, 46, 55),
    (2, 11, 20, 29, 38, 47),
    (3, 12, 21, 30, 39),
)
"""Squares of each pattern by bit number: a1 = 0, h1 = 7, a2 = 8."""

STAGES = 60
MOBILITIES = 40
PATTERN_WEIGHTS = sum(3 ** len(pattern) for pattern in PATTERNS)
STAGE_SIZE = PATTERN_WEIGHTS + 2 * MOBILITIES
"""Weights of a stage: the patterns' tables in turn, the mover's number of moves, the waiter's."""


def stage_of(empties: int) -> int:
    """The stage of a position by its empty squares: one ply each, the last one is stage 0."""
    return max(0, min(STAGES - 1, empties - 1))


@cache
def _weights() -> "array[int]":
    weights = array("h", weight_bytes())
    if sys.byteorder == "big":
        weights.byteswap()
    return weights


# All features are summed at once, in one long integer: each has two lanes of 32 bits, for its content and for
# the mirror image, and each half-row of discs contributes one addend.
@cache
def _lanes() -> tuple[list[list[int]], tuple[int, ...]]:
    """Each row's contribution to the lanes for each set of the mover's discs, and each feature's table."""
    tables: list[int] = []
    of_square = [0] * 64
    start = 0
    for pattern in PATTERNS:
        images = [[turned(square, symmetry) for square in pattern] for symmetry in range(8)]
        own = next(
            (image for image in images if set(image) == set(pattern) and image != list(pattern)),
            list(pattern),
        )
        mirror = [pattern.index(square) for square in own]
        seen: list[set[int]] = []
        for image in images:
            if set(image) in seen:
                continue
            seen.append(set(image))
            for place, square in enumerate(image):
                lane = 64 * len(tables)
                of_square[square] += 3**place << lane | 3 ** mirror[place] << lane + 32
            tables.append(start)
        start += 3 ** len(pattern)
    rows = [
        [
            sum(of_square[8 * row + column] for column in range(8) if discs >> column & 1)
            for discs in range(256)
        ]
        for row in range(8)
    ]
    return rows, tuple(tables)


def evaluate_centi(mover: int, waiter: int, mover_moves: int, waiter_moves: int) -> int:
    """Static evaluation in centidiscs, side to move's view, of an unfinished game.

    Args:
        mover: Bitboard of the discs of the side to move.
        waiter: Bitboard of the other side's.
        mover_moves: Number of moves that the mover has.
        waiter_moves: Number of moves that the waiter would have.
    """
    rows, tables = _lanes()
    total = 0
    for row in range(8):
        total += rows[row][mover >> 8 * row & 255] + 2 * rows[row][waiter >> 8 * row & 255]
    lanes = memoryview(total.to_bytes(8 * len(tables), sys.byteorder)).cast("I").tolist()
    if sys.byteorder == "big":
        lanes.reverse()
    weights = _weights()
    stage = STAGE_SIZE * stage_of(64 - (mover | waiter).bit_count())
    score: int = weights[stage + PATTERN_WEIGHTS + mover_moves]
    score += weights[stage + PATTERN_WEIGHTS + MOBILITIES + waiter_moves]
    for feature, table in enumerate(tables):
        score += weights[stage + table + min(lanes[2 * feature], lanes[2 * feature + 1])]
    return max(-LIMIT_CENTI, min(LIMIT_CENTI, UNIT_CENTI * score))
