"""Othello against published counts, printed games and hand-made positions."""

import struct

import pytest

from engine import _native
from engine.formats.record import squares_to_moves
from engine.game import WIN_CENTI, BadPosition, IllegalMove, replay
from engine.games.othello import PASS, SQUARES, Othello, OthelloPosition, moves_mask
from tests.shared_data import shared_path

game = Othello()

# Leaf counts from the start, a pass being a ply (https://www.aartbik.com/strategy.php, to 10 plies here).
PERFT = [1, 4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288, 24571284]


def perft(position: OthelloPosition, depth: int) -> int:
    moves = game.legal_moves(position)
    if depth == 0 or not moves:
        return 1
    return sum(perft(game.play(position, move), depth - 1) for move in moves)


@pytest.mark.parametrize("depth", range(6))
def test_perft_of_the_rules(depth: int) -> None:
    assert perft(game.initial(), depth) == PERFT[depth]


@pytest.mark.parametrize("depth", range(11))
def test_perft_of_the_native_core(depth: int) -> None:
    start = game.initial()
    assert _native.othello_perft(start.mover, start.waiter, depth) == PERFT[depth]


def test_start() -> None:
    assert game.position_text(game.initial()) == "8/8/8/3wb3/3bw3/8/8/8 b"
    assert [game.move_text(m) for m in game.legal_moves(game.initial())] == ["d3", "c4", "f5", "e6"]
    assert game.legal_moves(OthelloPosition(0, 0, 0)) == ()


def test_obf_and_fen_agree() -> None:
    obf = "---------------------------OX------XO--------------------------- X; 0;"
    assert game.parse_position(obf) == game.initial()
    white_to_move = game.parse_position(obf.replace(" X;", " O;"))
    assert game.position_text(white_to_move) == "8/8/8/3wb3/3bw3/8/8/8 w"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("8/8/8/3wb3/3bw3/8/8/7 b", "row 8"),
        ("8/8/8/3wb3/3bx3/8/8/8 b", "row 5"),
        ("8/8/8/3wb3/3bw3/8/8/8", "b or w"),
        ("8/8/8/3wb3/3bw3/8/8/8 x", "b or w"),
        ("8/8/8/3wb3/3bw3/8/8 b", "eight rows"),
        ("8/8/8/8/8/8/8/8 b", "no discs"),
    ],
)
def test_bad_positions_say_what_is_wrong(text: str, complaint: str) -> None:
    with pytest.raises(BadPosition, match=complaint):
        game.parse_position(text)


def test_pass_is_a_move_and_only_when_there_is_no_other() -> None:
    position = game.parse_position("wb6/8/8/8/8/8/8/8 b")
    assert game.legal_moves(position) == (PASS,)
    assert game.move_squares(PASS) == ()
    after = game.play(position, game.parse_move(position, "pass"))
    assert [game.move_text(m) for m in game.legal_moves(after)] == ["c1"]
    with pytest.raises(IllegalMove):
        game.play(game.initial(), PASS)
    with pytest.raises(IllegalMove, match="pass"):
        game.parse_move(game.initial(), "pass")


def test_the_empty_squares_are_the_winners() -> None:
    wiped_out = game.parse_position("bb6/8/8/8/8/8/8/8 w")
    assert game.legal_moves(wiped_out) == ()
    assert game.result_centi(wiped_out) == -WIN_CENTI - 6400
    assert game.score_text(game.result_centi(wiped_out), wiped_out) == "lost by 64"
    assert game.result_centi(game.parse_position("b6w/8/8/8/8/8/8/8 b")) == 0


def test_no_move_wraps_round_a_side() -> None:
    # Discs at h-file and a-file squares that are neighbours only in the order of the bits.
    position = game.parse_position("7w/w6b/8/8/8/8/8/8 b")
    assert moves_mask(position.mover, position.waiter) == 0
    for square in ("h1", "a2"):
        lone = OthelloPosition(1 << SQUARES.index(square), 0, 0)
        assert game.legal_moves(lone) == ()


def test_tournament_games_replay_to_their_recorded_scores() -> None:
    """Every game of a WTHOR year: moves legal, passes put in by rule, final score as recorded."""
    data = shared_path("wthor/WTH_1984.wtb").read_bytes()
    (count,) = struct.unpack_from("<I", data, 4)
    assert len(data) == 16 + 68 * count
    passes = 0
    for index in range(count):
        record = data[16 + 68 * index :][:68]
        moves = squares_to_moves(m // 10 * 8 + m % 10 - 9 for m in record[8:] if m)[0]
        passes += moves.count("pass")
        end = replay(game, moves)
        if not game.legal_moves(end):
            black_score = 32 + (game.margin_discs(end) if end.side == 0 else -game.margin_discs(end)) // 2
            assert black_score == record[6]
    assert passes > 0
