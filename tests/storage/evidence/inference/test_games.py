import json
from dataclasses import replace
from datetime import timedelta
from math import log, nan
from typing import Any

import numpy as np
import pytest

from storage.evidence.inference.any_time import estimate
from storage.evidence.inference.games import expected_score, prediction
from storage.evidence.inference.suspects import SuspectFlag
from storage.evidence.inference.trial import Exclusion, TrialTerms
from tests.storage.evidence.inference.samples import (
    NOW,
    START,
    game,
    games_of,
    games_report,
    played_games,
)

TERMS = TrialTerms()
OPEN = TrialTerms(least_values=2, least_persons=0)


def test_a_guess_by_hand() -> None:
    """Stratum 0: residuals 0.5 and -0.25 come before its third game."""
    guess = prediction(
        np.array([1.0, 0.0, 0.5, 1.0]), np.array([0.5, 0.5, 0.75, 0.6]), np.array([0, 1, 0, 0])
    )
    assert guess.tolist() == pytest.approx([0.5, 0.5, 0.75 + 0.5 / 11, 0.6 + 0.25 / 12])


def test_a_guess_stays_from_0_to_1() -> None:
    up = prediction(np.ones(40), np.full(40, 0.9) - np.arange(40) / 100, np.zeros(40, int))
    assert up.max() <= 1
    steep = prediction(np.ones(41), np.append(np.full(40, 0.1), 0.95), np.zeros(41, int))
    assert steep[-1] == 1
    down = prediction(np.zeros(4), np.array([1.0, 1.0, 1.0, 0.01]), np.zeros(4, int))
    assert down[-1] == 0


def test_the_difference_in_score_by_hand() -> None:
    """Two games, unrated: psi = (1 - 1/2)/0.6 and -(0 - m)/0.4 with m = 1/2 + (1/2)/11."""
    rows = [
        game(1, treated=True, probability=0.6, score=1.0),
        game(2, treated=False, probability=0.6, score=0.0),
    ]
    found = games_report(games_of(rows), OPEN, NOW)
    m = 0.5 + 0.5 / 11
    psi = [0.5 / 0.6, m / 0.4]
    assert found.score.estimate.mean == pytest.approx(sum(psi) / 2)
    per_elo = (0.25 + m * (1 - m)) / 2 * log(10) / 400
    assert found.elo.score_per_elo == pytest.approx(per_elo)
    assert found.elo.value == pytest.approx(sum(psi) / 2 / per_elo)
    assert found.score.estimate.low is not None
    assert found.elo.low == pytest.approx(found.score.estimate.low / per_elo)


def test_expectation_from_ratings_before_the_game() -> None:
    found = expected_score(np.array([1500.0, 1900.0, 1500.0, nan]), np.array([1900.0, 1500.0, nan, 1500.0]))
    assert found.tolist() == pytest.approx([10 / 11, 1 / 11, 0.5, 0.5])


def test_strata() -> None:
    ratings = (1599, 1600, None, -1, 1799)
    found = games_report(games_of([game(n, rating=each) for n, each in enumerate(ratings)]), TERMS, NOW)
    assert {(each.stratum.rating_from, each.score.n) for each in found.strata} == {
        (1400, 1),
        (1600, 2),
        (None, 1),
        (-200, 1),
    }
    assert [each.score.n for each in found.strata] == [2, 1, 1, 1], "the largest first"


def test_costs_are_guessed_from_earlier_games_of_all_strata_and_of_their_own() -> None:
    rows = [
        game(1, cost=0.12, treated=True),
        game(2, cost=0.3, treated=False, speed="bullet"),
        game(3, cost=0.2, treated=True),
    ]
    first, second = 0.0, 0.12 / 11
    third = (0.12 + 0.3) / 12
    guesses = [first, second, third + 0.12 / 11]
    psi = [2 * (0.12 - guesses[0]), -2 * (0.3 - guesses[1]), 2 * (0.2 - guesses[2])]
    found = games_report(games_of(rows), OPEN, NOW)
    assert found.cost.estimate.mean == pytest.approx(sum(psi) / 3)


def test_the_effect_is_found() -> None:
    """20 points of score between trappy and standard."""
    found = games_report(games_of(played_games(3000, 0.2, 1)), TERMS, NOW + timedelta(days=100))
    assert found.counted + found.over_cap + found.waiting == 3000
    low, high = found.score.estimate.low, found.score.estimate.high
    assert low is not None
    assert high is not None
    assert low < 0.2 < high
    assert found.score.estimate.excludes_zero
    assert not found.cost.estimate.excludes_zero
    assert found.guard.broken == ()


def test_what_is_counted_and_what_is_missing() -> None:
    rows = [
        game(1, cost=None),
        game(2, score=None),
        game(3, score=None, cost=None),
        game(4, excluded=Exclusion.PROGRAM),
        game(5),
        game(3000, settled_at=None, score=None, cost=None),
        game(3001),
    ]
    found = games_report(games_of(rows), TERMS, START + timedelta(days=126))
    assert (found.drawn, found.counted, found.waiting) == (4, 2, 2)
    assert found.excluded == {"program": 1}
    assert (found.guard.missing_treated, found.guard.missing_untreated) == (1, 1)
    assert (found.cost_guard.missing_treated, found.cost_guard.missing_untreated) == (2, 0)
    assert found.cost.estimate.n == 2


def test_each_persons_first_game_apart() -> None:
    rows = [game(1, person=1), game(2, person=1), game(3, person=2, score=None), game(4, person=2)]
    found = games_report(games_of(rows), TERMS, NOW)
    assert found.score.first_games.n == 1
    assert found.score.later_games.n == 2


FLAGS = {1: (SuspectFlag.COPIED,), 2: (SuspectFlag.COPIED,), 3: (SuspectFlag.LEFT_EARLY,)}


def test_flagged_games_count_and_a_line_leaves_them_out() -> None:
    rows = played_games(300, 0.0, 2)
    plain, marked = (
        games_report(games_of(rows), TERMS, NOW),
        games_report(games_of(rows), TERMS, NOW, flags=FLAGS),
    )
    assert marked.score.estimate == plain.score.estimate
    assert marked.score.flagged == 3
    assert marked.score.flagged_for == {"copied": 2, "left early": 1}
    assert marked.score.without_flagged.n == 297
    assert marked.cost.without_flagged.n == 297


def test_strata_have_estimates_of_their_own() -> None:
    rows = played_games(1500, 0.1, 3)
    apart = games_report(games_of(rows), TERMS, NOW)
    assert [each.stratum.rating_from for each in apart.strata].count(None) == 0
    assert sum(each.score.n for each in apart.strata) == apart.counted
    assert [each.score.n for each in apart.strata] == sorted(
        (each.score.n for each in apart.strata), reverse=True
    )
    assert apart.strata[0].score.alpha == 0.05


def test_a_stratum_has_the_values_of_its_own_games() -> None:
    rows = [game(n, speed="bullet" if n % 3 else "blitz", person=n % 7) for n in range(60)]
    found = games_report(games_of(rows), OPEN, NOW)
    outcome = np.array([row.score for row in rows], np.float64)
    strata = np.array([0 if row.speed == "blitz" else 1 for row in rows])
    m = prediction(outcome, np.full(60, 0.5), strata)
    psi = (outcome - m) * np.where(np.arange(60) % 2 == 1, 2.0, -2.0)
    for result in found.strata:
        here = strata == (0 if result.stratum.speed == "blitz" else 1)
        expected = estimate(psi[here], (np.arange(60) % 7)[here], OPEN.design(1000))
        assert result.score.mean == pytest.approx(expected.mean)
        assert result.score.n == here.sum()


def test_no_games() -> None:
    found = games_report(games_of([]), TERMS, NOW)
    assert (found.drawn, found.score.estimate.mean, found.elo.value, found.strata) == (0, None, None, ())
    assert found.score.largest is None


def test_json() -> None:
    found = json.loads(json.dumps(games_report(games_of(played_games(300, 0.0, 4)), TERMS, NOW).to_json()))
    assert found["guard"]["broken"] == []
    assert found["cost_guard"]["broken"] == []
    assert found["score"]["estimate"]["kind"] == "any time"
    assert found["strata"][0]["stratum"]["game"] == "othello"
    assert found["score"]["estimate"]["too_early"] is False
    assert found["score"]["estimate"]["why_too_early"] is None
    assert None not in (
        found["score"]["estimate"]["mean"],
        found["elo"]["value"],
        found["cost_guard"]["draw"]["mean"],
    )
    assert found["elo"]["too_early"] is False


def estimates(found: object) -> list[dict[str, Any]]:
    """All estimates of a report's JSON."""
    if isinstance(found, dict):
        inside = [each for value in found.values() for each in estimates(value)]
        return [found, *inside] if "too_early" in found else inside
    return [each for value in found for each in estimates(value)] if isinstance(found, list) else []


def test_json_hides_what_is_too_early() -> None:
    report = games_report(games_of(played_games(60, 0.3, 4)), TERMS, NOW)
    found = json.loads(json.dumps(report.to_json()))
    known = estimates(found)
    assert len(known) > 10
    for each in known:
        assert each["too_early"] is True
        assert {each.get(name) for name in ("mean", "value", "sd", "low", "high", "e_value")} == {None}
    assert report.score.estimate.mean is not None
    assert report.elo.value is not None
    assert found["score"]["estimate"]["n"] == report.score.estimate.n > 0
    assert found["score"]["estimate"]["why_too_early"] == report.score.estimate.too_early
    assert found["strata"][0]["score"]["n"] == report.strata[0].score.n


def test_json_hides_what_has_one_arm_only() -> None:
    games = [replace(each, treated=True) for each in played_games(300, 0.0, 4)]
    found = json.loads(json.dumps(games_report(games_of(games), TERMS, NOW).to_json()))
    estimate = found["score"]["estimate"]
    assert (estimate["mean"], estimate["too_early"], found["elo"]["value"]) == (None, True, None)
    assert estimate["why_too_early"].startswith("no comparison: ")
    assert estimate["why_too_early"].endswith(" treated, 0 untreated")


def test_what_cannot_be() -> None:
    for changes, why in (
        ({"score": 0.3}, "the score is 0.3"),
        ({"cost": 1.5}, "the cost is 1.5"),
        ({"cost": -0.1}, "the cost is -0.1"),
    ):
        with pytest.raises(ValueError, match=f"game 1: {why}"):
            games_of([game(0), game(1, **changes)])
    costs = games_of([game(1, cost=0.0), game(2, cost=1.0), game(3, cost=None)]).rows["cost"]
    assert costs.tolist() == pytest.approx([0, 1, nan], nan_ok=True)


def test_costs_end_before_the_first_game_that_is_not_judged() -> None:
    """The judge takes the latest games first: those that it has judged would be a biased choice."""
    rows = [game(number, cost=0.1 if number % 2 else 0.2) for number in range(8)]
    whole = games_report(games_of(rows), OPEN, NOW)
    waiting = [replace(row, cost=None, is_unjudged=True) if row.game_id in (4, 5) else row for row in rows]
    found = games_report(games_of(waiting), OPEN, NOW)
    assert (whole.unjudged, found.unjudged) == (0, 2)
    assert found.cost.estimate == games_report(games_of(rows[:4]), OPEN, NOW).cost.estimate
    assert (found.cost.estimate.n, found.cost_guard.counted_treated, found.cost_guard.missing_treated) == (
        4, 2, 0
    )  # fmt: skip
    assert (found.score.estimate, found.counted, found.waiting) == (whole.score.estimate, 8, 0)
    first = [replace(rows[0], cost=None, is_unjudged=True), *rows[1:]]
    early = games_report(games_of(first), OPEN, NOW)
    assert (early.cost.estimate.n, early.cost.estimate.mean) == (0, None)
    assert early.to_json()["cost"]["estimate"]["too_early"]
