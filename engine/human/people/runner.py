"""What the models of people's moves need from their networks, and what they share."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.decision import ModelInfo, Person

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
