"""Tests of positions as arrays and as the networks' input."""

from pathlib import Path

import numpy as np
import pytest

from lab.training.people.chess_games import read_chess
from lab.training.people.positions import concatenate, input_planes, input_who
from lab.training.people.shapes import CHESS, OTHELLO, XIANGQI, GameShape
from lab.training.people.wthor import read_othello
from tests.lab.training.othello_games import random_games, write_wthor
from tests.lab.training.people.habits import chess_pgn, xiangqi_positions


@pytest.mark.parametrize("shape", [OTHELLO, XIANGQI, CHESS])
def test_planes_are_counted(shape: GameShape, tmp_path: Path) -> None:
    if shape is OTHELLO:
        write_wthor(tmp_path / "WTH_2001.wtb", 2001, random_games(1))
        positions = read_othello([tmp_path]).positions
    elif shape is XIANGQI:
        positions = xiangqi_positions(1)
    else:
        file = tmp_path / "games.pgn"
        file.write_text(chess_pgn(1)[0], encoding="utf-8")
        positions = read_chess([file], 0).positions
    numbers = np.arange(min(30, len(positions)))
    planes = input_planes(shape, positions, numbers)
    assert planes.shape == (len(numbers), shape.planes, shape.rows, shape.columns)
    assert np.array_equal(planes[:, : 2 * shape.kinds].sum((1, 2, 3)), (positions.board[numbers] > 0).sum(1))
    legal = planes[:, 2 * shape.kinds].sum((1, 2))
    if shape is OTHELLO:
        assert legal.tolist() == positions.count[numbers].tolist()


def test_unknown_and_hidden_features_have_no_flag() -> None:
    features = np.array([[0.5, np.nan, -1.0]], dtype=np.float32)
    assert input_who(features).tolist() == [[0.5, 0, -1, 1, 0, 1]]
    hidden = np.array([[True, False, False]])
    assert input_who(features, hidden).tolist() == [[0, 0, -1, 0, 0, 1]]


def test_joined_positions_keep_their_moves_and_games() -> None:
    one, two = xiangqi_positions(2, seed=1), xiangqi_positions(2, seed=2)
    both = concatenate([one, two])
    assert np.unique(both.game).tolist() == [0, 1, 2, 3]
    for part, offset in ((one, 0), (two, len(one))):
        for row in (0, len(part) - 1):
            expected = part.moves[part.first[row] :][: part.count[row]]
            found = both.moves[both.first[offset + row] :][: both.count[offset + row]]
            assert np.array_equal(found, expected)
