"""Ratings of people and positions go opposite ways; a new position's follows from its forecast."""

from dataclasses import replace

import pytest

from bot.arena import glicko
from bot.arena.glicko import Rating
from bot.arena.puzzles.ratings import (
    PUZZLE_START_DEVIATION,
    START_RATING,
    is_provisional,
    rate_answer,
    start_rating,
)
from storage.arena.puzzles.positions import NewMistake, PuzzleRating

MISTAKE = NewMistake(1, 1, 1, 1600, "chess", 1, 0.5)


def test_the_start_is_where_the_forecast_expects_the_person_to_fall() -> None:
    assert start_rating(MISTAKE) == PuzzleRating(1600.0, PUZZLE_START_DEVIATION, 0.06)
    assert start_rating(replace(MISTAKE, opponent_rating=None)).rating == START_RATING.rating
    assert start_rating(replace(MISTAKE, probability=10 / 11)).rating == pytest.approx(2000)
    assert start_rating(replace(MISTAKE, probability=1 / 11)).rating == pytest.approx(1200)
    assert (
        start_rating(replace(MISTAKE, probability=0.0)).rating
        == start_rating(replace(MISTAKE, probability=0.05)).rating
    )
    assert start_rating(replace(MISTAKE, probability=1.0, opponent_rating=9000)).rating == 2400
    assert start_rating(replace(MISTAKE, opponent_rating=-500)).rating == 800


@pytest.mark.parametrize("is_solved", [True, False])
def test_both_sides_are_rated_by_the_ratings_before(is_solved: bool) -> None:
    person, position = PuzzleRating(1500.0, 200.0, 0.06, 3, 1), PuzzleRating(1400.0, 90.0, 0.05, 7, 5)
    after, harder = rate_answer(person, position, is_solved=is_solved)
    sides = Rating(1500.0, 200.0, 0.06), Rating(1400.0, 90.0, 0.05)
    for found, own, other, score in (
        (after, sides[0], sides[1], float(is_solved)),
        (harder, sides[1], sides[0], float(not is_solved)),
    ):
        expected = glicko.update_rating(own, [(other, score)])
        assert Rating(found.rating, found.deviation, found.volatility) == expected
    assert (after.rating > 1500.0) is is_solved
    assert (harder.rating < 1400.0) is is_solved
    assert (after.answers, after.solved) == (4, 1 + is_solved)
    assert (harder.answers, harder.solved) == (8, 5 + is_solved)


def test_a_newcomer_is_provisional() -> None:
    assert is_provisional(START_RATING)
    assert not is_provisional(replace(START_RATING, deviation=60.0))
