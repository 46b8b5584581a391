"""95 % intervals for proportions and performance ratings, both computed by inverting the score test.

A value is inside the interval if the data lie within 1.96 standard deviations of what this value predicts.
Unlike an estimate plus or minus an error, this remains correct for few observations and at 0 % and 100 %.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

Z_95 = 1.959963984540054
"""A standard normal variable lies within plus or minus this value with a probability of 95 %."""

_ELO_SCALE = 400 / log(10)
_FAR = 4000.0
"""Search range for a performance rating, in points beyond the opponents' ratings (odds of 1 to 10^10)."""

_PRECISION = 1e-5
"""Precision of a performance rating, in rating points."""
_MAX_STEPS = 200
"""Limit on iterations: more bisections than 64-bit floating-point numbers can distinguish."""


@dataclass(frozen=True, slots=True)
class Share:
    """A count of successes as a share of trials, with its Wilson interval (None without trials)."""

    count: int
    of: int
    share: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Performance:
    """The rating whose expected score, by Elo's formula, equals the actual score."""

    games: int
    """Number of finished games against opponents with a rating."""
    points: float
    """Our points in these games: 1 for a win, 1/2 for a draw."""
    rating: float | None
    """The rating; None without games, or if all were won or all lost, since then no rating fits."""
    low: float | None
    """Lower limit; None if no points were scored."""
    high: float | None
    """Upper limit; None if every game was won."""

    @property
    def words(self) -> str:
        """Text such as ``1702 (1604 to 1815)``; ``above 1507`` if all games were won; empty without games."""
        if self.games == 0:
            return ""
        if self.low is None:
            return f"below {self.high:.0f}"
        if self.high is None:
            return f"above {self.low:.0f}"
        return f"{self.rating:.0f} ({self.low:.0f} to {self.high:.0f})"


def share(count: int, of: int) -> Share:
    """A share with its 95 % interval (Wilson 1927, doi:10.1080/01621459.1927.10502953)."""
    if of == 0:
        return Share(count, of, None, None, None)
    low, high = (float(limit) for limit in _wilson(np.float64(count), np.float64(of)))
    # At 0 and 1 the limit is exact; avoid rounding errors.
    return Share(count, of, count / of, 0.0 if count == 0 else low, 1.0 if count == of else high)


def performances(
    group: Codes, ratings: Floats, games: Floats, points: Floats, size: int
) -> list[Performance]:
    """The performance rating of each of several groups of games, with its 95 % interval.

    Wilson's interval applied to ratings: R is inside if the points are within 1.96 standard deviations of the
    score that Elo's formula expects for R. Each game's variance is p (1 - p), the largest that an expected
    score of p allows, so draws make the interval too wide rather than too narrow. The opponents' ratings are
    taken as exact, and the games as independent.

    Args:
        group: Group of each entry (games against opponents with one rating), ascending, shape (n,).
        ratings: The opponents' rating in each entry, shape (n,).
        games: Number of games in each entry, shape (n,).
        points: Our points in each entry, shape (n,).
        size: Number of groups.
    """
    performances = [Performance(0, 0.0, None, None, None)] * size
    total, scored = np.bincount(group, games, size), np.bincount(group, points, size)
    played = np.flatnonzero(total)
    if not len(played):
        return performances
    counted = np.flatnonzero(total[group])
    group, ratings, games = (np.cumsum(total > 0) - 1)[group[counted]], ratings[counted], games[counted]
    total, scored = total[played], scored[played]

    def excess(rating: Floats) -> tuple[Floats, Floats]:
        expected, variance, _ = _moments(rating, group, ratings, games)
        return scored - expected, -variance / _ELO_SCALE

    def deviations(limit: float) -> Callable[[Floats], tuple[Floats, Floats]]:
        def beyond(rating: Floats) -> tuple[Floats, Floats]:
            expected, variance, skewness = _moments(rating, group, ratings, games)
            off, deviation = scored - expected, np.sqrt(variance)
            slope = -(deviation + off * skewness / (2 * variance * deviation)) / _ELO_SCALE
            return off / deviation - limit, slope

        return beyond

    firsts = np.flatnonzero(np.diff(group, prepend=-1))
    floor, roof = np.minimum.reduceat(ratings, firsts) - _FAR, np.maximum.reduceat(ratings, firsts) + _FAR
    nothing, everything = scored == 0, scored == total
    # The results if all opponents had the same rating.
    mean = np.bincount(group, games * ratings) / total
    likely, (least, most) = np.clip(scored / total, 0.5 / total, 1 - 0.5 / total), _wilson(scored, total)
    # Where there is no root, the search ends at one end of an empty interval.
    bottom, top = np.where(everything, roof, floor), np.where(nothing, floor, roof)
    estimate = _roots(excess, bottom, top, mean + _as_elo(likely))
    low = _roots(deviations(Z_95), floor, estimate, mean + _as_elo(least))
    high = _roots(deviations(-Z_95), estimate, roof, mean + _as_elo(most))
    columns = (played, total, scored, nothing, everything, estimate, low, high)
    for number, met, won, is_low, is_high, value, least, most in zip(
        *(each.tolist() for each in columns), strict=True
    ):
        performances[number] = Performance(
            int(met),
            won,
            None if is_low or is_high else value,
            None if is_low else least,
            None if is_high else most,
        )
    return performances


def _moments(rating: Floats, group: Codes, others: Floats, games: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean, variance and third moment of each group's expected points at a rating."""
    p = _expected(rating[group], others)
    spread = games * p * (1 - p)
    sums = (games * p, spread, spread * (1 - 2 * p))
    mean, variance, skewness = (np.bincount(group, each).astype(np.float64) for each in sums)
    return mean, variance, skewness


def _expected(rating: Floats, other: Floats) -> Floats:
    """Elo's expected score; differences up to `_FAR` neither overflow nor round to 0 or 1."""
    return np.asarray(1 / (1 + np.exp((other - rating) / _ELO_SCALE)))


def _as_elo(share: Floats) -> Floats:
    """The rating difference at which Elo's formula gives this expected score; infinite for 0 and 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(_ELO_SCALE * (np.log(share) - np.log1p(-share)))


def _wilson(count: Any, of: Any) -> tuple[Any, Any]:
    """Wilson's interval for one share, or for arrays of shares."""
    p, z2 = count / of, Z_95**2
    middle, half = p + z2 / (2 * of), Z_95 * np.sqrt(p * (1 - p) / of + z2 / (4 * of * of))
    return (middle - half) / (1 + z2 / of), (middle + half) / (1 + z2 / of)


def _roots(
    falling: Callable[[Floats], tuple[Floats, Floats]], low: Floats, high: Floats, start: Floats
) -> Floats:
    """The roots of decreasing functions, to a hundred-thousandth of a point.

    Uses Newton's method, and bisection where a step would leave the interval that contains the root. Far from
    0, where floating-point numbers are farther apart than this precision, it stops at adjacent numbers.

    Args:
        falling: Returns the functions' values and slopes at the given points.
        low: For each function, a point at which its value is 0 or more.
        high: For each function, a point at which its value is 0 or less.
        start: Initial guesses.
    """
    at = np.where((start > low) & (start < high), start, (low + high) / 2)
    for _ in range(_MAX_STEPS):
        value, slope = falling(at)
        low, high = np.where(value > 0, at, low), np.where(value > 0, high, at)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = at - value / slope
        middle = (low + high) / 2
        following = np.where((step >= low) & (step <= high), step, middle)
        is_done = (np.abs(following - at) <= _PRECISION) | (middle == low) | (middle == high)
        at = following
        if is_done.all():
            break
    return at
