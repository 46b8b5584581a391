"""Odds: the positions, checked against other programs' rules, and which odds make a game even."""

from typing import Any

import chess
import pytest

from engine.games import get_rules
from engine.opponents.odds import NAMES, ODDS, Odds, knight_points, odds_for, odds_from_start, odds_named

ALL = [(odds, side) for of_game in ODDS.values() for odds in of_game for side in (0, 1)]
GIVEN = {
    "pawn": "f2",
    "knight": "b1",
    "rook": "a1",
    "queen": "d1",
    "queen+knight": "d1 b1",
}
"""What White lacks."""


@pytest.mark.parametrize(("odds", "side"), ALL, ids=lambda each: getattr(each, "name", str(each)))
def test_a_start_is_a_position_of_the_game_with_the_usual_side_to_move(odds: Odds, side: int) -> None:
    rules = get_rules(odds.game)
    position = rules.parse_position(odds.starts[side])
    assert rules.board_text(position) == odds.starts[side]
    assert rules.side_to_move(position) == rules.side_to_move(rules.initial())
    assert rules.legal_moves(position)
    assert odds_from_start(odds.game, odds.starts[side]) == (odds, side)


@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.parametrize("colour", [chess.WHITE, chess.BLACK])
def test_chess_odds_are_the_usual_start_without_the_pieces(name: str, colour: chess.Color) -> None:
    """python-chess removes them, and with a rook the right to castle on its side."""
    board = chess.Board()
    for square in map(chess.parse_square, GIVEN[name].split()):
        board.remove_piece_at(square if colour else chess.square_mirror(square))
    board.castling_rights = board.clean_castling_rights()
    assert board.is_valid()
    odds = odds_named("chess", name)
    assert odds is not None
    assert odds.starts[0 if colour else 1] == board.fen()
    rules = get_rules("chess")
    moves = {rules.move_text(move) for move in rules.legal_moves(rules.parse_position(board.fen()))}
    assert moves == {move.uci() for move in board.legal_moves}


def test_xiangqi_odds_are_those_of_other_programs() -> None:
    """XQWLight's positions for the left horse and for both, and others' for cannon and Black's left horse."""
    starts = {odds.name: [each.split()[0] for each in odds.starts] for odds in ODDS["xiangqi"]}
    usual = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR"
    assert starts["horse"][0] == usual.replace("RNBAKABNR", "R1BAKABNR")
    assert starts["horse"][1] == usual.replace("rnbakabnr", "rnbakab1r")
    assert starts["2-horses"][0] == usual.replace("RNBAKABNR", "R1BAKAB1R")
    assert starts["cannon"][0] == usual.replace("1C5C1", "7C1")


@pytest.mark.parametrize("game", ["xiangqi", "othello"])
def test_both_sides_give_the_same(game: str) -> None:
    """Turned around, with the colours exchanged, one start is the other but for who moves."""
    for odds in ODDS[game]:
        first, second = (each.split()[0] for each in odds.starts)
        if game == "xiangqi":
            assert first.swapcase()[::-1] == second
        else:
            assert (first.count("w") - 2, second.count("b") - 2) == (int(odds.name[0]),) * 2
            assert first.replace("3wb3/3bw3", "").replace("w", "b") == second.replace("3wb3/3bw3", "")


def test_names_are_unique_and_the_larger_odds_are_worth_more() -> None:
    assert len(set(NAMES)) == len(NAMES)
    for of_game in ODDS.values():
        worth = [odds.points(1500) for odds in of_game]
        assert worth == sorted(worth)
        assert worth[0] > 0


def test_a_knight_is_worth_what_kaufman_says_and_more_against_stronger_players() -> None:
    assert [knight_points(each) for each in (800, 900, 1100, 1400, 1800, 2400, 2600)] == [
        200, 200, 300, 400, 600, 1000, 1000,
    ]  # fmt: skip
    assert knight_points(1600) == 500


@pytest.mark.parametrize("game", ODDS)
def test_the_odds_are_those_nearest_to_even(game: str) -> None:
    for opponent in (900, 1500, 2100):
        for odds in ODDS[game]:
            assert odds_for(game, opponent + odds.points(opponent), opponent) is odds
        assert odds_for(game, opponent, opponent) is None
        assert odds_for(game, opponent - 500, opponent) is None
        assert odds_for(game, opponent + 5000, opponent) is ODDS[game][-1]


def test_no_odds_without_both_ratings_or_in_a_game_without_odds() -> None:
    assert odds_for("chess", None, 1500) is None
    assert odds_for("chess", 2500, None) is None
    assert odds_for("connect4", 2500, 1000) is None


def test_only_allowed_odds_are_given() -> None:
    def name(**wanted: Any) -> str | None:
        odds = odds_for("chess", 2800, 1500, **wanted)
        return None if odds is None else odds.name

    assert name() == "queen+knight"
    assert name(allowed=("pawn", "rook")) == "rook"
    assert name(allowed=()) is None


def test_only_the_starts_of_odds_are_odds() -> None:
    odds = ODDS["chess"][3]
    start = odds.starts[1]
    assert odds_from_start("chess", None) is None
    assert odds_from_start("chess", chess.STARTING_FEN) is None
    assert odds_from_start("xiangqi", start) is None
    assert odds_from_start("chess", start.replace(" w ", " b ")) is None
    # Sites write castling rights and counters in their own ways.
    assert odds_from_start("chess", start.replace("KQkq - 0 1", "HAha - 0 1")) == (odds, 1)
