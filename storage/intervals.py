"""95 % intervals for proportions and performance ratings, both by inverting the score test.

A value is inside if the data are within 1.96 standard deviations of its prediction.  Unlike an estimate plus
or minus an error, this stays correct for few observations and at 0 % and 100 %.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

Z_95 = 1.959963984540054
"""A standard normal variable stays within +- this 95 % of the time."""

_ELO_SCALE = 400 / log(10)
_FAR = 4000.0
"""How far beyond the opponents' ratings we look for a performance, in rating points: odds of 1 to 10^10."""

_MOST_STEPS = 200
"""Bisections of an interval: more than a 64-bit floating-point number has values to tell apart."""


@dataclass(frozen=True, slots=True)
class Share:
    """A count among trials, as a share in [0, 1] with its Wilson interval; None without trials."""

    count: int
    of: int
    share: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Performance:
    """The rating whose expected score (Elo's formula) is the actual score."""

    games: int
    """Finished games against opponents with a rating."""
    points: float
    """A win is 1, a draw 1/2."""
    rating: float | None
    """None without games, and if all were won or all lost: then no rating is high or low enough."""
    low: float | None
    """None: no lower limit, since no points were scored."""
    high: float | None
    """None: no upper limit, since every game was won."""

    @property
    def words(self) -> str:
        """For instance ``1702 (1604 to 1815)``, ``above 1507`` when every game was won; empty: no games."""
        if self.games == 0:
            return ""
        if self.low is None:
            return f"below {self.high:.0f}"
        if self.high is None:
            return f"above {self.low:.0f}"
        return f"{self.rating:.0f} ({self.low:.0f} to {self.high:.0f})"


@dataclass(frozen=True, slots=True)
class OpponentGames:
    """Games against opponents of one rating."""

    rating: int
    games: int
    points: float


def share(count: int, of: int) -> Share:
    """A share with its 95 % interval (Wilson 1927, doi:10.1080/01621459.1927.10502953)."""
    if of == 0:
        return Share(count, of, None, None, None)
    p, z2 = count / of, Z_95**2
    middle = (p + z2 / (2 * of)) / (1 + z2 / of)
    half = Z_95 / (1 + z2 / of) * sqrt(p * (1 - p) / of + z2 / (4 * of * of))
    # At 0 and 1 the limit is exact; avoid rounding errors.
    low = 0.0 if count == 0 else middle - half
    high = 1.0 if count == of else middle + half
    return Share(count, of, p, low, high)


def performance(met: Sequence[OpponentGames]) -> Performance:
    """A performance rating with its 95 % interval.

    Wilson's interval applied to ratings: R is inside if the points are within 1.96 standard deviations of
    the score that Elo's formula expects of R.  Each game's variance is p (1 - p), the largest that an
    expected score of p allows, so draws make the interval too wide rather than too narrow.  We take
    the opponents' ratings as exact and the games as independent.
    """
    return performances([met])[0]


def performances(groups: Sequence[Sequence[OpponentGames]]) -> list[Performance]:
    """The performance rating of each group of games; all bisections run side by side."""
    found = [Performance(0, 0.0, None, None, None)] * len(groups)
    played = [number for number, met in enumerate(groups) if sum(each.games for each in met)]
    if not played:
        return found
    some = [groups[number] for number in played]
    group = np.repeat(np.arange(len(some)), [len(met) for met in some])
    ratings = np.array([each.rating for met in some for each in met], np.float64)
    games = np.array([each.games for met in some for each in met], np.float64)
    points = np.array([sum(each.points for each in met) for met in some], np.float64)
    total = np.array([sum(each.games for each in met) for met in some])

    def excess(rating: Floats) -> Floats:
        return points - np.bincount(group, games * _expected(rating[group], ratings))

    def deviations(rating: Floats) -> Floats:
        p = _expected(rating[group], ratings)
        return (points - np.bincount(group, games * p)) / np.sqrt(np.bincount(group, games * p * (1 - p)))

    starts = np.flatnonzero(np.diff(group, prepend=-1))
    floor, roof = np.minimum.reduceat(ratings, starts) - _FAR, np.maximum.reduceat(ratings, starts) + _FAR
    nothing, everything = points == 0, points == total
    estimate = _roots(excess, floor, roof)
    middle = np.where(nothing, floor, np.where(everything, roof, estimate))
    low = _roots(lambda rating: deviations(rating) - Z_95, floor, middle)
    high = _roots(lambda rating: deviations(rating) + Z_95, middle, roof)
    for at, number in enumerate(played):
        is_low, is_high = bool(nothing[at]), bool(everything[at])
        found[number] = Performance(
            int(total[at]),
            float(points[at]),
            None if is_low or is_high else float(estimate[at]),
            None if is_low else float(low[at]),
            None if is_high else float(high[at]),
        )
    return found


def _expected(rating: Floats, other: Floats) -> Floats:
    """Elo's expected score; within `_FAR` of each other it neither overflows nor rounds to 0 or 1."""
    return np.asarray(1 / (1 + np.exp((other - rating) / _ELO_SCALE)))


def _roots(falling: Callable[[Floats], Floats], low: Floats, high: Floats) -> Floats:
    """Where falling functions cross 0, by bisection to a hundred-thousandth of a point.

    Far from 0 floating-point numbers are farther apart than that; then to two neighbours.
    """
    for _ in range(_MOST_STEPS):
        middle = (low + high) / 2
        is_done = (high - low <= 1e-5) | (middle == low) | (middle == high)
        if is_done.all():
            break
        is_above = falling(middle) > 0
        low = np.where(is_above & ~is_done, middle, low)
        high = np.where(is_above | is_done, high, middle)
    return (low + high) / 2
