"""Tests of the positions that the native core reads, against python-chess and our rules of xiangqi."""

import random

import chess
import numpy as np
import pytest

from engine.games.standard_chess import StandardChess
from engine.games.xiangqi import Xiangqi
from engine.human import xiangqi as encoder
from engine.human.model import PredictionQuery
from engine.human.people import chess as chess_encoder
from lab._training import chess_human_positions, xiangqi_human_positions
from lab.training.people.collection import NativePositions, from_native
from lab.training.people.positions import CASTLING, EN_PASSANT, LAST_FROM, LAST_TO, NONE, input_planes
from lab.training.people.shapes import CHESS, XIANGQI
from tests.lab.training.people.habits import chess_game, main_line, xiangqi_games

PROMOTED_ROWS = {None: None, chess.QUEEN: None, chess.KNIGHT: 0, chess.BISHOP: 1, chess.ROOK: 2}


def read_chess(*movetexts: str) -> NativePositions:
    return from_native(CHESS, chess_human_positions(movetexts))


def encoded(board: chess.Board, move: chess.Move) -> int:
    """A move's number, by the definition in human_games.hpp."""
    flip = 0 if board.turn else 56
    target = move.to_square ^ flip
    row = PROMOTED_ROWS[move.promotion]
    return 64 * (move.from_square ^ flip) + (target if row is None else chess.square_file(target) + 8 * row)


def pieces(board: chess.Board) -> list[int]:
    """The board's codes, by the definition in human_games.hpp."""
    codes = [0] * 64
    for square, piece in board.piece_map().items():
        own = piece.color == board.turn
        codes[square if board.turn else square ^ 56] = piece.piece_type + (0 if own else 6)
    return codes


def rights(board: chess.Board) -> int:
    us, them = board.turn, not board.turn
    flags = (
        board.has_kingside_castling_rights(us), board.has_queenside_castling_rights(us),
        board.has_kingside_castling_rights(them), board.has_queenside_castling_rights(them),
    )  # fmt: skip
    return sum(flag << place for place, flag in enumerate(flags))


@pytest.mark.parametrize("seed", range(6))
def test_chess_positions_are_those_of_python_chess(seed: int) -> None:
    game = chess_game(random.Random(seed), seed, plies=200)
    movetext = str(game.accept(__import__("chess.pgn").pgn.StringExporter(headers=False)))
    found = read_chess(movetext)
    positions = found.positions
    assert found.is_whole.tolist() == [True]
    line = list(main_line(game))
    assert len(positions) == len(line)
    for number, (board, move) in enumerate(line):
        assert positions.board[number].tolist() == pieces(board)
        legal = positions.moves[positions.first[number] :][: positions.count[number]]
        assert sorted(legal) == sorted(encoded(board, each) for each in board.legal_moves)
        assert legal[positions.played[number]] == encoded(board, move)
        marks = positions.marks[number]
        ep = board.ep_square if board.has_legal_en_passant() else None
        assert marks[EN_PASSANT] == (NONE if ep is None else ep ^ (0 if board.turn else 56))
        assert marks[CASTLING] == rights(board)
        if number:
            last = line[number - 1][1]
            flip = 0 if board.turn else 56
            assert marks[LAST_FROM : LAST_TO + 1].tolist() == [last.from_square ^ flip, last.to_square ^ flip]
        else:
            assert marks[LAST_FROM : LAST_TO + 1].tolist() == [NONE, NONE]


def test_promotions_have_numbers_of_their_own() -> None:
    movetext = "1. h4 g5 2. hxg5 h6 3. gxh6 Nf6 4. h7 Ng8 5. hxg8=N"
    positions = read_chess(movetext).positions
    legal = positions.moves[positions.first[-1] :]
    from_h7 = sorted(move % 64 for move in legal.tolist() if move // 64 == chess.H7)
    assert from_h7 == [chess.G1, chess.G2, chess.G3, chess.G8]
    assert legal[positions.played[-1]] == 64 * chess.H7 + chess.G1


def test_clocks_before_a_move_are_those_after_the_same_sides_last_one() -> None:
    movetext = (
        "1. e4 { [%eval 0.2] [%clk 0:03:00] } 1... e5 {[%clk 1:02:59.5]} 2. Nf3 $1 {no clock} "
        "(2. f4 { [%clk 0:00:01] }) 2... Nc6 { [%clk 0:02:50] } 3. Bb5 1-0"
    )
    clocks = read_chess(movetext).clocks_s
    assert np.array_equal(clocks, [np.nan, np.nan, 180, 3779.5, 180], equal_nan=True)


@pytest.mark.parametrize(
    ("movetext", "plies", "is_whole"),
    [
        ("1.e4 e5 2.Nf3 Nc6 3.Bc4 Bc5 4.0-0 Nf6 *", 8, True),
        ("1. e4! e5?! 2. Nf3 ; a remark 2... d6\n2... Nc6 1/2-1/2 3. Bb5", 4, True),
        ("e4 e5 Ke2", 3, True),
        ("1. e4 e5 2. Ke3 Nc6", 2, False),
        ("1. e4 e5 2. Nc4", 2, False),
        ("1. d4 d5 2. Nf3 Nf6 3. Nd2", 4, False),
        ("1. e4 { no end", 1, True),
        ("(1. d4 (1. c4) {)}) 1. e4", 1, True),
        ("", 0, True),
    ],
)
def test_movetext_is_read_to_its_end_or_to_an_illegal_word(movetext: str, plies: int, is_whole: bool) -> None:
    found = read_chess(movetext)
    assert len(found.positions) == plies
    assert found.is_whole.tolist() == [is_whole]


def test_games_are_numbered_and_an_illegal_move_ends_only_its_own() -> None:
    found = read_chess("1. e4", "1. e5", "1. d4 d5")
    assert found.positions.game.tolist() == [0, 2, 2]
    assert found.positions.ply.tolist() == [0, 0, 1]
    assert found.is_whole.tolist() == [True, False, True]


def test_xiangqi_positions_are_those_of_the_engines_encoder() -> None:
    """So the network sees in play what it was trained on."""
    rules = Xiangqi()
    games = xiangqi_games(3, seed=5, plies=60)
    found = from_native(XIANGQI, xiangqi_human_positions(games))
    positions, number = found.positions, 0
    assert found.is_whole.all()
    for text in games:
        history = [rules.initial()]
        for word in text.split():
            move = rules.parse_move(history[-1], word)
            row = encoder.encode([PredictionQuery(tuple(history[-2:]))])
            assert positions.board[number].tolist() == row.board[0].tolist()
            assert positions.marks[number, : LAST_TO + 1].tolist() == row.last[0].tolist()
            legal = positions.moves[positions.first[number] :][: positions.count[number]].tolist()
            origin, target = encoder.seen_moves(history[-1])
            assert sorted(legal) == sorted((90 * origin + target).tolist())
            seen = [square if history[-1].side == 0 else 89 - square for square in (move & 127, move >> 7)]
            assert legal[positions.played[number]] == 90 * seen[0] + seen[1]
            history.append(rules.play(history[-1], move))
            number += 1
    assert number == len(positions)


def test_xiangqi_ends_before_a_word_that_is_no_legal_move() -> None:
    found = from_native(
        XIANGQI, xiangqi_human_positions(["h3e3 h10g8 a1a5", "h3e3 h10g8x", "a0a1", "j1a1", ""])
    )
    assert found.positions.game.tolist() == [0, 0, 1]
    assert found.is_whole.tolist() == [False, False, False, False, True]


@pytest.mark.parametrize("seed", range(3))
def test_chess_positions_are_those_of_the_engines_encoder(seed: int) -> None:
    """So the network sees in play what it was trained on."""
    rules, rng = StandardChess(), random.Random(seed)
    history, words = [rules.initial()], list[str]()
    while len(words) < 150 and (moves := rules.legal_moves(history[-1])):
        move = rng.choice(moves)
        words.append(history[-1].board.san(chess.Move.from_uci(rules.move_text(move))))
        history.append(rules.play(history[-1], move))
    positions = read_chess(" ".join(words)).positions
    assert len(positions) == len(words)
    found = input_planes(CHESS, positions, np.arange(len(positions)))
    for number in range(len(positions)):
        query = PredictionQuery(tuple(history[max(0, number - 1) : number + 1]))
        assert np.array_equal(found[number], chess_encoder.planes([query])[0]), number
        origin, target = chess_encoder.seen_moves(history[number])
        legal = positions.moves[positions.first[number] :][: positions.count[number]]
        assert sorted(legal.tolist()) == sorted((64 * origin + target).tolist())
