"""Values as templates show them."""

import math

import pytest

from bot.dashboard.rendering import NO_VALUE, number


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1234.5, "1,235"), (None, NO_VALUE), (math.inf, NO_VALUE), (-math.inf, NO_VALUE), (math.nan, NO_VALUE)],
)
def test_a_number_that_is_none_hides_no_page(value: float | None, shown: str) -> None:
    """A damaged row may hold one."""
    assert number(value) == shown
