"""A clock that only tests advance."""

import asyncio

from bot.base.reconnect import MAX_RECONNECT_WAIT_S


class FakeTime:
    """Short waits, as between connection attempts, end at once; longer ones end when the test moves time."""

    def __init__(self) -> None:
        self.now = 0.0
        self._sleepers: list[tuple[float, asyncio.Event]] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        if seconds <= MAX_RECONNECT_WAIT_S:
            await asyncio.sleep(0)
            return
        event = asyncio.Event()
        sleeper = (self.now + seconds, event)
        self._sleepers.append(sleeper)
        try:
            await event.wait()
        finally:
            self._sleepers.remove(sleeper)

    def advance(self, seconds: float) -> None:
        """Let time pass, and wake the tasks whose time has come."""
        self.now += seconds
        for until, event in self._sleepers:
            if until <= self.now:
                event.set()

    @property
    def sleeping(self) -> int:
        """How many tasks are waiting for time to pass."""
        return len(self._sleepers)
