"""Watches the program's health: takes a sample every few seconds, evaluates the alarms, and sends notices.

A failure to obtain data does not stop the monitor: the data is missing from the sample, and an alarm that
lacks data for too long fires.
"""

import asyncio
import logging
import math
import shutil
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from bot.alarms.evaluator import AlarmChange, AlarmEvaluator, AlarmNotice
from bot.alarms.hooks import AlarmHooks
from bot.alarms.lifecycle import AlarmState
from bot.alarms.samples import DiskSample, HealthSample, RatingSample
from bot.base.dialects import rating_list_of
from bot.base.event_log import log_event
from bot.base.metrics import Metrics
from bot.control.status import Status
from engine.human.registry import ModelRegistry
from storage.database import Database
from storage.errors import StorageError
from storage.evidence.inference.blindness import BlindnessReport
from storage.evidence.queries.losing_streaks import losing_streaks
from storage.evidence.queries.rating_curves import RatingCurve, rating_curves
from storage.evidence.queries.trial_report import open_trial_blindness
from storage.filters import Filters
from storage.ledger.events import PROGRAM
from storage.maintenance.unfinished_files import UNFINISHED
from storage.tables.types import now_utc

logger = logging.getLogger(__name__)

POLL_INTERVAL_S = 15.0
"""Seconds between samples."""
WRITE_TIMEOUT_S = 10.0
"""Seconds to wait for a test write before the database counts as not writable."""
MAX_WRITE_AGE_S = 60.0
"""The program is unhealthy if its last successful database write is older than this many seconds."""
RECENT_RESULTS_MAX_AGE_S = 600.0
"""Maximum interval between reads of ratings and results, in seconds; they are also read after each game."""
BLINDNESS_CHECK_INTERVAL_S = 600.0
"""Minimum interval between checks of the open trial's blindness, in seconds."""
RATING_WINDOW_DAYS = 30
ALARM_EVENT = "alarm"
"""Kind of the events that record alarms."""

_LEVELS = {
    AlarmState.OK: logging.INFO,
    AlarmState.PENDING: logging.DEBUG,
    AlarmState.FIRING: logging.WARNING,
    AlarmState.RECOVERING: logging.INFO,
}

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RecentResults:
    """Our ratings and losing streaks."""

    curves: tuple[RatingCurve, ...]
    """Rating curves over the last `RATING_WINDOW_DAYS` days."""
    losses: dict[str, int]
    """Current number of consecutive losses, keyed by account and site."""


@dataclass(frozen=True)
class MonitoredParts:
    """What the monitor observes."""

    status: Callable[[], Awaitable[Status]]
    database: Database
    database_url: str
    models: ModelRegistry
    metrics: Metrics
    backup_folder: str = ""


class HealthMonitor:
    """Takes samples, passes them to the alarms, and records and reports changes.

    Args:
        observed: The objects to observe.
        board: The alarms.
        hooks: The hooks that receive the notices.
        clock: A monotonic clock, in seconds.
        pinged: Called after each sample if the program is healthy; feeds a watchdog.
    """

    def __init__(
        self,
        observed: MonitoredParts,
        board: AlarmEvaluator,
        hooks: AlarmHooks,
        clock: Callable[[], float] = time.monotonic,
        pinged: Callable[[], object] = lambda: None,
    ) -> None:
        self._observed = observed
        self._board = board
        self._hooks = hooks
        self._clock = clock
        self._pinged = pinged
        self._written_s = clock()
        self._write_trouble = ""
        self.recent: RecentResults | None = None
        """The recent results as last read, or None before the first read."""
        self._recent_as_of = (-1, -math.inf)
        """Number of finished games when the results were last read, and the time of that read."""
        self._blindness: dict[str, BlindnessReport] = {}
        self._blindness_at_s = -math.inf
        """When the blindness was last read."""
        self._notices: asyncio.Queue[AlarmNotice] = asyncio.Queue()
        self._failing: set[str] = set()

    @property
    def trouble(self) -> str:
        """Why the program is not healthy; empty if healthy. This check cannot detect a blocked event loop."""
        silent_s = self._clock() - self._written_s
        if silent_s <= MAX_WRITE_AGE_S:
            return ""
        why = f": {self._write_trouble}" if self._write_trouble else ""
        return f"the database has not been writable for {silent_s:.0f} s{why}"

    async def run(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Watch until cancelled.

        Args:
            sleep: Waits the given number of seconds.
        """
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._notify())
            while True:
                await self.check()
                await sleep(POLL_INTERVAL_S)

    async def check(self) -> None:
        """Take one sample, record the changes of alarms, and queue the notices that are due."""
        sample = await self._sample()
        for change in self._board.evaluate(sample):
            await self._record(change)
        for notice in self._board.due_notices():
            self._notices.put_nowait(notice)
        if not self.trouble:
            self._pinged()

    async def _notify(self) -> None:
        while True:
            await self._hooks.notify(await self._notices.get())

    async def _record(self, change: AlarmChange) -> None:
        level = _LEVELS[change.state] if change.is_notable else logging.DEBUG
        logger.log(level, "alarm %s: %s: %s", change.name, change.state.value, change.text)
        if not change.is_notable:
            return
        detail = {"alarm": change.name, "state": change.state.value, "reason": change.text}
        try:
            async with self._observed.database.write() as session:
                await log_event(session, PROGRAM, ALARM_EVENT, detail, metrics=self._observed.metrics)
        except StorageError as error:
            logger.error("cannot record the alarm %s: %s", change.name, error)

    # --- The sample -------------------------------------------------------------------------------------

    async def _sample(self) -> HealthSample:
        observed = self._observed
        status = await self._try_read("status", observed.status())
        written = await self._try_read("database", self._database_write_trouble())
        form = await self._try_read("form", self._read_recent())
        disk = await self._try_read("disk", asyncio.to_thread(disk_sample, observed.database_url))
        backup_age_s = None
        if observed.backup_folder:
            backup_age_s = await self._try_read(
                "backup", asyncio.to_thread(backup_age, observed.backup_folder)
            )
        blindness = await self._try_read("blindness", self._read_blindness())
        failures = observed.models.failures()
        return HealthSample(
            at_s=self._clock(),
            tally=observed.metrics.tally,
            links=None
            if status is None
            else {each.name: each.link_trouble for each in status.accounts if not each.is_standby},
            overdue_s=None
            if status is None
            else {game.key: game.overdue_s for game in status.games if game.overdue_s is not None},
            database_trouble=written,
            model_failures={game: total for game, (total, _) in failures.items()},
            disk=disk,
            backup_age_s=backup_age_s,
            losses=None if form is None else form.losses,
            ratings=None
            if form is None
            else {rating_name(curve): RatingSample(curve.now, curve.highest) for curve in form.curves},
            blindness=blindness,
        )

    async def _try_read(self, what: str, work: Awaitable[T]) -> T | None:
        """Read one part of a sample; return None on failure. Log a repeated failure as an error only once."""
        try:
            value = await work
        except Exception as error:  # no failure of the watch may stop it
            level = logging.DEBUG if what in self._failing else logging.ERROR
            self._failing.add(what)
            logger.log(level, "health: cannot determine the %s: %r", what, error)
            return None
        self._failing.discard(what)
        return value

    async def _database_write_trouble(self) -> str:
        """Why a test write to the database failed; empty if it succeeded."""
        try:
            async with asyncio.timeout(WRITE_TIMEOUT_S):
                await self._observed.database.try_writing()
        except TimeoutError:
            self._write_trouble = f"no answer in {WRITE_TIMEOUT_S:g} s"
        except StorageError as error:
            self._write_trouble = str(error)
        else:
            self._write_trouble, self._written_s = "", self._clock()
        return self._write_trouble

    async def _read_recent(self) -> RecentResults:
        games, at_s = self._observed.metrics.tally.games, self._clock()
        if (
            self.recent is not None
            and self._recent_as_of[0] == games
            and at_s - self._recent_as_of[1] < RECENT_RESULTS_MAX_AGE_S
        ):
            return self.recent
        since = now_utc() - timedelta(days=RATING_WINDOW_DAYS)
        async with self._observed.database.read() as session:
            curves = await rating_curves(session, Filters(since=since), rating_list_of)
            streaks = await losing_streaks(session)
        self.recent = RecentResults(
            tuple(curves), {f"{account} at {site}": n for (site, account), n in streaks.items()}
        )
        self._recent_as_of = games, at_s
        return self.recent

    async def _read_blindness(self) -> dict[str, BlindnessReport]:
        """See `HealthSample.blindness`; seldom read again, because it takes all of the trial's games."""
        if self._clock() - self._blindness_at_s >= BLINDNESS_CHECK_INTERVAL_S:
            self._blindness = await open_trial_blindness(self._observed.database, now_utc())
            self._blindness_at_s = self._clock()
        return self._blindness


def rating_name(curve: RatingCurve) -> str:
    """The name that alarms use for a rating."""
    return f"{curve.account} at {curve.site}, {curve.game} {curve.speed}".rstrip()


def disk_sample(database_url: str) -> DiskSample:
    """Sample the disk that holds the SQLite database or, with another database, the working directory.

    Raises:
        OSError: The disk's usage cannot be read.
    """
    prefix = "sqlite:///"
    if not database_url.startswith(prefix):
        return DiskSample(shutil.disk_usage(".").free, 0)
    file = Path(database_url.removeprefix(prefix))
    journal = file.with_name(f"{file.name}-wal")
    size = file.stat().st_size + (journal.stat().st_size if journal.exists() else 0)
    return DiskSample(shutil.disk_usage(file.parent).free, size)


def backup_age(folder: str, now: Callable[[], float] = time.time) -> float:
    """Seconds since the newest file in a folder was written; infinite if the folder has no files.

    Files left behind by a backup that was killed are ignored.

    Raises:
        OSError: The folder cannot be read.
    """
    left = (UNFINISHED, f"{UNFINISHED}-journal")
    files = [each for each in Path(folder).iterdir() if each.is_file() and not each.name.endswith(left)]
    times = [each.stat().st_mtime for each in files]
    return max(0.0, now() - max(times)) if times else math.inf


def plain_readiness(status: Status, failures: dict[str, tuple[int, int]]) -> dict[str, Any]:
    """Readiness of each part of the program, with the reason if a part is not ready, as plain JSON values.

    Args:
        status: The current status.
        failures: See `engine.human.registry.ModelRegistry.failures`.
    """
    troubles = {f"account {each.name}": each.link_trouble for each in status.accounts}
    troubles["database"] = status.database.trouble
    load = status.workers
    is_full = load.busy == load.threads and load.waiting_moves > 2 * load.threads
    troubles["workers"] = f"{load.waiting_moves} moves waiting for {load.threads} threads" if is_full else ""
    silent = [game for game, (_, in_a_row) in failures.items() if in_a_row]
    troubles["models"] = f"the model of {', '.join(silent)} fails" if silent else ""
    return {
        "ok": not any(troubles.values()),
        "parts": {name: {"ok": not why, "reason": why} for name, why in troubles.items()},
        "alarms": [
            {
                "name": alarm.name,
                "state": alarm.state.value,
                "since": alarm.since.isoformat(timespec="seconds"),
                "text": alarm.text,
            }
            for alarm in status.alarms
        ],
    }
