"""Replies judged in expected score: Figure 9, and what a fall is."""

from dataclasses import replace

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from engine.decision import Candidate, Decision, OutcomeKind, ReplyProfile
from engine.errors import IncompleteProfile, RecordError
from engine.expected import WHOLE, expected_score
from engine.figure_9 import (
    FIGURE_9_RULE,
    MIN_ERROR_COST,
    ReplyVerdict,
    ReplyVerdicts,
    classify_by_figure_9,
    decision_verdicts,
    expected_scale_centi,
    profile_verdict,
    reply_verdicts,
)
from engine.game import WIN_CENTI
from engine.games import get_rules
from engine.params import Assessment, Scale, TrapParams
from engine.trappy import reply_trappiness
from tests.engine.decisions import decision_with

WON = WIN_CENTI + 500
SCALE_CENTI = 150.0
any_score = st.one_of(st.integers(-1500, 1500), st.sampled_from([-WON, -WIN_CENTI, 0, WIN_CENTI, WON]))
rows_of_scores = st.lists(st.lists(any_score, min_size=3, max_size=3), min_size=1, max_size=6)
any_params = st.one_of(
    st.builds(TrapParams, assessment=st.sampled_from(Assessment), threshold_percent=st.floats(0.01, 30)),
    st.builds(TrapParams, scale=st.just(Scale.EXPECTED), threshold_percent=st.floats(0.01, 30)),
)


def candidate(*replies: tuple[str, tuple[int, ...]]) -> Candidate:
    """Our move e6, judged by the least of its replies' last scores (our view)."""
    raw = min(row[-1] for _, row in replies)
    profiles = tuple(ReplyProfile(reply, row) for reply, row in replies)
    return Candidate("e6", raw, False, raw, replies=profiles, complete=True)


def candidate_of(rows: list[list[int]]) -> Candidate:
    return candidate(*((f"r{n}", tuple(row)) for n, row in enumerate(rows)))


TRAP = candidate(
    ("b4", (-400, -400, 400)),
    ("c5", (-300, -300, 400)),
    ("f7", (-400, -400, 1400)),
    ("f8", (-400, 200, 900)),
    ("g6", (700, 750, 800)),
    ("g7", (1500, 1500, 1400)),
)


@pytest.mark.parametrize(
    ("reply", "kind", "for_best", "cost_centi", "cost"),
    [
        ("b4", OutcomeKind.OPTIMAL, False, 0, 0),
        ("c5", OutcomeKind.OPTIMAL, False, 0, 0),
        ("f7", OutcomeKind.FELL_FOR_PAPER_TRAP, True, 1000, 2307),
        ("f8", OutcomeKind.FELL_FOR_PAPER_TRAP, False, 500, 1336),
        ("g6", OutcomeKind.ERRED_ELSEWHERE, False, 400, 1096),  # a trap, but too small
        ("g7", OutcomeKind.ERRED_ELSEWHERE, False, 1000, 2307),
        (None, OutcomeKind.UNANSWERED, False, 0, 0),
    ],
)
def test_outcomes(reply: str | None, kind: OutcomeKind, for_best: bool, cost_centi: int, cost: int) -> None:
    outcome = classify_by_figure_9(decision_with([TRAP], "e6"), reply)
    assert (outcome.kind, outcome.reply, outcome.fell_for_best) == (kind, reply, for_best)
    assert (outcome.cost_centi, outcome.cost, outcome.rule) == (cost_centi, cost, FIGURE_9_RULE)


def test_numbers_by_hand() -> None:
    """s = 790.7 of the first position of Othello: 400 is worth .6238 of a point, 1400 .8545."""
    verdicts = decision_verdicts(decision_with([TRAP], "e6"))
    assert [each.cost for each in verdicts.replies] == [0, 0, 8545 - 6238, 7574 - 6238, 7334 - 6238, 2307]
    # f7 looked 1800 better than it is: 0.75 + 0.25 (1800 - 1400) / (3 * 1400).
    assert verdicts.of("f7").quality == pytest.approx(2307 * (0.75 + 0.25 * 400 / 4200))
    assert verdicts.of("g6").quality == pytest.approx(1096 * 0.75 * 75 / 800)
    assert (verdicts.trap, verdicts.threshold) == (verdicts.of("f7"), 500)
    assert verdicts.is_trap
    assert not verdicts.is_decided


def test_a_blunder_that_any_shallow_score_shows_is_no_fall() -> None:
    """Qxf6 loses the queen at every depth, although another reply is a trap: an error elsewhere."""
    chess = get_rules("chess")
    move = candidate(("d8e7", (260, 270, 274)), ("d8f6", (965, 1000, 1031)), ("b8c6", (-300, -200, 900)))
    made = replace(decision_with([move], "e6"), game="chess", position=chess.position_text(chess.initial()))
    verdicts = decision_verdicts(made)
    assert verdicts.is_trap
    assert 0 < verdicts.of("d8f6").quality < verdicts.threshold / 5
    assert classify_by_figure_9(made, "d8f6").kind is OutcomeKind.ERRED_ELSEWHERE
    assert classify_by_figure_9(made, "b8c6").kind is OutcomeKind.FELL_FOR_PAPER_TRAP


def test_a_reply_after_the_end_of_our_rules_is_none() -> None:
    """Some servers play on after a third occurrence: no reply was foreseen, and none can be judged."""
    over = Candidate("e6", 0, False, 0, complete=True)
    outcome = classify_by_figure_9(decision_with([over], "e6"), "b4")
    assert (outcome.kind, outcome.reply) == (OutcomeKind.UNANSWERED, None)
    nothing = decision_verdicts(decision_with([over], "e6"))
    assert (nothing.trap, nothing.is_trap, nothing.replies) == (None, False, ())
    summary = profile_verdict(decision_with([over], "e6"))
    assert (summary.trap_quality, summary.reply_count) == (0.0, 0)


def test_below_the_threshold_nobody_falls() -> None:
    exactly = decision_verdicts(decision_with([TRAP], "e6")).of("f8").quality
    for threshold, kind in (
        (exactly / 100, OutcomeKind.FELL_FOR_PAPER_TRAP),
        (10.2, OutcomeKind.ERRED_ELSEWHERE),
    ):
        made = decision_with([TRAP], "e6", params=TrapParams(threshold_percent=threshold))
        assert classify_by_figure_9(made, "f8").kind is kind
    made = decision_with([TRAP], "e6", params=TrapParams(threshold_percent=50))
    assert not decision_verdicts(made).is_trap
    outcome = classify_by_figure_9(made, "f7")
    assert (outcome.kind, outcome.fell_for_best) == (OutcomeKind.ERRED_ELSEWHERE, False)


def test_what_cannot_be_judged_is_refused() -> None:
    partial = Candidate("e6", 400, False, 400, replies=TRAP.replies[:1])
    with pytest.raises(IncompleteProfile, match="e6 is incomplete"):
        classify_by_figure_9(decision_with([partial], "e6"), "b4")
    bounded = replace(TRAP, replies=(*TRAP.replies, ReplyProfile("h1", (), 900)))
    with pytest.raises(IncompleteProfile, match="incomplete"):
        reply_verdicts(bounded, TrapParams(), SCALE_CENTI)
    with pytest.raises(RecordError, match="e6: h1 is not among"):
        classify_by_figure_9(decision_with([TRAP], "e6"), "h1")
    assert classify_by_figure_9(decision_with([partial], "e6"), None).kind is OutcomeKind.UNANSWERED


@given(rows_of_scores, any_params)
def test_every_reply_has_exactly_one_outcome(rows: list[list[int]], params: TrapParams) -> None:
    """Figure 9 adds up, and whoever falls does so by a reply that reaches the threshold itself."""
    made, verdicts = judged(rows, params)
    outcomes = [classify_by_figure_9(made, reply.reply) for reply in made.chosen.replies]
    kinds = [outcome.kind for outcome in outcomes]
    assert OutcomeKind.OPTIMAL in kinds
    assert OutcomeKind.UNANSWERED not in kinds
    assert (OutcomeKind.FELL_FOR_PAPER_TRAP in kinds) is verdicts.is_trap
    for outcome, verdict in zip(outcomes, verdicts.replies, strict=True):
        assert (outcome.quality, outcome.cost) == (verdict.quality, verdict.cost)
        assert 0 <= verdict.quality <= verdict.cost <= WHOLE
        assert outcome.cost_centi >= 0
        if outcome.kind is not OutcomeKind.OPTIMAL:
            is_paper_trap = verdict.quality >= 100 * params.threshold_percent
            assert (outcome.kind is OutcomeKind.FELL_FOR_PAPER_TRAP) is is_paper_trap
        if outcome.fell_for_best:
            assert outcome.kind is OutcomeKind.FELL_FOR_PAPER_TRAP
            assert verdict.quality == max(each.quality for each in verdicts.replies)
    assert any(outcome.fell_for_best for outcome in outcomes) is verdicts.is_trap


@given(rows_of_scores, st.sampled_from(Assessment))
def test_costs_are_of_expected_score(rows: list[list[int]], assessment: Assessment) -> None:
    params = TrapParams(assessment=assessment)
    made, verdicts = judged(rows, params)
    scale = expected_scale_centi(made)
    for row, verdict in zip(rows, verdicts.replies, strict=True):
        worst = max(expected_score(row[-1], scale) - expected_score(other[-1], scale) for other in rows)
        assert verdict.cost == worst
        assert verdict.quality == pytest.approx(worst * reply_trappiness(row, params))


@given(rows_of_scores, any_params)
@example([[-WON, -WON, WIN_CENTI], [-WON, -WON, WON]], TrapParams())
def test_a_forced_win_costs_nothing(rows: list[list[int]], params: TrapParams) -> None:
    """However the opponent replies; and where we are lost by force only giving the win away costs."""
    won = [[*row[:-1], max(WIN_CENTI, row[-1])] for row in rows]
    made, verdicts = judged(won, params)
    assert verdicts.is_decided
    assert not verdicts.is_trap
    assert [(each.cost, each.quality) for each in verdicts.replies] == [(0, 0)] * len(won)
    kinds = {classify_by_figure_9(made, reply.reply).kind for reply in made.chosen.replies}
    assert kinds <= {OutcomeKind.OPTIMAL, OutcomeKind.ERRED_ELSEWHERE}
    lost = judged([*rows, [0, 0, -WON]], params)[1]
    assert lost.is_decided
    for row, verdict in zip(rows, lost.replies, strict=False):
        assert (verdict.cost > 0) >= (row[-1] >= 0)
        assert (verdict.cost == 0) >= (row[-1] <= -WIN_CENTI)


@given(rows_of_scores, any_params)
def test_the_order_of_the_replies_changes_no_verdict(rows: list[list[int]], params: TrapParams) -> None:
    assume(len(rows) > 1)
    there = reply_verdicts(candidate_of(rows), params, SCALE_CENTI)
    back = reply_verdicts(candidate_of(rows[::-1]), params, SCALE_CENTI)
    assert [(r.cost, r.quality) for r in back.replies] == [(r.cost, r.quality) for r in there.replies[::-1]]
    assert (back.is_trap, back.is_decided) == (there.is_trap, there.is_decided)


def judged(rows: list[list[int]], params: TrapParams) -> tuple[Decision, ReplyVerdicts]:
    made = decision_with([candidate_of(rows)], "e6", params=params)
    return made, decision_verdicts(made)


def test_the_threshold_itself_counts() -> None:
    verdicts = ReplyVerdicts(
        (ReplyVerdict("a", 1000, 500.0, False), ReplyVerdict("b", 1000, 499.9, False)), 500.0, False
    )
    assert [verdicts.is_paper_trap(each) for each in verdicts.replies] == [True, False]
    assert verdicts.is_trap


def test_an_error_costs_a_tenth_of_the_game() -> None:
    assert 10 * MIN_ERROR_COST == WHOLE
