"""Rounding as people do it."""

from datetime import timedelta

import pytest

from bot.base.rounding import NO_VALUE, duration, half_up, plural


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
    assert [plural(count, "game") for count in (0, 1, 2, 1200)] == [
        "0 games",
        "1 game",
        "2 games",
        "1,200 games",
    ]
    assert [plural(count, "person", "people") for count in (1, 2)] == ["1 person", "2 people"]


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(-5, "0 s"), (59, "59 s"), (60, "1 min"), (61, "1 min 1 s"), (3661, "1 h 1 min"), (90_000, "1 d 1 h")],
)
def test_durations(seconds: int, shown: str) -> None:
    assert duration(seconds) == duration(timedelta(seconds=seconds)) == shown


def test_a_duration_in_one_unit() -> None:
    shown = [duration(each, 1) for each in (None, 0.04, 9.96, 10, 119, 120, 7200, 172_800)]
    assert shown == [NO_VALUE, "0.0 s", "10.0 s", "10 s", "119 s", "2 min", "2 h", "2 d"]
