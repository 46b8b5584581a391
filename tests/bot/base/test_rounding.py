"""Rounding as people do it."""

import pytest

from bot.base.rounding import counted, half_up


@pytest.mark.parametrize(
    ("value", "digits", "said"),
    [
        (12.5, 0, "13"),
        (13.5, 0, "14"),
        (6.25, 1, "6.3"),
        (-6.25, 1, "-6.3"),
        (0.49, 0, "0"),
        (1e15, 1, "1000000000000000.0"),
    ],
)
def test_halves_go_away_from_zero(value: float, digits: int, said: str) -> None:
    assert f"{half_up(value, digits):.{digits}f}" == said


def test_one_is_one() -> None:
    assert [counted(count, "game") for count in (0, 1, 2, 1200)] == [
        "0 games",
        "1 game",
        "2 games",
        "1,200 games",
    ]
    assert [counted(count, "person", "people") for count in (1, 2)] == ["1 person", "2 people"]
