"""The order in which jobs run on a few threads: a policy without threads or I/O.

Scheduling is preemptive, by rank, and within a rank by "highest response ratio next": the next thread goes to
the job that has waited longest in multiples of its planned time, so that waiting jobs age. A job of a better
rank preempts one of a lower rank at once; a live job that has waited for half its plan preempts the live job
that has waited least. While live jobs wait, each gets its plan divided by 1 + q, where q is the number of
waiting jobs for each thread of its account's share, so that all together take about as long as one plan.
Waits are therefore in proportion to plans, and on a busy machine all moves get less time in the same
proportion. The queue is full when two live jobs for each thread have waited on average in the last half
minute: moves then get a third of their planned time, and no new game should start.
"""

import itertools
import math
from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Generic, TypeVar

MIN_PATIENCE_S = 0.005
"""Shorter plans count as this long, in seconds."""
PATIENCE = 0.5
"""A live job preempts another after waiting this many planned times."""
MARGIN = 0.25
"""A job preempts another only if it has waited this many planned times more; each time costs a restart."""
MAX_QUEUE_PER_THREAD = 2.0
"""Mean number of waiting live jobs per thread at which the queue is full."""
AVERAGING_TIME_S = 30.0
"""Time constant of that mean, in seconds, as in a machine's load average."""
REMEMBERED_MOVES = 50
"""Number of latest moves of an account whose waits are remembered."""


class JobRank(IntEnum):
    """Priority of a job: a job never occupies a thread while a job with a lower number waits."""

    LIVE = 0
    """A move of a game with a real-time clock."""
    SLOW = 1
    """A move of a game without a real-time clock."""
    BACKGROUND = 2
    """A result that is needed eventually."""
    FORECAST = 3
    """The forecast of a reply, whose judging must not delay the profiles of other games."""
    SPARE = 4
    """A result that might be needed later."""


@dataclass(eq=False, kw_only=True)
class QueuedJob:
    """A job that waits or runs."""

    rank: JobRank
    plan_s: float
    """Planned time for the job; infinite if it has none."""
    account: object
    is_preemptible: bool = True
    """Whether a live job that has waited for long may preempt this one while it is live."""
    queued_at: float
    """When the job was last queued."""
    waited_s: float = 0.0
    """Time that the job waited in the queue before its runs, in seconds."""
    thread: int | None = None
    """The thread that runs the job or ran it last; None before its first run."""
    number: int = 0
    """Order of arrival."""
    borrowed: int = 0
    """Number of cores that the job borrows from idle threads, in addition to its own."""
    is_running: bool = False
    """Whether a thread runs the job, or else it waits."""
    is_paused: bool = False
    """Whether the job was told to leave its thread and will be queued again."""
    is_cancelled: bool = False
    """Whether the caller no longer waits for the result."""

    def relative_wait(self, now: float) -> float:
        """The time that the job has waited for a thread, in multiples of its plan."""
        waited_s = self.waited_s + (0.0 if self.is_running else now - self.queued_at)
        return waited_s / max(self.plan_s, MIN_PATIENCE_S)

    @property
    def is_leaving(self) -> bool:
        """Whether the job's thread is about to become free."""
        return self.is_cancelled or self.is_paused


J = TypeVar("J", bound=QueuedJob)


@dataclass(frozen=True, slots=True)
class ThreadWaits:
    """How long an account's latest moves waited for a thread, in seconds."""

    mean_s: float = 0.0
    longest_s: float = 0.0
    moves: int = 0
    """Number of moves."""


@dataclass
class FairQueue(Generic[J]):
    """The waiting and running jobs of some threads; all times are in seconds, by one clock."""

    threads: int
    waiting: list[J] = field(default_factory=list)
    running: list[J] = field(default_factory=list)
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)
    _mean_queue: float = 0.0
    """Waiting live jobs per thread, averaged up to `_mean_at` with exponentially decreasing weights."""
    _mean_at: float = -math.inf
    _waits_s: dict[object, deque[float]] = field(default_factory=dict)

    # --- A job's way ------------------------------------------------------------------------------------

    def add(self, job: J, now: float) -> None:
        """Queue a job, or queue a running job that was paused again."""
        self._count_queue(now)
        if job.is_running:
            self.running.remove(job)
        else:
            job.number = next(self._numbers)
        job.is_running, job.is_paused, job.queued_at = False, False, now
        self.waiting.append(job)

    def start(self, thread: int, idle: Collection[int], now: float) -> J | None:
        """Remove and return the next job for a thread; None if there is none.

        What a paused job has found is in the transposition table of the thread that ran it, so the job is not
        moved to another thread while that one is idle.

        Args:
            thread: Number of the thread.
            idle: Numbers of the other threads without a job.
            now: The current time.
        """
        jobs = (job for job in self.waiting if job.thread == thread or job.thread not in idle)
        job = next(iter(self.by_urgency(jobs, now)), None)
        if job is not None:
            self._count_queue(now)
            self.waiting.remove(job)
            job.waited_s += now - job.queued_at
            job.is_running, job.borrowed, job.thread = True, 0, thread
            self.running.append(job)
        return job

    def finish(self, job: J, now: float) -> None:
        """Remove a job that has run to its end; remember how long it waited if it is a move."""
        self._count_queue(now)
        self.running.remove(job)
        if job.rank <= JobRank.SLOW and not job.is_cancelled:
            waits_s = self._waits_s.setdefault(job.account, deque(maxlen=REMEMBERED_MOVES))
            waits_s.append(job.waited_s)

    def cancel(self, job: J, now: float) -> None:
        """Remove a waiting job; mark a running one, which must then stop and finish."""
        self._count_queue(now)
        job.is_cancelled = True
        if not job.is_running and job in self.waiting:
            self.waiting.remove(job)

    def promote(self, job: J, rank: JobRank, plan_s: float, now: float) -> None:
        """Give a job, whether waiting or running, another rank and plan; its waiting time begins now."""
        self._count_queue(now)
        job.rank, job.plan_s, job.waited_s, job.queued_at = rank, plan_s, 0.0, now

    # --- Decisions --------------------------------------------------------------------------------------

    def by_urgency(self, jobs: Iterable[J], now: float) -> list[J]:
        """Jobs by rank, then by relative wait, longest first, then by arrival."""
        return sorted(jobs, key=lambda job: (job.rank, -job.relative_wait(now), job.number))

    def preempted_by_rank(self, now: float) -> list[J]:
        """The running jobs to preempt, as waiting jobs of better ranks need their threads or lent cores."""
        staying = self.by_urgency((job for job in self.running if not job.is_leaving), now)[::-1]
        # Hundreds of forecasts may wait; they preempt nothing, and come last.
        lowest = max((job.rank for job in staying), default=JobRank.LIVE)
        waiting = self.by_urgency((job for job in self.waiting if job.rank < lowest), now)
        borrowers = [job for job in staying if job.borrowed > 0]
        free = self.threads - len(staying)
        free_cores = max(0, free - sum(job.borrowed for job in borrowers))
        pairs = [*zip(waiting[free:], staying, strict=False)]
        pairs += zip(waiting[free_cores:], borrowers, strict=False)
        return [victim for job, victim in pairs if victim.rank > job.rank]

    def preempted_by_wait(self, job: J, now: float) -> J | None:
        """The live job to preempt if this job is live and has waited for long; None if there is none."""
        wait = job.relative_wait(now)
        is_waiting = job.rank is JobRank.LIVE and not job.is_running
        if not is_waiting or wait < PATIENCE or any(other.is_leaving for other in self.running):
            return None
        live = [other for other in self.running if other.rank is JobRank.LIVE and other.is_preemptible]
        victim = self.by_urgency(live, now)[-1] if live else None
        return victim if victim is not None and victim.relative_wait(now) < wait - MARGIN else None

    def queue_per_thread(self, account: object) -> float:
        """Waiting live jobs per thread of an account's share, q, for a job of this account that runs.

        Accounts have equal shares, so each of the account's waiting jobs counts once for each account. Of
        another account one job counts, however many wait.
        """
        waiting = [job.account for job in self.waiting if job.rank is JobRank.LIVE]
        live = {account, *waiting, *(job.account for job in self.running if job.rank is JobRank.LIVE)}
        return (waiting.count(account) * len(live) + len({*waiting} - {account})) / self.threads

    def lend_cores(self, job: J, most: int) -> int:
        """Lend a running job at most this many cores of idle threads; return the number."""
        # Jobs of lower rank that were told to stop, perhaps in favour of this one, count as gone.
        staying = (other for other in self.running if not (other.is_leaving and other.rank > job.rank))
        busy = sum(1 + other.borrowed for other in staying)
        busy += sum(other.rank <= job.rank for other in self.waiting)  # idle threads will take these
        job.borrowed = max(0, min(most, self.threads - busy))
        return job.borrowed

    # --- Load -------------------------------------------------------------------------------------------

    def is_full(self, now: float, new_games: int = 0) -> bool:
        """Whether the games get so little time for their moves that no further game should start.

        Args:
            now: The current time.
            new_games: Number of games begun within `AVERAGING_TIME_S`, whose moves the mean does not show.
                Each counts as half a waiting job, because it is the opponent's turn half of the time.
        """
        self._count_queue(now)
        return self._mean_queue + new_games / 2 / self.threads >= MAX_QUEUE_PER_THREAD

    @property
    def waits(self) -> dict[object, ThreadWaits]:
        """The waits of the latest moves of each account."""
        return {
            account: ThreadWaits(sum(waits_s) / len(waits_s), max(waits_s), len(waits_s))
            for account, waits_s in self._waits_s.items()
        }

    def _count_queue(self, now: float) -> None:
        queue = sum(job.rank is JobRank.LIVE for job in self.waiting) / self.threads
        weight = math.exp((self._mean_at - now) / AVERAGING_TIME_S)
        self._mean_queue = weight * self._mean_queue + (1 - weight) * queue
        self._mean_at = now
