"""Thinking time: nobody loses on time while the ways to the server leave any, and time is not hoarded."""

import heapq
import itertools
import math
import random
from collections import deque
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.time_management import MIN_TIME_S, EngineClock, Limits, engine_clock, limits_from_clock

SLOWEST_FAST_S = 0.03
"""What the fastest decision was seen to take on a busy machine."""


def test_limits() -> None:
    unlimited = limits_from_clock(None, 0, 60, 60, max_depth=8, max_time_s=2, overhead_s=0.1)
    assert unlimited == Limits(8, 2, stretch=10)
    for bad in ({"depth": 1}, {"depth": 4, "time_s": 0.0}):
        with pytest.raises(ValueError, match="must be"):
            Limits(**bad)
    assert Limits(4, time_s=1.5).longest_s == 1.5
    assert Limits(4).longest_s is None


def test_another_engine_with_a_clock_of_its_own_stops_at_half_of_its_time() -> None:
    assert Limits(4, time_s=1.5, engine_clock=EngineClock(10, 20, 2)).longest_s == 5
    assert EngineClock(0, 20, 2).longest_s == MIN_TIME_S


@pytest.mark.parametrize(
    ("overhead_s", "lag_s", "left_s"),
    [(0.5, 0.0, 9.5), (0.5, 1.0, 8.9), (9.0, 1.0, 2.0), (0.5, 9.0, 2.0)],
)
def test_another_engine_does_not_see_the_time_that_a_move_costs(
    overhead_s: float, lag_s: float, left_s: float
) -> None:
    clock = engine_clock(10, 7, 2, overhead_s, lag_s)
    assert clock.remaining_s == pytest.approx(left_s)
    assert (clock.their_remaining_s, clock.increment_s) == (7, 2)
    assert engine_clock(10, None, 2, overhead_s, lag_s).their_remaining_s == 10
    assert engine_clock(0, 7, 2, overhead_s, lag_s).remaining_s == MIN_TIME_S


def test_any_depth_that_holds_a_trap_and_any_time_or_none() -> None:
    assert (Limits(2).time_s, Limits(2, 1e-9).time_s) == (None, 1e-9)


@pytest.mark.parametrize(
    ("remaining_s", "increment_s", "plies_left", "most_plies_left", "more", "time_s"),
    [
        # 30 moves to come, 100 that might: (60 - 100 x 0.3) / 30.
        (60, 0, 59, 5000, {}, 1.0),
        (60, 0, 60, 5000, {}, 1.0),
        (60, 0, 61, 5000, {}, 30 / 31),
        # A measured way is 0.1 x 1.1 + 0.07 a move.
        (60, 0, 59, 5000, {"lag_s": 0.1}, 42 / 30),
        # No more moves can come than the rules leave.
        (60, 0, 59, 61, {"lag_s": 0.1}, (60 - 31 * 0.18) / 30),
        (60, 0, 59, 2, {"lag_s": 0.1}, (60 - 30 * 0.18) / 30),
        # An increment of 2 s gives 1.6 s to think, in each of the 30 moves that will come.
        (60, 2, 59, 5000, {"lag_s": 0.1}, 60 / 30 + 1.42),
        (60, 2, 59, 5000, {}, 60 / 30 + 1.3),
        # It pays a part of the way only: 100 x (0.3 - 0.08) are kept.
        (60, 0.1, 59, 5000, {}, (60 - 22) / 30),
        # Never more than 0.8 of the clock is kept, and 100 x (0.07 - 0.8 x increment).
        (20, 0, 59, 5000, {"lag_s": 0.4}, MIN_TIME_S),
        (20, 0.05, 59, 5000, {"lag_s": 0.4}, (20 - 16 - 3) / 30),
        (20, 0.1, 59, 5000, {"lag_s": 0.4}, 4 / 30),
        # Two moves at least: 0.2 of the clock less the way, or less half of that where the way is longer.
        (10, 0, 1, 1, {}, 2 - 0.3),
        (10, 0, 1, 1, {"lag_s": 0.01}, 2 - 0.3),
        (10, 0, 1, 1, {"lag_s": 0.5}, 2 - 0.55),
        (10, 0, 3, 4, {"lag_s": 3.0}, 2 - 1),
        (10, 0, 1, 5000, {"overhead_s": 0.08}, (10 - 8) / 2),
        (10, 0, 4, 5000, {"overhead_s": 0.08}, (10 - 8) / 2),
        (10, 0, 5, 5000, {"overhead_s": 0.08}, (10 - 8) / 3),
        # An increment may be more than the clock.
        (0.3, 20, 1, 1, {"lag_s": 0.01, "overhead_s": 0.0}, 0.06 - 0.011),
        (60, 0, 59, 5000, {"max_time_s": 0.5}, 0.5),
        (60, 0, 59, 5000, {"queue_per_thread": 1.0}, 0.5),
        (60, 0, 59, 5000, {"queue_per_thread": 0.5}, 1 / 1.5),
        (0.1, 0, 59, 5000, {}, MIN_TIME_S),
    ],
)
def test_times_worked_out_by_hand(
    remaining_s: float,
    increment_s: float,
    plies_left: int,
    most_plies_left: int,
    more: dict[str, float],
    time_s: float,
) -> None:
    settings = {"max_depth": 10, "max_time_s": 3600, "overhead_s": 0.3} | more
    limits = limits_from_clock(remaining_s, increment_s, plies_left, most_plies_left, **settings)  # type: ignore[arg-type]
    assert limits.depth == 10
    assert limits.time_s == pytest.approx(time_s)


def limits_for(remaining_s: float, increment_s: float = 0, plies_left: int = 60, **more: float) -> Limits:
    settings = {"max_depth": 10, "max_time_s": 3600, "overhead_s": 0.3} | more
    return limits_from_clock(remaining_s, increment_s, plies_left, 5000, **settings)  # type: ignore[arg-type]


def time_for(remaining_s: float, increment_s: float = 0, plies_left: int = 60, **more: float) -> float:
    time_s = limits_for(remaining_s, increment_s, plies_left, **more).time_s
    assert time_s is not None
    return time_s


def longest_for(remaining_s: float, increment_s: float = 0, plies_left: int = 60, **more: float) -> float:
    """The same on a machine that is too busy for the search."""
    limits = limits_for(remaining_s, increment_s, plies_left, **more)
    assert limits.time_s is not None
    return limits.stretch * limits.time_s


@given(
    remaining_s=st.floats(0, 10_000),
    increment_s=st.floats(0, 180),
    plies_left=st.integers(1, 120),
    max_time_s=st.floats(0.05, 3600),
    overhead_s=st.floats(0, 60),
    lag_s=st.floats(0, 60),
    queue_per_thread=st.floats(0, 100),
)
def test_no_single_move_can_flag(
    remaining_s: float,
    increment_s: float,
    plies_left: int,
    max_time_s: float,
    overhead_s: float,
    lag_s: float,
    queue_per_thread: float,
) -> None:
    """However long the way was thought to be, it may take most of the clock."""
    most = {
        "max_time_s": max_time_s,
        "overhead_s": overhead_s,
        "lag_s": lag_s,
        "queue_per_thread": queue_per_thread,
    }
    time_s = time_for(remaining_s, increment_s, plies_left, **most)
    longest_s = longest_for(remaining_s, increment_s, plies_left, **most)
    assert MIN_TIME_S <= time_s <= max_time_s
    assert time_s <= longest_s <= 10 * time_s
    assert longest_s <= 1e-9 + max(
        MIN_TIME_S, 0.2 * remaining_s - max(overhead_s, min(lag_s, 0.1 * remaining_s))
    )


@given(st.floats(0, 600), st.floats(0, 30), st.integers(2, 120), st.floats(0.001, 5), st.floats(0, 20))
def test_what_makes_a_move_faster(
    remaining_s: float, increment_s: float, plies_left: int, lag_s: float, queue_per_thread: float
) -> None:
    usual = time_for(remaining_s, increment_s, plies_left, lag_s=lag_s, queue_per_thread=queue_per_thread)
    assert usual <= time_for(
        remaining_s + 1, increment_s, plies_left, lag_s=lag_s, queue_per_thread=queue_per_thread
    )
    assert usual >= time_for(
        remaining_s, increment_s, plies_left, lag_s=lag_s * 2, queue_per_thread=queue_per_thread
    )
    assert usual >= time_for(
        remaining_s, increment_s, plies_left, lag_s=lag_s, queue_per_thread=queue_per_thread + 1
    )


def test_on_a_busy_machine_a_move_may_take_three_shares_of_a_full_clock() -> None:
    # 30 moves to come; 100 x (0.3 + 0.25) are kept, in place of 100 x 0.3.
    assert limits_for(1000).stretch == pytest.approx(3 * (1000 - 55) / (1000 - 30))
    assert limits_for(1000, 0.5).stretch == pytest.approx(3 * (1000 - 15) / (1000 + 3))
    assert limits_for(1000, max_time_s=20).stretch == pytest.approx(3 * 945 / 30 / 20)
    assert limits_for(3600, max_time_s=0.5).stretch == 10
    assert limits_for(60).stretch == 1
    assert limits_for(0.1).stretch == 1


def test_a_crowd_divides_the_share() -> None:
    alone = time_for(60)
    assert time_for(60, queue_per_thread=3) == pytest.approx(alone / 4)
    # A long game gives way in the same proportion, although its clock would allow more.
    assert time_for(3600, queue_per_thread=3, max_time_s=2) == 0.5
    assert (
        limits_from_clock(
            None, 0, 60, 60, max_depth=8, max_time_s=2, overhead_s=0.1, queue_per_thread=3
        ).time_s
        == 0.5
    )


def test_a_way_measured_in_a_bad_minute_does_not_end_all_thinking() -> None:
    for initial_s, increment_s in ((180, 2), (180, 0), (60, 1)):
        for left in (1.0, 0.5, 0.25):
            slow = time_for(left * initial_s, increment_s, 40, lag_s=1.0)
            assert 0.05 < slow <= time_for(left * initial_s, increment_s, 40, lag_s=0.08)


def test_the_measured_way_replaces_the_one_that_was_assumed() -> None:
    assert time_for(60, lag_s=0.05) > time_for(60)
    # Not for the move in hand, when the clock is nearly empty.
    assert time_for(1.4, 1, lag_s=0.05) == MIN_TIME_S


# --- Whole games, in arithmetic -------------------------------------------------------------------------


@dataclass
class Line:
    """The way to a server: what a move takes on it, and what was measured so far."""

    rng: random.Random
    mean_s: float
    """Of ways from 0 to twice as much."""
    spike_s: float
    """One in thirty takes up to so much more."""
    ways_s: deque[float] = field(default_factory=lambda: deque(maxlen=20))

    @property
    def lag_s(self) -> float:
        """What three of four of the latest ways took at most, as the adapters measure it."""
        return sorted(self.ways_s)[math.ceil(0.75 * len(self.ways_s)) - 1] if self.ways_s else 0.0

    def way_s(self) -> float:
        way_s = self.rng.uniform(0, 2 * self.mean_s)
        if self.rng.random() < 1 / 30:
            way_s += self.rng.uniform(0, self.spike_s)
        self.ways_s.append(min(way_s, 1.0))
        return way_s


@dataclass
class Side:
    """Our clock in one game, and beside it the clock of one who never thinks."""

    initial_s: float
    increment_s: float
    moves: int
    """The game ends after so many of ours."""
    clock_s: float = field(init=False)
    unthinking_s: float = field(init=False)
    least_unthinking_s: float = field(init=False)
    thought_s: float = 0.0
    made: int = 0

    def __post_init__(self) -> None:
        self.clock_s = self.unthinking_s = self.least_unthinking_s = self.initial_s

    @property
    def given_s(self) -> float:
        return self.initial_s + self.made * self.increment_s

    @property
    def plies_left(self) -> int:
        """As at chess, with pieces that leave the board evenly."""
        pieces = max(4, 32 - 2 * self.made // 3)
        return 24 + 3 * pieces // 2

    def move(self, waited_s: float, thought_s: float, way_s: float) -> bool:
        """Make a move; False: the flag fell."""
        self.clock_s -= waited_s + thought_s + way_s
        self.unthinking_s -= waited_s + SLOWEST_FAST_S + way_s
        self.least_unthinking_s = min(self.least_unthinking_s, self.unthinking_s)
        self.thought_s += thought_s
        self.made += 1
        if self.clock_s <= 0:
            return False
        self.clock_s += self.increment_s
        self.unthinking_s += self.increment_s
        return True


def overshot(rng: random.Random, asked_s: float) -> float:
    """What a search takes that was asked for so much."""
    return asked_s * (1 + rng.uniform(0, 0.1)) + rng.uniform(0, 0.02)


def play(side: Side, line: Line, is_starved: bool = False) -> bool:
    """A game; False: lost on time."""
    rng = line.rng
    while side.made < side.moves:
        waited_s = rng.uniform(0, 0.02)  # for a thread
        find = longest_for if is_starved else time_for
        asked_s = find(
            side.clock_s - waited_s, side.increment_s, side.plies_left, max_time_s=2, lag_s=line.lag_s
        )
        if not side.move(waited_s, overshot(rng, asked_s), line.way_s()):
            return False
    return True


CLOCKS = [(60, 0), (3, 1), (30, 0), (15, 0), (180, 2), (120, 1), (180, 0), (60, 1)]


@pytest.mark.parametrize("is_starved", [False, True])
@pytest.mark.parametrize(("initial_s", "increment_s"), CLOCKS)
@pytest.mark.parametrize("mean_s", [0.002, 0.02, 0.1, 0.25])
def test_no_long_game_is_lost_on_time(
    initial_s: int, increment_s: int, mean_s: float, is_starved: bool
) -> None:
    """150 moves, unless even one who never thinks would have come down to a quarter of the time."""
    playable = 0
    for seed in range(100):
        side = Side(initial_s, increment_s, moves=150)
        in_time = play(side, Line(random.Random(seed), mean_s, spike_s=1.0), is_starved)
        if side.least_unthinking_s > 0.25 * initial_s:
            playable += 1
            assert in_time, f"game {seed}: flagged at move {side.made}"
    slowest_s = 150 * (mean_s + 0.06)
    assert playable >= 90 or slowest_s > 0.6 * initial_s


@pytest.mark.parametrize(
    ("initial_s", "increment_s", "mean_s", "least"),
    [(60, 0, 0.02, 0.6), (60, 0, 0.1, 0.4), (180, 0, 0.1, 0.4), (3, 1, 0.1, 0.6), (120, 1, 0.1, 0.4)],
)
def test_a_game_of_usual_length_uses_its_time(
    initial_s: int, increment_s: int, mean_s: float, least: float
) -> None:
    for seed in range(20):
        side = Side(initial_s, increment_s, moves=45)
        assert play(side, Line(random.Random(seed), mean_s, spike_s=1.0))
        assert side.thought_s > least * side.given_s


@pytest.mark.parametrize("mean_s", [0.02, 0.2])
@pytest.mark.parametrize("initial_s", [30, 60])
def test_othello_uses_what_it_keeps(initial_s: int, mean_s: float) -> None:
    """A game that ends for sure after so many moves leaves little on the clock."""
    for seed in range(20):
        line = Line(random.Random(seed), mean_s, spike_s=0.5)
        clock_s, thought_s = float(initial_s), 0.0
        for empties in range(60, 0, -2):
            limits = limits_from_clock(
                clock_s, 0, empties, 2 * empties, max_depth=10, max_time_s=9, overhead_s=0.3, lag_s=line.lag_s
            )
            assert limits.time_s is not None
            thought_s += limits.time_s
            clock_s -= overshot(line.rng, limits.time_s) + line.way_s()
            assert clock_s > 0
        assert thought_s + 30 * mean_s > 0.5 * initial_s


# --- Many games, few threads ----------------------------------------------------------------------------


MARGIN = 0.25
"""As `bot.game.search_pool` has it."""


@dataclass(eq=False)
class Job:
    """A move to be found."""

    number: int
    since: float
    """When the turn began."""
    plan_s: float
    account: int = 0
    began: float = math.nan
    ends: float = math.nan
    thought_s: float = 0.0

    def waited(self, now: float) -> float:
        """How long it has waited for a thread, in multiples of its plan."""
        return (now - self.since - self.thought_s) / self.plan_s


class Crowd:
    """Games at once, on threads as `bot.game.search_pool` and `bot.game.thinking` hand them out.

    Args:
        sides: Our clocks.
        threads: How many.
        rng: Makes lags and pauses.
        mean_s: Mean lag.
        accounts: The account of each game; empty: all of one.
        pause_s: The opponent's mean time for a move.
        ends_s: When to stop; games that end before then are followed by others at the same speed.
    """

    def __init__(
        self,
        sides: list[Side],
        threads: int,
        rng: random.Random,
        mean_s: float,
        accounts: tuple[int, ...] = (),
        pause_s: tuple[float, ...] = (),
        ends_s: float = math.inf,
    ) -> None:
        self.sides = sides
        self.rng = rng
        self.lines = [Line(rng, mean_s, 0.5) for _ in sides]
        self.threads = threads
        self.accounts = accounts or (0,) * len(sides)
        self.pause_s = pause_s or (0.0,) * len(sides)
        self.ends_s = ends_s
        self.numbers = itertools.count()
        self.waiting: list[Job] = []
        self.running: list[Job] = []
        self.events: list[tuple[float, int, str, Job]] = []
        self.lost = 0
        self.busy_s = 0.0
        self.waits: list[list[float]] = [[] for _ in sides]
        """For each game, how long its moves waited for a thread, in multiples of their plans."""
        self.shares: list[list[float]] = [[] for _ in sides]
        """For each game, what its moves had of their plans."""

    def later(self, at: float, what: str, job: Job) -> None:
        heapq.heappush(self.events, (at, next(self.numbers), what, job))

    def turn(self, at: float, number: int) -> None:
        side = self.sides[number]
        plan_s = time_for(
            side.clock_s, side.increment_s, side.plies_left, max_time_s=2, lag_s=self.lines[number].lag_s
        )
        self.later(at, "turn", Job(number, at, plan_s, self.accounts[number]))

    def play(self) -> int:
        """All games; how many were lost on time."""
        for number in range(len(self.sides)):
            self.turn(self.rng.uniform(0, 1 if self.ends_s == math.inf else 60), number)
        while self.events:
            now, _, what, job = heapq.heappop(self.events)
            if now > self.ends_s:
                break
            if what == "turn":
                self.waiting.append(job)
                self.later(now + job.plan_s, "take thread", job)
            elif what == "end" and job in self.running and job.ends == now:
                self.leave_thread(now, job)
                self.made(now, job)
            elif what == "take thread" and job.ends != math.inf:
                self.take_thread(now, job)
            while self.waiting and len(self.running) < self.threads:
                self.begin(now, max(self.waiting, key=lambda waiting: waiting.waited(now)))
        return self.lost

    def asked_s(self, now: float, job: Job) -> float:
        """The time for the move, including what it has had."""
        side, line = self.sides[job.number], self.lines[job.number]
        own = sum(other.account == job.account for other in self.waiting)
        accounts = {job.account, *(other.account for other in [*self.waiting, *self.running])}
        return time_for(
            max(0.0, side.clock_s - (now - job.since - job.thought_s)),
            side.increment_s,
            side.plies_left,
            max_time_s=2,
            lag_s=line.lag_s,
            queue_per_thread=own * len(accounts) / self.threads,
        )

    def begin(self, now: float, job: Job) -> None:
        self.waiting.remove(job)
        job.began = now
        job.ends = now + overshot(self.rng, max(0.0, self.asked_s(now, job) - job.thought_s))
        self.running.append(job)
        self.later(job.ends, "end", job)

    def leave_thread(self, now: float, job: Job) -> None:
        self.running.remove(job)
        job.thought_s += now - job.began
        self.busy_s += now - job.began

    def take_thread(self, now: float, job: Job) -> None:
        victim = min(self.running, key=lambda running: running.waited(now))
        if job in self.waiting and victim.waited(now) < job.waited(now) - MARGIN:
            self.leave_thread(now, victim)
            self.waiting.append(victim)
            self.begin(now, job)
        self.later(now + max(0.005, job.plan_s / 4), "take thread", job)

    def made(self, now: float, job: Job) -> None:
        side, way_s = self.sides[job.number], self.lines[job.number].way_s()
        waited_s = now - job.since - job.thought_s
        self.waits[job.number].append(waited_s / job.plan_s)
        self.shares[job.number].append(job.thought_s / job.plan_s)
        job.ends = math.inf
        if not side.move(waited_s, job.thought_s, way_s):
            self.lost += 1
        elif side.made < side.moves:
            pause_s = self.pause_s[job.number]
            self.turn(now + way_s + (self.rng.expovariate(1 / pause_s) if pause_s else 0.0), job.number)
        elif self.ends_s < math.inf:
            self.sides[job.number] = Side(side.initial_s, side.increment_s, self.rng.randint(20, 60))
            self.turn(now + self.rng.uniform(5, 30), job.number)


@pytest.mark.parametrize("clock", [(60, 0), (3, 1), (30, 0), (180, 2)])
@pytest.mark.parametrize("seed", range(3))
def test_twenty_games_on_two_threads(clock: tuple[int, int], seed: int) -> None:
    sides = [Side(*clock, moves=80) for _ in range(20)]
    assert Crowd(sides, 2, random.Random(seed), mean_s=0.05).play() == 0


def test_fast_games_beside_slower_ones() -> None:
    for seed in range(5):
        sides = [Side(*clock, moves=60) for clock in [(60, 0), (30, 0), (600, 0), (300, 3)] * 5]
        assert Crowd(sides, 2, random.Random(seed), mean_s=0.05).play() == 0


SPEEDS = ((60, 1), (180, 2), (600, 5), (1800, 0))
"""Bullet, blitz, rapid and a game of half an hour."""


def day(games: int, pauses_s: tuple[float, ...], hours: float = 24) -> Crowd:
    """Three accounts on two threads, each with some games at each speed."""
    clocks = [(clock, pause_s) for clock, pause_s in zip(SPEEDS, pauses_s, strict=True)] * games
    sides = [Side(*clock, moves=40) for clock, _ in clocks * 3]
    accounts = tuple(account for account in range(3) for _ in clocks)
    pause_s = tuple(pause_s for _, pause_s in clocks * 3)
    return Crowd(sides, 2, random.Random(1), 0.05, accounts, pause_s, hours * 3600)


def test_no_move_of_a_day_waits_for_long() -> None:
    crowd = day(1, (6, 15, 20, 40))
    assert crowd.play() == 0
    assert 0.5 < crowd.busy_s / (2 * crowd.ends_s) < 0.9
    waits = [wait for waits in crowd.waits for wait in waits]
    assert max(waits) < 2.5  # all games turned to one of the two threads at once
    assert sum(wait > 2 for wait in waits) < 0.001 * len(waits)
    assert all(sum(shares) / len(shares) > 0.9 for shares in crowd.shares)


@pytest.mark.parametrize("games", [2, 5])
def test_on_a_full_machine_waits_are_in_proportion_to_plans(games: int) -> None:
    """And all games get less, in the same proportion; nobody loses on time."""
    crowd = day(games, (2, 5, 10, 20), hours=4)
    assert crowd.play() == 0
    assert crowd.busy_s / (2 * crowd.ends_s) > 0.98
    means = [sum(waits) / len(waits) for waits in crowd.waits]
    assert max(means) < 1.5 * min(means)
    shares = [sum(shares) / len(shares) for shares in crowd.shares]
    assert max(shares) < 2 * min(shares)


def test_four_bullet_games_do_not_starve_a_long_one() -> None:
    """On one thread; it once made no move in 58 s."""
    sides = [Side(60, 1, 40) for _ in range(4)] + [Side(1800, 0, 40)]
    crowd = Crowd(sides, 1, random.Random(1), 0.05, pause_s=(0.3,) * 4 + (5.0,), ends_s=3600)
    assert crowd.play() == 0
    assert max(crowd.waits[4]) <= 2


def test_an_account_has_its_share_whatever_another_takes() -> None:
    """Twenty bullet games at one account, one slow game at each of two others."""
    sides = [Side(60, 1, 40) for _ in range(20)] + [Side(600, 5, 40), Side(1800, 0, 40)]
    crowd = Crowd(
        sides, 2, random.Random(1), 0.05, (0,) * 20 + (1, 2), (0.3,) * 20 + (10.0, 10.0), ends_s=3600
    )
    assert crowd.play() == 0
    for waits, shares in zip(crowd.waits[20:], crowd.shares[20:], strict=True):
        assert max(waits) <= 2
        assert sum(shares) / len(shares) > 0.9


def test_a_limit_of_nodes_is_one_node_or_more() -> None:
    assert Limits(2, nodes=1).longest_s is None
    with pytest.raises(ValueError, match="nodes is 0, must be at least 1"):
        Limits(2, nodes=0)
