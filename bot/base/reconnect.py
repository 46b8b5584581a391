"""Reconnects with exponential back-off: which failures to retry, and how long to wait.

A `TransientError` or the normal end of a stream leads to a retry; any other exception propagates.
`backoff_delays` determines the waits.
"""

import asyncio
import logging
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, TypeVar

from bot.base.errors import TransientError

logger = logging.getLogger(__name__)

E = TypeVar("E")

FIRST_WAIT_S = 0.5
"""Maximum length of the first wait, in seconds; short, because the game's clock is running."""
MAX_RECONNECT_WAIT_S = 10.0
"""Longest wait: after a long outage, running games and challenges resume within this time plus the duration
of one failed attempt (`bot.servers.lichess.CONNECT_TIMEOUT_S`)."""
MAX_REASON_LENGTH = 500
"""Maximum length of a reason in the log and the database, because a server controls its text."""
STABLE_CONNECTION_S = 5.0
"""Time in seconds after which a link counts as working and past failures are forgotten.

The first event does not prove that a link works: if two programs share an account, each new connection
receives all data and the older one is closed, so the programs would disconnect each other twice a second.
"""


def backoff_delays(
    rng: random.Random, quick: int = 0, cap_s: float = MAX_RECONNECT_WAIT_S
) -> Iterator[float]:
    """Yield the wait before each attempt, in seconds, endlessly; waits are random and double up to a cap.

    The waits are random so that the clients of a restarted server do not all return at the same moment.

    Args:
        rng: Source of the randomness.
        quick: Number of extra waits as short as the first one, before the waits begin to double.
        cap_s: The longest wait.
    """
    for _ in range(quick):
        yield rng.uniform(FIRST_WAIT_S / 2, FIRST_WAIT_S)
    upper = FIRST_WAIT_S
    while True:
        yield rng.uniform(upper / 2, upper)
        upper = min(2 * upper, cap_s)


async def stay_connected(
    # AsyncIterator[E | None], but mypy cannot solve that when E is itself a union.
    connect: Callable[[], AsyncIterator[Any]],
    handle: Callable[[E], Awaitable[None]],
    *,
    name: str,
    done: Callable[[], bool] = lambda: False,
    on_change: Callable[[str | None], Awaitable[None]] | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    clock: Callable[[], float] = time.monotonic,
    rng: random.Random | None = None,
    quick: int = 0,
    cap_s: float = MAX_RECONNECT_WAIT_S,
) -> None:
    """Feed events to a handler, reconnecting whenever the link is lost, until `done` returns true.

    Args:
        connect: Opens one connection, which is always closed before the next one is opened or this function
            ends.  A None among the connection's events is only a keep-alive.
        handle: Called with each event in turn.  A `TransientError` from `handle` counts as a lost link: the
            next connection sends the complete state again.
        name: Name of the connection, for the log.
        done: Called after each event, each keep-alive and each lost link; if true, `stay_connected` returns.
        on_change: Called once with the reason when the link is lost, and with None when the link is back.
        sleep: Waits the given number of seconds.
        clock: Monotonic clock, in seconds.
        rng: Source of the random waits.
        quick: Number of quick attempts after a lost link, before the waits begin to double.
        cap_s: The longest wait.

    Raises:
        AuthError, RefusedError, ProtocolError: Raised by the connection or the handler; another attempt would
            fail in the same way.
    """
    # Spreading out retries needs no secrecy.
    rng = rng or random.Random()  # noqa: S311
    waits = backoff_delays(rng, quick, cap_s)
    lost_at: float | None = None
    while not done():
        opened_at: float | None = None
        events = connect()
        try:
            async for event in events:
                if opened_at is None:
                    opened_at = clock()
                    if lost_at is not None:
                        logger.info("%s: back after %.1f s", name, opened_at - lost_at)
                        lost_at = None
                        if on_change is not None:
                            await on_change(None)
                if event is not None:
                    await handle(event)
                if done():
                    return
            reason, requested_s = "the stream ended", 0.0
        except TransientError as error:
            reason, requested_s = str(error)[:MAX_REASON_LENGTH], error.retry_after_s or 0.0
        finally:
            # An abandoned generator would hold its connection until it is garbage-collected.
            aclose = getattr(events, "aclose", None)
            if aclose is not None:
                await aclose()
        if done():
            return
        if opened_at is not None and clock() - opened_at >= STABLE_CONNECTION_S:
            waits = backoff_delays(rng, quick, cap_s)
        wait_s = max(next(waits), requested_s)
        if lost_at is None:
            lost_at = clock()
            logger.warning("%s: connection lost: %s; next try in %.1f s", name, reason, wait_s)
            if on_change is not None:
                await on_change(reason)
        else:
            logger.debug("%s: still not connected: %s; next try in %.1f s", name, reason, wait_s)
        await sleep(wait_s)
