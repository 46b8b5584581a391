"""Estimates with intervals, and how reports write them."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from bot.experiments.report import ClaimVerdict
from storage.inference.student import t_quantile
from storage.intervals import Share

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """A mean with its interval."""

    value: float
    low: float
    high: float
    n: int

    def __neg__(self) -> "MeanEstimate":
        return MeanEstimate(-self.value, -self.high, -self.low, self.n)


def mean_of(values: NDArray[np.float64], looks: int = 1) -> MeanEstimate:
    """The mean of independent values with its 95 % interval, by Student's t.

    Args:
        looks: Number of intervals that shall all hold together (Bonferroni).
    """
    n = len(values)
    if n == 0:
        return MeanEstimate(0.0, float("-inf"), float("inf"), 0)
    if n == 1:
        return MeanEstimate(float(values[0]), float("-inf"), float("inf"), 1)
    half = t_quantile(1 - ALPHA / looks / 2, n - 1) * float(values.std(ddof=1)) / sqrt(n)
    value = float(values.mean())
    return MeanEstimate(value, value - half, value + half, n)


def above_zero(found: MeanEstimate) -> ClaimVerdict:
    """Whether the mean is above 0."""
    if found.low > 0:
        return ClaimVerdict.HOLDS
    return ClaimVerdict.FAILS if found.high < 0 else ClaimVerdict.OPEN


def points(found: MeanEstimate) -> str:
    """A difference of shares, in hundredths."""
    return number(found, 100, 1, "+")


def percent(found: MeanEstimate) -> str:
    """A mean share in per cent."""
    return number(found, 100, 1)


def number(found: MeanEstimate, times: float = 1, digits: int = 2, sign: str = "") -> str:
    """An estimate with its interval."""
    if found.n == 0:
        return "-"
    value, low, high = (
        f"{times * each + 0.0:{sign}.{digits}f}" for each in (found.value, found.low, found.high)
    )
    return value if found.n == 1 else f"{value} ({low} to {high})"


def tally(scores: NDArray[np.float64]) -> str:
    """Wins, draws and losses among games with these scores, as +1 =2 -3."""
    return "+{} ={} -{}".format(*(int((scores == wanted).sum()) for wanted in (1.0, 0.5, 0.0)))


def percents(found: Share) -> str:
    """A share of counts with its interval, in per cent."""
    if found.share is None or found.low is None or found.high is None:
        return "-"
    return f"{100 * found.share:.1f} ({100 * found.low:.1f} to {100 * found.high:.1f})"
