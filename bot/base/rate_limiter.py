"""Rate limiter: token buckets, one per caller and kind of request."""

import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

_MAX_KEYS = 10_000


@dataclass(frozen=True, slots=True)
class Rate:
    """A limit against accidents and abuse; normal play never reaches it."""

    name: str
    """Sent to the client that reached it."""
    burst: float
    """Capacity of the bucket: requests at once after a pause."""
    per_s: float
    """Refill rate: requests per second in the long run."""


class RateLimiter:
    """One limit for many callers; forgets those not seen for longest."""

    def __init__(self, rate: Rate, clock: Callable[[], float]) -> None:
        self._rate = rate
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    @property
    def name(self) -> str:
        return self._rate.name

    def fill(self, key: str) -> float:
        """How full a caller's bucket is, from 0 to 1."""
        level, seen = self._buckets.get(key, (self._rate.burst, 0.0))
        return min(1.0, (level + (self._clock() - seen) * self._rate.per_s) / self._rate.burst)

    def wait_s(self, key: str, cost: float = 1.0, spare: float = 0.0) -> int:
        """Count one use; 0: allowed, else whole seconds until the next is.

        Args:
            key: The caller.
            cost: What the use takes out of the bucket.
            spare: Share of the bucket, from 0 to 1, that this use must leave to others.
        """
        now = self._clock()
        level, seen = self._buckets.pop(key, (self._rate.burst, now))
        level = min(self._rate.burst, level + (now - seen) * self._rate.per_s)
        needed = min(self._rate.burst, cost + spare * self._rate.burst)
        allowed = level >= needed
        self._buckets[key] = (level - cost if allowed else level, now)
        if len(self._buckets) > _MAX_KEYS:
            self._buckets.popitem(last=False)
        return 0 if allowed else max(1, math.ceil((needed - level) / self._rate.per_s))

    def refund(self, key: str, cost: float = 1.0) -> None:
        """Give a use back that came to nothing."""
        if key in self._buckets:
            level, seen = self._buckets[key]
            self._buckets[key] = (min(self._rate.burst, level + cost), seen)
