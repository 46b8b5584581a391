"""Tempting replies: the three conditions one by one, rule R against a slow re-statement, and records."""

import json
import math
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
    with_confirmed_costs,
)
from engine.decision import Candidate, ModelInfo, ReplyProfile
from engine.errors import IncompleteProfile, RecordError
from engine.expected import expected_score
from engine.game import WIN_CENTI
from engine.human.reply_forecast import ReplyForecast, TemptingReply
from engine.judgement import judge
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


def tempting(rows: list[tuple[int, ...]], probabilities: list[float]) -> list[str]:
    made = forecast(candidate(*rows), SCALE_CENTI, ExpectedReplies(tuple(probabilities), MODEL))
    return [each.reply for each in made.tempting]


# A score of 0 is worth 5,000; 41 is worth 6,011: the last row costs a tenth of the game, and looks as good as
# the best one after two plies.
BEST, BAIT = (5, 0, 0), (5, 10, 41)


def test_a_cost_of_exactly_a_tenth_tempts() -> None:
    """On a scale this wide every score in between occurs: 4055 is worth 6,000."""
    made = forecast(candidate((0, 0), (0, 4055)), 10_000.0, ExpectedReplies((0.5, 0.5), MODEL))
    assert [each.cost for each in made.tempting] == [1000]
    assert forecast(candidate((0, 0), (0, 4050)), 10_000.0, ExpectedReplies((0.5, 0.5), MODEL)).tempting == ()


def test_a_tempting_reply() -> None:
    made = forecast(candidate(BEST, BAIT), SCALE_CENTI, ExpectedReplies((0.9, 0.1), MODEL))
    assert made.tempting == (TemptingReply("r1", 0.1, 1011, (2,)),)
    assert made.tempting[0].expected_loss == pytest.approx(101.1)
    assert (made.rule, made.model, made.replies, made.probabilities) == (
        FORECAST_RULE,
        MODEL,
        ("r0", "r1"),
        (0.9, 0.1),
    )
    assert (made.confirm_depth, made.confirmed, made.bait) == (0, (), None)


@pytest.mark.parametrize(
    ("best", "bait", "probability", "is_tempting"),
    [
        (BEST, (5, 10, 41), 0.1, True),
        (BEST, (5, 10, 40), 0.1, False),  # costs 9.87 %
        (BEST, BAIT, 0.099999, False),  # unlikely
        (BEST, (6, 1, 41), 0.5, False),  # looks worse than the best reply at every depth
        (BEST, (6, 0, 41), 0.1, True),  # at one of them it looks as good
        ((5, 0, -WIN_CENTI), (5, 0, -WIN_CENTI + 5), 0.9, False),  # lost either way: costs nothing
        ((0, 0, WIN_CENTI), (-9, -9, WIN_CENTI + 5), 0.9, False),  # nor where we have won
        ((0, 0, -WIN_CENTI), (-9, -9, 0), 0.9, True),  # throws a win away
    ],
)
def test_each_condition(
    best: tuple[int, ...], bait: tuple[int, ...], probability: float, is_tempting: bool
) -> None:
    assert tempting([best, bait], [1 - probability, probability]) == ["r1"] * is_tempting


def test_it_must_look_as_good_as_every_best_reply_at_one_depth() -> None:
    bait = (5, 5, 100)
    assert tempting([(0, 9, 0), bait], [0.5, 0.5]) == ["r1"]
    assert tempting([(9, 0, 0), bait], [0.5, 0.5]) == ["r1"]
    assert tempting([(0, 9, 0), (9, 0, 0), bait], [0.3, 0.3, 0.4]) == []
    assert tempting([(0, 9, 0), (9, 0, 1), bait], [0.3, 0.3, 0.4]) == ["r2"]  # only one is best


@given(tables)
def test_a_reply_that_always_looks_worse_than_the_best_never_tempts(rows: list[list[int]]) -> None:
    """However likely it is: with probability 1, each reply tempts by its cost and looks alone."""
    best = min(row[-1] for row in rows)
    worth = [[-expected_score(score, SCALE_CENTI) for score in row] for row in rows]
    for n, row in enumerate(worth):
        probabilities = [float(each == n) for each in range(len(rows))]
        depths = [
            depth + 2
            for depth in range(len(row) - 1)
            if all(
                row[depth] >= other[depth] for other, own in zip(worth, rows, strict=True) if own[-1] == best
            )
        ]
        made = forecast(
            candidate(*map(tuple, rows)), SCALE_CENTI, ExpectedReplies(tuple(probabilities), MODEL)
        )
        cost = expected_score(rows[n][-1], SCALE_CENTI) - expected_score(best, SCALE_CENTI)
        is_tempting = cost >= 1000 and bool(depths)
        expected = (TemptingReply(f"r{n}", 1.0, cost, tuple(depths)),) if is_tempting else ()
        assert made.tempting == expected


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
    assert [each.reply for each in made.tempting] == ["r1"]


@given(tables, st.randoms(use_true_random=False))
def test_the_order_of_the_replies_changes_nothing(rows: list[list[int]], random: Any) -> None:
    assume(len(rows) > 1)
    order = list(range(len(rows)))
    random.shuffle(order)
    move = candidate(*map(tuple, rows))
    there = forecast(move, SCALE_CENTI)
    back = forecast(replace(move, replies=tuple(move.replies[n] for n in order)), SCALE_CENTI)
    assert {each.reply: each for each in back.tempting} == {each.reply: each for each in there.tempting}
    assert back.probabilities == tuple(there.probabilities[n] for n in order)


# --- Confirmed baits --------------------------------------------------------------------------------------


def test_only_what_a_deeper_search_confirms_is_a_bait() -> None:
    move = candidate((5, 0, 0), (5, 10, 41), (0, 0, 90), (0, 0, 300))
    made = forecast(move, SCALE_CENTI, ExpectedReplies((0.1, 0.4, 0.3, 0.2), MODEL))
    assert [each.reply for each in made.tempting] == ["r1", "r2", "r3"]
    found = with_confirmed_costs(made, 6, (1000, 999, 4000), "native")
    assert (found.confirm_depth, [each.confirmed_cost for each in found.tempting]) == (6, [1000, 999, 4000])
    assert [each.reply for each in found.confirmed] == ["r1", "r3"]
    assert found.bait is not None
    assert found.bait.reply == "r3"  # .2 * 4526, above .4 * 1011: by the decision's own search
    assert [found.takes_bait(each) for each in ("r0", "r1", "r2", "r3")] == [False, True, False, True]
    assert found.probability_of("r2") == 0.3
    with pytest.raises(RecordError, match="h1 is not among"):
        found.probability_of("h1")
    with pytest.raises(ValueError, match="shorter"):
        with_confirmed_costs(made, 6, (1000,), "native")


def test_expectations() -> None:
    move = candidate((5, 0, 0), (5, 10, 41), (190, 195, 200), (0, 0, 30))
    made = forecast(move, SCALE_CENTI, ExpectedReplies((0.5, 0.25, 0.15, 0.1), MODEL))
    judgement = judge(move, TrapParams(), SCALE_CENTI)
    assert [each.cost for each in judgement.replies] == [0, 1011, 3808, 744]
    assert [judgement.is_paper_trap(each) for each in judgement.replies] == [False, True, False, True]
    found = expectations(with_confirmed_costs(made, 6, (1200,), "native"), judgement)
    assert (found.error_uniform, found.error_expected) == pytest.approx((0.5, 0.4))
    assert (found.cost_uniform, found.cost_expected) == pytest.approx((1390.75, 898.35))
    assert (found.fall_uniform, found.fall_expected) == pytest.approx((0.5, 0.35))
    assert (found.bait_uniform, found.bait_expected) == pytest.approx((0.25, 0.25))
    unconfirmed = expectations(made, judgement)
    assert (unconfirmed.bait_uniform, unconfirmed.bait_expected) == (0, 0)


def test_a_cost_of_exactly_a_tenth_is_an_error() -> None:
    move = candidate((0, 0), (0, 4055))
    judgement = judge(move, TrapParams(), 10_000.0)
    assert [each.cost for each in judgement.replies] == [0, 1000]
    found = expectations(forecast(move, 10_000.0, ExpectedReplies((0.75, 0.25), MODEL)), judgement)
    assert (found.error_uniform, found.error_expected) == (0.5, 0.25)


def test_what_cannot_be_forecast_is_refused() -> None:
    with pytest.raises(IncompleteProfile, match="m is incomplete"):
        forecast(replace(candidate(BEST, BAIT), complete=False), SCALE_CENTI)
    with pytest.raises(ValueError, match="1 probabilities for 2 replies to m"):
        forecast(candidate(BEST, BAIT), SCALE_CENTI, ExpectedReplies((1.0,), MODEL))


def test_the_end_of_the_game() -> None:
    over = Candidate("m", 0, False, 0, complete=True)
    made = forecast(over, SCALE_CENTI)
    assert (made.replies, made.probabilities, made.tempting) == ((), (), ())
    nothing = expectations(made, judge(over, TrapParams(), SCALE_CENTI))
    assert (nothing.error_uniform, nothing.error_expected, nothing.bait_uniform) == (0, 0, 0)


# --- Records ----------------------------------------------------------------------------------------------


def sample() -> ReplyForecast:
    expected = ExpectedReplies((0.75, 0.25), MODEL, (0.7, 0.3), "f" * 64)
    return with_confirmed_costs(forecast(candidate(BEST, BAIT), SCALE_CENTI, expected), 6, (1234,), "native")


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
        {"confirm_depth": 6.5},
        {"confirm_source": None},
        {"model": None},
        {"model": {"kind": "maia"}},
        {"tempting": [{"reply": "r1"}]},
        {"tempting": ["r1"]},
        {"tempting": 3},
        {"more": 1},
    ],
    ids=str,
)
def test_forged_records_are_refused(changes: dict[str, Any]) -> None:
    record = json.loads(json.dumps(sample().to_record()))
    with pytest.raises(RecordError, match="not the record of a forecast"):
        ReplyForecast.from_record({**record, **changes})


def test_a_record_from_before_the_source_was_noted() -> None:
    record = sample().to_record()
    assert record.pop("confirm_source") == "native"
    assert ReplyForecast.from_record(record) == replace(sample(), confirm_source="")


@pytest.mark.parametrize("field", sorted(set(sample().to_record()) - {"confirm_source"}))
def test_a_record_without_a_field_is_refused(field: str) -> None:
    record = sample().to_record()
    del record[field]
    with pytest.raises(RecordError, match="not the record of a forecast"):
        ReplyForecast.from_record(record)
