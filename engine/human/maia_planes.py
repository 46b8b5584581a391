"""Maia's input planes, and the index of each move in its output.

Planes and indices are as in lc0. The board is seen from the side to move: row 0 is its own first rank; files
are never mirrored. For black, ranks are flipped and colours swapped, also in earlier positions.

Planes are 8 x 8. The 8 latest positions, the present one first, have 13 planes each: own pawns, knights,
bishops, rooks, queens and king; the same for the other side; and ones if that position has occurred before.
Eight planes follow: castling rights (queen's and king's side; own, then the other side's); whether black is
to move; plies since the last capture or pawn move, unscaled; zeros; ones.  Positions before the game's start
are empty if the game began from the standard position; otherwise the oldest known position is repeated.

Outputs are indexed ``plane * 64 + from``; the from-square is seen from the mover's side.  Planes 0 to 55:
queen moves, N, NE, E, SE, S, SW, W, NW, by 1 to 7 squares each; 56 to 63: knight moves; 64 to 72: promotions
to the NW, N and NE, each to rook, bishop or queen (a promotion to a knight counts as the plain move).
Castling is encoded as the king taking its rook.
"""

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import chess
import numpy as np
from numpy.typing import NDArray

from engine.games.standard_chess import ChessPosition

PLANES = 112
HISTORY = 8
MOVES = 1858
"""Size of the move output: number of slots used by at least one move."""

_EACH = 13
NOW = (*range(_EACH), *range(HISTORY * _EACH, PLANES))
"""Indices of the present position's planes among the 112."""
PAST = tuple(range(_EACH, HISTORY * _EACH))
"""Indices of the earlier positions' planes among the 112."""
EMPTY = 110
"""Index of the plane that is always zero."""
_RULE_50 = _EACH + 5  # of the planes of the present
_ALL = (1 << 64) - 1
_START = chess.STARTING_BOARD_FEN
_RIGHTS = {color: chess.BB_RANK_1 if color == chess.WHITE else chess.BB_RANK_8 for color in chess.COLORS}
_PROMOTED = (None, 2, 0, 1, None)  # by the game's numbers: none, queen, rook, bishop, knight
_TURN = 0o70 | 0o70 << 6
"""XOR mask that flips the ranks of both squares of a move number."""


def _answer_slots() -> NDArray[np.int64]:
    """Return the slot (plane * 64 + from; -1: none) of each move number of `engine.games.standard_chess`."""
    directions = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
    knights = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
    slots = np.full(5 << 12, -1, np.int64)
    steps = [
        ((x * far, y * far), d * 7 + far - 1) for d, (x, y) in enumerate(directions) for far in range(1, 8)
    ]
    steps += [(step, 56 + number) for number, step in enumerate(knights)]
    for start in range(64):
        for (x, y), plane in steps:
            file, rank = chess.square_file(start) + x, chess.square_rank(start) + y
            if not (0 <= file < 8 and 0 <= rank < 8):
                continue
            move = start + 64 * chess.square(file, rank)
            slots[move] = plane * 64 + start
            if rank == 7 and y == 1 and abs(x) <= 1:
                slots[move + 4 * 4096] = plane * 64 + start
                for promotion, piece in enumerate(_PROMOTED):
                    if piece is not None:
                        slots[move + 4096 * promotion] = (64 + 3 * (x + 1) + piece) * 64 + start
    return slots


def _tables() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    slots = _answer_slots()
    used = np.unique(slots[slots >= 0])
    places = np.full(slots.shape, -1, np.int64)
    places[slots >= 0] = np.searchsorted(used, slots[slots >= 0])
    castling = places.copy()
    for to, rook in ((chess.G1, chess.H1), (chess.C1, chess.A1)):
        castling[chess.E1 + 64 * to] = places[chess.E1 + 64 * rook]
    return used, np.stack([places, castling])


SLOTS, _PLACES = _tables()
"""The slots used by at least one move, ascending: shape (1858,)."""


def _masks(position: ChessPosition) -> tuple[int, ...]:
    """Return bitboards of White's pieces by kind, of Black's pieces by kind, and of the repetition plane."""
    board = position.board
    kinds = (board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings)
    white, black = board.occupied_co[chess.WHITE], board.occupied_co[chess.BLACK]
    return (
        *(kind & white for kind in kinds),
        *(kind & black for kind in kinds),
        _ALL if position.is_repeated else 0,
    )


def _castling(board: chess.Board, color: chess.Color) -> tuple[int, int]:
    """Return a side's queenside and kingside castling rights, each as a mask of all ones or zero."""
    rights = board.castling_rights & _RIGHTS[color]
    if not rights:
        return 0, 0
    left = (board.kings & board.occupied_co[color]) - 1
    return _ALL if rights & left else 0, _ALL if rights & ~left else 0


class InputPlanes(NamedTuple):
    """Network input for n positions, with axes (rank, file, plane, position); 0 or 1 except in one plane."""

    now: NDArray[np.float32]
    """Shape (8, 8, 21, n): the present position's 13 planes, then the 8 planes after the history."""
    past: NDArray[np.float32]
    """Shape (8, 8, 91, n): the 7 positions before the present one; (8, 8, 91, 1) if all n share them."""

    def part(self, start: int, end: int) -> "InputPlanes":
        """Return the network input for a range of the positions."""
        return InputPlanes(
            self.now[..., start:end], self.past if self.past.shape[3] == 1 else self.past[..., start:end]
        )


def encode(histories: Sequence[Sequence[ChessPosition]]) -> InputPlanes:
    """Encode positions as network input.

    A position object shared by several histories is encoded once. If the histories are one position followed
    by each of its moves, their shared past is also encoded once.

    Args:
        histories: The latest positions of each game (at least one), oldest first; the input is for predicting
            a move in the last one.
    """
    rows: dict[int, int] = {}
    masks: list[tuple[int, ...]] = []
    steps: list[list[int]] = []
    after: list[tuple[int, ...]] = []
    for history in histories:
        latest = history[: -HISTORY - 1 : -1]
        step = []
        for position in latest:
            row = rows.get(id(position))
            if row is None:
                row = rows[id(position)] = len(masks)
                masks.append(_masks(position))
            step.append(row)
        if len(step) < HISTORY:
            oldest = latest[-1].board
            is_start = oldest.turn == chess.WHITE and oldest.ply() == 0 and oldest.board_fen() == _START
            fill = -1 if is_start else step[-1]
            step += [fill] * (HISTORY - len(step))
        steps.append(step)
        board = latest[0].board
        mover = board.turn
        is_black = 0 if mover == chess.WHITE else _ALL
        after.append((*_castling(board, mover), *_castling(board, not mover), is_black, 0, 0, _ALL))
    masks.append((0,) * _EACH)  # row -1: empty
    white = np.array(masks, np.uint64)
    black = white.byteswap()  # a byte is a rank
    black[:, :12] = black[:, [*range(6, 12), *range(6)]]
    views, order, tail = np.stack([white, black]), np.array(steps), np.array(after, np.uint64)
    seen_by = (tail[:, 4] != 0).astype(np.int64)[:, None]
    now = _bits(np.concatenate([views[seen_by[:, 0], order[:, 0]], tail], axis=1))
    now[:, :, _RULE_50] = [history[-1].board.halfmove_clock for history in histories]
    is_shared = (order[:, 1:] == order[0, 1:]).all() and (seen_by == seen_by[0]).all()
    alone = slice(1) if is_shared else slice(None)
    past = views[seen_by[alone], order[alone, 1:]]
    return InputPlanes(now, _bits(past.reshape(len(past), -1)))


def _bits(masks: NDArray[np.uint64]) -> NDArray[np.float32]:
    """Convert bitboards (position, plane) to planes (rank, file, plane, position)."""
    ranks = masks.astype("<u8", copy=False).view(np.uint8).reshape(*masks.shape, 1, 8).T
    return np.unpackbits(ranks, axis=1, bitorder="little").astype(np.float32)


def places(positions: Sequence[ChessPosition]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the indices of the legal moves in the output.

    Args:
        positions: The positions; each must have at least one legal move.

    Returns:
        The number of moves of each position, and the indices (0 to 1857) of all these moves in one array.
    """
    sizes = np.array([len(position.legal) for position in positions])
    moves = np.fromiter(chain.from_iterable(position.legal for position in positions), np.int64, sizes.sum())
    boards = [position.board for position in positions]
    turned = np.array([0 if board.turn == chess.WHITE else _TURN for board in boards])
    at_home = np.array([
        bool(board.kings & board.occupied_co[board.turn] & (chess.BB_E1 if board.turn else chess.BB_E8))
        for board in boards
    ])  # fmt: skip
    kind = np.repeat(at_home.astype(np.int64), sizes)
    return sizes, _PLACES[kind, moves ^ np.repeat(turned, sizes)]
