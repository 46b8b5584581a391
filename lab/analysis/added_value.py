"""Tests whether trappiness adds information beyond a model of people, the cost and the shallow scores.

Two conditional logits (McFadden 1974) predict which of a position's replies is played. The smaller one uses
the logarithm of a model's probability, the cost, and how far the reply scores below the others at shallower
depths; the larger one adds the paper's trappiness in its three forms, alone and times the cost. Both are
fitted on four fifths of the persons and evaluated on the rest, so the larger one need not score better.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.human.calibrated import FEATURES
from engine.params import Assessment
from lab.analysis.measures import Estimate, mean_of
from lab.analysis.population import Population
from lab.training.calibrated import ReplyRows, losses, softmax

Floats = NDArray[np.float64]

FOLDS = 5
_SHALLOW_FEATURES = ("gap_first", "gap_median", "gap_best", "gap_last")
_NEWTON_STEPS, _PENALTY = 12, 1.0
"""Maximum number of Newton steps (ten suffice), and the ridge penalty on standardised features."""
_EQUAL = 1e-9
_MIN_P = 1e-5


@dataclass(frozen=True, slots=True)
class AddedValue:
    """The gain from adding trappiness to the logit based on one model of people."""

    model: str
    """Name of the model whose probabilities both logits use."""
    nats: Estimate
    """Mean -ln p(reply) under the smaller logit, in nats per reply."""
    gain: Estimate
    """Reduction of `nats` under the larger logit."""


def added_by_trappiness(
    people: Population, probabilities: Mapping[str, Floats], seed: int = 1
) -> list[AddedValue]:
    """Compare the two logits for each model.

    Args:
        probabilities: Each model's probabilities for the replies.
        seed: Random seed for the folds.

    Returns:
        One result per model; empty if there are fewer persons than folds.
    """
    persons = people.persons
    if int(persons.max()) + 1 < FOLDS:
        return []
    folds = folds_by_person(persons, seed)
    traps = np.stack([_column(people, f"trappiness_{kind}") for kind in Assessment], axis=1)
    more = np.concatenate([traps, traps * people.loss[:, None]], axis=1)
    added = []
    for name, p in probabilities.items():
        known = np.stack(
            [
                np.log(np.maximum(p, _MIN_P)),
                people.loss,
                *(_column(people, look) for look in _SHALLOW_FEATURES),
            ],
            axis=1,
        )
        before = held_out(known, people.rows, folds)
        after = held_out(np.concatenate([known, more], axis=1), people.rows, folds)
        added.append(AddedValue(name, mean_of(before, persons), mean_of(before - after, persons)))
    return added


def _column(people: Population, name: str) -> Floats:
    return np.asarray(people.rows.features[:, FEATURES.index(name)], np.float64)


def folds_by_person(persons: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Return the fold of each position; each person is assigned to one of the `FOLDS` folds at random."""
    count = int(persons.max()) + 1
    return np.asarray(np.random.default_rng(seed).permutation(count)[persons] % FOLDS)


def held_out(features: Floats, rows: ReplyRows, folds: NDArray[np.int64]) -> Floats:
    """Return -ln p of each position's reply under a logit fitted on the other folds.

    Args:
        features: One row per reply, used in place of the features in `rows`.
    """
    spread = features.std(axis=0)
    scaled = (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    held_out = np.zeros(len(rows.starts))
    of_reply = np.repeat(folds, rows.counts)
    for fold in range(FOLDS):
        weights = _logit(scaled[of_reply != fold], rows.take(np.flatnonzero(folds != fold)))
        inside = folds == fold
        held_out[inside] = losses(softmax(scaled @ weights, rows), rows)[inside]
    return held_out


def _logit(features: Floats, rows: ReplyRows) -> Floats:
    """Fit a conditional logit by Newton's method, halving steps that worsen the fit; return its weights."""
    weights = np.zeros(features.shape[1])

    def likelihood(at: Floats) -> float:
        return -float(losses(softmax(features @ at, rows), rows).sum() + _PENALTY * at @ at / 2)

    reached = likelihood(weights)
    for _ in range(_NEWTON_STEPS):
        p = softmax(features @ weights, rows)
        means = np.add.reduceat(p[:, None] * features, rows.starts)
        away = features - np.repeat(means, rows.counts, axis=0)
        slope = (features[rows.played] - means).sum(axis=0) - _PENALTY * weights
        bend = (p[:, None] * away).T @ away + _PENALTY * np.eye(len(weights))
        step = np.linalg.solve(bend, slope)
        while (found := likelihood(weights + step)) < reached - _EQUAL and np.abs(step).max() > _EQUAL:
            step = step / 2
        weights, reached = weights + step, found
    return weights
