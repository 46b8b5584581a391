"""Caches expensive results; concurrent callers share one computation in a thread."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from bot.arena.challenges import ServerBusy

MAX_WAITING_COMPUTATIONS = 32
"""Maximum number of waiting computations."""
BUSY_RETRY_AFTER_S = 2
"""Retry-After when all slots are busy, in seconds."""

V = TypeVar("V")
T = TypeVar("T")


class SingleFlightCache(Generic[V]):
    """Caches the most recently used results.

    Args:
        most: Maximum total weight of the cached results.
        weigh: Returns the weight of a result.
        keep: Returns whether to cache a result at all.
    """

    def __init__(
        self,
        most: int,
        weigh: Callable[[V], int] = lambda _: 1,
        keep: Callable[[V], bool] = lambda _: True,
    ) -> None:
        self._most = most
        self._weigh = weigh
        self._keep = keep
        self._values: OrderedDict[Hashable, V] = OrderedDict()
        self._weight = 0
        self._making: dict[Hashable, asyncio.Future[V]] = {}
        self._bench = asyncio.Semaphore(1)

    def cached(self, key: Hashable) -> V | None:
        """The cached result; None if there is none."""
        if key in self._values:
            self._values.move_to_end(key)
        return self._values.get(key)

    async def get(self, key: Hashable, make: Callable[[], Awaitable[V]]) -> V:
        """Return a result from the cache, or compute it if it is missing.

        Args:
            key: Identifies the result; equal keys must have equal results.
            make: Computes the result, running its costly part through `in_thread`.

        Raises:
            ServerBusy: Too many computations are waiting.
            Exception: Any exception raised by `make`; all callers receive it, and nothing is cached.
        """
        if (value := self.cached(key)) is not None:
            return value
        if key not in self._making:
            if len(self._making) >= MAX_WAITING_COMPUTATIONS:
                raise ServerBusy("The server is busy; please try again", BUSY_RETRY_AFTER_S, "server.busy")
            making = self._making[key] = asyncio.ensure_future(self._make(key, make))
            # Errors go to those who wait, who may all have gone.
            making.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(self._making[key])

    async def in_thread(self, work: Callable[..., T], *args: object) -> T:
        """Run a function in a thread, to keep the event loop free; the functions run one at a time."""
        async with self._bench:
            return await asyncio.to_thread(work, *args)

    async def _make(self, key: Hashable, make: Callable[[], Awaitable[V]]) -> V:
        try:
            value = await make()
        finally:
            del self._making[key]
        if not self._keep(value):
            return value
        self._values[key] = value
        self._weight += self._weigh(value)
        while self._weight > self._most and len(self._values) > 1:
            _, oldest = self._values.popitem(last=False)
            self._weight -= self._weigh(oldest)
        return value
