"""Calibration of the models of people: predicted versus observed errors, and discrimination.

The fixed-sample intervals are clustered by person and need 30 effective persons; the drift alarm, on the mean
of outcome minus prediction, is valid at any time. An e-process over all replies would not work as an alarm:
with a model that is right on average, differences between persons alone raise it to 20 in half of the runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import floor

import numpy as np
from numpy.typing import NDArray

from storage.evidence.inference.any_time import (
    MIN_PERSONS,
    AnyTimeEstimate,
    PlannedN,
    SequenceDesign,
    estimate,
)
from storage.evidence.inference.fixed import FixedInterval, fixed_logit, fixed_ratio
from storage.evidence.inference.persons import Floats, PersonId


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Predicted and actual events, such as errors, in a set of replies."""

    n: int
    """Number of replies."""
    expected: float
    """Sum of the predicted probabilities."""
    happened: int
    ratio: FixedInterval
    """Expected events divided by actual events; above 1 if fewer events happened than predicted."""
    intercept: FixedInterval
    """The intercept a in logit P = a + b logit p; 0 if calibrated."""
    slope: FixedInterval
    """The slope b in the same equation; 1 if calibrated, less if predictions are too extreme."""
    drift: AnyTimeEstimate
    """Mean of actual minus predicted; the alarm fires if its any-time-valid interval excludes 0."""


def calibration(
    predicted: Sequence[float] | Floats,
    happened: Sequence[bool] | NDArray[np.bool_],
    persons: Sequence[PersonId],
    planned_n: int = PlannedN.REPLIES,
) -> Calibration:
    """Compare one model's predictions with the outcomes.

    Args:
        predicted: Probabilities, shape (n,).
        happened: Whether each event happened, shape (n,).
        persons: The person of each reply, shape (n,).
        planned_n: Number of replies at which the alarm's interval is tightest.

    Raises:
        ValueError: The lengths differ, or a probability is outside [0, 1].
    """
    p, o = np.array(predicted, np.float64), np.array(happened, bool)
    intercept, slope = fixed_logit(p, o, persons)
    return Calibration(
        n=len(p),
        expected=float(p.sum()),
        happened=int(o.sum()),
        ratio=hide_with_few_persons(fixed_ratio(p, o, persons)),
        intercept=hide_with_few_persons(intercept),
        slope=hide_with_few_persons(slope),
        drift=estimate(o - p, persons, SequenceDesign(planned_n)),
    )


def hide_with_few_persons(found: FixedInterval) -> FixedInterval:
    """Remove the interval if the estimate has fewer than `MIN_PERSONS` effective persons."""
    if found.low is None or found.effective_persons >= MIN_PERSONS:
        return found
    early = f"P {floor(found.effective_persons)} of {MIN_PERSONS:g}"
    return replace(found, low=None, high=None, too_early=early)
