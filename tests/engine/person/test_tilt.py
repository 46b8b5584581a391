"""`engine.person.tilt`: rounding, recovery of known tilts, and persons who change."""

from dataclasses import replace

import numpy as np
import pytest

from engine.person.state import fold_games, tilts_after, tilts_at_start
from engine.person.tilt import MILLION, Weights, dense, mean_tilt, millionths, start_weights, with_evidence
from tests.engine.person.samples import empty, game, model

MODEL = model(has_vector=False)


def test_millionths_round_by_largest_remainder_then_index() -> None:
    assert millionths(np.array([1.0, 1.0, 1.0])) == ((0, 333_334), (1, 333_333), (2, 333_333))
    assert millionths(np.array([0.0, 2.0])) == ((1, MILLION),)
    assert millionths(np.array([0.25e-6, 0.75e-6, 1 - 1e-6])) == ((1, 1), (2, 999_999))
    rng = np.random.default_rng(1)
    for _ in range(50):
        weights = rng.dirichlet(np.ones(143))
        found = millionths(weights)
        assert sum(weight for _, weight in found) == MILLION
        assert np.abs(dense(found, 143) - weights).max() < 1e-6


def test_a_new_game_mixes_the_prior_in() -> None:
    prior = np.array([0.5, 0.5])
    assert start_weights((), prior, 0.05) == ((0, 500_000), (1, 500_000))
    assert start_weights(((0, MILLION),), prior, 0.05) == ((0, 975_000), (1, 25_000))


def test_evidence_is_relative() -> None:
    start = ((0, 400_000), (2, 600_000))
    more = with_evidence(start, np.array([5_000, 0, 5_000]))
    assert more == start
    tilted = with_evidence(start, np.array([0, 0, 693]))  # a factor of almost exactly 2
    assert dense(tilted, 3) == pytest.approx([4 / 7, 0, 3 / 7], abs=1e-4)


def interval(weights: Weights) -> tuple[float, float]:
    """The 2.5 and 97.5 % points of k, where mass is spread over its step of the grid."""
    grid = MODEL.tilt.grid
    shares = dense(weights, len(grid.points)).reshape(len(grid.x), len(grid.k)).sum(axis=0)
    edges = np.append(np.array(grid.k) - 1.0, grid.k[-1] + 1.0)
    low, high = np.interp((0.025, 0.975), np.append(0.0, np.cumsum(shares)), edges)
    return float(low), float(high)


def test_the_tilts_of_simulated_persons_are_recovered() -> None:
    """200 persons drawn from the prior: 95 % intervals are right for 90 to 99 %."""
    rng = np.random.default_rng(2)
    assert MODEL.prior is not None
    still = replace(MODEL, prior=replace(MODEL.prior, forgetting=0.0))
    start = tilts_at_start(empty(still), still, None, None)
    points = MODEL.tilt.grid.points
    shares, right = dense(start, len(points)), 0
    for _ in range(200):
        x, k = points[rng.choice(len(points), p=shares)] + rng.uniform(-1, 1, 2) * (0.1, 1.0)
        after = tilts_after(start, empty(still), still, game(rng, x, k, replies=60).replies)
        low, high = interval(after)
        right += low <= k <= high
    assert 180 <= right <= 198


@pytest.mark.parametrize("changes", [(-4.0, 8.0), (8.0, -4.0)])
def test_a_sandbagger_and_a_shared_account_are_followed(changes: tuple[float, float]) -> None:
    """After fifteen games of one kind, ten of the other: the tilt is the new one's."""
    rng = np.random.default_rng(3)
    first, then = changes
    state = fold_games(empty(MODEL), [game(rng, 0.0, first) for _ in range(15)], MODEL)
    assert mean_tilt(MODEL.tilt, state.tilts)[1] == pytest.approx(first, abs=1.5)
    state = fold_games(state, [game(rng, 0.0, then) for _ in range(10)], MODEL)
    assert mean_tilt(MODEL.tilt, state.tilts)[1] == pytest.approx(then, abs=1.5)


def test_a_person_who_learns_is_followed() -> None:
    rng = np.random.default_rng(4)
    state, found = empty(MODEL), []
    for k in np.linspace(0.0, 10.0, 30):
        state = fold_games(state, [game(rng, 0.0, float(k))], MODEL)
        found.append(mean_tilt(MODEL.tilt, state.tilts)[1])
    lag = np.linspace(0.0, 10.0, 30)[10:] - np.array(found[10:])
    assert abs(lag.mean()) < 10 * 10 / 29  # less than ten games behind
