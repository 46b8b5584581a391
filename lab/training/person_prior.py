"""Fits the prior of the people model (`engine.human.person_prior`) to the replies of many persons, by EM.

Each person has a pair (x, k), which replies reveal only with some error; the prior is a Gaussian
whose mean is linear in features of the person. Empirical Bayes by expectation maximisation (Dempster, Laird
and Rubin 1977): each step computes every person's posterior on the grid, then the coefficients by a
least-squares regression of the posterior means on the features, and the covariance from the posteriors'
deviations from the new means.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.human.person_prior import BasePrior, Gaussian, PriorGrid, tilted_rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STEPS = 60
_START = (0.3, 3.0)
"""Initial standard deviations of x and k for EM."""
LEAST_SPREAD_X, LEAST_SPREAD_K = 0.01, 0.1
"""Minimum standard deviations of x and k; smaller ones would be below the grid's resolution."""
_AT_ONCE = 20_000
"""Approximate number of replies in a batch; a batch's table (replies by points) takes about 20 MB."""


@dataclass(frozen=True, slots=True)
class JudgedReplies:
    """Replies of many positions, grouped by position."""

    probabilities: Floats
    """Probability of each reply according to the base model."""
    costs: Floats
    """Cost of each reply, from 0 to 1."""
    starts: Ints
    """Index of each position's first reply."""
    played: Ints
    """Index of the reply played in each position."""

    def batches(self) -> list[tuple[slice, slice]]:
        """Slices of positions and of their replies, in batches of about `_AT_ONCE` replies."""
        ends = np.append(self.starts[1:], len(self.costs))
        batches, begin = [], 0
        while begin < len(self.starts):
            first = int(self.starts[begin])
            end = max(begin + 1, int(np.searchsorted(ends, first + _AT_ONCE, side="right")))
            batches.append((slice(begin, end), slice(first, int(ends[end - 1]))))
            begin = end
        return batches

    def at_points(
        self, batch: tuple[slice, slice], grid: PriorGrid, least: float, uniform: float
    ) -> tuple[Floats, Ints]:
        """Return p(r | x, k) for a batch, shape (replies, points), and the row of each reply played."""
        positions, rows = batch
        found = tilted_rows(
            grid.points,
            self.probabilities[rows],
            self.costs[rows],
            self.starts[positions] - rows.start,
            least,
            uniform,
        )
        return found, self.played[positions] - rows.start


def log_likelihoods(
    replies: JudgedReplies, persons: Ints, count: int, grid: PriorGrid, least: float, uniform: float
) -> Floats:
    """Sum ln p(reply | x, k) over each person's replies; the result has the shape (persons, points).

    Args:
        persons: Index of the person at each position, counted from 0.
        count: Number of persons.
    """
    log_likelihoods = np.zeros((count, len(grid.points)))
    for batch in replies.batches():
        at_points, played = replies.at_points(batch, grid, least, uniform)
        np.add.at(log_likelihoods, persons[batch[0]], np.log(at_points[played]))
    return log_likelihoods


def posterior(prior: Floats, log_likelihood: Floats) -> Floats:
    """Return the posterior weights of the points, shape (persons, points); each row adds up to 1."""
    logs = np.log(np.maximum(prior, 1e-300)) + log_likelihood
    powers = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def fit_gaussian(
    names: tuple[str, ...],
    features: Floats,
    log_likelihood: Floats,
    grid: PriorGrid,
    steps: int = STEPS,
    least_spread_k: float = LEAST_SPREAD_K,
) -> Gaussian:
    """Fit the prior by EM.

    Args:
        names: Names of the features; the first feature is constant.
        features: Shape (persons, features).
        log_likelihood: Result of `log_likelihoods`, with the persons in the same order as in `features`.
        least_spread_k: Minimum standard deviation of k.
    """
    points, free = grid.points, grid.is_free
    least = np.square((LEAST_SPREAD_X, least_spread_k))
    gaussian = Gaussian(names, np.zeros((len(names), 2)), np.diag(np.square(_START)))
    for _ in range(steps):
        weights = posterior(gaussian.prior_weights(grid, features), log_likelihood)
        means = weights @ points
        coefficients = np.asarray(np.linalg.lstsq(features, means, rcond=None)[0], np.float64)
        away = points[None, :, :] - (features @ coefficients)[:, None, :]
        covariance = np.einsum("np,npi,npj->ij", weights, away, away) / len(weights)
        covariance[~free, :] = covariance[:, ~free] = 0.0
        covariance[np.diag_indices(2)] = np.maximum(covariance.diagonal(), least)
        gaussian = Gaussian(names, coefficients, (covariance + covariance.T) / 2)
    return gaussian


def predicted(
    replies: JudgedReplies, prior: Gaussian, features: Floats, base: BasePrior, uniform: float
) -> Floats:
    """Return the probability of each reply, averaged over the prior for the person who replies.

    Args:
        prior: One of the priors of `base`.
        features: Shape (positions, features).
    """
    parts = []
    counts = np.diff(np.append(replies.starts, len(replies.costs)))
    for batch in replies.batches():
        at_points, _ = replies.at_points(batch, base.grid, base.least, uniform)
        weights = prior.prior_weights(base.grid, features[batch[0]])
        parts.append(np.einsum("rp,rp->r", at_points, np.repeat(weights, counts[batch[0]], axis=0)))
    return np.concatenate(parts)
