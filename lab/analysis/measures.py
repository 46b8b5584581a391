"""Quality of predictors (AUC, Brier score, log-loss, reliability), with intervals clustered by groups.

One person's moves are not independent. A resample therefore draws groups with replacement and includes all
their moves (the cluster bootstrap); an interval spans the middle 95 % of the resamples. The difference
between two predictors is computed within each resample, so it is much more precise than either predictor's
own score. Below 30 effective groups there is no interval (docs/statistics.md): so few groups vary too little
between resamples, and the interval would be too narrow. The intervals of shares, means and ratios come from
leaving out one person at a time (`storage.evidence.inference.fixed`).
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from storage.evidence.inference.any_time import MIN_PERSONS
from storage.evidence.inference.calibration import hide_with_few_persons
from storage.evidence.inference.fixed import FixedInterval, fixed_mean
from storage.evidence.inference.persons import effective_persons
from storage.evidence.intervals import share

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

RESAMPLES = 1000
BINS = 10
_MIN_PROBABILITY = 1e-6


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its 95 % interval; undefined values are NaN."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PersonShare:
    """A proportion of cases, in [0, 1], with its 95 % interval clustered by person; None without cases."""

    count: int
    of: int
    persons: int
    """Number of persons with at least one case."""
    share: float | None
    low: float | None
    """Lower limit; None if there are too few persons."""
    high: float | None
    """Upper limit; None if there are too few persons."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Cases with about the same predicted probability."""

    predicted: float
    """Mean predicted probability."""
    actual: PersonShare


class BootstrapStatistic:
    """A statistic's value over all cases, and its value in each resample."""

    def __init__(self, value: float, draws: Floats) -> None:
        self._value = value
        self._draws = draws

    def minus(self, other: "BootstrapStatistic") -> "BootstrapStatistic":
        """This statistic minus another one over the same resamples."""
        return BootstrapStatistic(self._value - other._value, self._draws - other._draws)

    @property
    def estimate(self) -> Estimate:
        """The value with its interval; ignores resamples in which the statistic is undefined."""
        found = self._draws[np.isfinite(self._draws)]
        if not len(found):
            return Estimate(self._value, math.nan, math.nan)
        low, high = np.quantile(found, [0.025, 0.975])
        return Estimate(self._value, float(low), float(high))


class Resamples:
    """Resamples of groups, shared by all statistics on a set of cases; none below 30 effective groups.

    Args:
        groups: Index of each case's person or game, counted from 0.
    """

    def __init__(self, groups: Ints, count: int = RESAMPLES, seed: int = 1) -> None:
        self._groups = groups
        self._size = int(groups.max()) + 1
        if effective_persons(np.bincount(groups).astype(np.float64)) < MIN_PERSONS:
            count = 0  # a statistic then has no interval
        rng = np.random.default_rng(seed)
        # The first row is the original data.
        drawn = rng.multinomial(self._size, np.full(self._size, 1 / self._size), count)
        self._weights = np.concatenate([np.ones((1, self._size)), drawn])

    def ratio(self, above: Floats, below: Floats) -> BootstrapStatistic:
        """The sum of one value over all cases, divided by the sum of another."""
        sums = self._sums(above), self._sums(below)
        tops, bottoms = (self._weights @ each for each in sums)
        found = np.divide(tops, bottoms, out=np.full(len(tops), math.nan), where=bottoms != 0)
        if np.count_nonzero(sums[1]) == 1:
            found[1:] = math.nan  # every resample has the same single group below the line
        return _drawn(found)

    def mean(self, values: Floats) -> BootstrapStatistic:
        """The mean of a value over all cases."""
        return self.ratio(values, np.ones(len(values)))

    def brier(self, probabilities: Floats, hits: Bools) -> BootstrapStatistic:
        """Mean squared error of the probabilities."""
        return self.mean((probabilities - hits) ** 2)

    def log_loss(self, probabilities: Floats, hits: Bools) -> BootstrapStatistic:
        """Mean negative log-likelihood under the probabilities, in nats."""
        inside = np.clip(probabilities, _MIN_PROBABILITY, 1 - _MIN_PROBABILITY)
        return self.mean(-np.where(hits, np.log(inside), np.log(1 - inside)))

    def auc(self, scores: Floats, hits: Bools) -> BootstrapStatistic:
        """AUC: the probability that a hit scores above a miss; ties count half (Mann-Whitney)."""
        order = np.argsort(scores, kind="stable")
        hit, groups, ordered = hits[order].astype(np.float64), self._groups[order], scores[order]
        starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        found = np.full(len(self._weights), math.nan)
        for at, weights in enumerate(self._weights):
            inside = weights[groups]
            hits_of = np.add.reduceat(inside * hit, starts)
            misses_of = np.add.reduceat(inside, starts) - hits_of
            below = np.cumsum(misses_of) - misses_of / 2
            pairs = hits_of.sum() * misses_of.sum()
            if pairs:
                found[at] = hits_of @ below / pairs
        return _drawn(found)

    def _sums(self, values: Floats) -> Floats:
        return np.asarray(np.bincount(self._groups, values, self._size), np.float64)


def _drawn(found: Floats) -> BootstrapStatistic:
    return BootstrapStatistic(float(found[0]), found[1:])


def reliability(probabilities: Floats, hits: Bools, persons: Ints) -> list[Bin]:
    """The reliability curve: predicted and actual frequency in each decile of the predictions."""
    order = np.argsort(probabilities, kind="stable")
    return [
        Bin(float(probabilities[part].mean()), person_share(hits[part], persons[part]))
        for part in np.array_split(order, BINS)
        if len(part)
    ]


def person_share(hits: Bools, persons: Ints) -> PersonShare:
    """A proportion with its jackknife interval (one person left out at a time).

    If none or all of the cases are hits, leaving a person out changes nothing, so Wilson's interval with one
    case per effective person is used.

    Args:
        hits: Whether each case is a hit, shape (n,).
        persons: The person of each case, shape (n,).
    """
    count, of, number = int(hits.sum()), len(hits), len(np.unique(persons))
    found = hide_with_few_persons(fixed_mean(hits.astype(np.float64), persons))
    if found.value is None or found.low is None or found.high is None:
        return PersonShare(count, of, number, found.value, None, None)
    if count in (0, of):
        effective = int(found.effective_persons)
        one_each = share(effective if count else 0, effective)
        return PersonShare(count, of, number, found.value, one_each.low, one_each.high)
    return PersonShare(count, of, number, found.value, max(0.0, found.low), min(1.0, found.high))


def estimate_of(found: FixedInterval) -> Estimate:
    """Convert a fixed-sample interval to an estimate; NaN replaces undefined or hidden numbers."""
    found = hide_with_few_persons(found)
    low, high, value = (math.nan if each is None else each for each in (found.low, found.high, found.value))
    return Estimate(value, low, high)


def mean_of(values: Floats, persons: Ints) -> Estimate:
    """The mean of a value over all cases, with its jackknife interval (one person left out at a time)."""
    return estimate_of(fixed_mean(values, persons))


def within_auc(scores: Floats, hits: Bools, positions: Ints) -> Floats:
    """The AUC within each position: how often a hit scores above a miss in the same position.

    A pooled AUC also rewards a predictor for recognising positions with many hits; this AUC does not.

    Args:
        scores: The score of each case, shape (n,).
        hits: Whether each case is a hit, shape (n,).
        positions: The position of each case, in ascending order, shape (n,).

    Returns:
        One AUC per distinct position, in ascending order; NaN if all or none of its cases are hits.
    """
    starts = np.flatnonzero(np.diff(positions, prepend=-1))
    within_auc = np.full(len(starts), math.nan)
    for at, (start, end) in enumerate(pairwise([*starts, len(positions)])):
        hit = hits[start:end]
        above, below = scores[start:end][hit], scores[start:end][~hit]
        if len(above) and len(below):
            gaps = above[:, None] - below[None, :]
            within_auc[at] = ((gaps > 0) + (gaps == 0) / 2).mean()
    return within_auc


def as_probabilities(scores: Floats, hits: Bools, groups: Ints, folds: int = 5) -> Floats:
    """Convert scores on any scale to probabilities, using logistic curves fitted on the other groups.

    All results are NaN if there is only one group.
    """
    spread = scores.std()
    scaled = (scores - scores.mean()) / spread if spread > 0 else np.zeros(len(scores))
    as_probabilities = np.zeros(len(scores))
    for fold in range(folds):
        held = groups % folds == fold
        if held.all():
            return np.full(len(scores), math.nan)
        base, slope = _logistic(scaled[~held], hits[~held])
        as_probabilities[held] = 1 / (1 + np.exp(-np.clip(base + slope * scaled[held], -30, 30)))
    return as_probabilities


def _logistic(scores: Floats, hits: Bools) -> tuple[float, float]:
    """Intercept and slope of the log-odds, by Newton's method with a small penalty on the slope."""
    inputs = np.stack([np.ones(len(scores)), scores], axis=1)
    penalty = np.array([1e-9, 1.0])
    share_of = np.clip(hits.mean() if len(hits) else 0.5, 1e-6, 1 - 1e-6)
    found = np.array([np.log(share_of / (1 - share_of)), 0.0])
    for _ in range(50):
        probabilities = 1 / (1 + np.exp(-np.clip(inputs @ found, -30, 30)))
        gradient = inputs.T @ (hits - probabilities) - penalty * found
        curvature = (inputs * (probabilities * (1 - probabilities))[:, None]).T @ inputs + np.diag(
            penalty + 1e-9
        )
        step = np.linalg.solve(curvature, gradient)
        found = found + step
        if np.abs(step).max() < 1e-8:
            break
    return float(found[0]), float(found[1])
