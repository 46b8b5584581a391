"""The human-move model for xiangqi: a network trained on masters' games (`lab.training.people`).

The network sees the board from the side to move, whose home row is row 0, and in a canonical orientation of
the two that left-right symmetry allows, so that it need not learn everything twice. Its input `board` has 16
planes of 10 x 9 points: own pieces by kind (soldier, advisor, elephant, horse, cannon, rook, general), the
other side's, and the origin and the target of the last move. Its output `moves` has a logit for each pair of
squares, ``from * 90 + to``.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.games.xiangqi import RANKS, START, Xiangqi, XiangqiPosition
from engine.games.xiangqi_notation import FILES
from engine.human.model import PredictionQuery
from engine.human.people.runner import BatchedModel, PeopleRunner, run_moves, softmax

GAME = "xiangqi"
SQUARES = FILES * RANKS
KINDS = "PABNCRK"
PLANES = 2 * len(KINDS) + 2
NO_SQUARE = 255
"""In place of the last move's squares, when it is unknown."""

_RULES = Xiangqi()
_CODES = {letter: code for code, letter in enumerate("." + KINDS + KINDS.lower())}


def _mirror() -> NDArray[np.int64]:
    return np.arange(SQUARES).reshape(RANKS, FILES)[:, ::-1].reshape(-1)


MIRROR = _mirror()
"""The image of each square in the mirror that swaps left and right."""


class EncodedPosition(NamedTuple):
    """Positions as arrays, with one row per position, seen from the side to move."""

    board: NDArray[np.uint8]
    """Shape (n, 90): 0 empty, 1 to 7 own pieces in the order of `KINDS`, 8 to 14 the other side's."""
    last: NDArray[np.uint8]
    """Shape (n, 2): origin and target of the last move, or `NO_SQUARE` twice."""


def encode(queries: Sequence[PredictionQuery]) -> EncodedPosition:
    """The last position of each query, and its last move if the query has the position before."""
    boards = np.zeros((len(queries), SQUARES), dtype=np.uint8)
    last = np.full((len(queries), 2), NO_SQUARE, dtype=np.uint8)
    for row, query in enumerate(queries):
        position = query.positions[-1]
        boards[row] = _board(position)
        if len(query.positions) > 1:
            last[row] = [_seen(square, position.side) for square in _last_move(*query.positions[-2:])]
    return EncodedPosition(boards, last)


def should_mirror(board: NDArray[np.uint8], last: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Whether the mirror image of each position is its canonical orientation.

    That is the one with the lexicographically smaller board or, if both are equal, last move.

    Args:
        board: As `EncodedPosition.board`.
        last: As `EncodedPosition.last`.
    """
    both = np.concatenate([board, last], axis=1)
    difference = both.astype(np.int16) - _mirrored(board, last)
    first = (difference != 0).argmax(axis=1)
    mask: NDArray[np.bool_] = difference[np.arange(len(board)), first] > 0
    return mask


def planes(position: EncodedPosition) -> NDArray[np.float32]:
    """The network's input, shape (n, `PLANES`, 10, 9), in the positions' own orientation."""
    board, last = position
    found = np.empty((len(board), PLANES, SQUARES), dtype=np.float32)
    found[:, :-2] = board[:, None] == np.arange(1, PLANES - 1)[:, None]
    found[:, -2:] = last[:, :, None] == np.arange(SQUARES)
    return found.reshape(len(board), PLANES, RANKS, FILES)


class XiangqiHumanModel(BatchedModel):
    """The model of xiangqi; see `BatchedModel`."""

    def __init__(self, network: PeopleRunner) -> None:
        super().__init__(network, _RULES.parse_position(START))

    @property
    def game(self) -> str:
        return GAME

    def _predict(self, asks: Sequence[PredictionQuery]) -> list[tuple[float, ...]]:
        position = encode(asks)
        mirror = should_mirror(*position)
        is_symmetric = (np.concatenate(position, axis=1) == _mirrored(*position)).all(axis=1)
        standing = EncodedPosition(
            np.where(mirror[:, None], position.board[:, MIRROR], position.board),
            np.where(mirror[:, None], _mirrored(*position)[:, SQUARES:], position.last),
        )
        logits = run_moves(self._network, planes(standing), [ask.person for ask in asks])
        found = []
        for row, ask in enumerate(asks):
            origin, target = seen_moves(ask.positions[-1])
            if mirror[row]:
                origin, target = MIRROR[origin], MIRROR[target]
            p = softmax(logits[row, origin, target])
            if is_symmetric[row]:  # a move and its image are equivalent
                image = softmax(logits[row, MIRROR[origin], MIRROR[target]])
                p = (p + image) / 2
            found.append(tuple(p.tolist()))
        return found


def _board(position: XiangqiPosition) -> list[int]:
    """The board's pieces as in `EncodedPosition.board`."""
    letters = position.board if position.side == 0 else position.board[::-1].swapcase()
    return [_CODES[letter] for letter in letters]


def _seen(square: int, side: int) -> int:
    return square if side == 0 or square == NO_SQUARE else SQUARES - 1 - square


def _last_move(before: XiangqiPosition, after: XiangqiPosition) -> tuple[int, int]:
    """The move between two positions; `NO_SQUARE` twice if the caller has skipped some."""
    changed = [square for square in range(SQUARES) if before.board[square] != after.board[square]]
    left = [square for square in changed if after.board[square] == "."]
    reached = [square for square in changed if after.board[square] != "."]
    if len(left) != 1 or len(reached) != 1 or after.board[reached[0]] != before.board[left[0]]:
        return NO_SQUARE, NO_SQUARE
    return left[0], reached[0]


def _mirrored(board: NDArray[np.uint8], last: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Board and last move in the mirror, side by side, shape (n, 92)."""
    image = np.where(last == NO_SQUARE, NO_SQUARE, MIRROR[np.minimum(last, SQUARES - 1)])
    return np.concatenate([board[:, MIRROR], image], axis=1).astype(np.uint8)


def seen_moves(position: XiangqiPosition) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Origins and targets of the legal moves in the game's order, seen from the side to move."""
    moves = np.array(_RULES.legal_moves(position), dtype=np.int64)
    origin, target = moves & 127, moves >> 7
    return (origin, target) if position.side == 0 else (SQUARES - 1 - origin, SQUARES - 1 - target)
