"""Who replied, and the bands."""

from dataclasses import replace

import pytest

from lab.analysis.persons import games_bands, is_person, person_key, rating_bands, seconds_of
from tests.lab.analysis.samples import position

STORED = position(0, ([0, 0], [0, 0], [0, 0]), 0)


def test_programs_and_unknown_names_are_no_persons() -> None:
    assert [is_person(name) for name in ("Ann", "", "???", "Zebra (andersson)")] == [True] + [False] * 3


def test_a_missing_name_is_replaced_by_the_game() -> None:
    keys = [person_key(replace(STORED, name=name)) for name in ("Ann", "", "???", "Zebra (andersson)")]
    assert keys == ["Ann", "game game 0", "game game 0", "Zebra (andersson)"]


def test_speeds() -> None:
    assert seconds_of("180+2") == 260
    assert seconds_of("?") is None


@pytest.mark.parametrize(
    ("rating", "band"),
    [
        (1299, "rated under 1300"),
        (1300, "rated 1300-1699"),
        (2099, "rated 1700-2099"),
        (2100, "rated from 2100"),
        (None, "without a rating"),
    ],
)
def test_bands_of_ratings(rating: float | None, band: str) -> None:
    assert [name for name, inside in rating_bands([rating]).items() if inside.all()] == [band]


@pytest.mark.parametrize(
    ("games", "band"),
    [(0, ["0"]), (1, ["1-30"]), (30, ["1-30"]), (31, ["31-200"]), (201, ["from 201"]), (None, [])],
)
def test_bands_of_games(games: int | None, band: list[str]) -> None:
    found = [name for name, inside in games_bands([games]).items() if inside.all()]
    assert found == [f"games before: {text}" for text in band]
