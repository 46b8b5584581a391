"""What a move is worth against a person: the paper's example, and what must hold for all numbers."""

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.decision import Candidate, Decision, ModelInfo, OpponentModelUse, Person, ReplyProfile
from engine.errors import RecordError
from engine.expected import WHOLE, expected_score
from engine.game import WIN_CENTI
from engine.human.opponent_value import (
    UNSEARCHED,
    choose_by_value,
    expectation,
    risk_floor_centi,
    utility,
    value_of,
)
from engine.params import OpponentParams, OpponentScale, TrapParams
from engine.search.reference import INFINITY
from engine.strategies.registry import strategy_named
from engine.trappy import with_trap
from engine.verification import verify

EXPECTED = OpponentParams(logistic_centi=200)
PAWNS = OpponentParams(scale=OpponentScale.PAWNS, logistic_centi=200)
MODEL = ModelInfo("shallow", "fake", "0")
scores = st.integers(-3000, 3000) | st.integers(WIN_CENTI, WIN_CENTI + 10_000).map(lambda win: -win)
scales = st.sampled_from([EXPECTED, PAWNS, replace(EXPECTED, budget_percent=0, least_percent=0)])


@st.composite
def candidates(draw: st.DrawFn, move: str = "a") -> Candidate:
    """A move with any replies of any probabilities."""
    finals = draw(st.lists(scores, min_size=1, max_size=8))
    weights = draw(st.lists(st.integers(0, 60), min_size=len(finals), max_size=len(finals)).filter(any))
    replies = tuple(
        ReplyProfile(f"r{number}", (0, final), probability=weight / sum(weights))
        for number, (final, weight) in enumerate(zip(finals, weights, strict=True))
    )
    return Candidate(move, min(finals), False, 0.0, replies=replies, complete=True)


def test_the_papers_example() -> None:
    """Its first row's probabilities add up to 1.1; pawns as printed."""
    first = expectation((0.6, 0.3, 0.1, 0.1), (5, 1, 0.5, -1), rest=-1)
    second = expectation((0.9, 0.05, 0.03, 0.02), (4, 0.5, 0, -2), rest=-2)
    assert (first, second) == (3.25, 3.585)
    assert expectation((0.5,), (4,), rest=-2) == 1.0
    assert expectation((1 / 3,), (1,), rest=0) == 0.333333, "rounded to a millionth"

    def move(name: str, probabilities: tuple[float, ...], pawns: tuple[float, ...]) -> Candidate:
        replies = tuple(
            ReplyProfile(f"{name}{number}", (0, round(100 * pawn)), probability=p)
            for number, (p, pawn) in enumerate(zip(probabilities, pawns, strict=True))
        )
        bare = Candidate(name, -200, False, 0.0, replies=replies, complete=True)
        return replace(bare, value=value_of(bare, PAWNS))

    moves = (
        move("1", (0.6, 0.3, 0.1, 0.1), (5, 1, 0.5, -1)),
        move("2", (0.9, 0.05, 0.03, 0.02), (4, 0.5, 0, -2)),
    )
    assert [each.value for each in moves] == [325, 358.5]
    assert choose_by_value(moves) == "2"


@given(candidates(), scales)
def test_a_value_lies_between_the_worst_and_the_best(candidate: Candidate, params: OpponentParams) -> None:
    worths = [utility(reply.final_centi, params) for reply in candidate.replies]
    value = value_of(candidate, params)
    assert min(worths) <= value <= max(worths)
    assert value >= utility(candidate.raw_centi, params)


@given(candidates(), scales)
def test_sure_of_the_best_reply_is_plain_minimax(candidate: Candidate, params: OpponentParams) -> None:
    best = min(candidate.replies, key=lambda reply: reply.final_centi)
    sure = tuple(replace(reply, probability=float(reply is best)) for reply in candidate.replies)
    assert value_of(replace(candidate, replies=sure), params) == utility(candidate.raw_centi, params)


@given(candidates(), scales)
def test_unlikely_replies_count_as_the_best(candidate: Candidate, params: OpponentParams) -> None:
    """Whether they were looked into or not."""
    unseen = tuple(
        reply
        if (reply.probability or 0) >= params.min_reply_p
        else ReplyProfile(reply.reply, (), UNSEARCHED, probability=reply.probability)
        for reply in candidate.replies
    )
    full = sum((r.probability or 0) * utility(r.final_centi, params) for r in candidate.replies)
    value = value_of(replace(candidate, replies=unseen), params)
    assert value == value_of(candidate, params) <= full + 1e-5


def test_a_reply_of_just_the_least_probabilities_counts() -> None:
    probabilities, params = (0.25, 0.75), replace(PAWNS, least_percent=25)
    replies = tuple(
        ReplyProfile(f"r{number}", (0, score), probability=p)
        for number, (p, score) in enumerate(zip(probabilities, (400, 0), strict=True))
    )
    move = Candidate("a", 0, False, 0.0, replies=replies, complete=True)
    assert value_of(move, params) == 100
    assert value_of(move, replace(params, least_percent=25.5)) == 0


@given(scores, st.sampled_from([0.0, 0.4, 3.0, 25.0, 100.0]))
def test_the_floor_is_the_last_score_within_the_budget(best: int, budget_percent: float) -> None:
    params = replace(EXPECTED, budget_percent=budget_percent, share_percent=100)
    floor = risk_floor_centi(best, params)
    assert floor <= best
    assert expected_score(best, 200) - expected_score(floor, 200) <= params.risk_budget
    if floor > -INFINITY:
        assert expected_score(best, 200) - expected_score(floor - 1, 200) > params.risk_budget


@given(scores, st.sampled_from([1.0, 25.0, 90.0]))
def test_the_floor_leaves_a_share_of_what_is_left(best: int, share_percent: float) -> None:
    """However little that is: expected scores of hundredths of a per cent would not tell."""
    params = replace(EXPECTED, budget_percent=100, share_percent=share_percent)
    floor = risk_floor_centi(best, params)
    assert floor <= best
    if best <= -WIN_CENTI:
        assert floor == -INFINITY
        return
    assert floor > -WIN_CENTI  # nobody loses by force who need not
    kept = 1 - share_percent / 100
    for score, is_within in ((floor, True), (floor - 1, False)):
        # f(score) / f(best), which neither of the two need have in full
        ratio = math.exp(_log_expected(score / 200) - _log_expected(best / 200))
        if score > -WIN_CENTI:
            assert (ratio >= kept - 1e-9) if is_within else (ratio < kept + 1e-9)


def _log_expected(x: float) -> float:
    """Logarithm of the logistic function."""
    return -math.log1p(math.exp(-x)) if x > -30 else x


def test_a_queen_down_a_move_may_not_throw_away_what_is_left() -> None:
    """Three points are more than all that is left there."""
    params = OpponentParams(logistic_centi=154)
    assert expected_score(-950, 154) < params.risk_budget
    assert risk_floor_centi(-950, params) == -994
    assert risk_floor_centi(-950, replace(params, share_percent=100)) == -INFINITY
    assert risk_floor_centi(0, params) == risk_floor_centi(0, replace(params, share_percent=100)) == -18


def test_scores_on_the_scale_of_pawns_end_at_a_mate() -> None:
    assert [utility(score, PAWNS) for score in (-WIN_CENTI - 5, -4000, -30, 0, 999, 1001, WIN_CENTI)] == [
        *(-1000, -1000, -30, 0, 999, 1000, 1000)
    ]
    assert utility(WIN_CENTI, EXPECTED) == WHOLE
    assert UNSEARCHED == INFINITY


def test_the_expected_scale_needs_its_logistic_function() -> None:
    with pytest.raises(ValueError, match="logistic_centi is 0"):
        utility(10, OpponentParams())
    filled = OpponentParams().for_position(120.0)
    assert filled.logistic_centi == 120.0
    assert filled.for_position(3.0) is filled


@pytest.mark.parametrize(
    "wrong",
    [
        {"budget_percent": -1},
        {"budget_percent": 101},
        {"least_percent": float("nan")},
        {"least_percent": 51},
        {"share_percent": 0},
        {"share_percent": 101},
        {"checkmate_centi": 0},
        {"logistic_centi": 0.5},
    ],
)
def test_wrong_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        OpponentParams(**wrong)


# --- Records --------------------------------------------------------------------------------------------


def decision_of(*moves: Candidate, params: OpponentParams = EXPECTED, **more: Any) -> Decision:
    """A decision by values, as a player would record it."""
    model_use = OpponentModelUse(params, Person(1500, 30.0), MODEL)
    made = Decision(
        game="chess",
        position="",
        strategy="opponent_model",
        params=TrapParams(),
        move="",
        candidates=tuple(with_trap(move, TrapParams(), swindle=True) for move in moves),
        depth=3,
        principal_variation=(),
        nodes=0,
        time_s=0.0,
        profile_source="native",
        engine_version="0",
        model=MODEL,
        model_use=model_use,
    )
    return replace(made, **{"move": choose_by_value(made.candidates), **more})


def valued(move: str, *replies: tuple[float, int], params: OpponentParams = EXPECTED) -> Candidate:
    """A move whose replies have those probabilities and scores."""
    profiles = tuple(
        ReplyProfile(f"{move}{number}", (0, score), probability=p)
        for number, (p, score) in enumerate(replies)
    )
    raw = min(score for _, score in replies)
    bare = Candidate(move, raw, False, 0.0, replies=profiles, complete=True)
    return replace(bare, value=value_of(bare, params))


GOOD = decision_of(
    valued("a", (0.9, 50), (0.1, 60)),
    valued("b", (0.5, 45), (0.5, 400)),
    Candidate("c", -300, True, 0.0),
)


def test_a_record_proves_its_choice() -> None:
    assert GOOD.move == "b"
    verify(GOOD)
    again = Decision.from_record(GOOD.to_record())
    assert again == GOOD
    assert [reply.probability for reply in again.chosen.replies] == [0.5, 0.5]


@pytest.mark.parametrize("player", ["opponent_model", "calibrated", "opponent_model_uci", "calibrated_uci"])
def test_who_goes_by_values(player: str) -> None:
    assert strategy_named(player).best_move(GOOD.candidates, GOOD.params) == "b"
    verify(replace(GOOD, strategy=player))


def test_forged_records_are_noticed() -> None:
    a, b, c = GOOD.candidates

    def with_(**changed: Candidate) -> Decision:
        return replace(GOOD, candidates=tuple(changed.get(each.move, each) for each in (a, b, c)))

    half = tuple(replace(reply, probability=0.25) for reply in b.replies)
    forged = {
        "follows": replace(GOOD, move="a"),
        "does not": replace(GOOD, model_use=None),
        "recomputed": with_(a=replace(a, value=9000.0)),
        "no model is named": replace(GOOD, model=None),
        "within the budget, but has no value": with_(c=replace(c, raw_centi=44, adjusted_centi=44)),
        "add up to 0.5": with_(b=replace(b, replies=half)),
        "some of its replies": with_(
            b=replace(b, replies=(replace(b.replies[0], probability=None), b.replies[1]))
        ),
        "is likely, but was not searched": with_(
            b=with_trap(
                replace(b, replies=(b.replies[0], ReplyProfile("b1", (), INFINITY, probability=0.5))),
                TrapParams(),
                swindle=True,
            )
        ),
        "reply probabilities, but needs none": replace(
            GOOD,
            model=None,
            model_use=replace(GOOD.model_use, trouble="it failed"),  # type: ignore[type-var]
        ),
        "is named": replace(GOOD, model_use=replace(GOOD.model_use, trouble="it failed")),  # type: ignore[type-var]
    }
    for message, decision in forged.items():
        with pytest.raises(RecordError, match=message):
            verify(decision)


def test_below_the_budget_there_is_no_value() -> None:
    outside = valued("b", (0.5, -100), (0.5, 3000))
    bare = decision_of(valued("a", (1.0, 50)), replace(outside, value=None))
    with pytest.raises(RecordError, match="below the budget"):
        verify(bare)
    plain = tuple(replace(reply, probability=None) for reply in outside.replies)
    verify(decision_of(valued("a", (1.0, 50)), replace(outside, value=None, replies=plain)))


def test_a_forced_win_is_played_without_expecting_anything() -> None:
    quick = Candidate("a", WIN_CENTI + 9_990, False, 0.0, complete=True)
    slow = Candidate("b", WIN_CENTI + 9_980, False, 0.0, complete=True)
    won = decision_of(slow, quick, model=None)
    assert won.move == "a"
    verify(won)
    seen = replace(slow, replies=(ReplyProfile("x", (0, WIN_CENTI + 9_980)),))
    verify(decision_of(seen, quick, model=None))
    asked = replace(slow, replies=(ReplyProfile("x", (0, WIN_CENTI + 9_980), probability=1.0),))
    with pytest.raises(RecordError, match="reply probabilities, but needs none"):
        verify(decision_of(asked, quick, model=None))
    with pytest.raises(RecordError, match="reply probabilities, but needs none"):
        verify(decision_of(slow, valued("c", (1.0, WIN_CENTI + 9_990)), model=None))


def test_old_records_are_read() -> None:
    """They know nothing of probabilities, values and models; nor do new ones that have none."""
    record = decision_of(
        Candidate("a", 5, False, 0.0), strategy="standard", model=None, model_use=None
    ).to_record()
    for key in ("model", "reckoning"):
        del record[key]
    for candidate in record["candidates"]:
        assert "value" not in candidate
        assert all("probability" not in reply for reply in candidate["replies"])
    old = Decision.from_record(record)
    assert (old.model, old.model_use, old.chosen.value) == (None, None, None)
    verify(old)


@settings(max_examples=50)
@given(st.lists(candidates(), min_size=1, max_size=5), scales)
def test_what_is_played_guarantees_what_the_budget_leaves(
    found: list[Candidate], params: OpponentParams
) -> None:
    moves = [replace(each, move=f"m{number}") for number, each in enumerate(found)]
    floor = risk_floor_centi(max(each.raw_centi for each in moves), params)
    chosen_among = [
        replace(each, value=value_of(each, params))
        if each.raw_centi >= floor
        else replace(each, replies=tuple(replace(r, probability=None) for r in each.replies))
        for each in moves
    ]
    decision = decision_of(*chosen_among, params=params)
    verify(decision)
    assert decision.chosen.raw_centi >= floor
