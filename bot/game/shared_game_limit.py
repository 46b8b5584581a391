"""Limits the concurrent games on all accounts, by number and by the load of the search threads.  No I/O."""

import math
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass

from bot.threads.fair_queue import AVERAGING_TIME_S


@dataclass(frozen=True, slots=True)
class MachineCapacity:
    """How many games with a real-time clock this machine allows one account, including running games."""

    max_games: float = math.inf
    reason: str = "all accounts together have reached engine.max_games"
    """Why no more games can start once this number is reached."""


class SharedGameLimit:
    """Counts each account's games with a real-time clock.

    Args:
        max_games: Maximum for all accounts together; 0 for no limit.
        is_busy: Whether the search threads are too busy for another game, given the number of running games
            that began within `AVERAGING_TIME_S`.
        clock: Monotonic clock, in seconds.
    """

    def __init__(
        self,
        max_games: int = 0,
        is_busy: Callable[[int], bool] = lambda _: False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._is_busy = is_busy
        self._clock = clock
        self._began: deque[float] = deque()
        """When the latest games began."""
        self._max_games = max_games or math.inf
        self._games: Counter[object] = Counter()
        self._waiters: dict[object, Callable[[], None]] = {}
        self._wanting: set[object] = set()
        """Accounts with a waiting challenger."""

    def capacity(self, account: object) -> MachineCapacity:
        """The capacity for one account now, given the games of the other accounts."""
        while self._began and self._began[0] <= self._clock() - AVERAGING_TIME_S:
            self._began.popleft()
        if self._is_busy(min(len(self._began), self._games.total())):
            return MachineCapacity(0, "the search threads are too busy for another game")
        return MachineCapacity(self._max_games - (self._games.total() - self._games[account]))

    def is_wanted_elsewhere(self, account: object) -> bool:
        """Whether a challenger is waiting at another account; if so, we send no challenges ourselves."""
        return self._max_games < math.inf and bool(self._wanting - {account})

    def count(
        self, account: object, games: int, on_change: Callable[[], None], *, has_challenger: bool = False
    ) -> None:
        """Update the number of an account's games.

        Args:
            account: Any hashable key that identifies the account.
            games: Number of running or accepted games with a real-time clock.
            on_change: Called when another account has fewer games or a new waiting challenger.
            has_challenger: Whether a challenger waits for a game at this account.
        """
        is_news = games < self._games[account] or (has_challenger and account not in self._wanting)
        self._began.extend([self._clock()] * (games - self._games[account]))
        self._games[account] = games
        self._waiters[account] = on_change
        (self._wanting.add if has_challenger else self._wanting.discard)(account)
        if is_news:
            self._wake_others(account)

    def forget(self, account: object) -> None:
        """Forget an account that no longer plays."""
        self._waiters.pop(account, None)
        self._wanting.discard(account)
        if self._games.pop(account, 0):
            self._wake_others(account)

    def _wake_others(self, account: object) -> None:
        if self._max_games < math.inf:
            for other, wake in list(self._waiters.items()):
                if other != account:
                    wake()
