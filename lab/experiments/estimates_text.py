"""Estimates with intervals, their formatting in reports, and verdicts on claims about means."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from lab.analysis.measures import PersonShare
from lab.experiments.experiment_report import ClaimVerdict
from storage.evidence.inference.student import t_quantile
from storage.evidence.inference.verdict import IntervalFinding, finding_of
from storage.evidence.intervals import Share

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """A mean with its interval."""

    value: float
    low: float
    high: float
    n: int
    """Number of values; if 0, there is no mean."""
    has_interval: bool = True
    """False if there is too little data for an interval; in this case, the limits are infinite."""

    def __neg__(self) -> "MeanEstimate":
        return MeanEstimate(-self.value, -self.high, -self.low, self.n, self.has_interval)


def without_interval(value: float, n: int) -> MeanEstimate:
    """A mean without an interval."""
    return MeanEstimate(value, float("-inf"), float("inf"), n, has_interval=False)


def mean_of(values: NDArray[np.float64], comparisons: int = 1) -> MeanEstimate:
    """The mean of independent values with its 95 % interval, by Student's t.

    Args:
        comparisons: Number of simultaneous intervals (Bonferroni).
    """
    n = len(values)
    if n < 2:
        return without_interval(float(values.sum()), n)
    half = t_quantile(1 - ALPHA / comparisons / 2, n - 1) * float(values.std(ddof=1)) / sqrt(n)
    value = float(values.mean())
    return MeanEstimate(value, value - half, value + half, n)


def verdict_above(found: Sequence[MeanEstimate], level: float) -> ClaimVerdict:
    """Verdict on the claim that every mean is above a level; the claim fails if any mean is below it."""
    findings = [finding_of(each.low - level, each.high - level) for each in found]
    if IntervalFinding.LESS in findings:
        return ClaimVerdict.FAILS
    is_above = len(findings) > 0 and set(findings) == {IntervalFinding.MORE}
    return ClaimVerdict.HOLDS if is_above else ClaimVerdict.INCONCLUSIVE


def above_zero(found: MeanEstimate) -> ClaimVerdict:
    """Verdict on whether the mean is above 0."""
    return verdict_above((found,), 0.0)


def in_points(found: MeanEstimate) -> str:
    """Format a difference of proportions, in percentage points."""
    return with_interval(found, 100, 1, "+")


def percent(found: MeanEstimate) -> str:
    """Format a mean proportion as a percentage; few values may have a wider interval than 0 to 1."""
    within = replace(found, low=max(0.0, found.low), high=min(1.0, found.high))
    return with_interval(within, 100, 1)


def with_interval(found: MeanEstimate, times: float = 1, digits: int = 2, sign: str = "") -> str:
    """Format an estimate with its interval; unknown parts are left out."""
    if found.n == 0:
        return "-"
    value, low, high = (
        f"{times * each + 0.0:{sign}.{digits}f}" for each in (found.value, found.low, found.high)
    )
    return f"{value} ({low} to {high})" if found.has_interval else value


def at_level(found: MeanEstimate, alpha: float) -> str:
    """The confidence level in brackets; empty if there is no interval or the level is 95 %."""
    return f" ({100 * (1 - alpha):g} %)" if found.has_interval and alpha != ALPHA else ""


def tally(scores: NDArray[np.float64]) -> str:
    """Format the counts of wins, draws and losses among these scores, for example +1 =2 -3."""
    return "+{} ={} -{}".format(*(int((scores == wanted).sum()) for wanted in (1.0, 0.5, 0.0)))


def share_percent(found: Share | PersonShare) -> str:
    """Format a proportion as a percentage, without its interval if there are too few persons or openings."""
    if found.share is None:
        return "-"
    value = f"{100 * found.share:.1f}"
    if found.low is None or found.high is None:
        return value
    return f"{value} ({100 * found.low:.1f} to {100 * found.high:.1f})"
