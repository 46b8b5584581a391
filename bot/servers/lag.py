"""Estimates the network lag to a server."""

import math
from collections import deque


class Lag:
    """Estimates the lag as the 75th percentile of the latest round trips, to limit the effect of outliers."""

    MAX_SAMPLES = 20
    LAG_QUANTILE = 0.75
    MAX_SAMPLE_S = 1.0
    """Cap on a sample, in seconds; anything longer is a stalled site, not network lag."""

    def __init__(self) -> None:
        self._took_s: deque[float] = deque(maxlen=self.MAX_SAMPLES)

    @property
    def seconds(self) -> float:
        """The estimated lag in seconds; 0 before the first request."""
        if not self._took_s:
            return 0.0
        return sorted(self._took_s)[math.ceil(self.LAG_QUANTILE * len(self._took_s)) - 1]

    def add(self, took_s: float) -> None:
        """Add the duration of a round trip, in seconds."""
        self._took_s.append(min(took_s, self.MAX_SAMPLE_S))
