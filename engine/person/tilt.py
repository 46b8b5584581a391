"""The weights W of the tilts (x, k) that a person may have (`engine.human.person_prior`).

Within a game W is the start's weights times exp(-(E - min E) / 1000), where E sums the evidence of the
person's replies so far in whole thousandths of a nat: it does not matter in which order replies arrive.
Between games a share of the prior is mixed in again, against people who pretend to be weak and accounts that
several people share. Weights are whole millionths.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.human.person_prior import BasePrior, tilted_rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Weights = tuple[tuple[int, int], ...]
"""The points of the grid with a weight above 0, ascending, each with its weight in millionths."""

MILLION = 1_000_000
_PER_NAT = 1_000


def millionths(weights: Floats) -> Weights:
    """Round weights to whole millionths that add up to a million, by largest remainders; ties by index."""
    exact = weights * (MILLION / weights.sum())
    whole = np.floor(exact).astype(np.int64)
    by_remainder = np.argsort(-(exact - whole), kind="stable")
    whole[by_remainder[: MILLION - int(whole.sum())]] += 1
    return tuple((int(at), int(whole[at])) for at in np.flatnonzero(whole))


def dense(weights: Weights, points: int) -> Floats:
    """The weights of all points of the grid, as shares of 1."""
    found = np.zeros(points)
    for at, weight in weights:
        found[at] = weight / MILLION
    return found


def start_weights(before: Weights, prior: Floats, forgetting: float) -> Weights:
    """The weights at the start of a game.

    Args:
        before: The weights after the person's latest game; empty if there was none.
        prior: `PersonPrior.prior_weights` for the person and the game.
        forgetting: Share of the prior in the new weights.
    """
    if not before:
        return millionths(prior)
    return millionths((1.0 - forgetting) * dense(before, len(prior)) + forgetting * prior)


def without_tail(weights: Weights, share: float) -> Weights:
    """The weights without the smallest ones, which together are at most this share of them; ties by index."""
    dropped, total = set(), 0
    for at, weight in sorted(weights, key=lambda each: (each[1], each[0])):
        total += weight
        if total > share * MILLION:
            break
        dropped.add(at)
    return tuple(each for each in weights if each[0] not in dropped)


def with_prior(weights: Weights, prior: Floats, other: Floats) -> Weights:
    """The weights as they would be if evidence had moved them from another prior.

    Weights below a millionth are not known, so a prior below a millionth counts as one.

    Args:
        weights: Weights that began as `prior`.
        prior: The prior's weight of each point, as shares of 1.
        other: The other prior's.

    Returns:
        The weights; empty if the other prior excludes all of them.
    """
    shares = dense(weights, len(prior)) * other / np.maximum(prior, 1.0 / MILLION)
    return millionths(shares) if shares.sum() > 0.0 else ()


def evidence(
    prior: BasePrior,
    uniform: float,
    replies: Sequence[tuple[Sequence[float], Sequence[float], int]],
) -> Ints:
    """What replies tell about the tilt: the sum of -1000 ln p(reply), rounded, at each point of the grid.

    Args:
        prior: Has the grid.
        uniform: `PersonPrior.uniform`.
        replies: For each reply, the probabilities before the tilt and the costs (from 0 to 1) of all legal
            replies, and the index of the one that was played; at least one.
    """
    counts = np.array([len(costs) for _, costs, _ in replies])
    starts = np.cumsum(counts) - counts
    found = tilted_rows(
        prior.grid.points,
        np.concatenate([probabilities for probabilities, _, _ in replies]),
        np.concatenate([costs for _, costs, _ in replies]),
        starts,
        prior.least,
        uniform,
    )
    played = found[starts + np.array([index for _, _, index in replies])]
    total: Ints = np.rint(-_PER_NAT * np.log(played)).astype(np.int64).sum(axis=0)
    return total


def with_evidence(start: Weights, total: Ints) -> Weights:
    """The weights after replies whose `evidence` adds up to this."""
    share = dense(start, len(total))
    present = share > 0
    powers = np.zeros(len(total))
    powers[present] = np.exp(-(total[present] - total[present].min()) / _PER_NAT)
    return millionths(share * powers)


def tilted(
    prior: BasePrior,
    uniform: float,
    weights: Weights,
    probabilities: Sequence[float],
    costs: Sequence[float],
) -> tuple[float, ...]:
    """The probabilities of a position's replies, averaged over the tilts.

    Args:
        prior: Has the grid.
        uniform: `PersonPrior.uniform`.
        weights: The weights of the tilts.
        probabilities: The probabilities before the tilt.
        costs: Costs of the replies, from 0 to 1.
    """
    found = at_points(prior, uniform, probabilities, costs) @ dense(weights, len(prior.grid.points))
    return tuple((found / found.sum()).tolist())


def at_points(
    prior: BasePrior, uniform: float, probabilities: Sequence[float], costs: Sequence[float]
) -> Floats:
    """The probabilities of a position's replies at each point of the grid, shape (replies, points)."""
    return tilted_rows(
        prior.grid.points,
        np.asarray(probabilities, np.float64),
        np.asarray(costs, np.float64),
        np.zeros(1, np.int64),
        prior.least,
        uniform,
    )


def mean_tilt(prior: BasePrior, weights: Weights) -> tuple[float, float]:
    """The means of b = e^x and of k."""
    points, shares = prior.grid.points, dense(weights, len(prior.grid.points))
    return float(np.exp(points[:, 0]) @ shares), float(points[:, 1] @ shares)
