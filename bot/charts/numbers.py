"""Formats numbers and times for display, and places axis ticks."""

import math
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.base.rounding import half_up

MINUS = "\N{MINUS SIGN}"
_MIN_SPAN = 1e-9
"""Minimum span of an axis, relative to its largest value; smaller spans are treated as rounding errors."""

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_STEPS_S = (
    *(_MINUTE * n for n in (1, 2, 5, 10, 15, 30)),
    *(_HOUR * n for n in (1, 2, 3, 4, 6, 8, 12)),
    *(_DAY * n for n in (1, 2, 7, 14)),
)
_STEPS_MONTHS = (1, 2, 3, 6)
_MONTH = 30.44 * _DAY
_YEAR = 365.25 * _DAY
_MONDAY = 4 * _DAY
"""The first Monday after the POSIX epoch, 1970-01-05, as a POSIX time."""
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True, slots=True)
class NumberStyle:
    """The format of a chart's numbers."""

    decimals: int = 0
    """Number of decimals in tables and labels; ticks have as many decimals as they need."""
    is_signed: bool = False
    """Whether positive numbers get a plus sign, as is usual for differences."""
    unit: str = ""
    """Text after the number, including a space if needed: ``" s"``, ``" %"``."""
    is_grouped: bool = True
    """Whether commas separate the thousands; ratings have no commas."""
    is_whole: bool = False
    """Whether the values are counts or other whole numbers, so that ticks between them mean nothing."""

    def text(self, value: float, decimals: int | None = None) -> str:
        """A number as text."""
        places = self.decimals if decimals is None else decimals
        digits = f"{half_up(abs(value), places):{',' if self.is_grouped else ''}.{places}f}"
        is_zero = not any(digit in "123456789" for digit in digits)
        sign = "" if is_zero else MINUS if value < 0 else "+" if self.is_signed else ""
        return f"{sign}{digits}{self.unit}"

    def interval(self, low: float, high: float) -> str:
        """An interval as text, without the unit."""
        plain = NumberStyle(self.decimals, self.is_signed, is_grouped=self.is_grouped)
        return f"{plain.text(low)} to {plain.text(high)}"


PLAIN = NumberStyle(is_whole=True)
"""Whole numbers."""
RATINGS = NumberStyle(is_grouped=False, is_whole=True)
DIFFERENCE = NumberStyle(decimals=1, is_signed=True)
"""The format of differences, with one decimal."""


@dataclass(frozen=True, slots=True)
class Ticks:
    """The ticks of an axis: whole multiples of a step."""

    values: tuple[float, ...]
    """Rising."""
    decimals: int
    """Number of decimals needed to distinguish the ticks."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Maps values to coordinates in a drawing; `low` and `high` come from `span_of` or from ticks."""

    low: float
    high: float
    """Above `low`."""
    start: float
    """Coordinate of `low`."""
    end: float
    """Coordinate of `high`."""

    def at(self, value: float) -> float:
        """The coordinate of a value."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def span_of(values: Iterable[float]) -> tuple[float, float]:
    """The minimum and maximum value, widened if they are nearly equal; (0, 1) if there are no values."""
    numbers = list(values)
    if not numbers:
        return 0.0, 1.0
    low, high = min(numbers), max(numbers)
    size = max(abs(low), abs(high))
    if size < _MIN_SPAN:
        return -1.0, 1.0
    if high - low < size * _MIN_SPAN:
        return low - size / 10, high + size / 10
    return low, high


def ticks_around(low: float, high: float, max_ticks: int, *, is_whole: bool = False) -> Ticks:
    """Ticks that cover `low` to `high`, extending at most a step beyond each end; 1 to `max_ticks` steps.

    Args:
        low: Lower end; finite.
        high: Upper end; finite and above `low` (see `span_of`).
        max_ticks: Maximum number of steps, at least 2.
        is_whole: Whether all ticks must be whole numbers.
    """
    return _ticks(low, high, max_ticks, is_around=True, is_whole=is_whole)


def ticks_within(low: float, high: float, max_ticks: int, *, is_whole: bool = False) -> Ticks:
    """Ticks inside an interval, with at most `max_ticks` steps; takes the arguments of `ticks_around`."""
    return _ticks(low, high, max_ticks, is_around=False, is_whole=is_whole)


def _ticks(low: float, high: float, max_ticks: int, *, is_around: bool, is_whole: bool) -> Ticks:
    # Steps of 1, 2 or 5 times a power of ten, the least first.
    exponent = math.floor(math.log10((high - low) / max_ticks))
    if is_whole:
        exponent = max(exponent, 0)
    slack = 1e-9  # a multiple of the step may miss a tick by a rounding error
    while True:
        for digit in (1, 2, 5):
            ends = [_steps(value, digit, exponent) for value in (low, high)]
            if is_around:
                first, last = math.floor(ends[0] + slack), math.ceil(ends[1] - slack)
                last = max(last, first + 1)
            else:
                first, last = math.ceil(ends[0] - slack), math.floor(ends[1] + slack)
            if last - first <= max_ticks:
                return Ticks(
                    tuple(_multiple(n * digit, exponent) for n in range(first, last + 1)), max(0, -exponent)
                )
        exponent += 1


def _steps(value: float, digit: int, exponent: int) -> float:
    return value / _multiple(digit, exponent)


def _multiple(count: int, exponent: int) -> float:
    """``count * 10**exponent``, rounded once."""
    return float(count * 10**exponent) if exponent >= 0 else count / 10**-exponent


def time_text(at_s: float, *, is_daily: bool) -> str:
    """A time in UTC as ``26 Nov 2026``, with the time of day unless `is_daily`."""
    at = datetime.fromtimestamp(at_s, UTC)
    day = f"{at.day} {_MONTHS[at.month - 1]} {at.year}"
    return day if is_daily else f"{day}, {at:%H:%M}"


def time_ticks(low_s: float, high_s: float, max_ticks: int) -> tuple[tuple[float, str], ...]:
    """At most `max_ticks` ticks of a time axis in UTC, with their labels.

    Args:
        low_s: Start, as a POSIX time.
        high_s: End, as a POSIX time after `low_s`.
        max_ticks: Maximum number of ticks, at least 2.
    """
    need_s = (high_s - low_s) / max_ticks
    index = bisect_left(_STEPS_S, need_s)
    if index < len(_STEPS_S):
        step = _STEPS_S[index]
        origin = _MONDAY if step % (7 * _DAY) == 0 else 0
        first = math.ceil((low_s - origin) / step)
        last = math.floor((high_s - origin) / step)
        ticks = [float(origin + n * step) for n in range(first, last + 1)][:max_ticks]
        return tuple((at_s, _clock_label(at_s, step)) for at_s in ticks)
    months = next((n for n in _STEPS_MONTHS if n * _MONTH >= need_s), 0)
    if not months:
        digits = ticks_within(low_s / _YEAR, high_s / _YEAR, max_ticks).values
        months = 12 * max(1, round(digits[1] - digits[0])) if len(digits) > 1 else 12
    begin = datetime.fromtimestamp(low_s, UTC)
    end = datetime.fromtimestamp(high_s, UTC)
    first = -(-(begin.year * 12 + begin.month - 1) // months)
    last = (end.year * 12 + end.month - 1) // months
    marks = [datetime(n * months // 12, n * months % 12 + 1, 1, tzinfo=UTC) for n in range(first, last + 1)]
    return tuple((m.timestamp(), _month_label(m)) for m in marks if low_s <= m.timestamp())[:max_ticks]


def _clock_label(at_s: float, step: int) -> str:
    at = datetime.fromtimestamp(at_s, UTC)
    if step >= _DAY or not (at.hour or at.minute):
        return f"{at.day} {_MONTHS[at.month - 1]}"
    return f"{at:%H:%M}"


def _month_label(at: datetime) -> str:
    return str(at.year) if at.month == 1 else _MONTHS[at.month - 1]
