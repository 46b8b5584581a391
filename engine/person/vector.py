"""A person's vector v: how much they prefer moves that a network marks with each of its person planes.

The network computes planes f_k of a position's moves; for this person the logits of the base model are
``ln p0 + sum of v_k f_k``. The posterior of v is Gaussian (Laplace's method): after each game, Newton's
method finds the most likely v, and the curvature there is added to the precision. The planes are numbers, so
learning needs no gradients through the network.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.person.card import VectorPrior

Floats = NDArray[np.float64]

_DIGITS = 6
_STEPS = 20
_ENOUGH = 1e-7


@dataclass(frozen=True, slots=True)
class Vector:
    """A Gaussian over a person's vector."""

    mean: tuple[float, ...]
    precision: tuple[tuple[float, ...], ...]
    """The inverse of the covariance."""

    def shifts(self, planes: Sequence[Sequence[float]]) -> tuple[float, ...]:
        """What the mean adds to each reply's logit, to six digits.

        Args:
            planes: f_k of each reply, one row per reply.
        """
        found = np.asarray(planes, np.float64) @ np.array(self.mean)
        return tuple(round(each, _DIGITS) for each in found.tolist())


def prior_vector(prior: VectorPrior) -> Vector:
    """The vector of a person of whom nothing is known."""
    return _rounded(np.array(prior.mean), prior.precision)


@dataclass(frozen=True, slots=True)
class PlanedReply:
    """A reply with what the vector is learned from."""

    logits: Floats
    """The logit of each legal reply without the vector, shape (replies,)."""
    planes: Floats
    """What one unit of each of the vector's components adds to them, shape (replies, components)."""
    played: int
    """Index of the reply that was played."""


def after_game(before: Vector, prior: VectorPrior, replies: Sequence[PlanedReply]) -> Vector:
    """The vector after a game.

    Args:
        before: The vector before the game.
        prior: A share of it replaces what was learned (`VectorPrior.forgetting`).
        replies: The person's replies in the game.
    """
    kept, own = 1.0 - prior.forgetting, prior.precision
    learned = np.array(before.precision)
    precision = kept * learned + prior.forgetting * own
    centre = np.linalg.solve(
        precision,
        kept * learned @ np.array(before.mean) + prior.forgetting * own @ np.array(prior.mean),
    )
    at, curvature = centre, precision
    for _ in range(_STEPS):
        slope, curvature = -precision @ (at - centre), precision.copy()
        for reply in replies:
            logits = reply.logits + reply.planes @ at
            powers = np.exp(logits - logits.max())
            shares = powers / powers.sum()
            expected = shares @ reply.planes
            slope += reply.planes[reply.played] - expected
            curvature += (reply.planes * shares[:, None]).T @ reply.planes - np.outer(expected, expected)
        step = np.linalg.solve(curvature, slope)
        # A longer step could leave the region in which the quadratic approximation holds.
        at = at + step * min(1.0, 1.0 / max(float(np.abs(step).max()), 1e-12))
        if np.abs(step).max() < _ENOUGH:
            break
    return _rounded(at, curvature)


def _rounded(mean: Floats, precision: Floats) -> Vector:
    """Rounded, so that a stored state equals the one in memory."""
    single = ((precision + precision.T) / 2).astype(np.float32).astype(np.float64)
    return Vector(tuple(round(each, _DIGITS) for each in mean.tolist()), tuple(map(tuple, single.tolist())))
