"""Confidence sequences: intervals for a mean that stay valid under continuous monitoring.

An ordinary 95 % interval is valid at one planned analysis. Checking the interval after each of 5,000 games,
and stopping once it excludes 0, falsely reports an effect in two of five trials. The asymptotic confidence
sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (Annals of Statistics 2024, arXiv:2103.06476) is
wider (at its tightest 3.04 standard errors instead of 1.96), but the probability
that it *ever* excludes the truth is at most 5 %.

People play repeatedly and one person's values are correlated, so the variance used is the larger of two: that
of the values and that of the persons' sums. The first variance suffices for statements about the randomly
assigned games themselves; statements about people in general need the second. Taking the maximum is our
choice, supported by simulations (`bench.statistics.placebo`), not by a theorem.

With mean M of n values, n_c values of person c, d = value - M::

    V  = max( sum d^2 , sum over persons of (sum of the person's d)^2 );   s2 = V / (n - 1)
    P  = n^2 / sum n_c^2                                                  effective persons
    r  = 1 + n R / opt;   R + 1 solves x - ln x = 1 + 2 ln(1/alpha)       R = 8.212 at alpha = 0.05
    w  = sqrt( 2 r / (n (r - 1)) ln(sqrt(r) / alpha) )
    interval  M +- sqrt(s2) w
    e-value   exp( (r - 1) n M^2 / (2 r s2) ) / sqrt(r);  it reaches 1/alpha when the interval excludes 0

Never intersect an interval with earlier ones, because V may grow.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from math import floor, inf, log
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from storage.evidence.inference.defaults import ALPHA
from storage.evidence.inference.persons import (
    Codes,
    Floats,
    PersonId,
    checked,
    earlier_counts,
    earlier_sums,
    first_and_codes,
)

MIN_VALUES = 100
"""Minimum number of values for which an asymptotic interval is valid."""
MIN_PERSONS = 30.0
"""Minimum number of effective persons for which the variance of their sums is reliable."""
_MAX_LOG = 700.0
"""Maximum logarithm of an e-value; exp(700) is 10^304."""


class PlannedN(IntEnum):
    """Number of values at which an interval is tightest, per kind of endpoint; fixed before the first value.

    At half or twice this number, the interval is about 1 % wider than at its tightest; at a tenth, 26 %.
    """

    GAMES = 1_000
    DECISIONS = 6_000
    TRAPS = 4_000
    REPLIES = 20_000


@dataclass(frozen=True, slots=True)
class SequenceDesign:
    """The design of a confidence sequence, fixed before the first value."""

    planned_n: int
    """Number of values at which the sequence is tightest; see `PlannedN`."""
    alpha: float = ALPHA
    """Maximum probability that any of its intervals excludes the truth."""
    least_values: int = MIN_VALUES
    """Minimum number of values for an interval."""
    least_persons: float = MIN_PERSONS
    """Minimum number of effective persons for an interval."""

    def __post_init__(self) -> None:
        if self.planned_n < 1:
            raise ValueError(f"opt is {self.planned_n}, not 1 or more")
        if not 0 < self.alpha < 1:
            raise ValueError(f"alpha is {self.alpha}, not between 0 and 1")
        if self.least_values < 2:
            raise ValueError(f"least_values is {self.least_values}, not 2 or more")

    def growth(self, n: Floats | float) -> Floats:
        """r = 1 + n R / opt for each number of values n in an array of any shape."""
        growth: Floats = np.add(1.0, n * _tightness(self.alpha) / self.planned_n)
        return growth

    def width(self, n: Floats | float) -> Floats:
        """w(n): half the interval's width, in standard deviations per value, for an array of n > 0."""
        r = self.growth(n)
        width: Floats = np.sqrt(2 * r / (n * (r - 1)) * np.log(np.sqrt(r) / self.alpha))
        return width

    def too_early(self, n: int, persons: float) -> str | None:
        """Why no interval is shown for n values from this many effective persons; None if one is shown.

        The number of persons is rounded down, so that the reason never says "30 of 30".
        """
        few, rare = n < self.least_values, persons < self.least_persons
        if few:
            text = f"{n} of {self.least_values}"
            return f"{text}, P {floor(persons)} of {self.least_persons:g}" if rare else text
        return f"P {floor(persons)} of {self.least_persons:g}" if rare else None


@dataclass(slots=True, kw_only=True)
class AnyTimeEstimate:
    """A mean with its any-time-valid interval for the population of persons. Treat it as immutable.

    The class is not frozen: freezing would make creation five times slower, and some tables need tens of
    thousands of instances.
    """

    n: int
    """Number of values."""
    persons: int
    """Number of persons."""
    effective_persons: float
    """Effective number of persons, P; equals `persons` if all have equally many values."""
    mean: float | None
    """M; None if there are no values."""
    sd: float | None
    """Standard deviation per value, sqrt(s2), including the correlation within persons; None below two
    values."""
    low: float | None
    """Lower limit; None while it is too early for an interval."""
    high: float | None
    """Upper limit; None while it is too early for an interval."""
    e_value: float | None
    """Evidence (e-value) against a mean of 0; 1/alpha or more excludes 0. At most 10^304; None while it is
    too early for an interval."""
    too_early: str | None
    """Why there is no interval, as in `SequenceDesign.too_early`."""
    alpha: float
    kind: Literal["any time"] = "any time"

    @property
    def excludes_zero(self) -> bool:
        """Whether there is an interval and 0 lies outside it."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


def estimate(
    values: Sequence[float] | Floats, persons: Sequence[PersonId] | NDArray[Any], design: SequenceDesign
) -> AnyTimeEstimate:
    """Estimate the mean from all values, with its interval.

    Args:
        values: The values in any order, shape (n,).
        persons: Each value's person, shape (n,).
        design: The design fixed beforehand.

    Raises:
        ValueError: The lengths differ, or a value is not finite.
    """
    x, code = _checked(values, persons)
    (estimate,) = estimates(x, code, np.zeros(len(x), np.intp), 1, design)
    return estimate


def estimates(
    values: Floats, persons: Codes, groups: Codes, size: int, design: SequenceDesign
) -> list[AnyTimeEstimate]:
    """Apply `estimate` to each of several groups.

    Args:
        values: Finite values of all groups, shape (n,).
        persons: Index of each value's person, shape (n,).
        groups: Index of each value's group, shape (n,).
        size: The number of groups.
        design: The design fixed beforehand.
    """
    pairs = groups * (int(persons.max(initial=0)) + 1) + persons
    first, pair = first_and_codes(pairs)
    of_pair = groups[first]
    counts = np.bincount(pair, minlength=len(first)).astype(np.float64)

    def summed(each: Floats) -> Floats:
        return np.bincount(of_pair, each, size).astype(np.float64)

    n, squares = summed(counts), summed(counts**2)
    mean = np.bincount(groups, values, size) / np.maximum(n, 1)
    off = values - mean[groups]
    by_person = summed(np.bincount(pair, off, len(first)).astype(np.float64) ** 2)
    spread = np.maximum(np.bincount(groups, off**2, size), by_person)
    effective = np.divide(n * n, squares, out=np.zeros(size), where=squares > 0)
    return estimates_of_sums(n, summed(np.ones(len(first))), effective, mean, spread, design)


def estimates_of_sums(
    n: Floats, persons: Floats, effective: Floats, mean: Floats, spread: Floats, design: SequenceDesign
) -> list[AnyTimeEstimate]:
    """The estimate for each of several groups, from sums over its values.

    Args:
        n: Number of values, shape (groups,); where it is 0, the other numbers are ignored.
        persons: Number of persons, shape (groups,).
        effective: P, as in `storage.evidence.inference.persons.effective_persons`, shape (groups,).
        mean: M, shape (groups,).
        spread: V, shape (groups,).
        design: The design fixed beforehand.
    """
    counted = np.maximum(n, 1)
    variance = spread / np.maximum(n - 1, 1)
    deviation = np.sqrt(variance)
    half = deviation * design.width(counted)
    columns = (mean, deviation, mean - half, mean + half, _e_values(counted, mean, variance, design))
    counts = zip(
        n.astype(np.int64).tolist(), persons.astype(np.int64).tolist(), effective.tolist(), strict=True
    )
    estimates = []
    for (count, people, worth), row in zip(
        counts, zip(*(each.tolist() for each in columns), strict=True), strict=True
    ):
        middle, sd, low, high, e_value = row
        early = design.too_early(count, worth)
        estimates.append(
            AnyTimeEstimate(
                n=count,
                persons=people,
                effective_persons=worth,
                mean=middle if count else None,
                sd=sd if count > 1 else None,
                low=None if early else low,
                high=None if early else high,
                e_value=None if early else e_value,
                too_early=early,
                alpha=design.alpha,
            )
        )
    return estimates


@dataclass(frozen=True, slots=True, eq=False)
class InterimAnalyses:
    """The intervals after each of n values, as arrays of shape (n,), for simulations."""

    design: SequenceDesign
    mean: Floats
    spread: Floats
    """Sum of squared deviations from the mean so far."""
    person_spread: Floats
    """Sum over persons of the squared sum of their deviations."""
    effective_persons: Floats

    @property
    def n(self) -> Floats:
        """Number of values: 1, 2 .. n."""
        return np.arange(1.0, len(self.mean) + 1)

    @property
    def half_width(self) -> Floats:
        """Half the width of each interval; 0 after the first value, because one value has no variance."""
        variance = np.maximum(self.spread, self.person_spread) / np.maximum(self.n - 1, 1)
        return np.asarray(np.sqrt(variance) * self.design.width(self.n))

    @property
    def has_interval(self) -> NDArray[np.bool_]:
        """For each number of values, whether there is enough data for an interval."""
        enough = (self.n >= self.design.least_values) & (self.effective_persons >= self.design.least_persons)
        return np.asarray(enough)

    def ever_excludes(self, truth: float) -> bool:
        """Whether any of the intervals shown excludes the mean `truth`."""
        outside = np.abs(self.mean - truth) > self.half_width
        return bool((outside & self.has_interval).any())


def interim_analyses(
    values: Sequence[float] | Floats, persons: Sequence[PersonId] | NDArray[Any], design: SequenceDesign
) -> InterimAnalyses:
    """The interval after each value, in the order of the values.  Arguments and errors as for `estimate`."""
    x, code = _checked(values, persons)
    first = x[0] if len(x) else 0.0
    x = x - first
    n = np.arange(1.0, len(x) + 1)
    count, total = earlier_counts(code), earlier_sums(x, code)
    mean = np.cumsum(x) / n
    counts_squared = np.cumsum(2 * count + 1)
    person_squares = np.cumsum((2 * total + x) * x)
    cross = np.cumsum(total + (count + 1) * x)
    return InterimAnalyses(
        design,
        first + mean,
        np.maximum(np.cumsum(x * x) - n * mean**2, 0.0),
        np.maximum(person_squares - 2 * mean * cross + mean**2 * counts_squared, 0.0),
        n * n / counts_squared,
    )


@dataclass(frozen=True, slots=True)
class LargestPerson:
    """The person who contributes most to an estimate's variance, and the estimate without that person."""

    person: PersonId
    share: float
    """The person's share of V, from 0 to 1."""
    without: AnyTimeEstimate


def largest_person(
    values: Floats, persons: Sequence[PersonId] | NDArray[Any], design: SequenceDesign
) -> LargestPerson | None:
    """The person with the largest share of V (in a tie, the first key); None if no value differs from the
    mean.

    Raises:
        ValueError: As for `estimate`.
    """
    x, code = _checked(values, persons)
    if len(x) < 2:
        return None
    off = x - x.mean()
    plain, clustered = np.bincount(code, off**2), np.bincount(code, off) ** 2
    parts = clustered if clustered.sum() > plain.sum() else plain
    whole = float(parts.sum())
    if whole == 0:
        return None
    largest = int(parts.argmax())
    others = code != largest
    who: PersonId = np.asarray(persons)[np.argmin(others)].item()
    return LargestPerson(who, float(parts[largest]) / whole, estimate(x[others], code[others], design))


@cache
def _tightness(alpha: float) -> float:
    """R = x - 1, where x - ln x = 1 + 2 ln(1/alpha), by fixed-point iteration; each step contracts by 1/x."""
    x = 10.0
    for _ in range(200):
        x = 1 + 2 * log(1 / alpha) + log(x)
    return x - 1


def _checked(
    values: Sequence[float] | Floats, persons: Sequence[PersonId] | NDArray[Any]
) -> tuple[Floats, Codes]:
    return checked("value", values, persons)


def _e_values(n: Floats, mean: Floats, variance: Floats, design: SequenceDesign) -> Floats:
    r = design.growth(n)
    with np.errstate(divide="ignore", invalid="ignore"):
        evidence = (r - 1) * n * mean * mean / (2 * r * variance)
    # All values are equal: the mean is certainly 0, or certainly not.
    evidence = np.where(variance == 0, np.where(mean == 0, 0.0, inf), evidence)
    return np.exp(np.minimum(evidence - np.log(r) / 2, _MAX_LOG))
