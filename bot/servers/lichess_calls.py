"""When requests may be sent, one at a time and none while the server asks us to wait; and their answers."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from enum import Enum, auto

import aiohttp

from bot.base.errors import PausedError, TransientError
from bot.servers.lichess_errors import TooManyRequests

ANSWER_LIMIT = 1 << 20
"""Longest answer to a request, in bytes."""


class Lane(Enum):
    """Requests that wait for each other: an unanswered one delays none of another kind."""

    ANSWERS = auto()
    """To challenges, draw offers and takebacks; also resigning and claims."""
    READS = auto()
    CHAT = auto()


class RequestThrottle:
    """Sends one request of a lane at a time and none after a 429, as the sites demand.

    Requests that keep a running game alive (moves, streams) bypass it; their 429s count all the same.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._locks = {lane: asyncio.Lock() for lane in Lane}
        self._quiet_until = -math.inf

    @asynccontextmanager
    async def turn(self, what: str, lane: Lane) -> AsyncIterator[None]:
        """Wait for the lane's earlier requests.

        Args:
            what: The request, for messages.
            lane: Its kind.

        Raises:
            PausedError: The server wants no requests for a while.
        """
        async with self._locks[lane]:
            self.check_quiet(what)
            yield

    def check_quiet(self, what: str) -> None:
        """Check for quiet only: for a request that is not urgent but too slow to block the queue.

        Raises:
            PausedError: As in `turn`.
        """
        left_s = self._quiet_until - self._clock()
        if left_s > 0:
            raise PausedError(f"{what}: not sent: the server demands a pause of {left_s:.0f} s", left_s)

    def heard(self, error: Exception) -> None:
        """Record the error of a request."""
        if isinstance(error, TooManyRequests):
            self._quiet_until = max(self._quiet_until, self._clock() + error.quiet_s)


async def read_answer(response: aiohttp.ClientResponse) -> bytes:
    """Read a complete answer.

    Raises:
        TransientError: It is longer than `ANSWER_LIMIT`.
    """
    try:
        await response.content.readexactly(ANSWER_LIMIT + 1)
    except asyncio.IncompleteReadError as error:
        return error.partial
    raise TransientError(f"{response.method} {response.url.path}: more than {ANSWER_LIMIT} bytes")
