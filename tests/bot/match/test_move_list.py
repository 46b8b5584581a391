import random

import pytest

from bot.match.move_list import MoveList
from engine.game import IllegalMove, positions
from engine.games import get_rules


@pytest.mark.parametrize("name", ["othello", "chess"])
def test_positions_are_those_of_the_whole_list(name: str) -> None:
    """Also when a list is shorter, or of another game."""
    game, rng = get_rules(name), random.Random(5)
    line, moves = MoveList(game), list[str]()
    position = game.initial()
    for _ in range(30):
        move = rng.choice(game.legal_moves(position))
        moves.append(game.move_text(move))
        position = game.play(position, move)
        assert list(line.positions(tuple(moves))) == list(positions(game, moves))
    for other in (moves[:7], [*moves[:3], *moves[3:5]], []):
        assert list(line.positions(other)) == list(positions(game, other))
    line.begin(position)
    assert list(line.positions([])) == [position]


def test_an_illegal_move_changes_nothing() -> None:
    game = get_rules("othello")
    line = MoveList(game)
    with pytest.raises(IllegalMove):
        line.positions(["f5", "a1"])
    assert list(line.positions(["f5", "d6"])) == list(positions(game, ["f5", "d6"]))
