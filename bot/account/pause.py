"""Holds back new games on all accounts, for a number of minutes or until further notice.  No I/O."""

import time
from collections.abc import Callable


class Pause:
    """Whether new games are held back; running games continue.

    Args:
        clock: A monotonic clock, in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._is_on = False
        self._until_s: float | None = None
        self._followers: dict[object, Callable[[], None]] = {}

    @property
    def holds_back_games(self) -> bool:
        """Whether new games are held back now."""
        return self._is_on and (self._until_s is None or self._clock() < self._until_s)

    @property
    def has_expired(self) -> bool:
        """Whether the pause has expired and `end` has not been called since."""
        return self._is_on and not self.holds_back_games

    def begin(self, duration_s: float | None = None) -> None:
        """Hold back new games from now on; replaces a pause in progress.

        Args:
            duration_s: Length in seconds, or None to pause until `end` is called.
        """
        self._is_on = True
        self._until_s = None if duration_s is None else self._clock() + duration_s
        self._call_followers()

    def end(self) -> None:
        """Let games start again."""
        self._is_on, self._until_s = False, None
        self._call_followers()

    def follow(self, who: object, on_change: Callable[[], None]) -> None:
        """Call a function after each `begin` and `end`, until `leave` is called."""
        self._followers[who] = on_change

    def leave(self, who: object) -> None:
        """Undo `follow`."""
        self._followers.pop(who, None)

    def _call_followers(self) -> None:
        for on_change in list(self._followers.values()):
            on_change()
