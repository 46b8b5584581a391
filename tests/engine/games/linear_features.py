"""The inputs of a linear evaluation, and the score they make: mirrors engine/native/linear.hpp."""

from collections import Counter
from typing import NamedTuple

from engine.games.linear_weights import LinearWeights

LIMIT_CENTI = 20_000
"""Bound for the absolute value of an evaluation."""


class Features(NamedTuple):
    """The inputs of the evaluation in a position."""

    counts: Counter[int]
    """Count of each feature for the side to move less the count for the other side."""
    middle: int
    """Game phase: 64 takes the middlegame weights alone, 0 the endgame weights."""
    scale: int
    """Scale factor out of 64: lower where a lead is hard to win."""

    def score_centi(self, weights: LinearWeights) -> int:
        """The evaluation in centi-units for the side to move."""
        middle = sum(weights.middle[feature] * count for feature, count in self.counts.items())
        end = sum(weights.end[feature] * count for feature, count in self.counts.items())
        score = ((middle * self.middle + end * (64 - self.middle)) >> 6) * self.scale >> 6
        return max(-LIMIT_CENTI, min(LIMIT_CENTI, score))
