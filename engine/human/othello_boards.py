"""Othello's rules on arrays: move generation for many bitboards at once.

Bit ``8 * row + column`` represents the square at that row and column, as in `engine.games.othello`. Every
function takes and returns arrays of type uint64, all of the same, arbitrary shape.
"""

import numpy as np
from numpy.typing import NDArray

Boards = NDArray[np.uint64]

SQUARES = 64
_NOT_A = np.uint64(0xFEFEFEFEFEFEFEFE)
_NOT_H = np.uint64(0x7F7F7F7F7F7F7F7F)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
# Left shift (negative: right), and the squares that this shift can reach without wrapping round an edge.
_DIRECTIONS = (
    (1, _NOT_A), (-1, _NOT_H), (8, _ALL), (-8, _ALL),
    (9, _NOT_A), (-9, _NOT_H), (7, _NOT_H), (-7, _NOT_A),
)  # fmt: skip
_ONE = np.uint64(1)
_BLOCKS = tuple(
    (np.uint64(step), np.uint64(block))
    for step, block in ((28, 0x0F0F0F0F00000000), (14, 0x3333000033330000), (7, 0x5500550055005500))
)


def _shifted(boards: Boards, step: int) -> Boards:
    return boards << np.uint64(step) if step > 0 else boards >> np.uint64(-step)


def moves_masks(mover: Boards, waiter: Boards) -> Boards:
    """The squares where the mover may place a disc."""
    masks = np.zeros_like(mover)
    for step, reach in _DIRECTIONS:
        through = waiter & reach
        run = _shifted(mover, step) & through
        for _ in range(5):
            run |= _shifted(run, step) & through
        masks |= _shifted(run, step) & reach
    return masks & ~(mover | waiter)


def flips_masks(mover: Boards, waiter: Boards, placed: Boards) -> Boards:
    """The discs flipped by a disc placed on an empty square; 0 if the placement is illegal.

    Args:
        placed: Boards with exactly one bit set each, on an empty square.
    """
    flipped = np.zeros_like(mover)
    for step, reach in _DIRECTIONS:
        through = waiter & reach
        run = _shifted(placed, step) & through
        for _ in range(5):
            run |= _shifted(run, step) & through
        closed = _shifted(run, step) & reach & mover
        flipped |= np.where(closed != 0, run, np.uint64(0))
    return flipped


def neighbours(boards: Boards) -> Boards:
    """The neighbours of a board's occupied squares, in all eight directions."""
    neighbours = np.zeros_like(boards)
    for step, reach in _DIRECTIONS:
        neighbours |= _shifted(boards, step) & reach
    return neighbours


def bits(boards: Boards) -> NDArray[np.uint8]:
    """Expand each board to 64 squares of 0 or 1, a1 first, in a new last axis."""
    little = np.ascontiguousarray(boards, dtype="<u8")
    return np.unpackbits(little.view(np.uint8).reshape(*boards.shape, 8), axis=-1, bitorder="little")


def _transposed(boards: Boards) -> Boards:
    """Mirror boards about the diagonal from a1 to h8 by swapping blocks of decreasing size."""
    for step, block in _BLOCKS:
        moved = block & (boards ^ (boards << step))
        boards = boards ^ (moved ^ (moved >> step))
    return boards


def images(boards: Boards) -> tuple[Boards, ...]:
    """The boards under each of the eight symmetries, in the order of `TURNED`; the first one is unchanged."""
    across = _transposed(boards)
    upright, across_upright = boards.byteswap(), across.byteswap()
    mirrored = _transposed(across_upright)
    turned = _transposed(upright)
    return (
        boards, across, upright, across_upright, turned, turned.byteswap(), mirrored, mirrored.byteswap(),
    )  # fmt: skip


def _turned() -> NDArray[np.int64]:
    squares = square_bits(np.arange(SQUARES))
    return np.stack([bits(image).argmax(axis=-1).astype(np.int64) for image in images(squares)])


def square_bits(squares: NDArray[np.integer]) -> Boards:
    """For each square from 0 to 63, the board with only that square occupied."""
    return _ONE << squares.astype(np.uint64)


TURNED = _turned()
"""The image of each square under each symmetry, shape (8, 64)."""


def upright(own: Boards, other: Boards) -> NDArray[np.bool_]:
    """Whether each symmetry maps each position to its canonical orientation, shape (8, n).

    The canonical image has the smallest bitboard of occupied squares and, among equals, the smallest bitboard
    of own discs, so it is the same for all equivalent positions. Several symmetries give this image if the
    position itself is symmetric.
    """
    taken, mine = np.stack(images(own | other)), np.stack(images(own))
    least = taken == taken.min(axis=0)
    mine = np.where(least, mine, _ALL)
    upright: NDArray[np.bool_] = least & (mine == mine.min(axis=0))
    return upright


def turned(boards: Boards, turn: NDArray[np.int64]) -> Boards:
    """Apply symmetry ``turn[i]`` to board ``i``, for all boards."""
    chosen: Boards = np.stack(images(boards))[turn, np.arange(len(boards))]
    return chosen
