"""Rate limits of an address and of the networks around it, so that many addresses are worth only a few."""

from collections.abc import Callable

from bot.arena.proxies import LIMIT_FACTORS, networks
from bot.base.rate_limiter import Rate, RateLimiter


class NestedRateLimiter:
    """Applies a limit to an address, and a multiple of it to each network around the address.

    Args:
        rate: The limit of one address.
        clock: Returns the time in seconds.
    """

    def __init__(self, rate: Rate, clock: Callable[[], float]) -> None:
        self.name = rate.name
        self._limiters = {
            factor: RateLimiter(Rate(rate.name, rate.burst * factor, rate.per_s * factor), clock)
            for factor in LIMIT_FACTORS
        }

    def wait_s(self, key: str, cost: float = 1.0, spare: float = 0.0) -> int:
        """Count one use by an address; takes the arguments of `RateLimiter.wait_s`."""
        used = list[tuple[RateLimiter, str]]()
        for network, factor in networks(key):
            limiter = self._limiters[factor]
            if wait_s := limiter.wait_s(network, cost, spare):
                for other, counted in used:
                    other.refund(counted, cost)
                return wait_s
            used.append((limiter, network))
        return 0

    def refund(self, key: str, cost: float = 1.0) -> None:
        """Undo an unsuccessful use by an address."""
        for network, factor in networks(key):
            self._limiters[factor].refund(network, cost)
