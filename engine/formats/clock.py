"""Clock notation of GGF, GGS and NBoard: ``15:00``, ``05:00/00:12/02:00``, ``04:59,0:0//02:00,0:0``.

Three times separated by slashes, each optional: initial time, increment, and grace period.
"""

import re
from dataclasses import dataclass
from typing import Self

_MAX_CLOCK_S = 1_000_000_000
_TIME = re.compile(r"(-?)(?:(\d{1,4})\.)?(\d{1,5}(?::\d{1,2}){0,2})((?<=:\d\d)\.\d{1,6})?")
_COUNT = re.compile(r"N|N?\d{1,6}(:\d{1,6})?")


class BadClock(ValueError):
    """The text is not a valid clock, or contains an invalid time."""


@dataclass(frozen=True, slots=True)
class GgfClock:
    """A clock; the defaults for omitted fields are the server's, 15:00//02:00."""

    initial_s: int = 900
    """Initial time."""
    increment_s: int = 0
    """Increment in seconds, added after each move."""
    extension_s: int = 120
    """Grace period; a side that enters it loses by at least 2 discs; a side that exceeds it loses by 64."""
    is_plain: bool = True
    """Whether the same terms apply to every move; if not, the increment may cover several moves."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a clock; for a running clock, ``04:59,0:0//02:00,0:0``, return the times left.

        The numbers after the commas count moves; the server omits defaults: ``30:00,N//05:00,N10``.

        Raises:
            BadClock: The text is not a valid clock.
        """
        fields = text.split("/")
        if len(fields) > 3:
            raise BadClock(f"{text[:60]!r} is not a clock")
        usual = cls()
        times = [usual.initial_s, usual.increment_s, usual.extension_s]
        is_plain = True
        for number, told in enumerate(fields):
            time, comma, count = told.strip().partition(",")
            if time:
                times[number] = parse_time(time)
            if comma:
                is_plain = False
                if not _COUNT.fullmatch(count):
                    raise BadClock(f"{text[:60]!r} is not a clock")
        return cls(times[0], times[1], times[2], is_plain)

    def text(self, *, with_extension: bool = True) -> str:
        """The clock as text with every field; optionally without the grace period, so that the server uses
        its default."""
        times = (self.initial_s, self.increment_s, self.extension_s)
        return "/".join(map(time_text, times if with_extension else times[:2]))

    def left_s(self, used_s: float, moves: int) -> float:
        """Time left after `moves` moves that used `used_s` seconds in total, excluding the grace period."""
        return self.initial_s + self.increment_s * moves - used_s


def parse_time(text: str) -> int:
    """Convert ``[-][D.][[HH:]MM:]SS`` to seconds, dropping fractions; a bare number means minutes.

    Raises:
        BadClock: The text is not a valid time.
    """
    match = _TIME.fullmatch(text)
    if match is None:
        raise BadClock(f"{text[:40]!r} is not a time")
    parts = [int(part) for part in match[3].split(":")]
    if len(parts) == 1:
        parts.append(0)
    seconds = 86_400 * int(match[2] or 0)
    for unit_s, part in zip((1, 60, 3600), reversed(parts), strict=False):
        seconds += unit_s * part
    seconds = min(seconds, _MAX_CLOCK_S)
    return -seconds if match[1] else seconds


def time_text(seconds: int) -> str:
    """A time as ``MM:SS`` or ``HH:MM:SS``; a bare number would mean minutes."""
    minutes, left = divmod(abs(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return "-" * (seconds < 0) + (f"{hours:02}:" if hours else "") + f"{minutes:02}:{left:02}"
