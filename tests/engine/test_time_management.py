"""Thinking time: nobody loses on time while the ways to the server leave any, and time is not hoarded."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.time_management import MIN_TIME_S, EngineClock, Limits, engine_clock, limits_from_clock
from tests.engine.clocks import Line, Side, overshot


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


def test_a_limit_of_nodes_is_one_node_or_more() -> None:
    assert Limits(2, nodes=1).longest_s is None
    with pytest.raises(ValueError, match="nodes is 0, must be at least 1"):
        Limits(2, nodes=0)
