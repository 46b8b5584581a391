"""Tests of ratings over results."""

import math

import numpy as np
import pytest

from lab.training.people.elo import rate


def test_ratings_are_those_before_each_game() -> None:
    found = rate([("a", "b"), ("b", "a"), ("a", "c")], [1.0, 0.5, 0.0], [0, 1, 2])
    assert found.ratings[0].tolist() == [1500, 1500]
    assert found.ratings[1].tolist() == [1470, 1530]
    expected = 1 / (1 + 10 ** (60 / 400))
    assert found.ratings[2].tolist() == [pytest.approx(1530 - 60 * (0.5 - expected)), 1500]
    assert found.games.tolist() == [[0, 0], [1, 1], [2, 0]]


def test_ratings_follow_the_order_and_games_out_of_it_are_unknown() -> None:
    found = rate([("a", "b"), ("a", "b"), ("a", "b")], [1.0, 1.0, 1.0], [2, 0])
    assert found.ratings[2].tolist() == [1500, 1500]
    assert found.ratings[0].tolist() == [1530, 1470]
    assert np.isnan(found.ratings[1]).all()
    assert np.isnan(found.games[1]).all()


def test_unknown_players_and_results_change_no_rating() -> None:
    found = rate([("a", None), ("a", "b"), ("a", "b")], [1.0, None, 1.0], [0, 1, 2])
    assert math.isnan(found.ratings[0, 1])
    assert found.ratings[2].tolist() == [1500, 1500]
    assert found.games[2].tolist() == [2, 1]


def test_after_twenty_games_ratings_change_more_slowly() -> None:
    count = 22
    found = rate([("a", f"b{number}") for number in range(count)], [1.0] * count, range(count))
    for number in range(count - 1):
        gain = found.ratings[number + 1, 0] - found.ratings[number, 0]
        expected = 1 / (1 + 10 ** ((1500 - found.ratings[number, 0]) / 400))
        assert gain == pytest.approx((60 if number < 20 else 24) * (1 - expected))
