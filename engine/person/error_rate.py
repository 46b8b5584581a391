"""How often a person errs, compared with others of the same rating, and how sure that is.

At each tilt (x, k) of the grid, the expected number of errors in the positions that the person faced follows
from the base model. Its mean over the person's weights W is compared with its mean over the prior. W itself
is too sure: the squares of its errors are 1.5 times as large as it expects, so intervals use W^0.6.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.human.person_prior import BasePrior
from engine.person.tilt import at_points

MIN_ERROR_COST = 0.1
"""A reply is an error from this cost on, as a share of the game."""
_POWER = 0.6
_QUANTILES = (0.025, 0.975)


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """Shares of a person's replies that are errors."""

    replies: int
    """Number of replies."""
    own: float
    low: float
    """`low` to `high` is the 95 % interval of `own`."""
    high: float
    others: float
    """The share that others of the same rating would err in the same positions."""

    @property
    def differs(self) -> bool:
        """Whether the person errs more or less often than others, beyond the interval."""
        return not self.low <= self.others <= self.high


def error_rate(
    prior: BasePrior,
    uniform: float,
    weights: NDArray[np.float64],
    prior_weights: NDArray[np.float64],
    replies: Sequence[tuple[Sequence[float], Sequence[float], Sequence[float]]],
) -> ErrorRate:
    """Compare a person with others of the same rating.

    Args:
        prior: Has the grid.
        uniform: `engine.human.person_prior.PersonPrior.uniform`.
        weights: The person's weight of each point of the grid; they add up to 1.
        prior_weights: The prior's.
        replies: For each position that the person faced, the base model's probabilities as the person's
            vector changes them, as they are, and the costs of all replies; at least one position.
    """
    errors, of_others = np.zeros(len(weights)), np.zeros(len(weights))
    for shifted, base, costs in replies:
        is_bad = np.array(costs) >= MIN_ERROR_COST
        if is_bad.any():
            errors += at_points(prior, uniform, shifted, costs)[is_bad].sum(axis=0)
            of_others += at_points(prior, uniform, base, costs)[is_bad].sum(axis=0)
    errors, of_others = errors / len(replies), of_others / len(replies)
    order = np.argsort(errors, kind="stable")
    flat = weights**_POWER
    shares = np.cumsum(flat[order]) / flat.sum()
    low, high = (
        float(errors[order][min(int(np.searchsorted(shares, q)), len(order) - 1)]) for q in _QUANTILES
    )
    return ErrorRate(len(replies), float(errors @ weights), low, high, float(of_others @ prior_weights))
