"""Reconnecting with back-off: which failures are worth another try, and how long to wait before it.

The two questions have separate answers: the first is the exception tree (`TransientError` and the plain end
of a stream mean "again", everything else passes through), the second is `delays`.
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

FIRST_S = 0.5
"""Upper end of the first wait: short, because a game's clock runs on."""
CAP_S = 10.0
"""No wait is longer: after a long outage running games are taken up again, and challenges heard, within this
time and that of a try that fails (`bot.servers.lichess.CONNECT_TIMEOUT_S`)."""
REASON_LIMIT = 500
"""Characters of a reason that are logged and kept; a server may have put anything into it."""
SETTLED_S = 5.0
"""A link that held this long worked, and past failures are forgotten.

Not at the first event: a server hangs up at once on one of two programs that share an account, after telling
it everything, and each would throw the other out twice a second for ever.
"""


def delays(rng: random.Random, quick: int = 0) -> Iterator[float]:
    """Seconds to wait before each next try, without end: random, doubling, capped at `CAP_S`.

    Random, so that many clients of a restarted server do not all come back in the same moment.

    Args:
        rng: Source of the randomness.
        quick: So many waits are as short as the first, before they begin to double.
    """
    for _ in range(quick):
        yield rng.uniform(FIRST_S / 2, FIRST_S)
    upper = FIRST_S
    while True:
        yield rng.uniform(upper / 2, upper)
        upper = min(2 * upper, CAP_S)


async def stay_connected(
    # AsyncIterator[E | None], but mypy cannot solve that for an E that is a union itself.
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
) -> None:
    """Feed events to a handler, connecting again whenever the link is lost, until `done`.

    Args:
        connect: Opens one connection; it is closed before the next is opened, and however this ends.  A None
            among its events is only a sign of life.
        handle: Called with one event after the other.  A `TransientError` from it counts as a lost link:
            the next connection tells the state anew.
        name: What is connected, for the log.
        done: Asked after each event or sign of life and at each end of a connection; True ends this function.
        on_change: Told once the reason when the link is lost, and None when it is back.
        sleep: Waits that many seconds.
        clock: Seconds of a clock that never goes back.
        rng: Source of the random waits.
        quick: So many tries follow soon after the link is lost, before the waits begin to double.

    Raises:
        AuthError, RefusedError, ProtocolError: As the connection or the handler raised them: another try
            would end the same way.
    """
    # Spreading out retries needs no secrecy.
    rng = rng or random.Random()  # noqa: S311
    waits = delays(rng, quick)
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
            reason, asked_s = "the stream ended", 0.0
        except TransientError as error:
            reason, asked_s = str(error)[:REASON_LIMIT], error.retry_after_s or 0.0
        finally:
            # A generator left behind in the middle would keep its connection until it is collected.
            aclose = getattr(events, "aclose", None)
            if aclose is not None:
                await aclose()
        if done():
            return
        if opened_at is not None and clock() - opened_at >= SETTLED_S:
            waits = delays(rng, quick)
        wait_s = max(next(waits), asked_s)
        if lost_at is None:
            lost_at = clock()
            logger.warning("%s: lost: %s; next try in %.1f s", name, reason, wait_s)
            if on_change is not None:
                await on_change(reason)
        else:
            logger.debug("%s: still lost: %s; next try in %.1f s", name, reason, wait_s)
        await sleep(wait_s)
