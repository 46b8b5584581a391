"""Glicko-2 against its author's worked example."""

import math

import pytest

from bot.arena.glicko import Rating, update_rating


def test_glickmans_example() -> None:
    """The result in "Example of the Glicko-2 system": 1464.06, 151.52, 0.05999."""
    player = Rating(1500, 200, 0.06)
    results = [(Rating(1400, 30), 1.0), (Rating(1550, 100), 0.0), (Rating(1700, 300), 0.0)]
    after = update_rating(player, results, tau=0.5)
    assert after.rating == pytest.approx(1464.06, abs=0.01)
    assert after.deviation == pytest.approx(151.52, abs=0.01)
    assert after.volatility == pytest.approx(0.05999, abs=0.00001)


def test_the_volatility_is_the_zero_of_glickmans_function() -> None:
    """After a surprise that moves it far, by plain bisection instead of the Illinois algorithm."""
    player, opponent, tau = Rating(2200, 60, 0.06), Rating(1200, 60), 1.2
    phi, other, mu = 60 / 173.7178, 60 / 173.7178, 1000 / 173.7178
    g = 1 / math.sqrt(1 + 3 * other**2 / math.pi**2)
    expected = 1 / (1 + math.exp(-g * mu))
    variance = 1 / (g**2 * expected * (1 - expected))
    delta = variance * g * (0 - expected)

    def f(x: float) -> float:
        numerator = math.exp(x) * (delta**2 - phi**2 - variance - math.exp(x))
        return numerator / (2 * (phi**2 + variance + math.exp(x)) ** 2) - (x - math.log(0.06**2)) / tau**2

    low, high = -20.0, 20.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) > 0 else (low, middle)
    after = update_rating(player, [(opponent, 0.0)], tau=tau)
    assert after.volatility == pytest.approx(math.exp(low / 2), rel=1e-5)
    assert after.volatility > 0.06007


def test_a_period_without_games_only_adds_doubt() -> None:
    after = update_rating(Rating(1500, 200, 0.06), [])
    assert (after.rating, after.volatility) == (1500, 0.06)
    assert after.deviation == pytest.approx(math.hypot(200, 0.06 * 173.7178))


def test_equals_move_apart_by_the_same() -> None:
    player = Rating(1600, 80)
    won, lost, drawn = (update_rating(player, [(player, score)]) for score in (1.0, 0.0, 0.5))
    assert won.rating - 1600 == pytest.approx(1600 - lost.rating)
    assert drawn.rating == pytest.approx(1600)


def test_a_surprise_raises_the_volatility() -> None:
    strong, weak = Rating(2200, 60), Rating(1200, 60)
    assert (
        update_rating(strong, [(weak, 0.0)]).volatility
        > 0.06
        > update_rating(strong, [(weak, 1.0)]).volatility
    )


def test_ratings_stay_within_bounds() -> None:
    player = Rating(150, 60)
    for _ in range(50):
        player = update_rating(player, [(Rating(200, 350), 0.0)])
    assert player.rating >= 100
    assert 45 <= player.deviation <= 350
    assert update_rating(Rating(deviation=350), []).deviation == 350


def test_the_bounds_are_reached() -> None:
    known = [(Rating(1500, 30), 0.5)] * 40
    assert update_rating(Rating(1500, 46), known).deviation == 45
    assert update_rating(Rating(101, 350), [(Rating(100, 30), 0.0)]).rating == 100
    assert update_rating(Rating(3999, 350), [(Rating(4000, 30), 1.0)]).rating == 4000


def test_newcomers_are_provisional() -> None:
    assert Rating().is_provisional
    assert not Rating(1500, 110).is_provisional
