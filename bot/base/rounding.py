"""Formats numbers for people: halves are rounded away from 0, and nouns agree with their number.

Halves are rounded away from 0, as taught in school.  Python's formats round them to the even digit, so 6.25
would be 6.2 and 6.75 would be 6.8.
"""

from math import copysign, floor

NO_VALUE = "\N{EN DASH}"
"""Placeholder for a missing number."""


def half_up(value: float, digits: int = 0) -> float:
    """A number rounded to a number of decimals; to be printed with the same number."""
    power = 10**digits
    return copysign(floor(abs(value) * power + 0.5) / power, value)


def counted(count: int, one: str, many: str = "") -> str:
    """A number with its noun: ``1 game``, ``1,200 games``.

    Args:
        count: The number.
        one: The word for one of them.
        many: For several; empty: with an s.
    """
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def percent(value: float | None, digits: int = 0) -> str:
    """A share from 0 to 1."""
    return NO_VALUE if value is None else f"{half_up(100 * value, digits):.{digits}f} %"
