"""Small runs with fixed seeds.  Bounds are generous, but the first variance alone breaks them by far."""

import numpy as np

from bench.statistics.placebo import (
    AS_IN_THE_PROGRAM,
    GAME_CASES,
    PARTS,
    decision_rates,
    fall_rates,
    fixed_coverage,
    game_rates,
)
from bench.statistics.simulated import DecisionPlan, FallPlan, Kind, decide, make_pairs, returning, within_cap


def test_persons_return_in_proportion_to_their_games() -> None:
    persons = returning(4000, np.random.default_rng(1))
    counts = np.sort(np.bincount(persons))[::-1]
    assert 0.25 < len(counts) / 4000 < 0.35
    assert counts[0] > 50
    assert within_cap(persons).sum() == np.minimum(counts, 50).sum()
    assert returning(300, np.random.default_rng(1), most=20).max() == 19
    assert returning(5, np.random.default_rng(1), new_share=1).tolist() == [0, 1, 2, 3, 4]


def test_whole_games_without_effect() -> None:
    found = game_rates(GAME_CASES[5], runs=60, games=2000, seed=1)
    assert found.ours <= 0.1
    assert found.ordinary >= 0.2


def test_a_trial_may_be_read_after_every_game() -> None:
    found = game_rates(AS_IN_THE_PROGRAM, runs=150, games=2000, seed=7)
    assert found.ours <= 0.08
    assert found.ordinary >= 0.2


def test_decisions_of_persons_who_differ() -> None:
    """The variance of the values alone, without the persons' sums, excludes the truth in half of the runs."""
    _, found = decision_rates(DecisionPlan(susceptibility_sd=0.2), runs=60, games=1500, seed=1)["cost"]
    assert found.ours <= 0.12
    assert found.first_variance >= 0.25


def test_falls_of_persons_who_differ() -> None:
    found = fall_rates(FallPlan(person_sd=0.7), runs=60, games=1000, seed=1)
    assert found.ours <= 0.1
    assert found.first_variance >= 0.2


def test_each_kind_of_person_gets_their_own_truth() -> None:
    pairs = make_pairs(np.random.default_rng(2))
    truths = {}
    for kind in Kind:
        decisions = decide(DecisionPlan(kind=kind), pairs, 1500, np.random.default_rng(3))
        for values in (decisions.cost, decisions.beyond_difficulty, decisions.earned):
            error = float(values.psi.std()) / len(values.psi) ** 0.5
            assert abs(values.psi.mean() - values.truth) < 4.5 * error, kind
        truths[kind] = decisions.beyond_difficulty.truth
    assert abs(truths[Kind.UNIFORM]) < 1e-12
    assert truths[Kind.GREEDY] > truths[Kind.SHALLOW] > 0.02


def test_fixed_intervals_cover_where_wilsons_do_not() -> None:
    found = fixed_coverage(FallPlan(person_sd=0.7), runs=150, games=200, seed=1)
    assert found.leave_one_out >= 0.89
    assert found.wilson <= 0.75
    assert found.sandwich < found.leave_one_out


def test_every_part_prints_a_table() -> None:
    for name, part in PARTS.items():
        lines = list(part(2, 600, 1))
        assert len(lines) >= 3, name
