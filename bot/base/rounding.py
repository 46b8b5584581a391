"""Formats numbers and durations for people; rounds halves away from 0 and makes nouns agree in number.

Halves are rounded away from 0, as taught in school.  Python's formats round halves to even digits,
so 6.25 would become 6.2, but 6.75 would become 6.8.
"""

from datetime import timedelta
from itertools import pairwise
from math import copysign, floor

NO_VALUE = "\N{EN DASH}"
"""Placeholder for a missing number."""
_ROUNDING_EPSILON = 1e-9
_UNITS = ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def half_up(value: float, digits: int = 0) -> float:
    """Round a number to `digits` decimals; print the result with the same number of decimals.

    Halves are rounded away from 0 even if floating-point error puts a sum slightly below them.
    """
    power = 10**digits
    return copysign(floor(abs(value) * power + 0.5 + _ROUNDING_EPSILON) / power, value)


def plural(count: int, one: str, many: str = "") -> str:
    """A number with its noun: ``1 game``, ``1,200 games``.

    Args:
        count: The number.
        one: The noun in the singular.
        many: The noun in the plural; if empty, the singular with an s.
    """
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def percent(value: float | None, digits: int = 0) -> str:
    """Format a share from 0 to 1 as a percentage."""
    return NO_VALUE if value is None else f"{half_up(100 * value, digits):.{digits}f} %"


def duration(length: timedelta | float | None, units: int = 2) -> str:
    """Format a length of time; never below 0 s.

    Args:
        length: The length, in seconds if it is a number; None if unknown.
        units: Number of units: 2 for the two largest, as in ``2 h 5 min``; 1 for only the largest unit with a
            count of at least two (below 10 s, seconds with one decimal).
    """
    if length is None:
        return NO_VALUE
    seconds = length.total_seconds() if isinstance(length, timedelta) else length
    if units == 1:
        for size, unit in _UNITS[:-1]:
            if seconds >= 2 * size:
                return f"{seconds / size:.0f} {unit}"
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    whole = max(0, round(seconds))
    for (size, unit), (below, part) in pairwise(_UNITS):
        if whole >= size:
            rest = whole % size // below
            return f"{whole // size} {unit}" + (f" {rest} {part}" if rest else "")
    return f"{whole} s"
