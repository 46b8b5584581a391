"""The cost of requests and the budgets of accounts, addresses and all clients together.

A point stands for about a millisecond of processor time. Each request is charged to three token buckets: the
account's, the address's and the common one. The networks around an address have buckets, too. While the
common bucket runs low, addresses and networks that have spent little lately are served first. The last part
of the common bucket, and of each address's bucket, is reserved for players in a game.
"""

import math
from collections.abc import Callable, Mapping

from bot.arena.proxies import networks
from bot.arena.traffic.nested_limits import NestedRateLimiter
from bot.base.rate_limiter import Rate, RateLimiter, RecentUse

BUCKET_CAPACITY_S = 10.0
"""A bucket's capacity, given as the seconds that it takes to refill."""
PLAYER_RESERVE = 0.25
"""Share of each address's bucket, and of the common bucket, that only players in a game may use."""
SHARED_RESERVE = 0.6
"""Share of the common bucket that an address must leave after recently spending its bucket's capacity."""
RECENT_SPENDING_DECAY_S = 10.0
"""Time constant of an address's recent spending, in seconds.

The level of an address's own bucket does not measure demand: when many addresses share the common bucket,
each spends less than its own refill, so its own bucket stays full.
"""
DAY_S = 86_400.0
PERSON_RATE = Rate("account.requests", burst=1000, per_s=100)
BOT_RATE = Rate("bot.requests", burst=2000, per_s=300)

DEFAULT_COST = 1.0
REQUEST_COSTS: Mapping[str, float] = {
    "/static/{name}": 0.3,
    "/": 0.3,
    "/api/person": 5.0,
    "/api/person/move": 5.0,
    "/api/person/learned": 100.0,
    "/api/person/forget": 50.0,
    "/api/arena": 5.0,
    "/api/bot/online": 5.0,
    "/api/users/status": 5.0,
    "/api/token/test": 5.0,
    "/api/arena/game/{game}": 3.0,
    "/api/arena/game/{game}/report": 5.0,
    "/api/arena/game/{game}/analysis": 150.0,
    "/game/export/{game}": 3.0,
    "/game/{game}/preview.png": 120.0,
    "/game/{game}/{form}": 3.0,
    "/preview/{variant}": 3.0,
    "/@/{user}": 10.0,
    "/leaders": 3.0,
    "/api/arena/leaders": 3.0,
    "/api/arena/games": 3.0,
    "/api/arena/user/{user}/games": 3.0,
    "/api/train/next": 10.0,
    "/api/train/answer": 20.0,
    "/api/train/show": 20.0,
    "/api/train/hint": 5.0,
    "/api/train/skip": 5.0,
    "/api/stream/event": 3.0,
    "/api/board/game/stream/{game}": 3.0,
    "/api/bot/game/stream/{game}": 3.0,
    "/api/challenge/{user}": 3.0,
    "/api/challenge/{challenge}/accept": 5.0,
    "/api/board/game/{game}/rematch": 3.0,
}
"""Cost of a request in points, keyed by the route's path; other requests cost `DEFAULT_COST`."""
COST_PER_PLY = 0.08
"""Points per ply if a request requires replaying a game (600 plies took 50 ms)."""


class LimitReached(Exception):
    """Raised when a limit on requests, streams or challenges has been reached."""

    status = 429

    def __init__(self, key: str, wait_s: int) -> None:
        super().__init__(f"Too many requests. Please try again in {wait_s} s.")
        self.key = key
        self.wait_s = wait_s


def spend(limiter: RateLimiter | NestedRateLimiter, key: str, cost: float = 1.0, spare: float = 0.0) -> None:
    """Count one use of a limit; takes the arguments of `RateLimiter.wait_s`.

    Raises:
        LimitReached: The limit has been reached.
    """
    if wait_s := limiter.wait_s(key, cost, spare):
        raise LimitReached(limiter.name, wait_s)


class Budgets:
    """The token buckets of all accounts and addresses, and the common bucket.

    Args:
        per_address: Points per second for each address.
        common: Points per second for all clients together.
        clock: A clock in seconds.
    """

    def __init__(self, per_address: float, common: float, clock: Callable[[], float]) -> None:
        self._persons = RateLimiter(PERSON_RATE, clock)
        self._bots = RateLimiter(BOT_RATE, clock)
        self._full_use = BUCKET_CAPACITY_S * per_address
        self._addresses = NestedRateLimiter(Rate("requests", self._full_use, per_address), clock)
        self._spent = RecentUse(RECENT_SPENDING_DECAY_S, clock)
        self._common = RateLimiter(Rate("server.requests", BUCKET_CAPACITY_S * common, common), clock)

    def charge_account(self, account_id: str, cost: float, *, is_bot: bool) -> None:
        """Charge a request's points to its account.

        Raises:
            LimitReached: The account does not have enough points.
        """
        spend(self._bots if is_bot else self._persons, account_id, cost)

    def charge_address(self, address: str, cost: float, *, is_playing: bool) -> None:
        """Charge a request's points to its address and the common bucket.

        Args:
            address: The address that the request comes from.
            cost: Points to charge.
            is_playing: Whether the account that sent the request is in a game.

        Raises:
            LimitReached: The address or the common bucket does not have enough points.
        """
        reserved = 0.0 if is_playing else PLAYER_RESERVE
        spend(self._addresses, address, cost, reserved)
        # The root tells those who asked for little from those who asked for a little more, before many of the
        # latter have used up the common one.
        use = max(
            (self._spent.of(network) + cost) / (self._full_use * factor)
            for network, factor in networks(address)
        )
        use = math.sqrt(min(1.0, use))
        left = reserved + (SHARED_RESERVE - reserved) * use
        try:
            spend(self._common, "", cost, left)
        except LimitReached:
            self._addresses.refund(address, cost)
            raise
        for network, _ in networks(address):
            self._spent.add(network, cost)
