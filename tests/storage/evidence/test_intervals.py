from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.evidence import intervals
from storage.evidence.intervals import performances, share
from tests.storage.evidence.statistics.by_reply import OpponentGames, performance


def test_wilson_interval_of_the_papers_figure_9() -> None:
    found = share(61, 198)
    assert type(found.low) is type(found.high) is float
    assert found.share == pytest.approx(0.3081, abs=1e-4)
    assert found.low == pytest.approx(0.2480, abs=1e-4)
    assert found.high == pytest.approx(0.3756, abs=1e-4)


def test_shares_at_the_ends() -> None:
    assert share(0, 0).share is None
    assert share(0, 10).low == 0
    assert share(0, 10).high == pytest.approx(0.2775, abs=1e-4)
    assert share(10, 10).high == 1
    assert share(10, 10).low == pytest.approx(0.7225, abs=1e-4)


def test_the_papers_ratings_are_far_inside_the_noise() -> None:
    """39-9-2 and 40-9-1 of 50: some 20 points apart, each with an interval of some 200."""
    standard = performance([OpponentGames(1445, 50, 40.0)])
    trappy = performance([OpponentGames(1445, 50, 40.5)])
    assert standard.rating == pytest.approx(1445 + 400 * 0.60206, abs=0.01)  # 4 : 1
    assert standard.rating is not None
    assert trappy.rating is not None
    assert trappy.low is not None
    assert standard.high is not None
    assert 5 < trappy.rating - standard.rating < 30
    assert trappy.low < standard.rating < trappy.rating < standard.high


def test_no_games_no_rating() -> None:
    found = performance([])
    assert (found.games, found.rating, found.low, found.high) == (0, None, None, None)


def test_all_won_has_only_a_lower_limit_and_all_lost_only_an_upper() -> None:
    won = performance([OpponentGames(1500, 4, 4.0)])
    assert (won.rating, won.high) == (None, None)
    # Wilson's lower limit for 4 of 4 is 0.5101.
    assert won.low == pytest.approx(1507.0, abs=0.5)
    lost = performance([OpponentGames(1500, 4, 0.0)])
    assert (lost.rating, lost.low) == (None, None)
    assert lost.high == pytest.approx(1493.0, abs=0.5)


def test_a_rating_is_looked_for_as_far_as_the_opponents_are() -> None:
    """Even with one of them, and certain to win or lose against the others."""
    above = performance([OpponentGames(100, 1, 1.0), OpponentGames(9000, 2, 1.0)])
    below = performance([OpponentGames(9000, 1, 0.0), OpponentGames(100, 2, 1.0)])
    assert above.rating == pytest.approx(9000, abs=1e-4)
    assert below.rating == pytest.approx(100, abs=1e-4)


@pytest.mark.parametrize("rating", [2**63 - 1, -(2**63), 10**12])
def test_absurd_ratings_end_the_search(rating: int) -> None:
    """There the next number is farther away than the search's precision."""
    found = performance([OpponentGames(rating, 2, 1.0)])
    assert found.rating == pytest.approx(rating, rel=1e-9)
    assert performance([OpponentGames(rating, 1, 0.0)]).low is None


@given(
    st.lists(
        st.tuples(st.integers(400, 2800), st.integers(1, 40), st.integers(0, 80)), min_size=1, max_size=6
    )
)
def test_the_interval_holds_the_rating_and_more_points_never_lower_it(
    groups: list[tuple[int, int, int]],
) -> None:
    met = [
        OpponentGames(rating, games, min(half_points, 2 * games) / 2) for rating, games, half_points in groups
    ]
    found = performance(met)
    low, high = -inf if found.low is None else found.low, inf if found.high is None else found.high
    assert low < high
    if found.rating is None:
        assert found.points in (0, found.games)
    else:
        assert low < found.rating < high
        better = performance([*met, OpponentGames(2000, 1, 1.0)]).rating
        assert better is not None
        worse = performance([*met, OpponentGames(2000, 1, 0.0)]).rating
        assert worse is not None
        assert worse < better


@given(st.integers(1, 200), st.data())
def test_one_rating_agrees_with_wilson(games: int, data: st.DataObject) -> None:
    points = data.draw(st.integers(0, games))
    found, wilson = performance([OpponentGames(1500, games, float(points))]), share(points, games)

    def expected(rating: float) -> float:
        return float(1 / (1 + 10 ** ((1500 - rating) / 400)))

    if found.low is not None:
        assert expected(found.low) == pytest.approx(wilson.low, abs=1e-6)
    if found.high is not None:
        assert expected(found.high) == pytest.approx(wilson.high, abs=1e-6)


def test_a_rating_in_words() -> None:
    met = [(4.0, "above 1507"), (0.0, "below 1493"), (2.0, "1500 (1199 to 1801)")]
    assert [performance([OpponentGames(1500, 4, points)]).words for points, _ in met] == [
        words for _, words in met
    ]
    assert performance([]).words == ""


def test_groups_without_games_have_no_rating() -> None:
    group, ratings = np.array([0, 2], np.intp), np.array([1500.0, 1600.0])
    found = performances(group, ratings, np.array([4.0, 4.0]), np.array([2.0, 2.0]), 4)
    assert [each.games for each in found] == [4, 0, 4, 0]
    assert found[1].rating is found[3].rating is None
    assert [found[at].rating for at in (0, 2)] == [pytest.approx(1500), pytest.approx(1600)]


@pytest.mark.parametrize(("ratings", "most"), [([1500], 6), ([1400, 1500, 1650], 15)])
def test_a_rating_takes_few_steps(monkeypatch: pytest.MonkeyPatch, ratings: list[int], most: int) -> None:
    """The first guess is exact for opponents of one rating, and Newton's steps converge for others."""
    moments, steps = intervals._moments, list[object]()

    def counted(*given: Any) -> Any:
        steps.append(given)
        return moments(*given)

    monkeypatch.setattr(intervals, "_moments", counted)
    performance([OpponentGames(rating, 10, 7.0) for rating in ratings])
    assert len(steps) <= most
