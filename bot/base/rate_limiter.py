"""Rate limiter with a token bucket per caller and kind of request; also records each caller's recent use."""

import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

_MAX_CALLERS = 10_000


@dataclass(frozen=True, slots=True)
class Rate:
    """A limit that prevents accidents and abuse; normal play never reaches it."""

    name: str
    """Message to a client that has reached the limit."""
    burst: float
    """Capacity of the bucket: the largest burst of requests after a pause."""
    per_s: float
    """Refill rate: requests per second in the long run."""


class RateLimiter:
    """Applies one limit to each of many callers; forgets the least recently seen callers."""

    def __init__(self, rate: Rate, clock: Callable[[], float]) -> None:
        self._rate = rate
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    @property
    def name(self) -> str:
        return self._rate.name

    def wait_s(self, key: str, cost: float = 1.0, spare: float = 0.0) -> int:
        """Count one use; return 0 if it is allowed, otherwise the wait in seconds, rounded up.

        Args:
            key: The caller.
            cost: Tokens that the use takes out of the bucket.
            spare: Share of the bucket, from 0 to 1, that this use must leave in it.
        """
        now = self._clock()
        level, seen = self._buckets.pop(key, (self._rate.burst, now))
        level = min(self._rate.burst, level + (now - seen) * self._rate.per_s)
        needed = min(self._rate.burst, cost + spare * self._rate.burst)
        allowed = level >= needed
        self._buckets[key] = (level - cost if allowed else level, now)
        if len(self._buckets) > _MAX_CALLERS:
            self._buckets.popitem(last=False)
        return 0 if allowed else max(1, math.ceil((needed - level) / self._rate.per_s))

    def refund(self, key: str, cost: float = 1.0) -> None:
        """Put the tokens of an unsuccessful use back into the bucket."""
        if key in self._buckets:
            level, seen = self._buckets[key]
            self._buckets[key] = (min(self._rate.burst, level + cost), seen)


class RecentUse:
    """Sums each caller's use with exponential decay. Forgets the least recently seen callers.

    Args:
        for_s: Time constant of the decay, in seconds.
        clock: Returns the time in seconds.
    """

    def __init__(self, for_s: float, clock: Callable[[], float]) -> None:
        self._for_s = for_s
        self._clock = clock
        self._uses: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def of(self, key: str) -> float:
        """A caller's decayed use; at a steady rate, it converges to `for_s` times the use per second."""
        used, at = self._uses.get(key, (0.0, 0.0))
        return used * math.exp((at - self._clock()) / self._for_s)

    def add(self, key: str, cost: float) -> None:
        """Count a use."""
        used = self.of(key) + cost
        self._uses[key] = used, self._clock()
        self._uses.move_to_end(key)
        if len(self._uses) > _MAX_CALLERS:
            self._uses.popitem(last=False)
