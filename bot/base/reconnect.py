"""Reconnects with exponential back-off: which failures to retry, and how long to wait.

A `TransientError` or the normal end of a stream leads to a retry; any other exception propagates.
`backoff_delays` determines the waits, and `Retries` tells the operator about them.
"""

import asyncio
import logging
import math
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from bot.base.errors import TransientError
from bot.base.rounding import duration, plural

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

FIRST_LOG_INTERVAL_S = 60.0
"""Seconds until a failure that lasts is logged again; this interval doubles each time."""
MAX_LOG_INTERVAL_S = 3600.0
"""Longest interval between log messages about one failure that lasts, in seconds."""
MAX_LOGGED_REASONS = 5
"""Number of different reasons for one failure that are logged as soon as they occur."""


@dataclass(frozen=True, slots=True)
class RetryStatus:
    """Something that has failed and will be tried again."""

    attempts: int
    """Number of failed attempts since it last worked."""
    since: datetime
    """Time of the first of these failures."""
    error: str
    """The latest failure."""
    next_at: datetime
    """Time of the next attempt."""

    def text(self, at: datetime) -> str:
        """How often it has failed and when it will be tried again, seen from the given time."""
        wait = self.next_at - at
        next_try = f"next try in {duration(wait)}" if wait > timedelta() else "trying again now"
        return f"{plural(self.attempts, 'failed attempt')} in {duration(at - self.since)}, {next_try}"


class Retries:
    """Counts failed attempts, for the operator, and decides which of them to log.

    Args:
        clock: Monotonic clock, in seconds.
        now: Returns the current time with its time zone.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._clock = clock
        self._now = now
        self.status: RetryStatus | None = None
        """The current failure; None while there is none."""
        self._attempts = 0
        self._since = now()
        self._reasons = set[str]()
        """The logged reasons, at most `MAX_LOGGED_REASONS`."""
        self._logged_s = 0.0
        self._interval_s = FIRST_LOG_INTERVAL_S

    def record_failure(self, error: str, wait_s: float) -> bool:
        """Record a failed attempt and return whether to log it.

        New reasons are logged, and then lasting failures at growing intervals.

        Args:
            error: The reason.
            wait_s: Seconds until the next attempt.
        """
        now = self._now()
        if not self._attempts:
            self._since = now
        self._attempts += 1
        self.status = RetryStatus(self._attempts, self._since, error, now + timedelta(seconds=wait_s))
        if error not in self._reasons and len(self._reasons) < MAX_LOGGED_REASONS:
            self._reasons.add(error)
        elif self._clock() - self._logged_s >= self._interval_s:
            self._interval_s = min(2 * self._interval_s, MAX_LOG_INTERVAL_S)
        else:
            return False
        self._logged_s = self._clock()
        return True

    def text(self) -> str:
        """`RetryStatus.text` as of now; empty while there is no failure."""
        return self.status.text(self._now()) if self.status else ""

    def record_success(self, *, is_stable: bool = True) -> None:
        """Record that an attempt succeeded.

        Args:
            is_stable: Whether it has worked for long enough to forget past failures.
        """
        self.status = None
        if is_stable:
            self._attempts, self._interval_s = 0, FIRST_LOG_INTERVAL_S
            self._reasons.clear()


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


class InterruptibleWaits:
    """Waits that end early when they have become needless.

    Args:
        sleep: Waits the given number of seconds.
    """

    def __init__(self, sleep: Callable[[float], Awaitable[None]]) -> None:
        self._sleep = sleep
        self._running: dict[asyncio.Future[None], Callable[[], bool]] = {}
        """Current waits, each with a function that says whether it has become needless."""

    async def wait(self, wait_s: float, is_needless: Callable[[], bool]) -> None:
        """Wait until the time is over (infinity: without end) or the wait is needless."""
        if is_needless():
            return
        forever: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        sleeping = forever if wait_s == math.inf else asyncio.ensure_future(self._sleep(wait_s))
        self._running[sleeping] = is_needless
        try:
            await asyncio.wait([sleeping])
        finally:
            del self._running[sleeping]
            sleeping.cancel()

    def recheck(self) -> None:
        """End the waits that have become needless; call this whenever one may have."""
        for sleeping, is_needless in self._running.items():
            if is_needless():
                sleeping.cancel()


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
    retries: Retries | None = None,
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
        retries: Counts the failed attempts; None if nobody wants to know.

    Raises:
        AuthError, RefusedError, ProtocolError: Raised by the connection or the handler; another attempt would
            fail in the same way.
    """
    # Spreading out retries needs no secrecy.
    rng = rng or random.Random()  # noqa: S311
    waits = backoff_delays(rng, quick, cap_s)
    retries = retries or Retries(clock)
    lost_at: float | None = None
    is_logged = False
    while not done():
        opened_at: float | None = None
        events = connect()
        try:
            async for event in events:
                if opened_at is None:
                    opened_at = clock()
                    retries.record_success(is_stable=False)
                    if lost_at is not None:
                        level = logging.INFO if is_logged else logging.DEBUG
                        logger.log(level, "%s: back after %.1f s", name, opened_at - lost_at)
                        lost_at, is_logged = None, False
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
            retries.record_success()
        wait_s = max(next(waits), requested_s)
        is_due = retries.record_failure(reason, wait_s)
        is_logged = is_logged or is_due
        level = logging.WARNING if is_due else logging.DEBUG
        if lost_at is None:
            lost_at = clock()
            logger.log(level, "%s: connection lost: %s; next try in %.1f s", name, reason, wait_s)
            if on_change is not None:
                await on_change(reason)
        else:
            logger.log(level, "%s: still not connected: %s (%s)", name, reason, retries.text())
        await sleep(wait_s)
