"""Sites' notations against Fairy-Stockfish's own (pyffish), and against python-chess.

A variant that pyffish does not know ends the process, so their names are listed once, here.
"""

import random
from typing import Any

import chess
import pyffish
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.base.dialects import DIALECTS
from bot.base.errors import ProtocolError
from bot.base.notation import DROP_NOTATION, PLAIN_NOTATION, ROOK_CASTLING, MoveCodec
from engine.game import BadPosition, replay
from engine.games import get_rules

FLIPELLO, XIANGQI = "flipello", "xiangqi"
assert {FLIPELLO, XIANGQI} <= set(pyffish.variants())

OTHELLO, CHESS = get_rules("othello"), get_rules("chess")
WITH_A_PASS = 6
"""Seed of a `play_out` game that has one."""


def texts(game: Any, position: Any) -> list[str]:
    return [game.move_text(move) for move in game.legal_moves(position)]


def play_out(variant: str, seed: int, plies: int = 200) -> list[str]:
    """The moves of a random game in Fairy-Stockfish's notation, at most up to the end by our rules."""
    name = "othello" if variant == FLIPELLO else "xiangqi"
    game, rng, told = get_rules(name), random.Random(seed), list[str]()
    notation = DIALECTS["playstrategy"].variants[variant].notation
    start, position = pyffish.start_fen(variant), game.initial()
    while game.legal_moves(position) and len(told) < plies:
        told.append(rng.choice(sorted(pyffish.legal_moves(variant, start, told))))
        move = notation.read(game, position, told[-1])
        assert move is not None
        position = game.play(position, game.parse_move(position, move))
    return told


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), plies=st.integers(0, 60))
def test_every_move_of_flipello_maps_both_ways(seed: int, plies: int) -> None:
    told = play_out(FLIPELLO, seed, plies)
    script = MoveCodec(DROP_NOTATION, OTHELLO, None)
    position = replay(OTHELLO, script.read(told))
    ours = texts(OTHELLO, position)
    if not ours:
        return
    theirs = pyffish.legal_moves(FLIPELLO, pyffish.start_fen(FLIPELLO), told)
    assert sorted(script.write(move) for move in ours) == sorted(theirs)
    for text in theirs:
        assert MoveCodec(DROP_NOTATION, OTHELLO, None).read([*told, text])[-1] in ours


def test_the_square_of_a_pass() -> None:
    told = play_out(FLIPELLO, WITH_A_PASS)
    moves = MoveCodec(DROP_NOTATION, OTHELLO, None).read(told)
    passes = [ply for ply, move in enumerate(moves) if move == "pass"]
    assert passes
    for ply in passes:
        script = MoveCodec(DROP_NOTATION, OTHELLO, None)
        script.read(told[:ply])
        assert script.write("pass") == told[ply]
        # People may move any of their discs onto itself.
        assert MoveCodec(DROP_NOTATION, OTHELLO, None).read([*told[:ply], "h8h8"])[-1] == "pass"


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_positions_of_flipello(seed: int) -> None:
    told = play_out(FLIPELLO, seed, seed % 60)
    fen = pyffish.get_fen(FLIPELLO, pyffish.start_fen(FLIPELLO), told)
    position = replay(OTHELLO, MoveCodec(DROP_NOTATION, OTHELLO, None).read(told))
    assert OTHELLO.parse_position(DROP_NOTATION.start(fen)) == position
    # A game may begin there; its first move is then read from that position.
    script = MoveCodec(DROP_NOTATION, OTHELLO, DROP_NOTATION.start(fen))
    assert sorted(map(script.write, texts(OTHELLO, position))) == sorted(
        pyffish.legal_moves(FLIPELLO, fen, []) if OTHELLO.legal_moves(position) else []
    )


def test_the_start_of_flipello_is_ours() -> None:
    for fen in (pyffish.start_fen(FLIPELLO), "8/8/8/3pP3/3Pp3/8/8/8[PPpp] w - - 0 1"):
        assert OTHELLO.parse_position(DROP_NOTATION.start(fen)) == OTHELLO.initial()


@pytest.mark.parametrize("fen", ["", "8/8/8/3qP3/3Pp3/8/8/8[] w 0 1", "8/8/8/3pP3/3Pp3/8/8/8[]", "b"])
def test_broken_positions_of_flipello(fen: str) -> None:
    with pytest.raises(BadPosition):
        DROP_NOTATION.start(fen)


def test_passes_after_the_end_are_left_out() -> None:
    """Neither side can move, yet Fairy-Stockfish lets both pass."""
    start = "8/8/8/8/8/8/8/bw6 b"
    assert OTHELLO.legal_moves(OTHELLO.parse_position(start))
    script = MoveCodec(DROP_NOTATION, OTHELLO, start)
    assert script.read(["P@c1", "c1c1", "a1a1"]) == ("c8",)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), plies=st.integers(0, 60))
def test_xiangqi_is_written_alike(seed: int, plies: int) -> None:
    told, game, start = play_out(XIANGQI, seed, plies), get_rules("xiangqi"), pyffish.start_fen(XIANGQI)
    position = replay(game, told)
    for dialect in ("playstrategy", "pychess"):
        script = MoveCodec(DIALECTS[dialect].variants["xiangqi"].notation, game, start)
        assert script.read(told) == tuple(told)
        if ours := texts(game, position):
            assert set(map(script.write, ours)) == set(pyffish.legal_moves(XIANGQI, start, told))


# --- Castling -------------------------------------------------------------------------------------------

TO_CASTLING = ["e2e4", "e7e5", "g1f3", "g8f6", "f1e2", "f8e7"]


@pytest.mark.parametrize("castling", ["e1h1", "e1g1"])
def test_castling_is_read_either_way(castling: str) -> None:
    script = MoveCodec(ROOK_CASTLING, CHESS, None)
    assert script.read([*TO_CASTLING, castling, "e8h8"]) == (*TO_CASTLING, "e1g1", "e8g8")


def test_only_castling_is_translated() -> None:
    rook = ["h2h4", "a7a6", "h1h3", "a6a5", "h3e3", "a5a4", "e3h3", "a4a3", "h3h1"]
    script = MoveCodec(ROOK_CASTLING, CHESS, None)
    assert script.read(rook) == tuple(rook)
    queen, start = ["d1e1", "e8f8", "e1h1", "h8h1"], "r3k2r/8/8/8/8/8/2K5/3Q4 w kq - 0 1"
    assert MoveCodec(ROOK_CASTLING, CHESS, start).read(queen) == tuple(queen)


@settings(max_examples=15, deadline=None)
@given(number=st.integers(0, 959), seed=st.integers(0, 10_000))
def test_chess960_against_python_chess(number: int, seed: int) -> None:
    board, rng = chess.Board.from_chess960_pos(number), random.Random(seed)
    start, told = board.fen(), list[str]()
    script = MoveCodec(ROOK_CASTLING, CHESS, start)
    for _ in range(40):
        position = replay(CHESS, script.read(told), CHESS.parse_position(start))
        ours = texts(CHESS, position)
        if not ours:
            return
        theirs = {board.uci(move, chess960=True) for move in board.legal_moves}
        assert {script.write(move) for move in ours} == theirs
        told.append(rng.choice(sorted(theirs)))
        board.push_uci(told[-1])


# --- Scripts --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("notation", [PLAIN_NOTATION, ROOK_CASTLING])
def test_takebacks_and_other_games(notation: Any) -> None:
    script = MoveCodec(notation, CHESS, None)
    for told in (["e2e4", "e7e5"], ["e2e4"], ["e2e4", "c7c5", "g1f3"], [], ["d2d4"]):
        assert script.read(told) == tuple(told)


def test_an_impossible_game_and_a_way_back() -> None:
    script = MoveCodec(DROP_NOTATION, OTHELLO, None)
    assert script.read(["P@e3"]) == ("e6",)
    for wrong in (["P@e3", "P@a1"], ["P@e3", "e3e3"], ["P@e3", "e6"], ["P@e3", "P@i9"], ["P@e3", ""]):
        with pytest.raises(ProtocolError, match="impossible game"):
            script.read(wrong)
    assert script.read(["P@e3", "P@f3"]) == ("e6", "f6")


def test_a_move_that_is_not_legal_stays_as_it_is() -> None:
    for move in ("pass", "a1", "nonsense"):
        assert MoveCodec(DROP_NOTATION, OTHELLO, None).write(move) == move
    assert MoveCodec(ROOK_CASTLING, CHESS, None).write("e1g1") == "e1g1"


def test_castling_and_drops_of_a_variant() -> None:
    """In lichess.org's notation castling is the king taking its rook, and a drop names the piece."""
    game = get_rules("crazyhouse")
    told = ["e2e4", "e7e5", "g1f3", "d7d5", "f1b5", "c7c6", "e1h1", "c6b5", "e4d5", "B@d6", "P@c6"]
    notation = DIALECTS["lichess"].variants["crazyhouse"].notation
    script = MoveCodec(notation, game, None)
    moves = script.read(told)
    assert (moves[6], moves[9:]) == ("e1g1", ("B@d6", "P@c6"))
    for ply in (6, 9, 10):
        before = MoveCodec(notation, game, None)
        before.read(told[:ply])
        assert before.write(moves[ply]) == told[ply]
