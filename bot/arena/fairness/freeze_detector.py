"""Detects periods in which the process did not run.

After a freeze, the event loop's heartbeat (once per second) is late. The late heartbeat still runs before any
game deadline that passed during the freeze, because timers run in the order in which they are due.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable

HEARTBEAT_INTERVAL_S = 1.0
FREEZE_THRESHOLD_S = 5.0
"""A heartbeat delay above this number of seconds indicates a freeze rather than load."""


async def detect_freezes(
    report: Callable[[float], object],
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> None:
    """Report each freeze after its end, until cancelled.

    Args:
        report: Called with the length of each freeze, in seconds.
        clock: A clock in seconds that keeps running while the process is stopped.
        sleep: Waits the given number of seconds.
    """
    last = clock()
    while True:
        await sleep(HEARTBEAT_INTERVAL_S)
        at = clock()
        if at - last > FREEZE_THRESHOLD_S:
            report(at - last)
        last = at
