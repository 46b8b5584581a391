"""Notices that the process did not run for a while: it was stopped.

A beat of the event loop's own, once a second, comes late then; and it comes before any deadline of a game
that has passed meanwhile, since timers run in the order of their times.
"""

import asyncio
import time
from collections.abc import Callable

BEAT_S = 1.0
FROZEN_S = 5.0
"""A beat that is later than this is no mere burden of work."""


class FreezeWatch:
    """Tells of each freeze when it is over.

    Args:
        tell: Called with the seconds in which the process did not run.
        clock: In seconds; goes on while the process does not.
    """

    def __init__(self, tell: Callable[[float], object], clock: Callable[[], float] = time.monotonic) -> None:
        self._tell = tell
        self._clock = clock
        self._last = clock()
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Beat on the running loop, until `stop`."""
        self._last = self._clock()
        self._timer = asyncio.get_running_loop().call_later(BEAT_S, self._beat_again)

    def stop(self) -> None:
        """Beat no more."""
        if self._timer is not None:
            self._timer.cancel()

    def beat(self) -> None:
        """See how long ago the last beat was."""
        at = self._clock()
        silent_s, self._last = at - self._last, at
        if silent_s > FROZEN_S:
            self._tell(silent_s)

    def _beat_again(self) -> None:
        self.beat()
        self._timer = asyncio.get_running_loop().call_later(BEAT_S, self._beat_again)
