"""Detects that the process was stopped for a while.

A heartbeat in the event loop, once a second, then comes late; it runs before any game deadline that has
passed meanwhile, since timers run in the order of their times.
"""

import asyncio
import time
from collections.abc import Callable

BEAT_S = 1.0
FROZEN_S = 5.0
"""A heartbeat later than this, in seconds, means a freeze rather than load."""


class FreezeWatch:
    """Reports each freeze when it is over.

    Args:
        tell: Called with the length of each freeze, in seconds.
        clock: In seconds; goes on while the process does not.
    """

    def __init__(self, tell: Callable[[float], object], clock: Callable[[], float] = time.monotonic) -> None:
        self._tell = tell
        self._clock = clock
        self._last = clock()
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Start the heartbeat on the running loop."""
        self._last = self._clock()
        self._timer = asyncio.get_running_loop().call_later(BEAT_S, self._beat_again)

    def stop(self) -> None:
        """Stop the heartbeat."""
        if self._timer is not None:
            self._timer.cancel()

    def beat(self) -> None:
        """Check how long ago the last heartbeat was."""
        at = self._clock()
        silent_s, self._last = at - self._last, at
        if silent_s > FROZEN_S:
            self._tell(silent_s)

    def _beat_again(self) -> None:
        self.beat()
        self._timer = asyncio.get_running_loop().call_later(BEAT_S, self._beat_again)
