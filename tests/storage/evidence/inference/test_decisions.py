import json
from dataclasses import replace

import numpy as np
import pytest

from storage.evidence.inference.decisions import centred_least_squares, decisions_report, predicted_cost
from storage.evidence.inference.fixed import leave_one_out
from storage.evidence.inference.suspects import SuspectFlag
from storage.evidence.inference.trial import Exclusion, TrialTerms
from tests.storage.evidence.inference.samples import NOW, START, decision

OPEN = TrialTerms(least_values=2, least_persons=0)


def test_a_guess_by_hand() -> None:
    """Person 0 lost 0.5 where 0.1 was expected before the third reply; person 1 has no past."""
    guess = predicted_cost(np.array([0.5, 0.0, 0.2]), np.array([0.1, 0.05, 0.04]), np.array([0, 1, 0]))
    fresh = 0.8 * 0.05 + 0.2 * 1.2 / 20
    assert guess[1] == pytest.approx(fresh)
    assert guess[2] == pytest.approx(0.8 * (1.7 / 1.3) * 0.04 + 0.2 * 1.7 / 21)


def test_the_three_outcomes_by_hand() -> None:
    rows = [decision(1, person=1), decision(2, person=2, cost=0.3, probability=0.25)]
    found = decisions_report(rows, OPEN, NOW)
    m = 0.8 * 0.06 + 0.2 * 0.06
    cost = (2 * (0.1 - m) - (0.3 - m) / 0.75) / 2
    assert found.cost.any_time.estimate.mean == pytest.approx(cost)
    difficulty = (2 * (0.1 - 0.2 - m + 0.15) - (0.3 - 0.1 - m + 0.15) / 0.75) / 2
    assert found.beyond_difficulty.any_time.estimate.mean == pytest.approx(difficulty)
    earned = (2 * (0.1 - 0.01 - m + 0.005) - (0.3 - m + 0.005) / 0.75) / 2
    assert found.earned.any_time.estimate.mean == pytest.approx(earned)


def normal(seed: int, n: int = 240, persons: int = 12) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    x, probability = rng.uniform(0, 0.2, n), rng.choice([0.3, 0.5, 0.7], n)
    treated = rng.random(n) < probability
    who = rng.integers(0, persons, n)
    outcome = 0.02 + x + 0.05 * treated + rng.normal(0, 0.1, n)
    return outcome, x, treated, probability, who


def test_weighted_centred_least_squares_against_a_plain_fit() -> None:
    outcome, x, treated, probability, who = normal(1)

    def fit(kept: np.ndarray) -> float:
        weight = np.where(treated, 0.5 / probability, 0.5 / (1 - probability))[kept] ** 0.5
        design = np.stack([np.ones(len(x)), x, treated - 0.5], axis=1)[kept]
        solved = np.linalg.lstsq(design * weight[:, None], outcome[kept] * weight, rcond=None)[0]
        return float(solved[2])

    found = centred_least_squares(outcome, x, treated, probability, who, 0.05)
    full = fit(np.ones(len(x), bool))
    assert found.value == pytest.approx(full)
    assert {type(number) for number in (found.value, found.low, found.high)} == {float}, "not NumPy's"
    expected = leave_one_out(
        full, np.array([fit(who != p) for p in range(12)]), np.bincount(who).astype(np.float64)
    )
    assert found.low == pytest.approx(expected.low)
    assert found.high == pytest.approx(expected.high)
    assert expected.low is not None
    assert 0 < expected.low < 0.05


def test_least_squares_that_are_not_determined() -> None:
    outcome, x, treated, probability, who = normal(2)
    flat = centred_least_squares(outcome, np.full(len(x), 0.1), treated, probability, who, 0.05)
    assert flat.too_early == "not determined"
    zero = centred_least_squares(outcome, np.zeros(len(x)), treated, probability, who, 0.05)
    assert zero.too_early == "not determined"
    small = centred_least_squares(outcome, x * 1e-6, treated, probability, who, 0.05)
    assert small.value == pytest.approx(
        centred_least_squares(outcome, x, treated, probability, who, 0.05).value
    )
    none = centred_least_squares(outcome[:0], x[:0], treated[:0], probability[:0], who[:0], 0.05)
    assert none.too_early == "no values"


def test_counting() -> None:
    rows = [
        decision(1),
        decision(2, cost=None),
        decision(3, cost=None),
        decision(5, cost=None),
        decision(4, excluded=Exclusion.PROGRAM),
        decision(140_000, settled_at=None, cost=None),
        decision(140_001),
    ]
    found = decisions_report(rows, OPEN, NOW)
    assert (found.drawn, found.counted, found.waiting) == (4, 1, 2)
    assert found.excluded == {"program": 1}
    assert (found.guard.missing_treated, found.guard.missing_untreated) == (2, 1)


def test_all_decisions_of_a_persons_first_games_count() -> None:
    rows = [decision(n, person=1, game_id=n // 4, games_before=n // 4) for n in range(20)]
    found = decisions_report(rows, TrialTerms(cap_games=3), NOW)
    assert (found.counted, found.over_cap) == (12, 8)
    assert found.cost.any_time.first_games.n == 4
    assert found.cost.any_time.later_games.n == 8


def test_games_without_a_randomised_decision_are_games_too() -> None:
    rows = [decision(n, person=1, game_id=n, games_before=2 * n + 1) for n in range(5)]
    found = decisions_report(rows, TrialTerms(cap_games=4), NOW)
    assert (found.counted, found.over_cap) == (2, 3)
    assert (found.cost.any_time.first_games.n, found.cost.any_time.later_games.n) == (0, 2)
    with pytest.raises(ValueError, match="decision 7: games_before is -1"):
        decision(7, games_before=-1)


def test_the_effect_is_found_and_flagged_games_stand_apart() -> None:
    rng = np.random.default_rng(3)
    rows = []
    for n in range(2000):
        trap = bool(rng.random() < 0.5)
        rows.append(
            decision(
                n,
                person=n // 5 % 80,
                game_id=n // 5,
                games_before=n // 400,
                treated=trap,
                cost=float(np.clip(rng.normal(0.2 + 0.05 * trap, 0.05), 0, 1)),
                expected_trap=float(rng.uniform(0.05, 0.3)),
            )
        )
    found = decisions_report(
        rows,
        TrialTerms(),
        NOW,
        flags={
            0: (SuspectFlag.COPIED,),
            1: (
                SuspectFlag.COPIED,
                SuspectFlag.FAST_REPLIES,
            ),
        },
    )
    outcome = found.cost
    assert outcome.any_time.estimate.low is not None
    assert outcome.any_time.estimate.high is not None
    assert outcome.any_time.estimate.low < 0.05 < outcome.any_time.estimate.high
    assert outcome.any_time.estimate.excludes_zero
    assert outcome.fixed.value == pytest.approx(0.05, abs=0.01)
    assert outcome.any_time.flagged == 10
    assert outcome.any_time.flagged_for == {"copied": 10, "fast replies": 5}
    # A trap here costs replies 0.05, but its position is 0.1 harder for a random mover.
    assert found.beyond_difficulty.fixed.value == pytest.approx(-0.05, abs=0.01)
    assert found.earned.fixed.value == pytest.approx(0.04, abs=0.01)


def test_costs_and_values_of_0_and_1_are_possible() -> None:
    rows = [decision(1, cost=0.0, mean_control=0.0, value_trap=1.0), decision(2, cost=1.0, expected_trap=0.0)]
    assert decisions_report(rows, OPEN, NOW).counted == 2


def test_no_decisions() -> None:
    found = decisions_report([], TrialTerms(), NOW)
    assert found.cost.any_time.estimate.mean is None
    assert found.cost.fixed.too_early == "no values"


def test_json() -> None:
    found = json.loads(json.dumps(decisions_report([decision(n) for n in range(9)], OPEN, NOW).to_json()))
    assert found["guard"]["broken"] == []
    assert found["cost"]["fixed"]["kind"] == "fixed"
    assert found["earned"]["any_time"]["estimate"]["n"] == 9
    early = decisions_report([decision(n) for n in range(9)], TrialTerms(), NOW).to_json()
    hidden = early["cost"]["any_time"]["estimate"]
    assert (hidden["mean"], hidden["too_early"], hidden["n"]) == (None, True, 9)


@pytest.mark.parametrize("planned_n", [300, 301])
def test_json_hides_the_fixed_interval_until_its_look(planned_n: int) -> None:
    rows = [
        decision(n, treated=n % 3 == 0, cost=0.1 + n % 7 / 50, expected_trap=0.08 + n % 5 / 50)
        for n in range(300)
    ]
    report = decisions_report(rows, replace(OPEN, planned_decisions=planned_n), NOW)
    assert report.counted == 300
    cost = json.loads(json.dumps(report.to_json()))["cost"]
    assert cost["any_time"]["estimate"]["mean"] is not None
    assert (cost["fixed"]["value"] is None) == (planned_n == 301)
    assert cost["fixed"]["why_too_early"] == ("300 of 301" if planned_n == 301 else None)


def test_what_cannot_be() -> None:
    with pytest.raises(ValueError, match="decision 3: it occurs twice"):
        decisions_report([decision(3), decision(3)], OPEN, NOW)
    with pytest.raises(ValueError, match=r"decision 3: mean_trap is 1.2, not from 0 to 1"):
        decision(3, mean_trap=1.2)
    with pytest.raises(ValueError, match=r"decision 3: cost is -0.1"):
        decision(3, cost=-0.1)
    with pytest.raises(ValueError, match="decision 3: the probability of treatment is 0"):
        decisions_report([decision(2), decision(3, probability=0.0)], OPEN, NOW)
    with pytest.raises(ValueError, match="decision 3: it was settled before it was randomised"):
        decisions_report([decision(3, settled_at=START)], OPEN, NOW)
    for name in ("drawn_at", "settled_at"):
        with pytest.raises(ValueError, match=f"decision 3: {name} has no time zone"):
            decision(3, **{name: NOW.replace(tzinfo=None)})


def test_results_end_before_the_first_decision_that_is_not_judged() -> None:
    rows = [decision(number, cost=0.1 + number / 100) for number in range(10)]
    waiting = [replace(row, cost=None, is_unjudged=True) if row.decision_id == 6 else row for row in rows]
    terms = TrialTerms(least_values=2, least_persons=0)
    found = decisions_report(waiting, terms, NOW)
    before = decisions_report(rows[:6], terms, NOW)
    assert (found.unjudged, found.drawn, found.waiting) == (1, 6, 4)
    for name in ("cost", "beyond_difficulty", "earned"):
        assert getattr(found, name).any_time.estimate == getattr(before, name).any_time.estimate
    assert found.guard == before.guard


def test_difficulty_is_measured_in_our_own_search() -> None:
    """Whatever the judge says of the reply that was played."""
    same = {"own_cost": 0.3, "mean_trap": 0.3, "mean_control": 0.3}
    rows = [
        decision(number, cost=0.1 + 0.2 * (number % 2), expected_trap=number % 7 / 100, **same)
        for number in range(60)
    ]
    report = decisions_report(rows, OPEN, NOW)
    assert report.cost.fixed.value == pytest.approx(0.2)
    assert report.beyond_difficulty.fixed.value == pytest.approx(0)
