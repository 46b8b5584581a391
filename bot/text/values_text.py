"""Formats numbers, times and names in the same way for all views."""

import math
from datetime import UTC, datetime

from bot.base.rounding import NO_VALUE, duration, half_up
from engine.games import GAMES


def number(value: float | None, digits: int = 0) -> str:
    """Format a number with thousands separators."""
    return NO_VALUE if value is None or not math.isfinite(value) else f"{half_up(value, digits):,.{digits}f}"


def signed_number(value: float | None, digits: int = 1) -> str:
    """Format a number with its sign (a true minus), or without a sign if it rounds to 0."""
    if value is None:
        return NO_VALUE
    text = f"{half_up(value, digits):+.{digits}f}"
    return text.replace("-", "\N{MINUS SIGN}") if float(text) else text[1:]


def difference(share: float, digits: int = 1) -> str:
    """Format a difference between shares in percentage points."""
    return signed_number(100 * share, digits)


def difference_interval(mean: float | None, low: float | None, high: float | None) -> str:
    """Format a difference between shares with its interval: ``+1.1 (+0.4 to +1.8)``, or ``too early``."""
    if mean is None:
        return NO_VALUE
    if low is None or high is None:
        return "too early"
    return f"{difference(mean)} ({difference(low)} to {difference(high)})"


def time_text(value: datetime | None, form: str = "%Y-%m-%d %H:%M") -> str:
    """Format a time in UTC for people."""
    return NO_VALUE if value is None else value.astimezone(UTC).strftime(form)


def iso_time(value: datetime | None) -> str | None:
    """Format a time in UTC for programs."""
    return None if value is None else time_text(value, "%Y-%m-%dT%H:%M:%SZ")


def milliseconds(seconds: float | None) -> str:
    """Format a duration in whole milliseconds."""
    return NO_VALUE if seconds is None else f"{number(1000 * seconds)} ms"


def ago(value: datetime | None, now: datetime | None = None) -> str:
    """Format the time since an event in words."""
    if value is None:
        return NO_VALUE
    elapsed_s = ((now or datetime.now(UTC)) - value).total_seconds()
    return "just now" if elapsed_s < 1 else f"{duration(elapsed_s, 1)} ago"


def title_of(game: str) -> str:
    """A game's display name."""
    known = GAMES.get(game)
    return game if known is None else known.title
