"""A human-move model averaged over several ratings near the person's own.

A network trained on one band of ratings is overconfident, and a rating describes a person's play only
roughly. So the prediction is a weighted mean over ratings, with the highest weight near the
person's own; ``docs/research/study.md`` reports the measured gain.
"""

import hashlib
import math
from collections.abc import Sequence

import numpy as np

from engine.decision import ModelInfo, Person
from engine.human.model import DEFAULT_RATING, HumanModel, PredictionQuery

MIN_RATING_GAP = 200
"""Minimum difference between two ratings that we query."""
RATING_KERNEL_WIDTH = 300.0
"""Rating distance at which the weight falls to 1/e."""


class RatingAverage:
    """The mean of a model's predictions for several ratings; use it in one thread at a time.

    Args:
        model: A model that depends on the rating.
        ratings: Supported ratings; we query a subset in which any two are at least `MIN_RATING_GAP` apart.
    """

    def __init__(self, model: HumanModel, ratings: Sequence[int]) -> None:
        self._model = model
        self._ratings = _spaced(ratings)
        identity = f"{model.info.sha256} {self._ratings} {RATING_KERNEL_WIDTH:g}"
        digest = hashlib.sha256(identity.encode()).hexdigest()
        self.info = ModelInfo(model.info.kind, f"{model.info.name} wide", digest)

    @property
    def game(self) -> str:
        """See `HumanModel.game`."""
        return self._model.game

    @property
    def max_history_positions(self) -> int:
        """See `HumanModel.max_history_positions`."""
        return self._model.max_history_positions

    def rating_weights(self, rating: int | None) -> list[float]:
        """The weight of each rating for a person; the weights add up to 1."""
        inside = max(self._ratings[0], min(self._ratings[-1], DEFAULT_RATING if rating is None else rating))
        weights = [math.exp(-abs(each - inside) / RATING_KERNEL_WIDTH) for each in self._ratings]
        total = math.fsum(weights)
        return [each / total for each in weights]

    def predict(self, asks: Sequence[PredictionQuery]) -> list[tuple[float, ...]]:
        """See `HumanModel.predict`."""
        answers = [
            self._model.predict(
                [PredictionQuery(ask.positions, Person(rating, ask.person.clock_s)) for ask in asks]
            )
            for rating in self._ratings
        ]
        found = []
        for ask, *of_ask in zip(asks, *answers, strict=True):
            mixed = np.array(self.rating_weights(ask.person.rating)) @ np.array(of_ask)
            found.append(tuple(mixed.tolist()))
        return found


def _spaced(ratings: Sequence[int]) -> tuple[int, ...]:
    spaced: list[int] = []
    for rating in sorted(ratings):
        if not spaced or rating - spaced[-1] >= MIN_RATING_GAP:
            spaced.append(rating)
    return tuple(spaced)
