from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from engine.formats.record import GameRecord
from lab.analysis.elo import (
    SETTLED_GAMES,
    EloStanding,
    RatedResult,
    games_before,
    rated_result,
    standings,
    with_ratings,
)
from lab.training.people.elo import expected_result
from storage.research.archive import content_key
from tests.lab.analysis.samples import position

RECORD = GameRecord(game="othello", players=("Ann", "Bob"), moves=("f5",), points=1.0, date="2016")


def result(key: str, year: int, players: tuple[str, str], points: float) -> RatedResult:
    return RatedResult(key, year, players, points)


def test_only_results_between_two_named_players_count() -> None:
    assert rated_result(RECORD) == RatedResult(content_key(RECORD), 2016, ("Ann", "Bob"), 1.0)
    wrong: dict[str, Any]
    for wrong in ({"date": "??"}, {"points": None}, {"players": ("Ann", "")}, {"players": ("Ann", "Ann")}):
        assert rated_result(replace(RECORD, **wrong)) is None


def test_the_expected_result_is_that_of_the_formula() -> None:
    assert expected_result(1600, 1600) == 0.5
    assert expected_result(2000, 1600) == pytest.approx(10 / 11)
    assert expected_result(1600, 2000) == pytest.approx(1 / 11)


def test_ratings_follow_the_results_in_the_order_of_years() -> None:
    found = standings(
        [
            result("c", 2001, ("Bob", "Ann"), 0.5),
            result("a", 2000, ("Ann", "Bob"), 1.0),
            result("b", 2000, ("Cid", "Ann"), 0.0),
        ]
    )
    assert found["a"] == (EloStanding(1500.0, 0), EloStanding(1500.0, 0))
    assert found["b"] == (EloStanding(1500.0, 0), EloStanding(1530.0, 1))
    ann = 1530.0 + 60.0 * expected_result(1500.0, 1530.0)
    assert found["c"] == (EloStanding(1470.0, 1), EloStanding(pytest.approx(ann), 2))  # type: ignore[arg-type]


def test_ratings_settle_after_twenty_games() -> None:
    many = [result(str(at), 2000, ("Ann", f"guest {at}"), 1.0) for at in range(22)]
    found = standings(many)
    ratings = [found[str(at)][0].rating for at in range(22)]
    gains = [later - before for before, later in pairwise(ratings)]
    assert gains[19] == pytest.approx(60.0 * expected_result(1500.0, ratings[19]))
    assert gains[20] == pytest.approx(24.0 * expected_result(1500.0, ratings[20]))
    assert found["21"][0].games == 21


def test_experience_is_the_games_of_earlier_years() -> None:
    results = [result(str(year), year, ("Ann", "Bob"), 1.0) for year in (2014, 2015, 2016)]
    found = games_before(results, 2016)
    assert (found["Ann"], found["Bob"], found["Cid"]) == (2, 2, 0)


def test_people_are_rated_once_they_have_played_enough() -> None:
    """The rating before the game, of the side that replied; nobody else's."""
    known = {
        "game 0": (EloStanding(1490.0, 300), EloStanding(1712.4, SETTLED_GAMES)),
        "game 1": (EloStanding(1490.0, 300), EloStanding(1712.4, SETTLED_GAMES - 1)),
    }
    scores = [[0, 0]] * 3
    given = [position(number, scores, 0) for number in (0, 3, 6)]
    assert [each.found.side for each in given] == [1, 1, 1]
    found = with_ratings(given, known)
    assert [each.found.rating for each in found] == [1712, None, None]
    assert replace(found[0], found=given[0].found) == given[0]
