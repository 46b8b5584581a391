"""`engine.person.vector`: the posterior by Newton's method, recovery of known vectors, forgetting."""

from collections.abc import Sequence

import numpy as np
import pytest

from engine.person.vector import PlanedReply, Vector, after_game, prior_vector
from tests.engine.person.samples import SIZE, vector_prior

STILL = vector_prior(forgetting=0.0)


def reply(rng: np.random.Generator, v: Sequence[float]) -> PlanedReply:
    """The reply of a person with this vector, in a made-up position."""
    count = int(rng.integers(2, 10))
    logits, planes = rng.normal(0, 1, count), rng.normal(0, 1, (count, SIZE))
    powers = np.exp(logits + planes @ np.array(v))
    return PlanedReply(logits, planes, int(rng.choice(count, p=powers / powers.sum())))


def played(rng: np.random.Generator, v: Sequence[float], games: int, replies: int = 20) -> Vector:
    vector = prior_vector(STILL)
    for _ in range(games):
        vector = after_game(vector, STILL, [reply(rng, v) for _ in range(replies)])
    return vector


def test_the_vectors_of_simulated_persons_are_recovered() -> None:
    """200 persons drawn from the prior: 95 % intervals are right for 90 to 99 %."""
    rng = np.random.default_rng(1)
    right = np.zeros(SIZE)
    for _ in range(200):
        v = rng.multivariate_normal(STILL.mean, STILL.covariance)
        found = played(rng, v.tolist(), games=4)
        sd = np.sqrt(np.linalg.inv(np.array(found.precision)).diagonal())
        right += np.abs(v - found.mean) <= 1.96 * sd
    assert ((right >= 180) & (right <= 198)).all()
    assert 0.93 <= right.mean() / 200 <= 0.97


def test_the_mean_is_the_most_likely_vector() -> None:
    rng = np.random.default_rng(2)
    replies = [reply(rng, (1.0, -1.0, 0.5, 0.0)) for _ in range(30)]
    found = after_game(prior_vector(STILL), STILL, replies)

    def loss(v: np.ndarray) -> float:
        logs = [each.logits + each.planes @ v for each in replies]
        fit = sum(
            float(log[each.played] - np.log(np.exp(log).sum()))
            for log, each in zip(logs, replies, strict=True)
        )
        return float(v @ STILL.precision @ v) / 2 - fit

    best = np.array(found.mean)
    for step in np.eye(SIZE) * 1e-3:
        assert loss(best + step) > loss(best)
        assert loss(best - step) > loss(best)


def test_no_replies_and_no_forgetting_change_nothing() -> None:
    rng = np.random.default_rng(3)
    vector = played(rng, (0.5, 0.0, 0.0, 0.0), games=2)
    after = after_game(vector, STILL, [])
    assert after.mean == pytest.approx(vector.mean, abs=2e-6)
    assert np.array(after.precision) == pytest.approx(np.array(vector.precision), rel=1e-6)


def test_forgetting_returns_to_the_prior() -> None:
    rng = np.random.default_rng(4)
    vector, prior = played(rng, (1.0, 1.0, 1.0, 1.0), games=4), vector_prior(forgetting=0.05)
    for _ in range(200):
        vector = after_game(vector, prior, [])
    assert vector.mean == pytest.approx((0.0,) * SIZE, abs=1e-3)
    assert np.array(vector.precision) == pytest.approx(prior.precision, abs=0.05)


def test_a_person_who_changes_is_followed_within_ten_games() -> None:
    rng, prior = np.random.default_rng(5), vector_prior(forgetting=0.05)
    old, new = (1.0, 0.0, 0.0, 0.0), (-1.0, 0.0, 0.0, 0.0)
    vector = prior_vector(prior)
    for at in range(25):
        replies = [reply(rng, old if at < 15 else new) for _ in range(20)]
        vector = after_game(vector, prior, replies)
        if at == 14:
            assert vector.mean[0] > 0.6
    assert vector.mean[0] < -0.2  # closer to the new one than to the old one


def test_shifts_are_rounded() -> None:
    vector = Vector((0.5, 0.25, 0.0, 0.0), prior_vector(STILL).precision)
    assert vector.shifts([(1.0, 1.0, 9.0, 9.0), (1e-7, 0.0, 0.0, 0.0)]) == (0.75, 0.0)
