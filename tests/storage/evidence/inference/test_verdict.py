"""What an interval says, and how many more values decide."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from storage.evidence.inference.any_time import AnyTimeEstimate, SequenceDesign
from storage.evidence.inference.decisions import decisions_report
from storage.evidence.inference.trial import TrialTerms
from storage.evidence.inference.verdict import (
    IntervalFinding,
    TrialOutcome,
    TrialVerdict,
    decisions_verdicts,
    finding_of,
    games_verdicts,
    more_to_decide,
    more_to_narrow,
)
from tests.storage.evidence.inference.samples import NOW, decision, game, games_of, games_report, played_games

ARMS = ("trappy", "standard")
DESIGN = SequenceDesign(1000)


def verdicts(games: list[Any], planned: str = "score") -> tuple[TrialVerdict, ...]:
    terms = TrialTerms()
    report = games_report(games_of(games), terms, NOW + timedelta(days=100))
    return games_verdicts(report, ARMS, planned, terms)


@pytest.fixture(scope="module")
def found() -> AnyTimeEstimate:
    report = games_report(games_of(played_games(1200, 0.0, 1)), TrialTerms(), NOW + timedelta(days=100))
    return report.score.estimate


@pytest.mark.parametrize(
    ("low", "high", "says"),
    [
        (None, None, IntervalFinding.TOO_EARLY),
        (0.01, 0.2, IntervalFinding.MORE),
        (0.01, 0.02, IntervalFinding.MORE),
        (-0.2, -0.01, IntervalFinding.LESS),
        (-0.03, 0.03, IntervalFinding.NO_DIFFERENCE),
        (0.0, 0.0, IntervalFinding.NO_DIFFERENCE),
        (-0.031, 0.03, IntervalFinding.NOT_CLEAR),
        (-0.03, 0.031, IntervalFinding.NOT_CLEAR),
        (0.0, 0.2, IntervalFinding.NOT_CLEAR),
        (-0.2, 0.0, IntervalFinding.NOT_CLEAR),
    ],
)
def test_findings(low: float | None, high: float | None, says: IntervalFinding) -> None:
    assert finding_of(low, high, 0.03) is says
    is_decided = says not in (IntervalFinding.TOO_EARLY, IntervalFinding.NOT_CLEAR)
    assert says.is_decided is is_decided


def test_without_a_margin_every_difference_is_of_interest() -> None:
    assert finding_of(-1e-9, 1e-9) is IntervalFinding.NOT_CLEAR


def test_values_until_the_interval_is_a_third_narrower(found: AnyTimeEstimate) -> None:
    more = more_to_narrow(found, DESIGN)
    assert more is not None
    wanted = float(DESIGN.width(found.n)) * 2 / 3
    assert float(DESIGN.width(found.n + more)) <= wanted < float(DESIGN.width(found.n + more - 1))
    assert more_to_narrow(replace(found, low=None), DESIGN) is None


def test_values_until_it_is_decided(found: AnyTimeEstimate) -> None:
    """5 points: when the interval leaves 0.  1 point: when it lies within the 3 that are of no interest."""
    assert found.sd is not None
    for mean, half in ((0.05, 0.05), (0.01, 0.02), (-0.01, 0.02)):
        more = more_to_decide(replace(found, mean=mean), DESIGN, 0.03)
        assert more is not None
        n = found.n + more
        assert found.sd * float(DESIGN.width(n)) <= half < found.sd * float(DESIGN.width(n - 1))
    assert more_to_decide(replace(found, mean=0.9), DESIGN, 0.03) == 0
    assert more_to_decide(replace(found, low=None), DESIGN, 0.03) is None
    assert more_to_decide(replace(found, mean=0.015, sd=50.0), DESIGN, 0.03) is None


def test_the_verdict_has_the_counts_that_precede_the_interval() -> None:
    score, cost = verdicts([game(number, person=number % 7) for number in range(30)])
    assert (score.outcome, score.is_planned, score.finding) == (
        TrialOutcome.SCORE,
        True,
        IntervalFinding.TOO_EARLY,
    )
    assert (score.n, score.n_first, score.n_second, score.n_needed) == (30, 15, 15, 100)
    assert (score.persons, score.persons_needed) == (7, 30)
    assert score.effective_persons == pytest.approx(900 / (2 * 25 + 5 * 16))
    assert (score.mean, score.low, score.high, score.e_value, score.more) == (None,) * 5
    assert (cost.is_planned, cost.finding) == (False, IntervalFinding.TOO_EARLY)


def test_the_planned_outcome_comes_first() -> None:
    games = [game(number, person=number // 10) for number in range(600)]
    assert [each.outcome for each in verdicts(games)] == [TrialOutcome.SCORE, TrialOutcome.COST]
    assert [each.outcome for each in verdicts(games, "cost")] == [TrialOutcome.COST, TrialOutcome.SCORE]


def test_a_hundred_games_may_decide() -> None:
    score = verdicts([game(number) for number in range(100)])[0]
    assert score.finding is IntervalFinding.MORE
    assert score.low is not None
    assert score.low > 0
    assert (score.n, score.more) == (100, 0)


def test_games_of_one_player_alone_decide_nothing() -> None:
    games = [game(number, treated=True, probability=0.999) for number in range(200)]
    score = verdicts(games)[0]
    assert (score.finding, score.n_first, score.n_second) == (IntervalFinding.TOO_EARLY, 200, 0)
    assert score.mean is None


def test_a_broken_draw_is_part_of_the_verdict() -> None:
    rows = [each for each in played_games(1200, 0.0, 1) if each.treated]
    assert verdicts(rows)[0].broken == ("draw",)


def test_single_decisions_have_three_verdicts() -> None:
    rows = [
        decision(number, person=number // 2 % 60, cost=0.5 if number % 2 else 0.3, value_trap=0.56)
        for number in range(600)
    ]
    terms = TrialTerms(planned_decisions=500)
    found = decisions_verdicts(decisions_report(rows, terms, NOW), terms, is_planned=True)
    assert [(each.outcome.value, each.is_planned, each.unit) for each in found] == [
        ("reply_cost", True, "decision"),
        ("beyond_difficulty", False, "decision"),
        ("earned", False, "decision"),
    ]
    assert {each.finding for each in found} <= {IntervalFinding.MORE, IntervalFinding.NOT_CLEAR}
    assert found[0].finding is IntervalFinding.MORE
