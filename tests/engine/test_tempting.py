"""The tempting player's arithmetic, and what its records prove: to the last unit."""

import itertools
import json
import math
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.completion import complete
from engine.decision import Candidate, Decision, OpponentModelUse, Person, ReplyProfile
from engine.errors import BadSettings, IncompleteProfile, RecordError
from engine.expected import WHOLE, expected_score
from engine.game import WIN_CENTI
from engine.games import get_rules
from engine.move_chooser import MoveChooser
from engine.params import DecidedScores, OpponentParams, TemptingParams, TrapParams
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.strategies.tempting import Tempting
from engine.tempting import (
    MIN_DEPTH,
    UNBOUNDED,
    TemptingStanding,
    choose_tempting,
    contender_floor_centi,
    gaps_centi,
    least_score,
    max_standing,
    risk_floor_centi,
    standings,
    to_expected_score,
    weight_table,
    weights,
)
from engine.time_management import Limits
from engine.trappy import with_trap
from engine.verification import verify
from tests.engine.decisions import decision_with
from tests.engine.native.tempting_mirror import MoveBounds, adjusted_of, choose_from_table, profiles_of

S = 100.0
PARAMS = TemptingParams(logistic_centi=S)
scores = st.integers(-2 * WIN_CENTI, 2 * WIN_CENTI) | st.integers(-1500, 1500)


FINE = TemptingParams(logistic_centi=10_000)
"""So fine a scale that some score is worth just as much as any number says."""


def at(expected: int) -> int:
    """The least score worth that much on the fine scale."""
    return least_score(expected, FINE)


# --- The arithmetic -------------------------------------------------------------------------------------


def test_the_weight_table_is_the_exponential_function() -> None:
    table = memoryview(weight_table()).cast("i")
    assert len(table) == 2 * WHOLE + 1
    assert table[0] == 2**30
    for k in range(2 * WHOLE + 1):
        assert abs(table[k] - 2**30 * math.exp(-5.5 * k / 20_000)) < 1.001
        assert k == 0 or table[k] < table[k - 1]
    assert (table[1], table[10_000], table[20_000]) == (1073446585, 68642018, 4388137)


def test_weights_fall_with_rank_and_look() -> None:
    table = memoryview(weight_table()).cast("i")
    even, good = (0, 0), (-100, -100)  # the second looks better to the opponent
    gap = 2 * (to_expected_score(0, PARAMS) - to_expected_score(-100, PARAMS))
    assert weights([even, good, even, good], PARAMS) == [table[gap] // 3, 2**30, table[gap] // 3, 2**30]
    assert weights([even, even], PARAMS) == [2**30, 2**30]
    assert weights([(0, -100)], PARAMS) == [2**30]
    assert weights([(0, -100), (-100, 0)], PARAMS) == [2**30, 2**30]
    assert weights([], PARAMS) == []
    assert min(weights([(WIN_CENTI, WIN_CENTI)] * 300 + [(-WIN_CENTI, -WIN_CENTI)], PARAMS)) > 0


def test_adj_is_the_mean_loss() -> None:
    """Two replies that look alike: one is sound, the other loses 20 %."""
    raw, bad = at(5000), at(7000)
    replies = tuple(ReplyProfile(f"r{s}", (0, 0, s)) for s in (raw, bad))
    move = Candidate("a", raw, False, 0.0, replies=replies, complete=True)
    assert adjusted_of(move, FINE) == 1000 * 5000 + 600 * 1000
    third = replace(move, replies=(*replies, ReplyProfile("c", (0, 0, raw))))
    assert adjusted_of(third, FINE) == 1000 * 5000 + 600 * 2000 // 3
    assert adjusted_of(replace(move, replies=()), FINE) == 5_000_000
    with pytest.raises(IncompleteProfile, match="a: its profile"):
        adjusted_of(replace(move, complete=False), FINE)


def test_no_logistic_function() -> None:
    with pytest.raises(BadSettings, match="logistic_centi is 0"):
        to_expected_score(0, TemptingParams())


@given(st.integers(-5, WHOLE + 1))
def test_least_score(least: int) -> None:
    found = least_score(least, PARAMS)
    if least <= 0:
        assert found == -UNBOUNDED
    elif least <= WHOLE:
        assert to_expected_score(found, PARAMS) >= least > to_expected_score(found - 1, PARAMS)
    else:
        assert found == UNBOUNDED


@pytest.mark.parametrize(
    "change",
    [
        {"budget": -1},
        {"budget": 10_001},
        {"share_percent": 101},
        {"share_percent": -1},
        {"gap_percent": -1},
        {"won_gap_percent": 1001},
        {"logistic_centi": 0.5},
    ],
)
def test_bad_settings(change: dict[str, Any]) -> None:
    with pytest.raises(BadSettings, match=f"{next(iter(change))} is"):
        TemptingParams(**change)


def test_borders_of_settings() -> None:
    for change in ({"budget": 0}, {"budget": WHOLE}, {"share_percent": 0}, {"share_percent": 100}):
        TemptingParams(**change)
    assert TemptingParams(gap_percent=0, won_gap_percent=1000).for_position(50).logistic_centi == 50
    assert PARAMS.for_position(50) is PARAMS


# --- Allowed moves --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("best", "least"), [(5000, 4500), (2000, 1500), (1999, 1500), (2004, 1504), (1000, 750), (8000, 7500)]
)
def test_five_points_or_a_quarter(best: int, least: int) -> None:
    for decided in DecidedScores:
        assert risk_floor_centi(at(best), FINE, decided) == at(least)


def test_the_settings_count() -> None:
    def floor(**change: Any) -> int:
        return risk_floor_centi(at(4000), replace(FINE, **change), DecidedScores.PAPER)

    assert (floor(budget=100), floor(budget=0)) == (at(3900), at(4000))
    assert (floor(share_percent=10), floor(share_percent=0)) == (at(3600), at(4000))


def test_no_more_score_than_a_third_of_s_when_decided() -> None:
    assert gaps_centi(PARAMS, DecidedScores.SWINDLE) == (35, 10)
    assert gaps_centi(replace(PARAMS, logistic_centi=199.9), DecidedScores.SWINDLE) == (69, 19)
    for score in (-1000, -700, 0, 200):
        paper, swindle = (
            risk_floor_centi(score, PARAMS, decided)
            for decided in (DecidedScores.PAPER, DecidedScores.SWINDLE)
        )
        assert swindle == max(paper, score - 35)
    nearly_won = at(9501)
    assert risk_floor_centi(nearly_won, FINE, DecidedScores.SWINDLE) == nearly_won - 1000
    assert risk_floor_centi(nearly_won, FINE, DecidedScores.PAPER) == at(9001)
    assert risk_floor_centi(at(9501) - 1, FINE, DecidedScores.SWINDLE) == at(9501) - 1 - 3500


@pytest.mark.parametrize("logistic", [205.4, 400.0, 644.7])
def test_who_is_21_pawns_up_does_not_give_up_a_pawn(logistic: float) -> None:
    """Xiangqi's s is 205 to 645; expected score alone allows more than a pawn at all of them."""
    params = replace(PARAMS, logistic_centi=logistic)
    assert risk_floor_centi(2100, params, DecidedScores.SWINDLE) > 2100 - 70
    assert risk_floor_centi(2100, params, DecidedScores.PAPER) < 2100 - 130


def test_who_is_nearly_lost_keeps_what_is_left() -> None:
    for score in (-2000, -1200, -900):
        assert risk_floor_centi(score, PARAMS, DecidedScores.SWINDLE) == score - 35
    assert risk_floor_centi(-2000, PARAMS, DecidedScores.PAPER) == -UNBOUNDED


@given(
    scores, scores, st.sampled_from(DecidedScores), st.sampled_from((PARAMS, replace(PARAMS, budget=3000)))
)
def test_floors_never_fall(one: int, other: int, decided: DecidedScores, params: TemptingParams) -> None:
    low, high = sorted((one, other))
    assert risk_floor_centi(low, params, decided) <= risk_floor_centi(high, params, decided) <= high
    assert contender_floor_centi(low, params, decided) <= contender_floor_centi(high, params, decided) <= high


@given(scores, st.sampled_from(DecidedScores))
def test_what_no_trap_could_lift_to_the_top_is_no_contender(best: int, decided: DecidedScores) -> None:
    floor = contender_floor_centi(best, PARAMS, decided)
    allowed = risk_floor_centi(best, PARAMS, decided)
    standing = TemptingStanding(1000 * to_expected_score(best, PARAMS), best, 0)
    assert floor >= allowed
    assert floor == best or max_standing(floor, 1, PARAMS) > standing
    assert floor == allowed or max_standing(floor - 1, -1, PARAMS) < standing


# --- Bounds ---------------------------------------------------------------------------------------------


def random_move(rng: random.Random, index: int = 0) -> Candidate:
    """A move with its whole profile, four plies deep."""
    raw = rng.randint(-200, 200)
    finals = [raw, *(raw + rng.randint(0, 300) for _ in range(rng.randint(0, 6)))]
    rng.shuffle(finals)
    replies = tuple(
        ReplyProfile(f"r{i}", (rng.randint(-200, 200), rng.randint(-200, 200), final))
        for i, final in enumerate(finals)
    )
    return with_trap(
        Candidate(f"m{index}", raw, False, 0.0, replies=replies, complete=True), TrapParams(), swindle=True
    )


@pytest.mark.parametrize("seed", range(40))
def test_bounds_enclose_adj_and_windows_rule_out(seed: int) -> None:
    rng = random.Random(seed)
    move = random_move(rng)
    exact = TemptingStanding(adjusted_of(move, PARAMS), move.raw_centi, 0)
    shallow_scores = [(r.scores_centi[0], r.scores_centi[1]) for r in move.replies]
    known = MoveBounds(move.raw_centi, 0, shallow_scores, PARAMS)
    assert known.low() == TemptingStanding(
        1000 * to_expected_score(move.raw_centi, PARAMS), move.raw_centi, 0
    )
    assert known.high() <= max_standing(move.raw_centi, 0, PARAMS)
    best = TemptingStanding(
        rng.randint(known.low().adjusted, known.high().adjusted), rng.randint(-200, 200), -1
    )
    x = known.telling_centi(best)
    if x is None:
        assert known.needed(best) == 0
    else:
        assert x >= move.raw_centi
        for much, is_out in ((x, True), (x + 1, False)):
            tried = MoveBounds(move.raw_centi, 0, shallow_scores, PARAMS)
            tried.most_centi = [much] * len(shallow_scores)
            if much < known.certain_centi:
                assert (tried.high() < best) == is_out
    for i in known.order:
        assert known.low() <= exact <= known.high()
        found = replace(move, replies=profiles_of(known, [reply.reply for reply in move.replies]))
        assert standings(found, 0, PARAMS) == (known.low(), known.high())
        known.least_centi[i] = known.most_centi[i] = move.replies[i].final_centi
        assert known.is_settled(i)
    assert known.low() == exact == known.high()
    assert standings(move, 0, PARAMS) == (exact, exact)
    assert known.open_weight() == 0


def test_the_ceiling_of_a_move() -> None:
    assert max_standing(0, 3, PARAMS) == TemptingStanding(400 * 5000 + 6_000_000, 0, -3)


def test_needed_is_the_least_that_is_enough() -> None:
    rng = random.Random(7)
    for _ in range(100):
        raw, other = rng.choice(((0, 0), (0, 5), (5, 0)))
        known = MoveBounds(raw, rng.choice((0, 2)), [(rng.randint(-50, 50), 0) for _ in range(3)], PARAMS)
        best = TemptingStanding(1000 * to_expected_score(other, PARAMS) + rng.randint(0, 2000), other, -1)
        needed = known.needed(best)
        assert known.standing(needed) > best
        assert needed == 0 or known.standing(needed - 1) < best


def test_a_sure_win_is_as_good_as_an_exact_score() -> None:
    known = MoveBounds(0, 0, [(0, 0), (0, 0)], PARAMS)
    assert known.is_open(0)
    known.least_centi[0] = known.certain_centi
    assert known.is_settled(0)
    assert not known.is_open(0)
    assert known.open_weight() == known.weights[1]
    known.most_centi[1] = 50
    assert not known.is_open(1)
    assert not known.is_settled(1)


def test_replies_come_by_falling_weight_and_are_ruled_out_until_none_is_open() -> None:
    known = MoveBounds(0, 0, [(9, 9), (0, 0), (9, 9), (-9, -9)], PARAMS)
    assert known.order == [3, 1, 0, 2]
    least = known.high()
    assert known.telling_centi(least._replace(before=-1)) == known.certain_centi - 1
    known.most_centi = [5] * 4
    assert known.telling_centi(least) is None


# --- Records --------------------------------------------------------------------------------------------


def looked(move: str, raw: int, *replies: tuple[tuple[int, int], int | None, int], **more: Any) -> Candidate:
    """A move with what is known of its replies: shallow scores, least, most."""
    profiles = tuple(
        ReplyProfile(f"r{i}", (), most, shallow_scores_centi=shallow, least_centi=least)
        for i, (shallow, least, most) in enumerate(replies)
    )
    return with_trap(Candidate(move, raw, False, 0.0, replies=profiles, **more), TrapParams(), swindle=True)


def plain(move: str, raw: int, *, is_bound: bool = False, complete: bool = False) -> Candidate:
    return Candidate(move, raw, is_bound, raw, complete=complete)


def tempting(
    *candidates: Candidate, move: str, depth: int = 5, tempting: TemptingParams = PARAMS
) -> Decision:
    made = decision_with(candidates, move, strategy="tempting")
    return replace(made, depth=depth, tempting=tempting)


def refuses(decision: Decision, why: str) -> None:
    with pytest.raises(RecordError, match=why):
        verify(decision)


EVEN = (0, 0)


def duel(least: int, most: int, *, order: str = "ab", rival_raw: int = 0) -> Decision:
    """``a`` has two replies, one worth `least` at least; ``b`` two, one worth `most` at most."""
    moves = {
        "a": looked("a", 0, (EVEN, None, 0), (EVEN, least, UNBOUNDED)),
        "b": looked("b", rival_raw, (EVEN, None, rival_raw), (EVEN, None, most)),
    }
    return tempting(*(moves[move] for move in order), move="a")


def test_bounds_prove_a_choice_to_the_last_unit() -> None:
    """Equal bounds: the first in order wins; and one unit decides."""
    verify(duel(40, 40))
    refuses(duel(39, 40), "b could stand at")
    refuses(duel(40, 41), "b could stand at")
    verify(duel(41, 40, order="ba"))
    refuses(duel(40, 40, order="ba"), "b could stand at")


def test_ties_go_to_the_higher_raw_value() -> None:
    far = 1000  # 9999.5.. hundredths of a per cent: scores around it have the same worth
    assert to_expected_score(far, PARAMS) == to_expected_score(far + 1, PARAMS) == WHOLE
    a, b = plain("a", far), plain("b", far + 1)
    assert Tempting(name="tempting", settings=PARAMS).best_move([a, b], TrapParams()) == "b"
    verify(tempting(a, b, move="b"))
    refuses(tempting(a, b, move="a"), "b follows")


def test_a_forged_shallow_score_is_noticed() -> None:
    """Weights are what makes ``a`` the choice, and each unit of a shallow score is part of one."""
    sound, bait = at(5000), at(7000)

    def of(*shallow: int, rival: int) -> Decision:
        mine = looked("a", sound, ((0, 0), sound, sound), ((shallow[0], shallow[1]), bait, bait))
        other = looked("b", at(5300), ((0, 0), None, rival))
        return tempting(mine, other, move="a", tempting=FINE)

    # The bait looks a unit better: four centi-units at this scale.
    at_most = standings(of(-4, 0, rival=at(5300)).chosen, 0, FINE)[0].adjusted
    rival = at(5300 + (at_most - 5_300_000) // 600)
    verify(of(-4, 0, rival=rival))
    verify(of(0, -4, rival=rival))
    refuses(of(-4, 0, rival=at(to_expected_score(rival, FINE) + 1)), "b could stand at")
    refuses(of(0, 0, rival=rival), "b could stand at")
    refuses(of(0, 4, rival=rival), "b could stand at")


def test_the_chosen_move_is_allowed() -> None:
    floor = risk_floor_centi(100, PARAMS, DecidedScores.SWINDLE)

    def of(raw: int) -> Decision:
        low = looked("a", raw, (EVEN, None, raw), ((-9000, -9000), 5000, UNBOUNDED))
        return tempting(low, looked("b", 100, (EVEN, None, 100)), move="a")

    verify(of(floor))
    refuses(of(floor - 1), "b follows")


def test_what_is_not_allowed_needs_no_proof() -> None:
    floor = risk_floor_centi(100, PARAMS, DecidedScores.SWINDLE)
    verify(tempting(plain("a", 100), plain("b", floor - 1, is_bound=True), move="a"))
    verify(tempting(plain("a", 100), plain("b", floor - 1), move="a"))
    refuses(tempting(plain("a", 100), plain("b", floor, is_bound=True), move="a"), "b could stand")
    refuses(tempting(plain("a", 100), plain("b", floor), move="a"), "b could stand")
    refuses(tempting(plain("a", 100), plain("b", 101, is_bound=True), move="a"), "raise the floor")
    verify(tempting(plain("a", 100), plain("b", 99, complete=True), move="a"))  # it ends the game


def test_a_bound_on_the_raw_value_is_no_raw_value() -> None:
    held = replace(looked("b", 99, (EVEN, None, 99)), raw_is_bound=True)
    refuses(tempting(plain("a", 100), held, move="a"), "b could stand")


def test_every_reply_has_shallow_scores() -> None:
    rival = looked("b", 0, (EVEN, None, 0))
    bare = replace(rival, replies=(ReplyProfile("r0", (), 0),))
    refuses(tempting(looked("a", 10, (EVEN, None, 10)), bare, move="a"), "no scores after two and three")
    refuses(tempting(replace(rival, move="a", replies=bare.replies), plain("b", -900), move="a"), "no scores")


@pytest.mark.parametrize("bounds", [(11, 10), (-1, 10), (None, -1)])
def test_bounds_do_not_contradict_each_other(bounds: tuple[int | None, int]) -> None:
    move = looked("a", 0, (EVEN, None, 0), (EVEN, *bounds))
    refuses(tempting(move, move="a"), "contradict|below the raw value")


def test_the_settings_are_in_the_record() -> None:
    made = duel(40, 40)
    refuses(replace(made, tempting=None), "needs its settings")
    refuses(replace(made, tempting=TemptingParams()), "logistic_centi is 0")
    person = OpponentModelUse(OpponentParams(logistic_centi=200), Person(), None)
    refuses(replace(made, model_use=person), "use no opponent model")


def test_below_four_plies_the_raw_value_decides() -> None:
    for depth in (2, 3):
        verify(tempting(plain("a", 10), plain("b", 9, is_bound=True), move="a", depth=depth))
        refuses(tempting(plain("a", 10), plain("b", 11), move="a", depth=depth), "b follows")
        refuses(tempting(plain("a", 10), plain("b", 11, is_bound=True), move="a", depth=depth), "b could")
    refuses(tempting(plain("a", 10), plain("b", 9), move="a", depth=MIN_DEPTH), "b could stand")


@pytest.mark.parametrize("depth", [2, 3, MIN_DEPTH])
def test_a_decision_of_any_depth_still_verifies_with_its_whole_profile(depth: int) -> None:
    game, searcher = get_rules("othello"), make_searcher("othello", 1)
    made = MoveChooser(strategy_named("tempting"), game, TrapParams(), searcher).choose(
        game.initial(), Limits(depth), StopFlag()
    )
    verify(made)
    whole = complete(made, searcher, StopFlag())
    assert [len(reply.scores_centi) for reply in whole.chosen.replies] == [depth - 1] * 3
    verify(whole)


def test_where_all_is_lost_swindles_decide() -> None:
    lost = -WIN_CENTI - 10
    dull = ReplyProfile("x", (), -WIN_CENTI)
    escape_trappiness = ReplyProfile("y", (-500, -500, -500, 0))
    sound = ReplyProfile("x", (lost - 9,) * 4)
    a = Candidate("a", lost, False, lost, replies=(dull,))
    b = with_trap(
        Candidate("b", lost - 9, False, 0.0, replies=(sound, escape_trappiness), complete=True),
        TrapParams(),
        True,
    )
    verify(tempting(a, b, move="b"))
    refuses(tempting(a, b, move="a"), "b follows")
    loose = replace(a, replies=(replace(dull, bound_centi=1 - WIN_CENTI),))
    refuses(tempting(loose, b, move="b"), "a could stand")


@pytest.mark.parametrize("seed", range(30))
def test_the_choice_of_the_table(seed: int) -> None:
    """Lazy and whole agree where everything is known; its record proves it, and no other choice."""
    rng = random.Random(seed)
    table = [random_move(rng, index) for index in range(5)]
    move = choose_from_table(table, PARAMS, DecidedScores.SWINDLE)
    assert move == choose_tempting(table, PARAMS, DecidedScores.SWINDLE)
    made = tempting(*table, move=move, depth=4)
    verify(made)
    assert Decision.from_record(made.to_record()) == made
    for other in table:
        if other.move != move:
            refuses(replace(made, move=other.move), "follows")


def test_records() -> None:
    made = duel(40, 40)
    record = made.to_record()
    assert Decision.from_record(record) == made
    assert Decision.from_record(json.loads(json.dumps(record))) == made
    assert record["tempting"]["budget"] == 500


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"glance_centi": [1]}, "candidates: replies: glance_centi: "),
        ({"bound_centi": None}, "a reply has shallow scores, but no bound"),
        ({"glance_centi": [1, 2.5]}, "glance_centi: 2.5 is not of the type int"),
        ({"least_centi": True}, "least_centi: True is not of the type int"),
    ],
)
def test_broken_records_are_refused(change: dict[str, Any], why: str) -> None:
    record = json.loads(json.dumps(duel(40, 40).to_record()))
    record["candidates"][0]["replies"][0] |= change
    with pytest.raises(RecordError, match=why):
        Decision.from_record(record)


def test_other_players_records_are_no_longer_than_before() -> None:
    whole = random_move(random.Random(1))
    record = decision_with([whole], whole.move, strategy="standard").to_record()
    assert "tempting" not in record
    for reply in record["candidates"][0]["replies"]:
        assert reply.keys() == {"reply", "scores_centi"}


def test_expected_score_of_both_sides() -> None:
    """The unit is that of the other players."""
    for score, s in itertools.product((-300, 0, 77), (50.0, 205.4)):
        assert to_expected_score(score, TemptingParams(logistic_centi=s)) == expected_score(score, s)
