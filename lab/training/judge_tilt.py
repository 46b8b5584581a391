"""Fits how the judge's costs change the probabilities of the likeliest replies (`JudgeTilt`).

A conditional logit over the replies to each move. The features of a reply that the judge valued are ln p, 1
and minus its cost; all others together have ln p alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engine.expected import WHOLE
from engine.human.reply_forecast import JudgeTilt, ReplyForecast
from engine.judge import ReplyCosts
from lab.training.calibrated import ReplyRows, tune

MIN_MOVES = 200
"""Minimum number of moves for a fit."""
_STEPS = 30
_MIN_P, _NEVER = 1e-6, 1e-9


@dataclass(frozen=True, slots=True)
class FittedTilt:
    """The fitted numbers and what they are worth."""

    tilt: JudgeTilt
    moves: int
    nats: float
    """Mean negative log-likelihood of the replies, those that were not judged taken together."""
    nats_before: float
    """The same without the judge's costs."""


def fit_judge_tilt(
    forecasts: Sequence[ReplyForecast | None], costs: Sequence[ReplyCosts | None], played: Sequence[str]
) -> FittedTilt | None:
    """Fit the tilt to people's replies.

    Args:
        forecasts: The forecast of the replies to each move; None for no forecast.
        costs: What the likeliest replies cost; None for a decided position.
        played: The reply to each move.

    Returns:
        The fit; None with fewer than `MIN_MOVES` moves.
    """
    rows = [
        _choice(made, known, reply)
        for made, known, reply in zip(forecasts, costs, played, strict=True)
        if made is not None and known is not None and made.likeliest and _are_judged(made.likeliest, known)
    ]
    if len(rows) < MIN_MOVES:
        return None
    features, chosen = (np.stack(column) for column in zip(*rows, strict=True))
    start = np.array([1.0, 0.0, 0.0])
    weights = start.copy()
    for _ in range(_STEPS):  # Newton's method; the likelihood is concave
        p = _probabilities(features, weights)
        means = np.einsum("ij,ijk->ik", p, features)
        gradient = (np.einsum("ij,ijk->ik", chosen - p, features)).sum(axis=0)
        away = features - means[:, None, :]
        curvature = np.einsum("ij,ijk,ijl->kl", p, away, away) + 1e-6 * np.eye(len(start))
        weights = weights + np.linalg.solve(curvature, gradient)

    def nats(weights: NDArray[np.float64]) -> float:
        p = (_probabilities(features, weights) * chosen).sum(axis=1)
        return float(-np.log(np.maximum(p, _MIN_P)).mean())

    power, constant, per_cost = (round(float(each), 3) for each in weights)
    return FittedTilt(JudgeTilt(power, constant, per_cost), len(rows), nats(weights), nats(start))


def _are_judged(replies: Sequence[str], costs: ReplyCosts) -> bool:
    """Held-out probabilities make other replies the likeliest in a few positions."""
    return {costs.best.reply, *(each.reply for each in costs.replies)}.issuperset(replies)


def held_out(rows: ReplyRows, forecasts: Sequence[ReplyForecast | None]) -> list[ReplyForecast | None]:
    """The forecasts with the probabilities of calibrated models that were not fitted to the reply's game."""
    _, probabilities = tune(rows, seed=1)
    ends = np.append(rows.starts, len(probabilities))
    return [
        None if made is None else replace(made, probabilities=tuple(probabilities[start:end].tolist()))
        for made, start, end in zip(forecasts, ends[:-1], ends[1:], strict=True)
    ]


def _choice(
    made: ReplyForecast, costs: ReplyCosts, played: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The choice between the two likeliest replies and all others: their features, and which was played."""
    likeliest = made.likeliest
    p, features, chosen = np.zeros(3), np.zeros((3, 3)), np.zeros(3)
    for at, reply in enumerate(likeliest):
        p[at] = made.probabilities[made.replies.index(reply)]
        features[at, 1:] = (1.0, -costs.of(reply).cost / WHOLE)
    p[2] = max(_MIN_P, 1.0 - p.sum())
    features[:, 0] = np.log(np.maximum(p, _NEVER))
    chosen[likeliest.index(played) if played in likeliest else 2] = 1.0
    return features, chosen


def _probabilities(features: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    utilities = np.where(features[:, :, 0] > np.log(_NEVER) + 1, features @ weights, -np.inf)
    powers = np.exp(utilities - utilities.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
