"""Records when an account's stream was opened, when data last arrived, and failed attempts. No I/O."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from datetime import datetime
from typing import Any

from bot.base.reconnect import Retries
from storage.tables.types import now_utc


class ConnectionMonitor:
    """The state of an account's link, for the operator.

    Args:
        clock: Monotonic clock, in seconds.
        now: Returns the current time with its time zone.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, now: Callable[[], datetime] = now_utc
    ) -> None:
        self._now = now
        self.retries = Retries(clock, now)
        """Attempts to reopen the stream."""
        self.up_since: datetime | None = None
        """When the current stream was opened, or None if none is open."""
        self.heard_at: datetime | None = None
        """When data, including keep-alives, last arrived."""
        self.event_at: datetime | None = None
        """When the last event arrived."""
        self.trouble = ""
        """Why the link was last lost; empty if the link is up or has never been up."""

    async def record_times(self, events: Any) -> AsyncIterator[Any]:
        """Yield the events unchanged, and record when they arrive.

        Args:
            events: An adapter's stream (`bot.servers.Server.account_events`).
        """
        self.up_since = None
        async with aclosing(events):
            async for event in events:
                at = self._now()
                if self.up_since is None:
                    self.up_since, self.trouble = at, ""
                self.heard_at = at
                if event is not None:
                    self.event_at = at
                yield event

    def record_loss(self, reason: str) -> None:
        """Record that the link was lost."""
        self.up_since, self.trouble = None, reason
