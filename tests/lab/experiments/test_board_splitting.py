"""Board splitting against a literal reading of the rules: matrices that are cut."""

import numpy as np
import pytest
from numpy.typing import NDArray

from lab.experiments.board_splitting import (
    NUMBER,
    TRAPS,
    Bits,
    Position,
    Shape,
    fair_chance,
    random_board,
    tip_level,
    values_at,
)

Matrix = NDArray[np.uint8]
SHAPES = [Shape(2, 2), Shape(2, 3), Shape(3, 2)]


def matrix_of(board: Bits, shape: Shape) -> Matrix:
    """The board as it lies: bits are in the order of play, blocks of columns and rows in turn."""
    side = shape.b**shape.d
    found = np.zeros((side, side), np.uint8)
    for index, bit in enumerate(board):
        digits = [index // shape.b ** (shape.levels - 1 - at) % shape.b for at in range(shape.levels)]
        column = sum(digit * shape.b ** (shape.d - 1 - at) for at, digit in enumerate(digits[0::2]))
        row = sum(digit * shape.b ** (shape.d - 1 - at) for at, digit in enumerate(digits[1::2]))
        found[row, column] = bit
    return found


def split(matrix: Matrix, level: int, b: int) -> list[Matrix]:
    return list(np.split(matrix, b, axis=1 if level % 2 == 0 else 0))


def boards_at(matrix: Matrix, level: int, b: int) -> list[Matrix]:
    boards = [matrix]
    for at in range(level):
        boards = [part for board in boards for part in split(board, at, b)]
    return boards


def traps_value(board: Matrix, shape: Shape) -> int:
    rows, side = board.shape
    stacked = [board[at : at + side] for at in range(0, rows, side)]
    if board.all(axis=1).any() or any(np.diagonal(square).all() for square in stacked):
        return shape.squares
    return -shape.squares if (board == 0).all(axis=0).any() else int(board.sum())


def winner(board: Matrix, level: int, shape: Shape) -> int:
    if level == shape.levels:
        return int(board[0, 0])
    found = [winner(part, level + 1, shape) for part in split(board, level, shape.b)]
    return min(found) if level % 2 == 0 else max(found)


@pytest.mark.parametrize("shape", SHAPES)
def test_values_and_winners_of_every_board(shape: Shape) -> None:
    for seed in range(8):
        board = random_board(shape, np.random.default_rng(seed))
        matrix, position = matrix_of(board, shape), Position.of(board, shape)
        for level in range(1, shape.levels + 1):
            boards = boards_at(matrix, level, shape.b)
            found = values_at(board, shape, level)
            assert found[NUMBER].tolist() == [int(each.sum()) for each in boards]
            assert found[TRAPS].tolist() == [traps_value(each, shape) for each in boards]
            assert position.truth[level].tolist() == [winner(each, level, shape) for each in boards]


@pytest.mark.parametrize("evaluation", [NUMBER, TRAPS])
@pytest.mark.parametrize("look_ahead", range(5))
def test_the_best_moves_are_those_of_minimax(evaluation: str, look_ahead: int) -> None:
    shape = Shape(2, 3)

    def value(board: Matrix, level: int, tips: int) -> int:
        if level == tips:
            return int(board.sum()) if evaluation == NUMBER else traps_value(board, shape)
        found = [value(part, level + 1, tips) for part in split(board, level, shape.b)]
        return min(found) if level % 2 == 0 else max(found)

    for seed in range(4):
        board = random_board(shape, np.random.default_rng(seed))
        matrix, position = matrix_of(board, shape), Position.of(board, shape)
        for level in range(shape.levels):
            tips = max(level + 1, min(level + 1 + look_ahead, 4))
            for node, at in enumerate(boards_at(matrix, level, shape.b)):
                values = [value(part, level + 1, tips) for part in split(at, level, shape.b)]
                best = min(values) if level % 2 == 0 else max(values)
                wanted = [move for move, each in enumerate(values) if each == best]
                assert position.best_moves(node, level, look_ahead, evaluation).tolist() == wanted
                good = [winner(part, level + 1, shape) == level % 2 for part in split(at, level, shape.b)]
                accuracy = position.accuracy(node, level, look_ahead, evaluation)
                if all(good) or not any(good):
                    assert accuracy is None
                else:
                    assert accuracy == sum(good[move] for move in wanted) / len(wanted)


def test_nobody_sees_the_last_round() -> None:
    shape = Shape(3, 5)
    assert [tip_level(shape, 1, look_ahead) for look_ahead in (0, 2, 6, 8)] == [2, 4, 8, 8]
    assert [tip_level(shape, level, 9) for level in (6, 7, 8, 9)] == [8, 8, 9, 10]


def test_a_board_of_ones_is_h_s_and_one_of_zeros_v_s() -> None:
    shape = Shape(3, 2)
    for bit in (0, 1):
        position = Position.of(np.full(shape.squares, bit, np.uint8), shape)
        assert position.play(TRAPS, (0, 0), np.random.default_rng(1)) == bit
        assert position.accuracy(0, 0, 0, NUMBER) is None


def test_ties_are_drawn_at_random() -> None:
    shape = Shape(2, 2)
    # V's first blocks have a one each, and H then finds it in the left one only if V takes that.
    position = Position.of(np.array([1, 0, 1, 0, 0, 0, 1, 1], np.uint8).repeat(2), shape)
    games = {position.play(NUMBER, (0, 0), np.random.default_rng(seed)) for seed in range(20)}
    assert len(games) == 2 or games == {1}


@pytest.mark.parametrize(("b", "p"), [(2, 0.381966), (3, 0.317672), (4, 0.275508)])
def test_the_chance_of_a_one_makes_the_game_fair(b: int, p: float) -> None:
    assert fair_chance(b) == pytest.approx(p, abs=1e-6)
