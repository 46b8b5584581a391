"""Samples of the program's health, taken every few seconds and kept for an hour, as input for alarms.  No
I/O."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.base.metrics import MetricTotals
from storage.evidence.inference.blindness import BlindnessReport

SAMPLE_HISTORY_LENGTH_S = 3600.0
"""Seconds for which samples are kept: the longest window of a rule."""
SIZE_SAMPLE_INTERVAL_S = 3600.0
MAX_SIZE_SAMPLES = 14 * 24
"""Number of hourly database sizes to keep; growth is measured over at most this many hours."""
MIN_GROWTH_SPAN_S = 6 * 3600.0
"""Minimum time span for computing growth, in seconds."""
_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class DiskSample:
    """The disk that holds the database or, if the database is on another machine, the program."""

    free_bytes: int
    database_bytes: int
    """Size of the database in bytes; 0 if it is on another machine."""


@dataclass(frozen=True, slots=True)
class RatingSample:
    """One of our ratings."""

    now: int
    highest: int
    """The highest rating in the last 30 days."""


@dataclass(frozen=True, slots=True)
class HealthSample:
    """Snapshot of the program's health. A value is None if it could not be determined."""

    at_s: float
    """Time on a monotonic clock, in seconds."""
    tally: MetricTotals = field(default_factory=MetricTotals)
    links: Mapping[str, str] | None = None
    """Why each account's link is down, by account name; an empty reason if the link is up."""
    overdue_s: Mapping[str, float] | None = None
    """Seconds by which our move is overdue, by game key, for games in which it is our turn."""
    database_trouble: str | None = None
    """Why the latest write to the database failed; empty if it succeeded."""
    model_failures: Mapping[str, int] | None = None
    """Number of model failures since the program started, by game."""
    disk: DiskSample | None = None
    backup_age_s: float | None = None
    """Age of the newest backup, in seconds; infinite if there is none."""
    losses: Mapping[str, int] | None = None
    """Length of the current losing streak, by account name and site."""
    ratings: Mapping[str, RatingSample] | None = None
    """Our ratings, by the name that alarms use."""
    blindness: Mapping[str, BlindnessReport] | None = None
    """How well people can recognise the strategies of the open trial, by the trial's name."""


class SampleHistory:
    """The samples from the last hour, and the database sizes from the last two weeks."""

    def __init__(self) -> None:
        self._samples: deque[HealthSample] = deque()
        self._sizes: deque[tuple[float, int]] = deque(maxlen=MAX_SIZE_SAMPLES)

    def add(self, sample: HealthSample) -> None:
        """Add the newest sample."""
        self._samples.append(sample)
        # The first one that is kept lies before the window, so that increases cover all of it.
        while len(self._samples) > 1 and self._samples[1].at_s <= sample.at_s - SAMPLE_HISTORY_LENGTH_S:
            self._samples.popleft()
        is_due = not self._sizes or sample.at_s - self._sizes[-1][0] >= SIZE_SAMPLE_INTERVAL_S
        if is_due and sample.disk is not None and sample.disk.database_bytes:
            self._sizes.append((sample.at_s, sample.disk.database_bytes))

    @property
    def latest(self) -> HealthSample:
        """The newest sample."""
        return self._samples[-1]

    def before(self, span_s: float) -> HealthSample:
        """The latest sample at least `span_s` older than the newest; if there is none, the oldest sample."""
        since = self.latest.at_s - span_s
        earliest = self._samples[0]
        for sample in self._samples:
            if sample.at_s > since:
                break
            earliest = sample
        return earliest

    def increase(self, name: str, span_s: float) -> int:
        """Increase in the named total of `MetricTotals` over the last `span_s` seconds."""
        return int(getattr(self.latest.tally, name) - getattr(self.before(span_s).tally, name))

    def model_failures(self, span_s: float) -> dict[str, int]:
        """Failures of each model over the last `span_s` seconds."""
        before = self.before(span_s).model_failures or {}
        now = self.latest.model_failures or {}
        return {model: total - before.get(model, 0) for model, total in now.items()}

    @property
    def growth_bytes(self) -> float | None:
        """Growth of the database in bytes per day, or None if not known yet."""
        disk = self.latest.disk
        if disk is None or not self._sizes:
            return None
        first_s, first = self._sizes[0]
        span_s = self.latest.at_s - first_s
        return (disk.database_bytes - first) / span_s * _DAY_S if span_s >= MIN_GROWTH_SPAN_S else None
