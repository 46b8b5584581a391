"""Detects that the process was stopped for a while.

A heartbeat in the event loop, once a second, then comes late; it runs before any game deadline that has
passed meanwhile, because timers run in the order of their times.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable

BEAT_S = 1.0
FROZEN_S = 5.0
"""A heartbeat later than this, in seconds, means a freeze rather than load."""


async def watch_freezes(
    report: Callable[[float], object],
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> None:
    """Report each freeze when it is over, until cancelled.

    Args:
        report: Called with the length of each freeze, in seconds.
        clock: In seconds; keeps running while the process does not.
        sleep: Waits for some seconds.
    """
    last = clock()
    while True:
        await sleep(BEAT_S)
        at = clock()
        if at - last > FROZEN_S:
            report(at - last)
        last = at
