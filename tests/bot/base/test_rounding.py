"""Rounding as people do it."""

import pytest

from bot.base.rounding import half_up


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
