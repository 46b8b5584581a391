"""Detects that the process was stopped for a while.

After a freeze, the heartbeat of the event loop (once per second) is late. It still runs before any game
deadline that passed during the freeze, because timers run in the order of their times.
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
    """Report each freeze after its end, until cancelled.

    Args:
        report: Called with the length of each freeze, in seconds.
        clock: In seconds; keeps running while the process is stopped.
        sleep: Waits for some seconds.
    """
    last = clock()
    while True:
        await sleep(BEAT_S)
        at = clock()
        if at - last > FROZEN_S:
            report(at - last)
        last = at
