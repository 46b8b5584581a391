"""Whether intervals ever exclude the truth: ours, ordinary ones, and ours with only the first variance."""

from dataclasses import dataclass

import numpy as np

from bench.statistics.simulated import Values
from storage.evidence.inference.any_time import SequenceDesign, interim_analyses
from storage.evidence.intervals import Z_95, share


@dataclass(frozen=True, slots=True)
class Verdict:
    """Intervals of one simulated trial that excluded the truth at some analysis."""

    ordinary: bool
    """Mean +- 1.96 standard errors, values taken as independent."""
    first_variance: bool
    """Section 1 without the variance of persons' sums."""
    ours: bool


def verdict(values: Values, design: SequenceDesign) -> Verdict:
    """Interim analyses after each value from `design.least_values` on, given enough persons."""
    seen = interim_analyses(values.psi, values.persons, design)
    sd = np.sqrt(seen.spread / np.maximum(seen.n - 1, 1))
    off = np.abs(seen.mean - values.truth)
    early = seen.n < design.least_values
    return Verdict(
        bool((~early & (off > Z_95 * sd / np.sqrt(seen.n))).any()),
        bool((seen.readable & (off > sd * design.width(seen.n))).any()),
        seen.ever_excludes(values.truth),
    )


@dataclass(frozen=True, slots=True)
class Rates:
    """Shares of simulated trials, from 0 to 1."""

    runs: int
    ordinary: float
    first_variance: float
    ours: float

    @property
    def ours_high(self) -> float:
        """The upper 95 % limit of ours, for the number of runs (Wilson)."""
        high = share(round(self.ours * self.runs), self.runs).high
        return 1.0 if high is None else high


def rates(verdicts: list[Verdict]) -> Rates:
    """How often each kind of interval excluded the truth."""
    runs = len(verdicts)
    return Rates(
        runs,
        sum(each.ordinary for each in verdicts) / runs,
        sum(each.first_variance for each in verdicts) / runs,
        sum(each.ours for each in verdicts) / runs,
    )
