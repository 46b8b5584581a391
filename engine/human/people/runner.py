"""What the models of people's moves need from their networks, and what they share."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.decision import ModelInfo, Person
from engine.human.model import PredictionQuery

BATCH_SIZE = 64
"""Number of positions per batch; larger batches take more memory and are no faster."""


MOVES = "moves"
"""Name of the output with a logit for each origin and target, shape (n, squares, squares)."""


class PeopleRunner(Protocol):
    """Runs a network of people's moves."""

    @property
    def info(self) -> ModelInfo: ...

    def who(self, people: Sequence[Person]) -> NDArray[np.float32]:
        """The input ``who``, one row per person."""

    def run(
        self, output: str, board: NDArray[np.float32], who: NDArray[np.float32], shape: tuple[int, ...]
    ) -> NDArray[np.float64]:
        """Compute an output, whose shape after the first axis is `shape`.

        Raises:
            BadModel: The network cannot be run, or its output has another shape.
        """


def run_moves(
    network: PeopleRunner, board: NDArray[np.float32], people: Sequence[Person]
) -> NDArray[np.float64]:
    """The logits by origin and target for positions and the persons to move."""
    squares = board.shape[2] * board.shape[3]
    return network.run(MOVES, board, network.who(people), (squares, squares))


def softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities of one position's legal moves."""
    values: NDArray[np.float64] = np.exp(logits - logits.max())
    values /= values.sum()
    return values


class BatchedModel(ABC):
    """A model of p(move | position, last move, person), asked in batches.  Used by one thread at a time.

    Args:
        network: The network, which is of the model's game.
        start: The game's initial position, which is predicted at once: to fail now rather than during a game.

    Raises:
        BadModel: The network cannot be used.
    """

    max_history_positions = 2

    def __init__(self, network: PeopleRunner, start: object) -> None:
        self._network = network
        self.predict([PredictionQuery((start,))])

    @property
    @abstractmethod
    def game(self) -> str:
        """Name of the game."""

    @property
    def info(self) -> ModelInfo:
        """Identifies the network."""
        return self._network.info

    def predict(self, asks: Sequence[PredictionQuery]) -> list[tuple[float, ...]]:
        """See `engine.human.model.HumanModel`."""
        found: list[tuple[float, ...]] = []
        for start in range(0, len(asks), BATCH_SIZE):
            found += self._predict(asks[start : start + BATCH_SIZE])
        return found

    @abstractmethod
    def _predict(self, asks: Sequence[PredictionQuery]) -> list[tuple[float, ...]]:
        """Predict one batch."""
