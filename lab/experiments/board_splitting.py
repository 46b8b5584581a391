"""Pearl's board splitting, a game in which deeper search can play worse (Abramson 1985, CUCS-153-85).

A board has B^D x B^D squares; each is 1 with the probability that makes the game fair, else 0. At even levels
V keeps one of B blocks of columns; at odd levels H keeps one of B blocks of rows. After 2D moves one square
is left; H wins if it is 1, otherwise V wins.

A board is stored as an array of B^(2D) bits in the order of play: the digits of an index in base B are the
first block of columns, the first block of rows, the second block of columns, and so on. So the boards after t
moves are B^t slices of equal length, and one minimax step is a reshape followed by a minimum or maximum.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint8]
Values = NDArray[np.int32]

NUMBER, TRAPS = "N", "Y"
"""The two evaluations: the number of ones, and the same number except where a forced win is recognised."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The size of a game."""

    b: int
    """Branching factor."""
    d: int
    """Number of moves that each player makes."""

    @property
    def levels(self) -> int:
        """Number of moves in a game."""
        return 2 * self.d

    @property
    def squares(self) -> int:
        """Number of squares on the initial board."""
        return int(self.b**self.levels)


def fair_chance(b: int) -> float:
    """The probability of a 1 that makes the game fair: the solution of (1 - p)^B = p."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if (1 - middle) ** b > middle else (low, middle)
    return low


def random_board(shape: Shape, random: np.random.Generator) -> Bits:
    """A random board whose squares are independent."""
    return (random.random(shape.squares, np.float32) < fair_chance(shape.b)).astype(np.uint8)


def values_at(board: Bits, shape: Shape, level: int) -> dict[str, Values]:
    """The evaluations N and Y of every board at a level, from H's point of view, without search.

    N counts the ones. Y is B^(2D) for a board with a row or diagonal of ones (H wins), -B^(2D) for a board
    with a column of zeros (V wins), and N otherwise. A tall board is a stack of B square boards; the diagonal
    of any of them counts. (In the paper's recursion for Y, the N is a misprint for Y.)
    """
    b, left = shape.b, shape.levels - level
    side = b ** (left // 2)
    boards = board.reshape(b**level, *([b] * left))
    axes = range(1, left + 1)
    first_row = 1 if left % 2 else 2  # a tall board is H's to split: rows come first
    rows, columns = axes[first_row - 1 :: 2], axes[2 - first_row :: 2]
    matrix = boards.transpose(0, *rows, *columns).reshape(b**level, -1, side).astype(bool)
    ones = matrix.sum(axis=(1, 2), dtype=np.int32)
    squares = matrix.reshape(b**level, -1, side, side)
    is_won = np.any(np.all(matrix, axis=2), axis=1)
    is_won |= np.any(np.all(np.diagonal(squares, axis1=2, axis2=3), axis=2), axis=1)
    is_lost = ~np.all(np.any(matrix, axis=1), axis=1)
    best = np.int32(shape.squares)
    return {NUMBER: ones, TRAPS: np.where(is_won, best, np.where(is_lost, -best, ones)).astype(np.int32)}


def backed_up(values: NDArray[np.generic], b: int, level: int, to_level: int) -> NDArray[np.generic]:
    """Back up values by minimax from all boards of one level, or a slice of them, to an earlier level."""
    backed_up = values
    for at in range(level - 1, to_level - 1, -1):
        backed_up = backed_up.reshape(-1, b)
        backed_up = backed_up.min(axis=1) if at % 2 == 0 else backed_up.max(axis=1)
    return backed_up


def tip_level(shape: Shape, level: int, look_ahead: int) -> int:
    """The level of the boards that a player evaluates when moving at a given level.

    Args:
        look_ahead: Number of plies searched after the player's own move. No player searches past H's
            second-to-last move.
    """
    return max(level + 1, min(level + 1 + look_ahead, shape.levels - 2))


@dataclass(frozen=True, slots=True)
class Position:
    """A board with the evaluations that players use."""

    shape: Shape
    values: dict[int, dict[str, Values]]
    """N and Y of all boards, keyed by level and name."""
    truth: dict[int, NDArray[np.generic]]
    """The winner of each board under best play (1 for H, 0 for V), keyed by level."""

    @classmethod
    def of(cls, board: Bits, shape: Shape, deepest: int | None = None) -> "Position":
        """Evaluate all boards that can arise from a board, level by level.

        Args:
            deepest: The last level to evaluate; None for all levels.
        """
        truth: dict[int, NDArray[np.generic]] = {shape.levels: board}
        for level in range(shape.levels - 1, -1, -1):
            truth[level] = backed_up(truth[level + 1], shape.b, level + 1, level)
        levels = range(1, (shape.levels if deepest is None else deepest) + 1)
        return cls(shape, {level: values_at(board, shape, level) for level in levels}, truth)

    def best_moves(self, node: int, level: int, look_ahead: int, evaluation: str) -> NDArray[np.intp]:
        """All moves with the best value for the player to move.

        Args:
            node: The board's index within its level.
            evaluation: `NUMBER` or `TRAPS`.
        """
        b, tips = self.shape.b, tip_level(self.shape, level, look_ahead)
        width = b ** (tips - level)
        seen = self.values[tips][evaluation][node * width : (node + 1) * width]
        children = backed_up(seen, b, tips, level + 1)
        best = children.min() if level % 2 == 0 else children.max()
        return np.flatnonzero(children == best)

    def play(self, evaluation: str, look_ahead: tuple[int, int], random: np.random.Generator) -> int:
        """Play a game to its end; ties are broken at random.

        Args:
            look_ahead: Look-ahead of V and of H, in plies.

        Returns:
            1 if H won, 0 if V won.
        """
        node = 0
        for level in range(self.shape.levels):
            moves = self.best_moves(node, level, look_ahead[level % 2], evaluation)
            node = node * self.shape.b + int(random.choice(moves))
        return int(self.truth[self.shape.levels][node])

    def accuracy(self, node: int, level: int, look_ahead: int, evaluation: str) -> float | None:
        """Chance that a random choice among a player's best moves preserves a win, if the choice matters.

        Returns:
            Fraction of the best-valued moves that preserve the win; None if all moves or none do.
        """
        won = self.won_moves(node, level)
        return (
            None if won is None else float(won[self.best_moves(node, level, look_ahead, evaluation)].mean())
        )

    def won_moves(self, node: int, level: int) -> NDArray[np.bool_] | None:
        """Mask of the moves that preserve a win; None if all moves or no moves preserve it."""
        b = self.shape.b
        won = np.asarray(self.truth[level + 1][node * b : (node + 1) * b] == level % 2)
        return None if won.all() or not won.any() else won
