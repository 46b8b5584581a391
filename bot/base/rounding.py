"""Rounds numbers the same way wherever people read them: halves away from 0, as they learn it at school.

Python's formats round a half to the even digit, so 6.25 would be 6.2 and 6.75 would be 6.8.
"""

from math import copysign, floor


def half_up(value: float, digits: int = 0) -> float:
    """A number rounded to so many decimals; to be written with just as many."""
    power = 10**digits
    return copysign(floor(abs(value) * power + 0.5) / power, value)
