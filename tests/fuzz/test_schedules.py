"""A fixed set of schedules of faults; ``python -m bench.fault_fuzzer`` runs thousands."""

import os

import pytest

from tests.fuzz.play import play

SCHEDULES = int(os.environ.get("SCHEDULES", "24"))


@pytest.mark.parametrize("seed", range(SCHEDULES))
def test_what_must_hold_whatever_fails(seed: int) -> None:
    outcome = play(seed)
    assert not outcome.violations, "\n".join([*map(str, outcome.faults), *outcome.story])


def test_a_seed_is_always_the_same_run() -> None:
    assert play(7) == play(7)


def test_faults_and_games_are_there() -> None:
    outcomes = [play(seed) for seed in range(6)]
    assert sum(outcome.games for outcome in outcomes) >= 6
    assert sum(outcome.injected.total() for outcome in outcomes) > 10
