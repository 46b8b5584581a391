"""The human-move model for chess: a network trained on rated games (`lab.training.people`).

The network sees the board from the side to move: row 0 is its own first rank; for black, ranks are flipped.
Its input `board` has 19 planes of 8 x 8 squares: own pieces by kind (pawn to king), the other side's, origin
and target of the last move, the target of a legal en passant capture, and castling rights (own short and
long, the other side's). Its output `moves` has a logit for each pair of squares, ``from * 64 + to``. A
promotion to another piece than a queen has its target on row 0 (knight), 1 (bishop) or 2 (rook), where no
pawn on row 6 can go.
"""

from collections.abc import Sequence

import chess
import numpy as np
from numpy.typing import NDArray

from engine.games.standard_chess import ChessPosition, StandardChess
from engine.human.model import PredictionQuery
from engine.human.people.runner import BatchedModel, PeopleRunner, run_moves, softmax

GAME = "chess"
PLANES = 19
SQUARES = 64

_LAST, _EN_PASSANT, _CASTLING = 12, 14, 15
_FLIP = 56
"""XOR mask that flips the ranks of a square."""
_PROMOTION_ROWS = np.array([-1, -1, 2, 1, 0])
"""Row of the target by the game's promotion code (none, queen, rook, bishop, knight); -1: the real one."""


def planes(queries: Sequence[PredictionQuery]) -> NDArray[np.float32]:
    """The network's input for the last position of each query, shape (n, `PLANES`, 8, 8)."""
    found = np.zeros((len(queries), PLANES, SQUARES), dtype=np.float32)
    for row, query in zip(found, queries, strict=True):
        board = query.positions[-1].board
        flip = _flip(board)
        for square, piece in board.piece_map().items():
            own = piece.color == board.turn
            row[piece.piece_type - 1 + (0 if own else 6), square ^ flip] = 1
        if len(query.positions) > 1 and (last := _last_move(*query.positions[-2:])):
            row[_LAST, last.from_square ^ flip] = row[_LAST + 1, last.to_square ^ flip] = 1
        if board.ep_square is not None and board.has_legal_en_passant():
            row[_EN_PASSANT, board.ep_square ^ flip] = 1
        for number, side in enumerate((board.turn, not board.turn)):
            row[_CASTLING + 2 * number] = board.has_kingside_castling_rights(side)
            row[_CASTLING + 2 * number + 1] = board.has_queenside_castling_rights(side)
    return found.reshape(len(queries), PLANES, 8, 8)


def seen_moves(position: ChessPosition) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Origins and targets of the legal moves in the game's order, as the network numbers them."""
    board = position.board
    moves = np.array(position.legal, dtype=np.int64)
    origin, target = moves & 63, moves >> 6 & 63
    if board.chess960:  # castling is written as the king taking its rook
        own = board.occupied_co[board.turn]
        takes_own = np.array([bool(own >> int(square) & 1) for square in target])
        target = np.where(takes_own, (target & _FLIP) + np.where(target > origin, 6, 2), target)
    row = _PROMOTION_ROWS[moves >> 12]
    target = np.where(row < 0, target ^ _flip(board), (target & 7) + 8 * row)
    return origin ^ _flip(board), target


class ChessHumanModel(BatchedModel):
    """The model of chess; see `BatchedModel`."""

    def __init__(self, network: PeopleRunner) -> None:
        super().__init__(network, StandardChess().initial())

    @property
    def game(self) -> str:
        return GAME

    def _predict(self, asks: Sequence[PredictionQuery]) -> list[tuple[float, ...]]:
        logits = run_moves(self._network, planes(asks), [ask.person for ask in asks])
        return [
            tuple(softmax(row[seen_moves(ask.positions[-1])]).tolist())
            for row, ask in zip(logits, asks, strict=True)
        ]


def _flip(board: chess.Board) -> int:
    return 0 if board.turn else _FLIP


def _last_move(before: ChessPosition, after: ChessPosition) -> chess.Move | None:
    """The move between two positions; None if the caller has skipped some."""
    changed = chess.SquareSet()
    for side in chess.COLORS:
        changed |= before.board.occupied_co[side] ^ after.board.occupied_co[side]
    placement = after.board.board_fen()
    for move in before.board.legal_moves:
        if move.from_square in changed and move.to_square in changed:
            board = before.board.copy(stack=False)
            board.push(move)
            if board.board_fen() == placement:
                return move
    return None
