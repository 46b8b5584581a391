"""Measures against their definitions, and intervals with the coverage they claim."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.analysis.measures import (
    Resamples,
    as_probabilities,
    mean_of,
    person_share,
    reliability,
    within_auc,
)
from storage.evidence.inference.fixed import fixed_mean
from storage.evidence.intervals import share


def defined_auc(scores: list[int], hits: list[bool]) -> float:
    """Compute it straight from the definition, over all pairs."""
    pairs = [
        (one > other) + (one == other) / 2
        for one, is_hit in zip(scores, hits, strict=True)
        if is_hit
        for other, is_other in zip(scores, hits, strict=True)
        if not is_other
    ]
    return sum(pairs) / len(pairs)


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=30))
def test_auc_is_what_it_is_defined_to_be(cases: list[tuple[int, bool]]) -> None:
    scores, hits = [score for score, _ in cases], [hit for _, hit in cases]
    drawn = Resamples(np.zeros(len(cases), np.int64), 2)
    found = drawn.auc(np.array(scores, float), np.array(hits)).estimate.value
    if all(hits) or not any(hits):
        assert math.isnan(found)
    else:
        assert found == pytest.approx(defined_auc(scores, hits))


def test_a_resample_repeats_and_leaves_out_whole_games() -> None:
    groups = np.repeat(np.arange(40), 5)
    of_game = np.repeat(np.arange(40) % 2, 5).astype(float)  # alike within a game
    found = Resamples(groups, 400).mean(of_game).estimate
    assert found.value == 0.5
    # For 40 games: 1.96 * 0.5 / sqrt(40); for 200 moves it would be less than half of that.
    assert found.high - found.low == pytest.approx(2 * 1.96 * 0.5 / math.sqrt(40), rel=0.15)


def test_differences_are_taken_within_resamples() -> None:
    rng = np.random.default_rng(1)
    groups = np.arange(500)
    hits = rng.random(500) < 0.3
    scores = hits + rng.normal(size=500)
    drawn = Resamples(groups, 300)
    same = drawn.auc(scores, hits).minus(drawn.auc(2 * scores, hits)).estimate
    assert (same.value, same.low, same.high) == (0, 0, 0)
    worse = drawn.auc(scores, hits).minus(drawn.auc(rng.normal(size=500), hits)).estimate
    assert worse.low > 0


def test_what_is_all_of_one_game_has_no_interval() -> None:
    """Resampling the same game again and again would look like certainty."""
    for groups in (np.zeros(4, np.int64), np.array([0, 0, 1, 2])):
        found = Resamples(groups, 50).ratio(np.array([1.0, 0, 5, 5]), np.array([1.0, 1, 0, 0])).estimate
        assert found.value in (0.5, 5.5)
        assert math.isnan(found.low)
        assert math.isnan(found.high)
    alone = as_probabilities(np.arange(4.0), np.array([True, False, True, False]), np.zeros(4, np.int64))
    assert np.isnan(alone).all()


def test_there_is_no_interval_before_thirty_effective_persons() -> None:
    for persons, is_enough in ((30, True), (29, False)):
        hits = np.arange(2 * persons) % 3 == 0
        groups = np.arange(2 * persons) % persons
        drawn = Resamples(groups, 50).mean(hits.astype(float)).estimate
        mean, part = mean_of(hits.astype(float), groups), person_share(hits, groups)
        assert drawn.value == mean.value == part.share
        assert [math.isfinite(drawn.low), math.isfinite(mean.low), part.low is not None] == [is_enough] * 3
        assert [math.isfinite(drawn.high), math.isfinite(mean.high), part.high is not None] == [is_enough] * 3


def test_scores_of_probabilities() -> None:
    drawn = Resamples(np.array([0, 0, 1]), 50)
    probabilities, hits = np.array([0.8, 0.1, 0.5]), np.array([True, False, False])
    assert drawn.brier(probabilities, hits).estimate.value == pytest.approx((0.04 + 0.01 + 0.25) / 3)
    expected = -(math.log(0.8) + math.log(0.9) + math.log(0.5)) / 3
    assert drawn.log_loss(probabilities, hits).estimate.value == pytest.approx(expected)
    assert math.isfinite(drawn.log_loss(np.array([0.0, 1.0, 0.0]), hits).estimate.value)
    assert math.isnan(drawn.ratio(np.ones(3), np.zeros(3)).estimate.value)


def test_the_reliability_curve() -> None:
    rng = np.random.default_rng(2)
    probabilities = rng.random(4000)
    bins = reliability(probabilities, rng.random(4000) < probabilities, np.arange(4000))
    assert [each.actual.of for each in bins] == [400] * 10
    held = [(each.actual.low or 0) <= each.predicted <= (each.actual.high or 0) for each in bins]
    assert sum(held) >= 8
    assert [each.predicted for each in bins] == sorted(each.predicted for each in bins)


def test_any_score_as_a_probability() -> None:
    rng = np.random.default_rng(3)
    truth = rng.random(5000) * 0.4
    hits, groups = rng.random(5000) < truth, np.arange(5000) % 50
    found = as_probabilities(1000 * truth, hits, groups)
    assert found.mean() == pytest.approx(hits.mean(), abs=0.005)
    assert np.corrcoef(found, truth)[0, 1] > 0.95
    constant = as_probabilities(np.zeros(100), hits[:100], groups[:100])
    assert constant == pytest.approx(hits[:100].mean(), abs=0.1)


def test_shares_are_by_person() -> None:
    hits = np.array([True] * 9 + [False] * 9 + [True, False] * 3)
    hits = np.tile(hits, 10)
    in_pairs = person_share(hits, np.repeat(np.arange(120), 2))
    assert (in_pairs.count, in_pairs.of, in_pairs.persons, in_pairs.share) == (120, 240, 120, 0.5)
    one_each = person_share(hits, np.arange(240))
    assert one_each.low is not None
    assert in_pairs.low is not None
    assert in_pairs.low < one_each.low < 0.5
    fixed = fixed_mean(hits.astype(float), np.arange(240))
    assert (one_each.low, one_each.high) == (fixed.low, fixed.high)
    alone = person_share(hits, np.zeros(240, np.int64))
    assert (alone.share, alone.low, alone.high) == (0.5, None, None)
    nobody = person_share(np.zeros(0, bool), np.zeros(0, np.int64))
    assert (nobody.of, nobody.share, nobody.low) == (0, None, None)


def test_no_hit_is_no_certainty() -> None:
    for hits in (np.zeros(80, bool), np.ones(80, bool)):
        found = person_share(hits, np.arange(80) // 2)
        expected = share(40 * int(hits[0]), 40)
        assert (found.low, found.high) == (expected.low, expected.high)
    some = person_share(np.array([True] + [False] * 30), np.arange(31))
    assert some.low == 0


def test_auc_within_positions_ignores_differences_between_them() -> None:
    scores = np.array([0.1, 0.0, 0.9, 0.8, 0.8, 5.0, 1.0])
    hits = np.array([True, False, False, True, False, False, True])
    positions = np.array([2, 2, 4, 4, 4, 7, 9])
    found = within_auc(scores, hits, positions)
    assert found[:2].tolist() == [1.0, 0.25]
    assert np.isnan(found[2:]).all()
    assert within_auc(scores[:0], hits[:0], positions[:0]).tolist() == []


def test_estimates_of_fixed_intervals() -> None:
    values = np.arange(40.0)
    found, fixed = mean_of(values, np.arange(40)), fixed_mean(values, np.arange(40))
    assert (found.value, found.low, found.high) == (19.5, fixed.low, fixed.high)
    assert math.isnan(mean_of(np.ones(3), np.zeros(3, np.int64)).low)
    assert math.isnan(mean_of(np.zeros(0), np.zeros(0, np.int64)).value)
