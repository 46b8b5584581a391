"""Learning the people model's prior: persons whose numbers are known."""

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.human.person_prior import (
    BasePrior,
    Gaussian,
    PersonPrior,
    PriorGrid,
    RatingScale,
    tilted_rows,
)
from lab.training import person_prior as training
from lab.training.person_prior import (
    JudgedReplies,
    fit_gaussian,
    log_likelihoods,
    posterior,
    predicted,
)

Floats = NDArray[np.float64]

TRUTH = PriorGrid((0.0,), tuple(float(k) for k in range(-8, 17)))
BOTH = PriorGrid(
    tuple(round(-1.0 + 0.25 * at, 2) for at in range(9)), tuple(float(k) for k in range(-8, 17, 2))
)
UNIFORM, MIN_PROBABILITY = 0.003, 1e-5


def simulated(
    traits: Floats, positions: int, rng: np.random.Generator
) -> tuple[JudgedReplies, NDArray[np.int64]]:
    """Replies of persons with these x and k, and the person of each position."""
    size = 4
    count = len(traits) * positions
    probabilities = rng.dirichlet(np.ones(size), count)
    costs = rng.exponential(0.15, (count, size)).clip(max=1.0)
    costs[:, 0] = 0.0
    persons = np.repeat(np.arange(len(traits)), positions)
    starts = np.arange(0, count * size, size)
    played = np.zeros(count, np.int64)
    for person, trait in enumerate(traits):
        mine = persons == person
        rows = tilted_rows(
            trait[None],
            probabilities[mine].ravel(),
            costs[mine].ravel(),
            starts[: mine.sum()],
            MIN_PROBABILITY,
            UNIFORM,
        )
        cumulated = rows[:, 0].reshape(-1, size).cumsum(axis=1)
        drawn = (rng.random((len(cumulated), 1)) > cumulated).sum(axis=1).clip(max=size - 1)
        played[mine] = starts[mine] + drawn
    return JudgedReplies(probabilities.ravel(), costs.ravel(), starts, played), persons


def test_intervals_of_a_person_are_right() -> None:
    """200 persons with known k, drawn from the prior: their intervals of 95 % have it in 90 to 99 %."""
    rng = np.random.default_rng(1)
    prior = Gaussian(("constant",), np.array([[0.0, 3.0]]), np.diag([0.0, 9.0]))
    traits = np.stack([np.zeros(200), rng.normal(3.0, 3.0, 200)], axis=1)
    replies, persons = simulated(traits, 60, rng)
    likely = log_likelihoods(replies, persons, 200, TRUTH, MIN_PROBABILITY, UNIFORM)
    weights = posterior(prior.prior_weights(TRUTH, np.ones((200, 1))), likely)
    sums = weights.cumsum(axis=1)
    k = np.array(TRUTH.k)
    # A point stands for the stretch from half a step below it to half a step above.
    low, high = ((k[(sums >= share).argmax(axis=1)] + side) for share, side in ((0.025, -0.5), (0.975, 0.5)))
    right = ((low <= traits[:, 1]) & (traits[:, 1] <= high)).mean()
    assert 0.90 <= right <= 0.99
    spread = np.sqrt((weights * (k - (weights @ k)[:, None]) ** 2).sum(axis=1))
    assert spread.mean() < 1.8, "and they say something: the prior alone has 3"


def test_the_prior_comes_out_that_was_put_in() -> None:
    rng = np.random.default_rng(2)
    rating = rng.uniform(-2.0, 2.0, 300)
    noise = rng.multivariate_normal([0.0, 0.0], [[0.04, 0.15], [0.15, 4.0]], 300)
    traits = np.stack([-0.2 + 0.1 * rating, 2.0 + 1.5 * rating], axis=1) + noise
    replies, persons = simulated(traits, 80, rng)
    likely = log_likelihoods(replies, persons, 300, BOTH, MIN_PROBABILITY, UNIFORM)
    features = np.stack([np.ones(300), rating], axis=1)
    found = fit_gaussian(("constant", "rating"), features, likely, BOTH)
    assert found.features == ("constant", "rating")
    assert found.coefficients[:, 0] == pytest.approx([-0.2, 0.1], abs=0.05)
    assert found.coefficients[:, 1] == pytest.approx([2.0, 1.5], abs=0.4)
    assert np.sqrt(found.covariance.diagonal()) == pytest.approx([0.2, 2.0], rel=0.25)
    assert np.array_equal(found.covariance, found.covariance.T)
    assert 0.0 < found.covariance[0, 1] < 0.4


def test_what_cannot_vary_stays() -> None:
    rng = np.random.default_rng(3)
    replies, persons = simulated(np.full((40, 2), (0.0, 4.0)), 30, rng)
    likely = log_likelihoods(replies, persons, 40, TRUTH, MIN_PROBABILITY, UNIFORM)
    found = fit_gaussian(("constant",), np.ones((40, 1)), likely, TRUTH)
    assert found.coefficients[0, 0] == 0.0
    assert found.covariance[0, 1] == found.covariance[1, 0] == 0.0
    assert found.coefficients[0, 1] == pytest.approx(4.0, abs=1.0)


def test_batches_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    replies, persons = simulated(rng.normal(0.0, 0.5, (5, 2)), 7, rng)
    assert len(replies.batches()) == 1
    whole = log_likelihoods(replies, persons, 5, BOTH, MIN_PROBABILITY, UNIFORM)
    for size in (1, 4, 9, 139):
        monkeypatch.setattr(training, "_AT_ONCE", size)
        assert len(replies.batches()) == -(-35 // max(1, size // 4))
        again = log_likelihoods(replies, persons, 5, BOTH, MIN_PROBABILITY, UNIFORM)
        assert again == pytest.approx(whole, abs=1e-9)


def test_predictions_are_those_of_the_card() -> None:
    rng = np.random.default_rng(5)
    replies, _ = simulated(rng.normal(0.0, 0.5, (3, 2)), 4, rng)
    rated = Gaussian(
        ("constant", "rating", "bullet"),
        np.array([[0.0, 2.0], [0.1, 1.0], [0.0, -1.0]]),
        np.array([[0.04, 0.1], [0.1, 4.0]]),
    )
    base = BasePrior("b" * 64, 6, MIN_PROBABILITY, BOTH, RatingScale("", 1600.0, 400.0, 2.0, 0), rated, rated)
    card = PersonPrior("othello", "", UNIFORM, 0.05, {base.base: base})
    features = np.array([[1.0, at / 8, at % 2] for at in range(12)])
    found = predicted(replies, rated, features, base, UNIFORM).reshape(12, 4)
    for at, row in enumerate(found):
        inside = slice(4 * at, 4 * at + 4)
        probabilities, costs = replies.probabilities[inside].tolist(), replies.costs[inside].tolist()
        again = card.tilted(base.base, probabilities, costs, 1600 + 50 * at, 60.0 if at % 2 else 300.0)
        assert row.tolist() == pytest.approx(again, abs=1e-12)
