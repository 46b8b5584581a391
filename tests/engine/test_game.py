"""Moves are numbered as players of the game count."""

from engine.game import move_count, move_number
from engine.games import get_rules


def test_moves_are_numbered_as_players_count() -> None:
    moves = ("f5", "d6", "pass", "c3")
    assert [move_count(moves, ply) for ply in range(4)] == [1, 2, 2, 3]
    assert move_count((), 3) == 4, "of a game whose moves are not stored yet"
    assert [move_number(get_rules("othello"), moves, ply) for ply in (0, 1, 3)] == [1, 2, 3]
    assert [move_number(get_rules("chess"), ("e4", "e5", "Nf3"), ply) for ply in range(3)] == [1, 1, 2]
