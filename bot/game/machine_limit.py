"""Limits the games of all accounts together.  No I/O."""

import math
from collections import Counter
from collections.abc import Callable


class MachineLimit:
    """Counts the games with a real-time clock of each account.

    Args:
        max_games: The most at all accounts together; 0: no limit.
    """

    def __init__(self, max_games: int = 0) -> None:
        self._max_games = max_games or math.inf
        self._games: Counter[object] = Counter()
        self._waiters: dict[object, Callable[[], None]] = {}

    def free(self, account: object) -> float:
        """How many games one account may have now, those that it has included."""
        return self._max_games - (self._games.total() - self._games[account])

    def count(self, account: object, games: int, on_room: Callable[[], None]) -> None:
        """Note how many games an account has.

        Args:
            account: Any key.
            games: Running or accepted games with a real-time clock.
            on_room: Called whenever another account has fewer games than before.
        """
        has_room = games < self._games[account]
        self._games[account] = games
        self._waiters[account] = on_room
        if has_room:
            self._wake_others(account)

    def forget(self, account: object) -> None:
        """Forget an account that does not play any more."""
        self._waiters.pop(account, None)
        if self._games.pop(account, 0):
            self._wake_others(account)

    def _wake_others(self, account: object) -> None:
        if self._max_games < math.inf:
            for other, wake in list(self._waiters.items()):
                if other != account:
                    wake()
