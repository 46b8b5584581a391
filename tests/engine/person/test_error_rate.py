"""How often a person errs, compared with others."""

import numpy as np
import pytest

from engine.person.error_rate import error_rate
from engine.person.state import fold_games
from engine.person.tilt import dense
from tests.engine.person.samples import empty, game, model


def rate_of(k: float, games: int = 8) -> tuple[float, float, float, float]:
    """Of a person whose tilt is known: own share, interval, and that of others."""
    of = model(has_vector=False, forgetting=0.0)
    prior = of.tilt
    rng = np.random.default_rng(3)
    played = [game(rng, -0.2, k, replies=25) for _ in range(games)]
    state = fold_games(empty(of), played, of)
    weights = dense(state.tilts, len(prior.grid.points))
    found = error_rate(
        prior,
        of.uniform,
        weights,
        of.tilt_weights(None, None),
        [(each.base, each.base, each.costs) for one in played for each in one.replies],
    )
    assert found.replies == 25 * games
    assert found.low <= found.own <= found.high
    return found.own, found.low, found.high, found.others


def test_careful_people_err_less_than_others() -> None:
    own, _, high, others = rate_of(14.0)
    assert own < high < others


def test_careless_people_err_more() -> None:
    own, low, _, others = rate_of(-6.0)
    assert own > low > others


def test_the_interval_narrows() -> None:
    few, many = rate_of(3.0, games=1), rate_of(3.0, games=20)
    assert many[2] - many[1] < few[2] - few[1]


def test_without_bad_replies_nobody_errs() -> None:
    of = model(has_vector=False)
    prior = of.tilt
    weights = np.full(len(prior.grid.points), 1 / len(prior.grid.points))
    found = error_rate(prior, of.uniform, weights, weights, [((0.5, 0.5), (0.5, 0.5), (0.0, 0.05))])
    assert (found.own, found.others, found.differs) == (0.0, 0.0, False)
    found = error_rate(prior, of.uniform, weights, weights, [((0.5, 0.5), (0.5, 0.5), (0.0, 0.5))])
    assert found.own == pytest.approx(found.others)
    assert not found.differs


def test_the_vector_counts_for_the_person_alone() -> None:
    of = model(has_vector=False)
    prior = of.tilt
    weights = np.full(len(prior.grid.points), 1 / len(prior.grid.points))
    found = error_rate(prior, of.uniform, weights, weights, [((0.1, 0.9), (0.5, 0.5), (0.0, 0.5))])
    assert found.own > found.others + 0.1
