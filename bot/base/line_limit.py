"""Limits how many lines of one kind reach the log, so that nobody can fill it from outside."""

from collections.abc import Callable

_MINUTE_S = 60.0


class LineLimit:
    """Limits the number of lines per minute."""

    def __init__(self, per_minute: int, clock: Callable[[], float]) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._began = float("-inf")
        self._lines = 0
        self._dropped = 0

    def next(self) -> str | None:
        """What to append to the next line: how many were left out before it; None: leave it out, too."""
        now = self._clock()
        if now - self._began >= _MINUTE_S:
            self._began, self._lines = now, 0
        if self._lines >= self._per_minute:
            self._dropped += 1
            return None
        self._lines += 1
        dropped, self._dropped = self._dropped, 0
        return f" ({dropped} such lines were left out before)" if dropped else ""
