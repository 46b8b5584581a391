"""The interface of human-move models: queries, answers, and the checks on an answer.

A model says how likely a person is to play each legal move.  It may be a network of somebody else's, so its
answers are checked (`predicted`) before anybody counts on them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from engine.decision import UNKNOWN_PERSON, ModelInfo, Person
from engine.game import Game

MAIA, OTHELLO, SHALLOW, CALIBRATED, NOBODY = "maia", "othello", "shallow", "calibrated", "none"
"""Kinds of models (`ModelInfo.kind`).  Networks of people's moves, at chess and at Othello; the guess that
short searches make; calibrated odds (`engine.human.odds`), which are no human-move model; and what stands for
a model that cannot be opened."""

MASS_TOLERANCE = 1e-3
"""Probabilities of the legal moves may miss 1 by so much: single precision, and no more."""


class BadModel(Exception):
    """A model that cannot be read, or whose answers cannot be: the message names it and what is wrong."""


@dataclass(frozen=True, slots=True)
class PredictionQuery:
    """One question: what would this person play here?"""

    positions: tuple[Any, ...]
    """The game's latest positions, oldest first; the last one is the one to move in.  Models take as much of
    the history as they know what to do with, and do with less."""
    person: Person = UNKNOWN_PERSON


class HumanModel(Protocol):
    """Knows how people play one game.  For one thread at a time."""

    @property
    def game(self) -> str:
        """Name of the game."""

    @property
    def info(self) -> ModelInfo:
        """Which model it is."""

    @property
    def plies_wanted(self) -> int:
        """So many of the latest positions it can make use of, the present one included; at least 1."""

    def predict(self, asks: Sequence[PredictionQuery]) -> list[tuple[float, ...]]:
        """For each position the probability of each legal move, in the game's fixed order.

        Call it through `predicted`, which leaves out positions without a choice and checks the answers.

        Args:
            asks: In each there are two legal moves at least.

        Raises:
            BadModel: The model gives no answer.
        """


def predicted(model: HumanModel, game: Game[Any], asks: Sequence[PredictionQuery]) -> list[tuple[float, ...]]:
    """What a model says, checked: of every position numbers from 0 to 1 that add up to 1.

    Args:
        model: For the same game.
        game: Its rules.
        asks: Any positions; of a finished game there is nothing to say, and a single move is certain.

    Raises:
        BadModel: The model answers with something that is no probability.
    """
    sizes = [len(game.legal_moves(ask.positions[-1])) for ask in asks]
    open_ = [index for index, size in enumerate(sizes) if size > 1]
    answers = model.predict([asks[index] for index in open_]) if open_ else []
    if len(answers) != len(open_):
        raise BadModel(f"{model.info.name}: {len(answers)} answers to {len(open_)} questions")
    found = [(1.0,) * size for size in sizes]
    for index, answer in zip(open_, answers, strict=True):
        found[index] = _checked(answer, sizes[index], model.info.name)
    return found


def _checked(answer: tuple[float, ...], size: int, name: str) -> tuple[float, ...]:
    if len(answer) != size:
        raise BadModel(f"{name}: {len(answer)} probabilities for {size} moves")
    if not all(math.isfinite(p) and 0 <= p <= 1 + MASS_TOLERANCE for p in answer):
        raise BadModel(f"{name}: not probabilities: {', '.join(f'{p:g}' for p in answer[:8])}")
    total = math.fsum(answer)
    if abs(total - 1) > MASS_TOLERANCE:
        raise BadModel(f"{name}: the probabilities of the legal moves add up to {total:.4f}, not to 1")
    return tuple(p / total for p in answer)
