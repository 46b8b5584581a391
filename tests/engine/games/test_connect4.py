"""Connect Four by itself; what every game promises is tested in test_games.py and test_exact.py."""

import random

import pytest

from engine.game import WIN_CENTI, BadPosition
from engine.games.connect4 import COLUMNS, LINES, ROWS, Connect4, has_four
from engine.search.reference import exact_score
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from tests.engine.positions import random_position

game = Connect4()


def test_there_are_69_lines() -> None:
    assert len(set(LINES)) == 69


@pytest.mark.parametrize("seed", range(30))
def test_four_in_a_line_are_found(seed: int) -> None:
    rng = random.Random(seed)
    discs = sum(1 << 7 * c + r for c in range(COLUMNS) for r in range(ROWS) if rng.random() < 0.45)
    assert has_four(discs) == any(discs & line == line for line in LINES)


def test_a_column_holds_six() -> None:
    position = game.initial()
    for row in range(ROWS):
        move = game.parse_move(position, f"d{row + 1}")
        position = game.play(position, move)
    assert "d" not in {game.move_text(move)[0] for move in game.legal_moves(position)}
    assert len(game.legal_moves(position)) == COLUMNS - 1


def test_a_win_is_seen_and_told() -> None:
    position = game.parse_position("......./......./......./......./yyy..../rrr.... r")
    score = exact_score(make_searcher("connect4", 1), position, 5, StopFlag())
    assert score > WIN_CENTI
    assert game.score_text(score, position) == "won in 1"
    won = game.play(position, game.parse_move(position, "d1"))
    assert game.legal_moves(won) == ()
    assert game.score_text(game.result_centi(won), won) == "lost in 0"


def test_left_and_right_are_alike() -> None:
    for seed in range(20):
        position = random_position(game, random.Random(seed), 20)
        rows, side = game.position_text(position).rsplit(" ", 1)
        mirrored = game.parse_position("/".join(row[::-1] for row in rows.split("/")) + " " + side)
        assert game.evaluate_centi(mirrored) == game.evaluate_centi(position)


def test_solved_endings_do_not_change_with_depth() -> None:
    """Once a search sees the end of every line, deeper ones find the same."""
    searcher = make_searcher("connect4", 4)
    for seed in range(10):
        position = random_position(game, random.Random(seed), 28)
        most = game.most_plies_left(position)
        assert exact_score(searcher, position, most, StopFlag()) == exact_score(
            searcher, position, game.deepest_search, StopFlag()
        )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "six rows"),
        ("......./......./......./......./......./....... x", "six rows"),
        ("......./......./......./......./r....../....... y", "has an empty square below it"),
        ("......./......./......./......./......./rr..... r", "counts"),
        ("......./......./......./......./yyy..../rrrr... r", "counts"),
        ("......./......./......./y....../yyy..../rrrr... r", "already won"),
    ],
)
def test_what_is_no_position(text: str, complaint: str) -> None:
    with pytest.raises(BadPosition, match=complaint):
        game.parse_position(text)
