"""Counts how often three kinds of confidence interval exclude the true value in simulated trials."""

from dataclasses import dataclass

import numpy as np

from bench.statistics.simulated import Values
from storage.evidence.inference.any_time import SequenceDesign, interim_analyses
from storage.evidence.intervals import Z_95, share


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which kinds of interval excluded the true value in one or more analyses of a simulated trial."""

    ordinary: bool
    """Mean +- 1.96 standard errors, as if values were independent."""
    first_variance: bool
    """Our interval without the variance of persons' sums (docs/statistics.md)."""
    ours: bool


def verdict(values: Values, design: SequenceDesign) -> Verdict:
    """Analyse a trial after each value, once it has `design.least_values` values and enough persons."""
    seen = interim_analyses(values.psi, values.persons, design)
    sd = np.sqrt(seen.spread / np.maximum(seen.n - 1, 1))
    off = np.abs(seen.mean - values.truth)
    early = seen.n < design.least_values
    return Verdict(
        bool((~early & (off > Z_95 * sd / np.sqrt(seen.n))).any()),
        bool((seen.has_interval & (off > sd * design.width(seen.n))).any()),
        seen.ever_excludes(values.truth),
    )


@dataclass(frozen=True, slots=True)
class Rates:
    """Proportions of simulated trials, from 0 to 1."""

    runs: int
    ordinary: float
    first_variance: float
    ours: float

    @property
    def ours_high(self) -> float:
        """Upper 95 % limit (Wilson) of the proportion for our intervals."""
        high = share(round(self.ours * self.runs), self.runs).high
        return 1.0 if high is None else high


def rates(verdicts: list[Verdict]) -> Rates:
    """Return the proportion of trials in which each kind of interval excluded the true value."""
    runs = len(verdicts)
    return Rates(
        runs,
        sum(each.ordinary for each in verdicts) / runs,
        sum(each.first_variance for each in verdicts) / runs,
        sum(each.ours for each in verdicts) / runs,
    )
