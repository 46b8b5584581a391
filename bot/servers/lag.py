"""Measures network lag to a server."""

import math
from collections import deque


class Lag:
    """How long answered requests take, from the latest ones.

    Three of four took no longer than what is told; a few that took ages say little about the next.
    """

    LATEST = 20
    MOST = 0.75
    LONGEST_S = 1.0
    """What took longer is counted as this: a site that stalls is no long way."""

    def __init__(self) -> None:
        self._took_s: deque[float] = deque(maxlen=self.LATEST)

    @property
    def seconds(self) -> float:
        """0 before the first request."""
        if not self._took_s:
            return 0.0
        return sorted(self._took_s)[math.ceil(self.MOST * len(self._took_s)) - 1]

    def add(self, took_s: float) -> None:
        self._took_s.append(min(took_s, self.LONGEST_S))
