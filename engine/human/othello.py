"""The human-move model for Othello: a network trained on tournament games, by the players' ratings.

The network sees own discs, the other side's, the legal moves and the disc placed last. A position and its
mirror images are the same, so the prediction is the mean over the images that the file names
(`ORIENTATIONS`): over all eight if the network learned from images drawn at random, otherwise over the
canonical ones. A quick prediction uses one canonical image, in an eighth of the time, and is .025 nats worse
(docs/research/human-models.md).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.decision import UNKNOWN_PERSON, ModelInfo, Person
from engine.games.othello import Othello, OthelloPosition
from engine.human.model import BadModel, PredictionQuery
from engine.human.onnx import OnnxNetwork
from engine.human.othello_boards import SQUARES, TURNED, Boards, bits, moves_masks, turned, upright
from engine.human.people.network import PeopleNetwork

GAME = "othello"
OUTPUT = "planes"
ORIENTATIONS = "orientations"
"""Key of the metadata: ``all`` or ``canonical``."""

DEFAULT_FILE = Path(__file__).with_name("othello_human.onnx")
"""The network that comes with the program; its model card is in the same folder."""

PLANES = 4
"""Number of input planes, 8 x 8 with a1 first: own disc, other's disc, legal move, disc placed last."""
_BATCH_SIZE = 128
"""Number of boards per batch; larger batches take more memory and are no faster."""


class NetworkInputs(NamedTuple):
    """Positions as arrays with one element per position."""

    own: Boards
    """Discs of the side to move."""
    other: Boards
    placed: Boards
    """The disc that the other side placed in the last ply; 0 if that was a pass or is unknown."""

    def turned(self, turn: NDArray[np.int64]) -> "NetworkInputs":
        """Apply to each position the symmetry given for it in `turn`."""
        return NetworkInputs(*(turned(boards, turn) for boards in self))

    def of(self, chosen: NDArray[np.integer] | NDArray[np.bool_]) -> "NetworkInputs":
        """Return the positions selected by indices or a mask."""
        return NetworkInputs(*(boards[chosen] for boards in self))


def encode(inputs: NetworkInputs) -> NDArray[np.float32]:
    """The network's input, shape (n, `PLANES`, 8, 8)."""
    own, other, placed = inputs
    planes = np.stack([bits(board) for board in (own, other, moves_masks(own, other), placed)], axis=1)
    return planes.astype(np.float32).reshape(-1, PLANES, 8, 8)


def network_inputs(asks: Sequence[PredictionQuery]) -> NetworkInputs:
    """Extract the data of each query's last position, and of the last ply if that is known."""
    rows = [_inputs_of(ask.positions) for ask in asks]
    columns = np.array(rows, dtype=np.uint64).reshape(len(rows), 3).T
    return NetworkInputs(*np.ascontiguousarray(columns))


def _inputs_of(positions: Sequence[OthelloPosition]) -> tuple[int, int, int]:
    own, other, side = positions[-1]
    if len(positions) > 1:
        mover, waiter, before = positions[-2]
        placed = (own | other) & ~(mover | waiter)
        flipped = other & waiter
        # Only if this ply led here: the caller may have skipped some.
        if before != side and placed.bit_count() == 1 and other == mover | placed | flipped:
            return own, other, placed
    return own, other, 0


class OthelloHumanModel:
    """A model of p(move | position, last move, ratings) in Othello.  Used by one thread at a time.

    Args:
        network: The network.

    Raises:
        BadModel: The network is of another kind or for another game, or cannot be used.
    """

    max_history_positions = 2

    def __init__(self, network: OnnxNetwork) -> None:
        self._network = PeopleNetwork(network, GAME)
        orientations = self._network.metadata.get(ORIENTATIONS, "")
        if orientations not in ("all", "canonical"):
            raise BadModel(f"{network.where}: {ORIENTATIONS}: {orientations!r}, not all or canonical")
        self._is_over_all = orientations == "all"
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
        inputs = network_inputs(asks)
        is_quick = all(ask.is_quick for ask in asks)
        probabilities = self.probabilities(inputs, [ask.person for ask in asks], is_quick=is_quick)
        legal = bits(moves_masks(inputs.own, inputs.other)).astype(bool)
        return [tuple(row[mask].tolist()) for row, mask in zip(probabilities, legal, strict=True)]

    def probabilities(
        self, inputs: NetworkInputs, people: Sequence[Person] | None = None, *, is_quick: bool = False
    ) -> NDArray[np.float64]:
        """The probability of each square, shape (n, 64); 0 where the move is not legal.

        Args:
            inputs: Positions with at least one legal move each.
            people: The persons to move; None for unknown ones.
            is_quick: Use one image of each position.

        Raises:
            BadModel: The network returns no valid output.
        """
        count = len(inputs.own)
        who = self._network.who([UNKNOWN_PERSON] * count if people is None else people)
        images = np.ones((8, count), bool)
        if is_quick or not self._is_over_all:
            images = upright(inputs.own, inputs.other)
        if is_quick:
            images = np.arange(8)[:, None] == images.argmax(axis=0)
        turn, position = np.nonzero(images)
        found = np.zeros((count, SQUARES))
        for start in range(0, len(turn), _BATCH_SIZE):
            part = slice(start, start + _BATCH_SIZE)
            of_image = self._of_images(inputs.of(position[part]).turned(turn[part]), who[position[part]])
            np.add.at(found, position[part], np.take_along_axis(of_image, TURNED[turn[part]], axis=1))
        return np.asarray(found / images.sum(axis=0)[:, None])

    def _of_images(self, inputs: NetworkInputs, who: NDArray[np.float32]) -> NDArray[np.float64]:
        board = encode(inputs)
        logits: NDArray[np.float64] = self._network.run(OUTPUT, board, who, (SQUARES,))[:, 0]
        logits[board[:, 2].reshape(-1, SQUARES) == 0] = -np.inf
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))
