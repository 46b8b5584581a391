"""Scores as expected score: the table that Python and the C++ core share."""

import math
from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.expected import WHOLE, expected_score, expected_table
from engine.game import WIN_CENTI
from engine.games.othello import Othello

scores = st.integers(-WIN_CENTI - 20_000, WIN_CENTI + 20_000)
logistics = st.sampled_from([1, 30.5, 150, 803.8, 50_000, 1_000_000])
"""Each has a table, which takes a while with the largest."""


@given(scores, logistics)
@settings(deadline=None)
def test_it_is_the_logistic_function_in_whole_hundredths_of_a_per_cent(score: int, logistic: float) -> None:
    found = expected_score(score, logistic)
    if abs(score) >= WIN_CENTI:
        assert found == (WHOLE if score > 0 else 0)
    else:
        true = WHOLE / (1 + math.exp(-score / logistic)) if score > -700 * logistic else 0
        assert abs(found - true) < 0.5001


@given(scores, scores, logistics)
@settings(deadline=None)
def test_it_never_falls_and_both_sides_share_the_point(a: int, b: int, logistic: float) -> None:
    low, high = sorted((a, b))
    assert 0 <= expected_score(low, logistic) <= expected_score(high, logistic) <= WHOLE
    assert expected_score(a, logistic) + expected_score(-a, logistic) == WHOLE


@pytest.mark.parametrize("logistic", [1, 200, 803.8, 20_000, 1_000_000])
def test_the_table_holds_all_that_the_core_must_know(logistic: float) -> None:
    table = array("h", expected_table(logistic))
    assert len(table) <= WIN_CENTI
    assert table[0] == WHOLE // 2
    assert list(table) == [expected_score(score, logistic) for score in range(len(table))]
    assert expected_score(len(table), logistic) == WHOLE


def test_the_games_own_function() -> None:
    game = Othello()
    start = game.initial()
    promised = expected_score(100, game.expected_scale_centi(start))
    assert promised == pytest.approx(WHOLE / (1 + math.exp(-100 / game.expected_scale_centi(start))), abs=0.5)
