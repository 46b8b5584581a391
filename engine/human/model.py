"""The interface of human-move models: queries, predictions, and checks of the predictions.

A model gives the probability that a person plays each legal move.  A model may be a third-party network, so
`predictions_of` checks its predictions before they are used.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol

from engine.decision import UNKNOWN_PERSON, ModelInfo, Person
from engine.game import Game

MAIA, PEOPLE, SHALLOW, CALIBRATED, NO_MODEL = "maia", "people", "shallow", "calibrated", "none"
"""Kinds of models (`ModelInfo.kind`). Networks trained on human moves, for chess and for Othello; the
estimate from shallow searches; calibrated models (`engine.human.reply_model`), which are not human-move
models; and the placeholder for a model that cannot be opened."""

DEFAULT_RATING = 1500
"""Rating assumed for a person whose rating is unknown."""
MASS_TOLERANCE = 1e-3
"""Maximum deviation of a sum of probabilities from 1; models compute in single precision."""


MOVE_S: ContextVar[float | None] = ContextVar("MOVE_S", default=None)
"""The time in seconds of the move that is being chosen; None for no limit. See `within_move`."""


class BadModel(Exception):
    """The model is unreadable or its predictions are malformed; the message names the model and the fault."""


@dataclass(frozen=True, slots=True)
class PredictionQuery:
    """One query: the position in which to predict a person's move."""

    positions: tuple[Any, ...]
    """The game's latest positions, oldest first; the move is predicted for the last. Models need only the
    last position, and use as much of the history as they can."""
    person: Person = UNKNOWN_PERSON
    is_quick: bool = False
    """Whether a slightly less precise prediction is enough if it takes less time."""


class HumanModel(Protocol):
    """Predicts human moves in one game.  Only one thread may use it at a time."""

    @property
    def game(self) -> str:
        """Name of the game."""

    @property
    def info(self) -> ModelInfo:
        """Identifies the model."""

    @property
    def max_history_positions(self) -> int:
        """Maximum number of latest positions that the model uses, including the current one; at least 1."""

    def predict(self, asks: Sequence[PredictionQuery]) -> list[tuple[float, ...]]:
        """The probability of each legal move in each position, in the game's fixed order.

        Call this only through `predictions_of`, which skips forced moves and checks the predictions.

        Args:
            asks: The queries; each position has at least two legal moves.

        Raises:
            BadModel: The model fails to make a prediction.
        """


class PlanesModel(Protocol):
    """Marks the moves that persons of different styles prefer.  Only one thread may use it at a time."""

    @property
    def info(self) -> ModelInfo:
        """Identifies the network."""

    def planes(self, query: PredictionQuery) -> tuple[tuple[float, ...], ...]:
        """For each legal move, in the game's fixed order, one value per component of a person's vector.

        Raises:
            BadModel: The network cannot be run, or its output is malformed.
        """


@contextmanager
def within_move(time_s: float | None) -> Iterator[None]:
    """Let no run of a network use up a move's time.

    Args:
        time_s: The move's time in seconds; None for no limit.
    """
    token = MOVE_S.set(time_s)
    try:
        yield
    finally:
        MOVE_S.reset(token)


def predictions_of(
    model: HumanModel, game: Game[Any], asks: Sequence[PredictionQuery]
) -> list[tuple[float, ...]]:
    """A model's checked predictions: for each position, numbers from 0 to 1 that add up to 1.

    Args:
        model: A model for the game.
        game: The game's rules.
        asks: Queries for any positions; the result is () for a finished game, (1.0,) for a forced move.

    Raises:
        BadModel: The model's prediction is not a probability distribution.
    """
    sizes = [len(game.legal_moves(ask.positions[-1])) for ask in asks]
    open_ = [index for index, size in enumerate(sizes) if size > 1]
    answers = model.predict([asks[index] for index in open_]) if open_ else []
    if len(answers) != len(open_):
        raise BadModel(f"{model.info.name}: {len(answers)} answers to {len(open_)} questions")
    predictions = [(1.0,) * size for size in sizes]
    for index, answer in zip(open_, answers, strict=True):
        if len(answer) != sizes[index]:
            raise BadModel(f"{model.info.name}: {len(answer)} probabilities for {sizes[index]} moves")
        predictions[index] = checked_distribution(answer, model.info.name)
    return predictions


def checked_distribution(answer: Sequence[float], name: str) -> tuple[float, ...]:
    """Scale a model's probabilities to add up to exactly 1.

    Raises:
        BadModel: The values are not numbers from 0 to 1, or do not add up to 1.
    """
    if not all(math.isfinite(p) and 0 <= p <= 1 + MASS_TOLERANCE for p in answer):
        raise BadModel(f"{name}: not probabilities: {', '.join(f'{p:g}' for p in answer[:8])}")
    total = math.fsum(answer)
    if abs(total - 1) > MASS_TOLERANCE:
        raise BadModel(f"{name}: the probabilities add up to {total:.4f}, not to 1")
    return tuple(p / total for p in answer)
