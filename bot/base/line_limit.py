"""Limits log lines of one kind, so that clients cannot flood the log."""

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
        """A suffix for the next line with the number of omitted ones; None: omit this line, too."""
        now = self._clock()
        if now - self._began >= _MINUTE_S:
            self._began, self._lines = now, 0
        if self._lines >= self._per_minute:
            self._dropped += 1
            return None
        self._lines += 1
        dropped, self._dropped = self._dropped, 0
        return f" ({dropped} such lines were left out before)" if dropped else ""
