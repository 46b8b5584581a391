"""How long a program that imitates people waits: within its clock, and never until it falls."""

import random
import statistics

from engine.person.pace import (
    MAX_CLOCK_SHARE,
    MAX_FIRST_MOVE_S,
    MAX_TIME_WITHOUT_CLOCK_S,
    MIN_CLOCK_S,
    even_share_s,
    thinking_time_s,
)

SEEDS = [random.Random(number).getrandbits(64) for number in range(2000)]


def test_times_spread_around_an_even_share() -> None:
    times = [thinking_time_s(seed, 180.0, 2.0, 15, 30) for seed in SEEDS]
    share_s = even_share_s(180.0, 2.0)
    assert 0.5 * share_s < statistics.median(times) < share_s
    assert min(times) < share_s / 5 < 3 * share_s < max(times)
    assert statistics.median(thinking_time_s(seed, 180.0, 2.0, 2, 30) for seed in SEEDS) < 0.4 * share_s
    assert statistics.median(thinking_time_s(seed, 180.0, 2.0, 15, 1) for seed in SEEDS) < 0.4 * share_s


def test_a_game_begins_soon() -> None:
    assert max(thinking_time_s(seed, 3600.0, 0.0, 0, 20) for seed in SEEDS) == MAX_FIRST_MOVE_S
    assert max(thinking_time_s(seed, 3600.0, 0.0, 1, 20) for seed in SEEDS) > MAX_FIRST_MOVE_S


def test_a_seed_gives_one_time() -> None:
    assert thinking_time_s(SEEDS[0], 60.0, 0.0, 8, 20) == thinking_time_s(SEEDS[0], 60.0, 0.0, 8, 20)


def test_without_a_clock_nobody_waits_long() -> None:
    times = [thinking_time_s(seed, None, 0.0, 15, 30) for seed in SEEDS]
    assert 2 < statistics.median(times) < 10
    assert max(times) <= MAX_TIME_WITHOUT_CLOCK_S


def test_no_game_is_lost_on_time() -> None:
    for number in range(50):
        rng, left_s = random.Random(number), 60.0
        for move in range(300):
            time_s = thinking_time_s(rng.getrandbits(64), left_s, 0.0, move, 30)
            assert time_s <= MAX_CLOCK_SHARE * left_s
            left_s -= time_s
        assert left_s > (1 - MAX_CLOCK_SHARE) * MIN_CLOCK_S - 1e-9
        assert thinking_time_s(rng.getrandbits(64), MIN_CLOCK_S - 0.1, 0.0, 5, 30) == 0.0
