"""Many games on a few threads, in arithmetic: the real queue and the real time management, no thread."""

import heapq
import itertools
import math
import random
from collections.abc import Iterable
from dataclasses import dataclass, field

from bot.threads.fair_queue import MIN_PATIENCE_S, FairQueue, JobRank, QueuedJob
from engine.time_management import Limits, limits_from_clock
from tests.engine.clocks import Line, Side, overshot

STOP_S = 0.005
"""A search runs on for up to so long after it was told to stop."""
REST_S = (5.0, 30.0)
"""Between two games of a row."""
RETRY_S = 5.0
"""When a refused challenge comes again."""


@dataclass(frozen=True)
class Row:
    """One game after another at the same speed.

    Attributes:
        account: Which account plays them.
        initial_s: Of each clock.
        pause_s: The opponent's mean time for a move.
        empties: At Othello, how many squares are empty at the beginning; 0: chess.
    """

    account: int
    initial_s: float
    increment_s: float
    pause_s: float
    empties: int = 0
    number: int = 0
    """Tells equal rows apart."""


@dataclass(eq=False)
class Game:
    """A game of a row."""

    row: Row
    side: Side
    line: Line

    def limits(self, left_s: float, queue_per_thread: float = 0.0) -> Limits:
        """As `bot.game.thinking` finds them."""
        empties = self.row.empties - 2 * self.side.made
        plies = (empties, 2 * empties) if self.row.empties else (self.side.plies_left, 5000)
        return limits_from_clock(
            left_s,
            self.row.increment_s,
            *plies,
            max_depth=30,
            max_time_s=2,
            overhead_s=0.3,
            lag_s=self.line.lag_s,
            queue_per_thread=queue_per_thread,
        )


@dataclass(eq=False, kw_only=True)
class MoveJob(QueuedJob):
    """A move to be found."""

    game: Game
    since: float
    """When the turn began."""
    began: float = 0.0
    ends: float = math.inf
    thought_s: float = 0.0
    is_over: bool = False
    must_end: bool = False
    """Whether it was told to answer with what it has."""

    def rest(self, now: float, queue_per_thread: float) -> Limits | None:
        """The limits, without what it has had; None: answer now."""
        waited_s = now - self.since - self.thought_s
        limits = self.game.limits(max(0.0, self.game.side.clock_s - waited_s), queue_per_thread)
        return limits.after(self.thought_s)


@dataclass
class Seen:
    """What became of the moves of a row."""

    waits: list[float] = field(default_factory=list)
    """How long each waited for a thread, in multiples of its plan."""
    waits_s: list[float] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    """What each had of its plan."""
    gaps_s: list[float] = field(default_factory=list)
    """From turn to answer."""
    lost: int = 0
    """Games lost on time."""


class Crowd:
    """Rows of games on threads.

    Args:
        rows: One game after another in each.
        threads: How many.
        ends_s: When to stop.
        seed: Makes lags, pauses and lengths.
        is_refusing: Whether no game begins while the queue is full.
        queue: Who comes next.
    """

    def __init__(
        self,
        rows: list[Row],
        threads: int,
        ends_s: float,
        *,
        seed: int = 1,
        mean_s: float = 0.05,
        is_refusing: bool = True,
        queue: type[FairQueue[MoveJob]] = FairQueue,
    ) -> None:
        self.rng = random.Random(seed)
        self.mean_s = mean_s
        self.ends_s = ends_s
        self.is_refusing = is_refusing
        self.queue = queue(threads)
        self.idle = set(range(threads))
        self.seen = {row: Seen() for row in rows}
        self.refused = 0
        self.games = 0
        self.most_games = 0
        self.busy_s = 0.0
        self.planned_s = 0.0
        self._numbers = itertools.count()
        self._events: list[tuple[float, int, str, Row | Game | MoveJob]] = []
        for row in rows:
            self._later(self.rng.uniform(0, 60), "game", row)

    @property
    def load(self) -> float:
        """The time that all plans together took of the threads'."""
        return self.planned_s / (self.queue.threads * self.ends_s)

    @property
    def lost(self) -> int:
        return sum(seen.lost for seen in self.seen.values())

    def play(self) -> "Crowd":
        while self._events:
            now, _, what, thing = heapq.heappop(self._events)
            if now > self.ends_s:
                break
            if isinstance(thing, Row):
                self._begin_game(now, thing)
            elif isinstance(thing, Game):
                self._begin_turn(now, thing)
            elif what == "check":
                self._check(now, thing)
            elif what == "leave" or thing.ends == now:
                self._leave(now, thing, is_done=what == "end")
            while any(self._start(now, thread) for thread in sorted(self.idle)):
                pass
        return self

    def _later(self, at: float, what: str, thing: Row | Game | MoveJob) -> None:
        heapq.heappush(self._events, (at, next(self._numbers), what, thing))

    def _begin_game(self, now: float, row: Row) -> None:
        if self.is_refusing and self.queue.is_full(now):
            self.refused += 1
            self._later(now + RETRY_S, "game", row)
            return
        self.games += 1
        self.most_games = max(self.most_games, self.games)
        moves = row.empties // 2 or self.rng.randint(25, 60)
        side = Side(row.initial_s, row.increment_s, moves)
        self._begin_turn(now, Game(row, side, Line(self.rng, self.mean_s, 0.5)))

    def _begin_turn(self, now: float, game: Game) -> None:
        plan_s = game.limits(game.side.clock_s).time_s
        assert plan_s is not None
        self.planned_s += plan_s
        job = MoveJob(
            rank=JobRank.LIVE, plan_s=plan_s, account=game.row.account, queued_at=now, game=game, since=now
        )
        self.queue.add(job, now)
        self._check_later(now, job)

    def _check_later(self, now: float, job: MoveJob) -> None:
        self._later(now + max(MIN_PATIENCE_S, job.plan_s / 4), "check", job)

    def _start(self, now: float, thread: int) -> bool:
        job = self.queue.start(thread, self.idle, now)
        if job is None:
            return False
        self.idle.remove(thread)
        limits = job.rest(now, self.queue.queue_per_thread(job.account))
        wanted_s = 0.0 if limits is None or limits.time_s is None else limits.time_s
        job.began, job.ends = now, now + (overshot(self.rng, wanted_s) if wanted_s else 0.0)
        self._later(job.ends, "end", job)
        return True

    def _check(self, now: float, job: MoveJob) -> None:
        if job.is_running or job.is_over:
            return
        victim = self.queue.preempted_by_wait(job, now)
        if victim is not None:
            victim.is_paused = True
            victim.ends = math.inf
            self._later(now + self.rng.uniform(0, STOP_S), "leave", victim)
        self._check_later(now, job)

    def _leave(self, now: float, job: MoveJob, *, is_done: bool) -> None:
        job.thought_s += now - job.began
        self.busy_s += now - job.began
        is_paused = not is_done and not job.must_end
        if is_paused and job.rest(now, self.queue.queue_per_thread(job.account)) is not None:
            self.queue.add(job, now)
            self._check_later(now, job)
        else:
            self.queue.finish(job, now)
            self._move(now, job)
        assert job.thread is not None
        self.idle.add(job.thread)

    def _move(self, now: float, job: MoveJob) -> None:
        job.is_over = True
        game, seen = job.game, self.seen[job.game.row]
        waited_s, way_s = now - job.since - job.thought_s, game.line.way_s()
        seen.waits.append(waited_s / job.plan_s)
        seen.waits_s.append(waited_s)
        seen.shares.append(job.thought_s / job.plan_s)
        seen.gaps_s.append(now - job.since)
        is_in_time = game.side.move(waited_s, job.thought_s, way_s)
        seen.lost += not is_in_time
        pause_s = self.rng.expovariate(1 / game.row.pause_s) if game.row.pause_s else 0.0
        if is_in_time and game.side.made < game.side.moves:
            self._later(now + way_s + pause_s, "turn", game)
        else:
            self.games -= 1
            self._later(now + self.rng.uniform(*REST_S), "game", game.row)


class ServedByFlag(FairQueue[MoveJob]):
    """As searches were served before: the clock that would run out first comes first."""

    def by_urgency(self, jobs: Iterable[MoveJob], now: float) -> list[MoveJob]:  # noqa: ARG002
        return sorted(jobs, key=lambda job: (job.since + job.game.side.clock_s, job.number))

    def preempted_by_wait(self, job: MoveJob, now: float) -> MoveJob | None:
        if job.is_running or job not in self.waiting or now < job.since + 0.05 * job.game.side.clock_s:
            return None
        victim = self.by_urgency(self.running, now)[-1] if self.running else None
        if victim is None or victim.is_leaving or self.by_urgency([job, victim], now)[0] is victim:
            return None
        victim.must_end = True
        return victim

    def queue_per_thread(self, account: object) -> float:  # noqa: ARG002
        return len(self.waiting) / self.threads
