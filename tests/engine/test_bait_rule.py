"""Baits: the three conditions one by one, rule R against a slow re-statement, and records."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from engine.bait_rule import (
    FORECAST_RULE,
    RANK_MODEL,
    ExpectedReplies,
    expectations,
    expected_by_rank,
    forecast,
    rank_probabilities,
    with_costs,
)
from engine.decision import Candidate, ModelInfo, ReplyProfile
from engine.errors import IncompleteProfile, RecordError
from engine.expected import expected_score
from engine.figure_9 import MIN_BAIT_P, reply_verdicts
from engine.game import WIN_CENTI
from engine.human.reply_forecast import Bait, JudgeTilt, ReplyForecast
from engine.judge import JUDGE_VERSION, ReplyCost, ReplyCosts
from engine.params import TrapParams

SCALE_CENTI = 100.0
MODEL = ModelInfo("maia", "people", "0" * 64)
any_score = st.one_of(st.integers(-500, 500), st.sampled_from([-WIN_CENTI - 90, WIN_CENTI + 90]))
tables = st.integers(1, 5).flatmap(
    lambda depths: st.lists(st.lists(any_score, min_size=depths, max_size=depths), min_size=1, max_size=6)
)


def candidate(*rows: tuple[int, ...]) -> Candidate:
    """Our move with replies r0, r1, ..., by their scores s_2 .. s_D (our view)."""
    replies = tuple(ReplyProfile(f"r{n}", tuple(row)) for n, row in enumerate(rows))
    raw = min(row[-1] for row in rows)
    return Candidate("m", raw, False, raw, replies=replies, complete=True)


def costs_of(best: str, **others: int) -> ReplyCosts:
    """Costs by the judge; the best reply costs nothing."""
    found = ReplyCost(best, 30, 0, 12, is_solved=False)
    more = (ReplyCost(reply, 0, cost, 11, is_solved=False) for reply, cost in others.items())
    return ReplyCosts(JUDGE_VERSION, found, tuple(more))


def baits(rows: Sequence[tuple[int, ...]], probabilities: list[float], costs: ReplyCosts) -> list[str]:
    made = forecast(candidate(*rows), SCALE_CENTI, ExpectedReplies(tuple(probabilities), MODEL))
    return [each.reply for each in with_costs(made, candidate(*rows), SCALE_CENTI, costs).baits]


BEST, BAIT = (5, 0, 0), (0, 5, 41)


def test_a_bait() -> None:
    made = forecast(candidate(BEST, BAIT), SCALE_CENTI, ExpectedReplies((0.9, 0.1), MODEL))
    assert (made.rule, made.model, made.replies, made.probabilities) == (
        FORECAST_RULE,
        MODEL,
        ("r0", "r1"),
        (0.9, 0.1),
    )
    assert (made.costs, made.baits, made.bait, made.is_judged) == (None, (), None, False)
    found = with_costs(made, candidate(BEST, BAIT), SCALE_CENTI, costs_of("r0", r1=1500))
    assert found.is_judged
    assert found.baits == (Bait("r1", 0.1, ReplyCost("r1", 0, 1500, 11, is_solved=False)),)
    assert found.bait == found.baits[0]
    assert found.baits[0].expected_loss == pytest.approx(150)
    assert [found.takes_bait(each) for each in ("r0", "r1", "r2")] == [False, True, False]
    decided = with_costs(made, candidate(BEST, BAIT), SCALE_CENTI, costs_of("r0", r1=1500), is_decided=True)
    assert decided.is_judged
    assert decided.baits == ()


@pytest.mark.parametrize(
    ("bait", "cost", "probability", "is_bait"),
    [
        (BAIT, 1000, 0.1, True),
        (BAIT, 999, 0.5, False),  # costs too little by the judge, whatever the decision's search found
        (BAIT, 1000, 0.099999, False),  # unlikely
        ((0, 6, 0), 1000, 0.5, False),  # looks worse after two and three plies
        ((6, 0, 0), 1000, 0.5, False),
        ((4, 1, 999), 1000, 0.5, True),  # looks as good, whatever the deeper scores
    ],
)
def test_each_condition(bait: tuple[int, ...], cost: int, probability: float, is_bait: bool) -> None:
    found = baits([BEST, bait], [1 - probability, probability], costs_of("r0", r1=cost))
    assert found == ["r1"] * is_bait


def test_only_the_two_likeliest_replies_are_baits() -> None:
    rows = [BEST, BAIT, BAIT, BAIT]
    made = forecast(candidate(*rows), SCALE_CENTI, ExpectedReplies((0.1, 0.25, 0.35, 0.3), MODEL))
    assert made.likeliest == ("r2", "r3")
    assert baits(rows, [0.1, 0.25, 0.35, 0.3], costs_of("r0", r1=5000, r2=1000, r3=2000)) == ["r2", "r3"]
    even = forecast(candidate(*rows), SCALE_CENTI, ExpectedReplies((0.25,) * 4, MODEL))
    assert even.likeliest == ("r0", "r1")  # of equals the first
    spread = ExpectedReplies((0.02,) * 49 + (0.02,), MODEL)
    assert forecast(candidate(*[BEST] * 50), SCALE_CENTI, spread).likeliest == ()


def test_it_must_look_as_good_as_every_reply_known_to_be_best() -> None:
    rows = [(5, 5, 0), (0, 0, 0), (2, 2, 50)]
    probabilities = [0.1, 0.45, 0.45]
    assert baits(rows, probabilities, costs_of("r0", r1=200, r2=3000)) == ["r2"]
    assert baits(rows, probabilities, costs_of("r0", r1=199, r2=3000)) == []  # r1 is as good as the best


def test_a_reply_that_was_not_judged_is_an_error() -> None:
    made = forecast(candidate(BEST, BAIT), SCALE_CENTI, ExpectedReplies((0.5, 0.5), MODEL))
    with pytest.raises(RecordError, match="r1 was not judged"):
        with_costs(made, candidate(BEST, BAIT), SCALE_CENTI, costs_of("r0"))


def test_what_the_judge_sees_makes_an_error_less_likely() -> None:
    rows, tilt = [BEST, BAIT, BAIT], JudgeTilt(0.5, math.log(2), 10.0)
    expected = ExpectedReplies((0.5, 0.4, 0.1), MODEL, judge_tilt=tilt)
    made = forecast(candidate(*rows), SCALE_CENTI, expected)
    assert made.judged_probabilities == made.probabilities == (0.5, 0.4, 0.1)
    found = with_costs(made, candidate(*rows), SCALE_CENTI, costs_of("r0", r1=1500, r2=3000))
    # r2 is judged, but not among the likeliest two.
    weights = [0.5**0.5 * 2, 0.4**0.5 * 2 * math.exp(-1.5), 0.1**0.5]
    assert found.probabilities == made.probabilities
    assert found.judged_probabilities == pytest.approx([each / sum(weights) for each in weights], abs=1e-6)
    assert [bait.reply for bait in found.baits] == ["r1"]
    assert found.baits[0].p_reply == found.probability_of("r1") == pytest.approx(0.1402, abs=1e-4)
    far = with_costs(made, candidate(*rows), SCALE_CENTI, costs_of("r0", r1=3000))
    assert far.probability_of("r1") < MIN_BAIT_P  # a bait all the same, by what is seen at a glance
    assert [bait.reply for bait in far.baits] == ["r1"]
    verdicts = reply_verdicts(candidate(*rows), TrapParams(), SCALE_CENTI)
    assert expectations(found, verdicts).bait_expected == found.probability_of("r1")
    assert ReplyForecast.from_record(json.loads(json.dumps(found.to_record()))) == found


def test_a_forced_reply_is_no_bait() -> None:
    made = forecast(candidate(BEST), SCALE_CENTI)
    assert (made.likeliest, made.is_judged, made.baits) == ((), True, ())


# --- Rule R -----------------------------------------------------------------------------------------------


@given(tables, st.floats(50, 400))
def test_rank_probabilities_slowly(rows: list[list[int]], scale_centi: float) -> None:
    """p ~ exp(-6.5 c) / (1 + rank), c a share of the game, rank: replies with a greater v_2 + v_3."""
    theirs = [[10_000 - expected_score(score, scale_centi) for score in row] for row in rows]
    weights = []
    for row in theirs:
        cost = (max(other[-1] for other in theirs) - row[-1]) / 10_000
        rank = len([other for other in theirs if sum(other[:2]) > sum(row[:2])])
        weights.append(math.exp(-6.5 * cost) / (1 + rank))
    expected = [weight / sum(weights) for weight in weights]
    found = rank_probabilities(rows, scale_centi)
    assert found == pytest.approx(expected)
    assert math.fsum(found) == pytest.approx(1)
    backwards = rank_probabilities(rows[::-1], scale_centi)
    assert backwards[::-1] == pytest.approx(found)


def test_rank_probabilities_by_hand() -> None:
    """Best and first by looks; second by looks, and 24.49 % of the game worse; third by looks, as good."""
    found = rank_probabilities([(0, 0, 0), (10, 10, 108), (20, 20, 0)], 100.0)
    weights = [1, math.exp(-6.5 * 0.2465) / 2, 1 / 3]
    assert expected_score(108, 100.0) == 7465
    assert found == pytest.approx([weight / sum(weights) for weight in weights])
    assert rank_probabilities([], 100.0) == ()
    assert rank_probabilities([(3,)], 100.0) == (1.0,)


def test_without_a_model_looks_decide() -> None:
    move = candidate(BEST, BAIT, (100, 100, 200))
    made = forecast(move, SCALE_CENTI)
    exact = expected_by_rank(move, SCALE_CENTI).probabilities
    assert made.probabilities == tuple(round(p, 6) for p in exact) != exact
    assert (made.model, made.prior, made.base) == (ModelInfo("looks", "looks 6.5", ""), "", ())
    assert made.model.kind == RANK_MODEL


@given(tables, st.randoms(use_true_random=False))
def test_the_order_of_the_replies_changes_nothing(rows: list[list[int]], random: Any) -> None:
    assume(len(rows) > 1)
    order = list(range(len(rows)))
    random.shuffle(order)
    move = candidate(*map(tuple, rows))
    there = forecast(move, SCALE_CENTI)
    back = forecast(replace(move, replies=tuple(move.replies[n] for n in order)), SCALE_CENTI)
    assert back.probabilities == tuple(there.probabilities[n] for n in order)


# --- Expectations -----------------------------------------------------------------------------------------


def test_expectations() -> None:
    """By the judge's cost where it is known: r1 costs 12 and not 10.11 %, r2 5 and not 38.08 %."""
    move = candidate((5, 0, 0), BAIT, (190, 195, 200), (0, 0, 30))
    made = forecast(move, SCALE_CENTI, ExpectedReplies((0.5, 0.25, 0.15, 0.1), MODEL))
    verdicts = reply_verdicts(move, TrapParams(), SCALE_CENTI)
    assert [each.cost for each in verdicts.replies] == [0, 1011, 3808, 744]
    assert [verdicts.is_paper_trap(each) for each in verdicts.replies] == [False, True, False, True]
    unjudged = expectations(made, verdicts)
    assert (unjudged.error_uniform, unjudged.error_expected) == pytest.approx((0.5, 0.4))
    assert (unjudged.cost_uniform, unjudged.cost_expected) == pytest.approx((1390.75, 898.35))
    assert (unjudged.bait_uniform, unjudged.bait_expected) == (0, 0)
    found = expectations(with_costs(made, move, SCALE_CENTI, costs_of("r0", r1=1200, r2=500)), verdicts)
    assert (found.error_uniform, found.error_expected) == pytest.approx((0.25, 0.25))
    assert (found.cost_uniform, found.cost_expected) == pytest.approx((611, 449.4))
    assert (found.fall_uniform, found.fall_expected) == pytest.approx((0.5, 0.35))
    assert (found.bait_uniform, found.bait_expected) == pytest.approx((0.25, 0.25))


def test_a_cost_of_exactly_a_tenth_is_an_error() -> None:
    move = candidate((0, 0), (0, 4055))
    verdicts = reply_verdicts(move, TrapParams(), 10_000.0)
    assert [each.cost for each in verdicts.replies] == [0, 1000]
    found = expectations(forecast(move, 10_000.0, ExpectedReplies((0.75, 0.25), MODEL)), verdicts)
    assert (found.error_uniform, found.error_expected) == (0.5, 0.25)


def test_what_cannot_be_forecast_is_refused() -> None:
    with pytest.raises(IncompleteProfile, match="m is incomplete"):
        forecast(replace(candidate(BEST, BAIT), complete=False), SCALE_CENTI)
    with pytest.raises(ValueError, match="1 probabilities for 2 replies to m"):
        forecast(candidate(BEST, BAIT), SCALE_CENTI, ExpectedReplies((1.0,), MODEL))


def test_the_end_of_the_game() -> None:
    over = Candidate("m", 0, False, 0, complete=True)
    made = forecast(over, SCALE_CENTI)
    assert (made.replies, made.probabilities, made.is_judged) == ((), (), True)
    nothing = expectations(made, reply_verdicts(over, TrapParams(), SCALE_CENTI))
    assert (nothing.error_uniform, nothing.error_expected, nothing.bait_uniform) == (0, 0, 0)


# --- Records ----------------------------------------------------------------------------------------------


OPTIONAL = {"costs", "bait_replies"}


def sample() -> ReplyForecast:
    expected = ExpectedReplies((0.75, 0.25), MODEL, (0.7, 0.3), "f" * 64)
    made = forecast(candidate(BEST, BAIT), SCALE_CENTI, expected)
    return with_costs(made, candidate(BEST, BAIT), SCALE_CENTI, costs_of("r0", r0=0, r1=1234))


def test_records_come_back() -> None:
    plain = forecast(candidate(BEST, BAIT), SCALE_CENTI)
    for made in (sample(), plain, replace(sample(), other=plain)):
        assert ReplyForecast.from_record(json.loads(json.dumps(made.to_record()))) == made


@pytest.mark.parametrize(
    "changes",
    [
        {"odds": [1.0]},
        {"odds": ["much", 0.5]},
        {"odds": None},
        {"replies": ["r0"]},
        {"replies": None},
        {"rule": "1"},
        {"rule": None},
        {"model": None},
        {"model": {"kind": "maia"}},
        {"costs": None},
        {"costs": {"version": 1}},
        {"bait_replies": ["r2"]},
        {"bait_replies": "r1"},
        {"tempting": []},
        {"more": 1},
    ],
    ids=str,
)
def test_forged_records_are_refused(changes: dict[str, Any]) -> None:
    record = json.loads(json.dumps(sample().to_record()))
    with pytest.raises(RecordError, match="not the record of a forecast"):
        ReplyForecast.from_record({**record, **changes})


def test_a_record_of_the_first_rules_is_read_without_its_baits() -> None:
    """They were found by searches that no longer count."""
    old = {"tempting": [{"reply": "r1", "odds": 0.25}], "confirm_depth": 6, "confirm_source": "native"}
    made = replace(sample(), rule=1, costs=None, bait_replies=())
    record = {
        name: value for name, value in made.to_record().items() if name not in ("costs", "bait_replies")
    }
    assert ReplyForecast.from_record(record | old) == made
    without_other = {name: value for name, value in record.items() if name != "other"}
    assert ReplyForecast.from_record(record | old | {"other": without_other | old}) == replace(
        made, other=made
    )


def test_a_record_of_other_rules_is_read_without_its_baits() -> None:
    """Their costs are those of another version of the judge."""
    made = sample()
    assert made.baits
    for rule in (FORECAST_RULE - 1, FORECAST_RULE + 1):
        found = ReplyForecast.from_record(made.to_record() | {"rule": rule})
        assert (found.rule, found.baits, found.is_judged) == (rule, (), False)


@pytest.mark.parametrize("field", sorted(set(sample().to_record()) - OPTIONAL))
def test_a_record_without_a_field_is_refused(field: str) -> None:
    record = sample().to_record()
    del record[field]
    with pytest.raises(RecordError, match="not the record of a forecast"):
        ReplyForecast.from_record(record)
