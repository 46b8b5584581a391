"""What Maia sees, and where its moves stand: against the plainest way to say it."""

import random
from collections.abc import Sequence

import chess
import numpy as np
import pytest
from numpy.typing import NDArray

from engine.games.standard_chess import ChessPosition, StandardChess
from engine.human.maia_planes import HISTORY, MOVES, NOW, PAST, PLANES, SLOTS, InputPlanes, encode, places

GAME = StandardChess()
KINDS = (chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN, chess.KING)
DIRECTIONS = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
KNIGHTS = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))


def played(*texts: str, start: str = "startpos") -> list[ChessPosition]:
    found = [GAME.parse_position(start)]
    for text in texts:
        found.append(GAME.play(found[-1], GAME.parse_move(found[-1], text)))
    return found


def random_game(seed: int, plies: int = 120) -> list[ChessPosition]:
    rng, found = random.Random(seed), [GAME.initial()]
    while found[-1].legal and len(found) <= plies:
        found.append(GAME.play(found[-1], rng.choice(found[-1].legal)))
    return found


def plain_planes(history: Sequence[ChessPosition]) -> NDArray[np.float32]:
    """As the module's text has it, square by square."""
    board, mover = history[-1].board, history[-1].board.turn
    planes = np.zeros((PLANES, 8, 8), np.float32)
    known = list(reversed(history))[:HISTORY]
    oldest = known[-1].board
    if oldest.fen() != chess.STARTING_FEN:
        known += [known[-1]] * (HISTORY - len(known))
    for step, position in enumerate(known):
        for square, piece in position.board.piece_map().items():
            rank, file = chess.square_rank(square), chess.square_file(square)
            plane = 13 * step + KINDS.index(piece.piece_type) + (0 if piece.color == mover else 6)
            planes[plane, rank if mover else 7 - rank, file] = 1
        planes[13 * step + 12] = position.past.count(position.past[-1]) > 1
    planes[104] = board.has_queenside_castling_rights(mover)
    planes[105] = board.has_kingside_castling_rights(mover)
    planes[106] = board.has_queenside_castling_rights(not mover)
    planes[107] = board.has_kingside_castling_rights(not mover)
    planes[108] = mover == chess.BLACK
    planes[109] = board.halfmove_clock
    planes[111] = 1
    return planes


def unpacked(planes: InputPlanes) -> NDArray[np.float32]:
    """As lc0 has them: (n, 112, 8, 8)."""
    count = planes.now.shape[3]
    found = np.full((count, PLANES, 8, 8), np.nan, np.float32)
    found[:, NOW] = planes.now.transpose(3, 2, 0, 1)
    found[:, PAST] = planes.past.transpose(3, 2, 0, 1)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_planes_of_random_games(seed: int) -> None:
    game = random_game(seed)
    histories = [game[max(0, end - 11) : end] for end in range(1, len(game) + 1)]
    found = unpacked(encode(histories))
    for one, history in zip(found, histories, strict=True):
        np.testing.assert_array_equal(one, plain_planes(history))


@pytest.mark.parametrize(
    "start",
    [
        "r3k2r/8/8/8/8/8/8/R3K2R b Kq - 7 30",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 99 80",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1",  # not where games begin
        "bnrbkrqn/pppppppp/8/8/8/8/PPPPPPPP/BNRBKRQN w FCfc - 0 1",  # rooks anywhere
    ],
)
def test_planes_of_other_starts(start: str) -> None:
    histories = [played(start=start)]
    for move in GAME.legal_moves(histories[0][0])[:4]:
        histories.append([*histories[0], GAME.play(histories[0][0], move)])
    for history in histories:
        np.testing.assert_array_equal(unpacked(encode([history]))[0], plain_planes(history))


def test_what_stood_before_is_seen_in_lines_too() -> None:
    game = played("g1f3", "g8f6", "f3g1")
    root = GAME.for_search(game[-1])
    again = GAME.play(root, GAME.parse_move(root, "f6g8"))
    other = GAME.play(root, GAME.parse_move(root, "f6d5"))
    planes = unpacked(encode([[*game[:-1], root, again], [*game[:-1], root, other]]))
    assert planes[0, 12].all()
    assert not planes[1, 12].any()


def test_replies_share_their_past() -> None:
    game = random_game(5, plies=20)
    root = GAME.for_search(game[-1])
    histories = [[*game[-7:-1], root, GAME.play(root, move)] for move in root.legal]
    shared = encode(histories)
    assert shared.past.shape == (8, 8, 91, 1)
    alone = np.concatenate([unpacked(encode([history])) for history in histories])
    np.testing.assert_array_equal(unpacked(shared), alone)
    part = shared.part(3, 5)
    np.testing.assert_array_equal(unpacked(part), alone[3:5])
    mixed = encode([histories[0], game[:5]])
    assert mixed.past.shape == (8, 8, 91, 2)
    np.testing.assert_array_equal(unpacked(mixed.part(1, 2))[0], plain_planes(game[:5]))


def meant(place: int, turn: chess.Color) -> tuple[int, int, int | None]:
    """Squares and promotion that a place in the answers stands for, the promotion to a knight left out."""
    plane, start = divmod(int(SLOTS[place]), 64)
    file, rank = start % 8, start // 8
    promotion = None
    if plane < 56:
        (x, y), far = DIRECTIONS[plane // 7], plane % 7 + 1
        file, rank = file + x * far, rank + y * far
    elif plane < 64:
        x, y = KNIGHTS[plane - 56]
        file, rank = file + x, rank + y
    else:
        direction, piece = divmod(plane - 64, 3)
        file, rank = file + direction - 1, rank + 1
        promotion = (chess.ROOK, chess.BISHOP, chess.QUEEN)[piece]
    end = chess.square(file, rank)
    if turn == chess.BLACK:
        start, end = chess.square_mirror(start), chess.square_mirror(end)
    return start, end, promotion


POSITIONS = [
    *(position for seed in range(3) for position in random_game(seed) if position.legal),
    *(
        GAME.parse_position(text)
        for text in (
            "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
            "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1",
            "1n1n4/PPPP2P1/8/k6K/8/8/pp3ppp/4N1N1 w - - 0 1",
            "1n1n4/PPPP2P1/8/k6K/8/8/pp3ppp/4N1N1 b - - 0 1",
            "7k/8/8/8/8/8/8/K3R3 w - - 0 1",
            "4k2r/8/8/8/8/8/8/RK3R2 w AFh - 0 1",
        )
    ),
]


def test_places_of_moves() -> None:
    sizes, found = places(POSITIONS)
    assert sizes.tolist() == [len(position.legal) for position in POSITIONS]
    assert SLOTS.shape == (MOVES,)
    at = 0
    for position in POSITIONS:
        here = found[at : at + len(position.legal)]
        at += len(here)
        assert len(set(here.tolist())) == len(here)
        board = position.board
        for move, place in zip(position.legal, here, strict=True):
            made = chess.Move.from_uci(GAME.move_text(move))
            if board.is_castling(made):
                rook = (
                    chess.H1 if chess.square_file(made.to_square) > chess.square_file(made.from_square) else 0
                )
                rank = chess.square_rank(made.from_square)
                rook = made.to_square if board.chess960 else chess.square(chess.square_file(rook), rank)
                made = chess.Move(made.from_square, rook)
            promotion = None if made.promotion == chess.KNIGHT else made.promotion
            assert meant(place, board.turn) == (made.from_square, made.to_square, promotion)
