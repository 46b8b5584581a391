"""The human-move model for Othello: a network trained on tournament games.

The network (`lab.training.human_othello_graph` writes it) takes ``squares`` (n, 64, `PLANES`) and outputs
``logits`` (n, 64). Its input includes the rules: the legal moves, and their consequences, two plies deep.
Each position is first turned into a canonical orientation, so equivalent positions get the same answer, and
the network need not learn eight versions of each board. In well-known positions, move counts from past games
also contribute (`engine.human.othello_openings`).

Rating and clock are ignored: the training games record neither.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.decision import ModelInfo
from engine.games.othello import Othello, OthelloPosition
from engine.human.model import OTHELLO, BadModel, PredictionQuery
from engine.human.onnx import OnnxNetwork
from engine.human.othello_boards import (
    SQUARES,
    TURNED,
    Boards,
    bits,
    flips_masks,
    moves_masks,
    neighbours,
    turned,
    upright,
)
from engine.human.othello_openings import OpeningTable, keys_of

GAME = "othello"
INPUT, OUTPUT = "squares", "logits"
OPENINGS = "openings"
"""Key of the openings in the network's metadata."""

DEFAULT_FILE = Path(__file__).with_name("othello_human.onnx")
"""The network that comes with the program; its model card is in the same folder."""

OWN, OTHER, LEGAL = 0, 1, 2
_AFTER = 10
PLANES = _AFTER + 6
"""Number of input planes; each has one number per square:

0-7, as 0 or 1: own disc; other's disc; a legal move; a legal move for the other side if it were to move;
empty; the disc placed last; a disc flipped with it; empty, in a quadrant with an odd number of empty squares.
8-9, the same on all squares: empty squares in sixtieths; whether their number is odd.
10-15, at legal moves, about the board after the move: discs flipped, in eighths; replies, in tenths; own
moves if the other were to pass, in tenths; corners among the replies; empty squares beside own discs and
beside the other side's, in fifteenths.
"""

_CORNERS = np.uint64(0x8100000000000081)
_QUARTERS = tuple(np.uint64(0x0F0F0F0F << shift) for shift in (0, 4, 32, 36))
_ZERO = np.uint64(0)
_BATCH_SIZE = 128
"""Number of positions per batch; larger batches take more memory and are no faster."""


class NetworkInputs(NamedTuple):
    """The data from which `encode` makes the network's input: arrays with one element per position.

    The last ply is omitted (both boards are 0) when it was a pass or is unknown.
    """

    own: Boards
    """Discs of the side to move."""
    other: Boards
    placed: Boards
    """The disc that the other side placed in the last ply."""
    flipped: Boards
    """The discs that were flipped by the disc in `placed`."""

    def turned(self, turn: NDArray[np.int64]) -> "NetworkInputs":
        """Apply to each position the symmetry given for it in `turn`."""
        return NetworkInputs(*(turned(boards, turn) for boards in self))

    def of(self, chosen: NDArray[np.integer] | NDArray[np.bool_]) -> "NetworkInputs":
        """Return the positions selected by indices or a mask."""
        return NetworkInputs(*(boards[chosen] for boards in self))


def encode(sight: NetworkInputs) -> NDArray[np.float32]:
    """The network's input, shape (n, 64, `PLANES`), in the boards' own orientation: see `PLANES`."""
    own, other, placed, flipped = sight
    encode = np.empty((len(own), SQUARES, PLANES), dtype=np.float32)
    empty = ~(own | other)
    odd = np.zeros_like(own)
    for quarter in _QUARTERS:
        holes = empty & quarter
        odd |= np.where(np.bitwise_count(holes) & 1, holes, _ZERO)
    legal = bits(moves_masks(own, other))
    boards = (own, other, None, moves_masks(other, own), empty, placed, flipped, odd)
    for number, board in enumerate(boards):
        encode[:, :, number] = legal if board is None else bits(board)
    left = np.bitwise_count(empty)
    encode[:, :, 8] = (left / np.float32(60))[:, None]
    encode[:, :, 9] = (left & 1)[:, None]
    encode[:, :, _AFTER:] = 0
    where, square = np.nonzero(legal)
    encode[where, square, _AFTER:] = _after(own[where], other[where], square)
    return encode


def _after(own: Boards, other: Boards, square: NDArray[np.integer]) -> NDArray[np.float32]:
    """The last six planes, for one move in each position."""
    move = np.uint64(1) << square.astype(np.uint64)
    flips = flips_masks(own, other, move)
    own = own | flips | move
    other = other & ~flips
    replies = moves_masks(other, own)
    empty = ~(own | other)
    counts = (
        (flips, 8), (replies, 10), (moves_masks(own, other), 10), (replies & _CORNERS, 1),
        (neighbours(own) & empty, 15), (neighbours(other) & empty, 15),
    )  # fmt: skip
    return np.stack([np.bitwise_count(board) / np.float32(unit) for board, unit in counts], axis=1)


def network_inputs(asks: Sequence[PredictionQuery]) -> NetworkInputs:
    """Extract the data of each query's last position, and of the last ply if that is known."""
    rows = [_seen(ask.positions) for ask in asks]
    columns = np.array(rows, dtype=np.uint64).reshape(len(rows), 4).T
    return NetworkInputs(*np.ascontiguousarray(columns))


def _seen(positions: Sequence[OthelloPosition]) -> tuple[int, int, int, int]:
    own, other, side = positions[-1]
    if len(positions) > 1:
        mover, waiter, before = positions[-2]
        placed = (own | other) & ~(mover | waiter)
        flipped = other & waiter
        # Only if this ply led here: the caller may have skipped some.
        if before != side and placed.bit_count() == 1 and other == mover | placed | flipped:
            return own, other, placed, flipped
    return own, other, 0, 0


class OthelloHumanModel:
    """A model of p(move | position, last move) in Othello.  Used by one thread at a time.

    Args:
        network: The network, in the form that `lab.training.human_othello` writes.
        openings: Whether to use the network's table of openings.

    Raises:
        BadModel: The network is of another kind or for another game, or cannot be used.
    """

    max_history_positions = 2

    def __init__(self, network: OnnxNetwork, *, openings: bool = True) -> None:
        network.require(OTHELLO, GAME)
        self._network = network
        self._openings = OpeningTable.read(
            network.metadata.get(OPENINGS, "") if openings else "", network.where
        )
        self.predict([PredictionQuery((Othello().initial(),))])  # to fail now rather than during a game

    @property
    def game(self) -> str:
        return GAME

    @property
    def info(self) -> ModelInfo:
        return self._network.info

    def predict(self, asks: Sequence[PredictionQuery]) -> list[tuple[float, ...]]:
        """See `engine.human.model.HumanModel`."""
        if not asks:
            return []
        sight = network_inputs(asks)
        probabilities = self.probabilities(sight)
        legal = bits(moves_masks(sight.own, sight.other)).astype(bool)
        return [tuple(row[mask].tolist()) for row, mask in zip(probabilities, legal, strict=True)]

    def probabilities(self, sight: NetworkInputs) -> NDArray[np.float64]:
        """The probability of each square, shape (n, 64); 0 where the move is not legal.

        Args:
            sight: Positions with at least one legal move each.

        Raises:
            BadModel: The network returns no valid output.
        """
        count = len(sight.own)
        parts = [np.arange(start, min(start + _BATCH_SIZE, count)) for start in range(0, count, _BATCH_SIZE)]
        return np.concatenate([self._chances(sight.of(part)) for part in parts])

    def _chances(self, sight: NetworkInputs) -> NDArray[np.float64]:
        # A symmetric position has several upright orientations: their mean has the same symmetry.
        turn, position = np.nonzero(upright(sight.own, sight.other))
        standing = sight.of(position).turned(turn)
        squares = encode(standing)
        logits = self._network.run(OUTPUT, {INPUT: squares}).astype(np.float64)
        if logits.shape != (len(squares), SQUARES):
            raise BadModel(f"{self._network.where}: its output {OUTPUT} has the shape {logits.shape}")
        legal = squares[:, :, LEGAL] != 0
        logits[~legal] = -np.inf
        probabilities = np.exp(logits - logits.max(axis=1, keepdims=True))
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        probabilities = self._openings.blend(keys_of(standing.own, standing.other), probabilities)
        probabilities[~legal] = 0  # in case of a hash collision
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        found = np.zeros((len(sight.own), SQUARES))
        np.add.at(found, position, np.take_along_axis(probabilities, TURNED[turn], axis=1))
        return found / np.bincount(position, minlength=len(found))[:, None]
