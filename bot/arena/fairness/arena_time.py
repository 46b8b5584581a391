"""The arena's time, which drives all its clocks and stops while the arena cannot serve its players.

The time is saved every second while games are running, and with each move, so a killed arena continues from
the saved time. An outage begins with the first failed database access. When the database works
again, or after a restart, clocks resume only after a grace period, so that players have time to return. Time
during which the process was frozen also counts as an outage. Each outage is recorded as an event.
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from storage.arena import accounts as arena
from storage.database import Database
from storage.errors import StorageError
from storage.ledger.events import record_event
from storage.records import AccountKey
from storage.tables.types import now_utc

logger = logging.getLogger(__name__)

OUTAGE = "arena_outage"
"""Kind of the events that record outages; their `why` is ``stopped``, ``frozen`` or ``database``."""
_SAVE_INTERVAL_S = 1.0  # by so much a killed arena may set the running clocks back
_DATABASE_RETRY_INTERVAL_S = 1.0  # between attempts to use a database that has failed


class ArenaTime:
    """Counts the seconds in which the arena could serve its players, across restarts."""

    def __init__(
        self, database: Database, clock: Callable[[], float], *, grace_s: float, site: str = "arena"
    ) -> None:
        """Start at 0; `load` continues from the last saved time.

        Args:
            database: The arena's database.
            clock: A monotonic clock, in seconds.
            grace_s: Seconds for which the time stays stopped after the end of an outage.
            site: The arena's name in events.
        """
        self._database = database
        self._clock = clock
        self._grace_s = grace_s
        self._owner = AccountKey(site)
        self._lost = clock()
        """Seconds by which the arena's time lags behind the clock."""
        self._stopped_at: float | None = None
        """When the time stopped, on the clock; None while it is running."""
        self._resumes_at = float("inf")
        """When the time resumes, on the clock; infinity if unknown."""
        self._is_confirmed = False
        """Whether saving also failed, which confirms the outage; one failed request may be due to a bug."""
        self._worked_at = clock()
        """Time on the clock up to which all outages have been counted."""
        self._saved_at = float("-inf")
        self._unrecorded: list[dict[str, str]] = []
        """Details of outages not yet recorded as events."""

    def now(self) -> float:
        """The arena's time in seconds."""
        self._resume_if_due()
        return (self._clock() if self._stopped_at is None else self._stopped_at) - self._lost

    @property
    def are_clocks_stopped(self) -> bool:
        """Whether an outage, or the grace period after it, stops all clocks."""
        self._resume_if_due()
        return self._stopped_at is not None and self._is_confirmed

    def wait_s(self, *, is_needed: bool) -> float:
        """Seconds until `save` is due or, if sooner, until the time resumes; infinity if neither is planned.

        Args:
            is_needed: Whether any game is running.
        """
        self._resume_if_due()
        if self._is_database_down:
            return _DATABASE_RETRY_INTERVAL_S if self._is_confirmed else 0.0
        until = self._resumes_at if self._stopped_at is not None else float("inf")
        return min(until, self._saved_at + _SAVE_INTERVAL_S if is_needed else until) - self._clock()

    def stop_for_outage(self, since: float) -> None:
        """Stop the clock after a database failure; the next `save`, due immediately, can resume it.

        Args:
            since: When the failed access began, on the clock.
        """
        self._resume_if_due()
        if self._stopped_at is None:
            self._stopped_at = min(max(since, self._worked_at), self._clock())
            self._resumes_at = float("inf")
            self._is_confirmed = False

    def stop_for_freeze(self, seconds: float) -> None:
        """Stop the time retroactively, from this many seconds ago, because the process was frozen."""
        self._resume_if_due()
        if self._stopped_at is not None:
            return
        at = self._clock()
        self._stopped_at = max(at - seconds, self._worked_at)
        self._resumes_at = at + self._grace_s
        self._is_confirmed = True
        began = now_utc() - timedelta(seconds=at - self._stopped_at)
        self._unrecorded.append(self._detail("frozen", began))

    async def load(self) -> None:
        """Continue from the last saved time; the period since then counts as an outage.

        The outage's event is written when the time is next saved, so a process that loads the games but saves
        nothing does not end the outage.

        Raises:
            StorageError: The database failed.
        """
        async with self._database.read() as session:
            saved = await arena.load_time(session)
        at = self._clock()
        self._lost = at - saved.elapsed_ms / 1000
        self._worked_at = at
        if not saved.open_games:
            return
        if saved.at is not None:
            self._unrecorded.append(self._detail("stopped", saved.at))
        if self._grace_s:
            self._stopped_at, self._is_confirmed = at, True
            self._resumes_at = at + self._grace_s

    async def save(self, *, is_needed: bool) -> None:
        """Save the time if due; during an outage, check whether it is over.

        Args:
            is_needed: Whether any game is running.

        Raises:
            StorageError: The database failed; the time stays stopped.
        """
        self._resume_if_due()
        began = self._clock()
        if not self._is_database_down and (not is_needed or began - self._saved_at < _SAVE_INTERVAL_S):
            return
        try:
            await self._write()
        except StorageError:
            self.stop_for_outage(began)
            self._resumes_at = float("inf")
            self._is_confirmed = True
            raise
        self._worked_at = self._saved_at = began
        if self._is_database_down:
            self._resumes_at = self._clock() + (self._grace_s if self._is_confirmed else 0.0)
            self._resume_if_due()

    async def close(self) -> None:
        """Save the time at shutdown; a failure is only logged."""
        try:
            await self._write()
        except StorageError as error:
            logger.error("the arena's clocks may be set back by a second: %s", error)

    async def _write(self) -> None:
        now = self.now()
        # Taken at once: two writes at a time must not record an outage twice.
        unrecorded, self._unrecorded = self._unrecorded, []
        outages = unrecorded[:]
        if self._is_database_down and self._is_confirmed and self._stopped_at is not None:
            began = now_utc() - timedelta(seconds=self._clock() - self._stopped_at)
            outages.append(self._detail("database", began))
        try:
            async with self._database.write() as session:
                await arena.save_time(session, round(now * 1000), now_utc())
                for detail in outages:
                    await record_event(session, self._owner, OUTAGE, detail)
        except BaseException:
            self._unrecorded[:0] = unrecorded
            raise

    def _detail(self, why: str, began: datetime) -> dict[str, str]:
        """Details of an outage's event, including the grace period after it."""
        ended = now_utc() + timedelta(seconds=self._grace_s)
        return {
            "why": why,
            "began": began.isoformat(timespec="milliseconds"),
            "ended": ended.isoformat(timespec="milliseconds"),
        }

    @property
    def _is_database_down(self) -> bool:
        return self._stopped_at is not None and self._resumes_at == float("inf")

    def _resume_if_due(self) -> None:
        if self._stopped_at is not None and self._clock() >= self._resumes_at:
            self._lost += self._resumes_at - self._stopped_at
            self._worked_at = max(self._worked_at, self._resumes_at)
            self._stopped_at = None
