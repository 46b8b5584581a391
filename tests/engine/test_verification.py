"""What a record proves, at the very borders: hand-made decisions of a few moves."""

from dataclasses import replace
from typing import Any

import pytest

from engine.decision import (
    Candidate,
    Decision,
    DirectMove,
    OpponentModelUse,
    Person,
    ReplyProfile,
    SearchMode,
    SourceInfo,
    VarietyDraw,
)
from engine.errors import RecordError
from engine.params import DecidedScores, OpponentParams, TrapParams
from engine.strategies.registry import strategy_named
from engine.trappy import with_trap
from engine.verification import verify
from tests.engine.decisions import decision_with

PAPER = TrapParams(decided=DecidedScores.PAPER)
PICK = DirectMove(400, 12, 100, False)


def plain(move: str, raw: int, **more: Any) -> Candidate:
    """A move that plain minimax looked into."""
    return Candidate(move, raw, False, raw, **more)


def bound(move: str, raw: int, **more: Any) -> Candidate:
    """One of which it only proved that it is worth no more."""
    return Candidate(move, raw, True, raw, **more)


def whole(move: str, raw: int) -> Candidate:
    """A move with its replies' scores, and no trap."""
    replies = (ReplyProfile("x", (raw, raw)), ReplyProfile("y", (raw + 9, raw)))
    return with_trap(plain(move, raw, replies=replies, complete=True), PAPER)


def standard(*candidates: Candidate, move: str = "b", **more: Any) -> Decision:
    return replace(
        decision_with(candidates, move, strategy="standard", params=PAPER), **({"depth": 3} | more)
    )


def accepts(decision: Decision) -> None:
    verify(decision)


def refuses(decision: Decision, why: str) -> None:
    with pytest.raises(RecordError, match=why):
        verify(decision)


def test_the_move_is_one_of_the_candidates() -> None:
    accepts(standard(plain("a", 1), plain("b", 2)))
    refuses(standard(plain("a", 1), plain("b", 2), move="c"), "c was played, but is not among")


def test_two_plies_are_the_least() -> None:
    accepts(standard(plain("b", 2), depth=2))
    refuses(standard(plain("b", 2), depth=1), "depth 1")


def test_what_is_only_bounded_is_never_chosen() -> None:
    moves = [bound("a", 500), plain("b", 400), plain("c", 400)]
    for player in ("standard", "trappy"):
        assert strategy_named(player).best_move(moves, PAPER) == "b"


def test_a_bound_that_is_no_higher_proves_enough_of_a_later_move_only() -> None:
    accepts(standard(bound("a", 399), plain("b", 400), bound("c", 400)))
    refuses(standard(bound("a", 400), plain("b", 400)), "a could stand at")
    refuses(standard(plain("b", 400), bound("c", 401)), "c could stand at")


def test_the_same_of_traps() -> None:
    """A trap may add a quarter; and of equals the one with the higher raw value is played."""
    accepts(decision_with([bound("a", 320), whole("b", 400)], "b", params=PAPER))
    refuses(decision_with([bound("a", 321), whole("b", 400)], "b", params=PAPER), "a could stand at")
    accepts(decision_with([whole("b", 400), bound("c", 320)], "b", params=PAPER))
    refuses(decision_with([whole("b", 400), bound("c", 321)], "b", params=PAPER), "c could stand at")


def test_only_traps_that_were_found_count_for_the_move_itself() -> None:
    """A trap among its open replies would make it better still; another move's could overtake it."""
    replies = (ReplyProfile("x", (400, 400)), ReplyProfile("y", (), 500, 100.0))
    open_one = with_trap(plain("b", 400, replies=replies), PAPER)
    accepts(decision_with([open_one], "b", params=PAPER))
    accepts(decision_with([open_one, bound("c", 320)], "b", params=PAPER))
    refuses(decision_with([open_one, bound("c", 321)], "b", params=PAPER), "c could stand at")
    refuses(decision_with([whole("a", 401), open_one], "b", params=PAPER), "a follows")
    open_other = with_trap(plain("c", 399, replies=replies), PAPER)
    refuses(decision_with([whole("b", 400), open_other], "b", params=PAPER), "c could stand at")


def test_replies_are_worth_what_the_move_is_or_more() -> None:
    def of(*finals: int, raw: int = 400, complete: bool = True, is_bound: bool = False) -> Decision:
        replies = tuple(ReplyProfile(f"r{i}", (final, final)) for i, final in enumerate(finals))
        move = Candidate("a", raw, is_bound, raw, replies=replies, complete=complete)
        return standard(with_trap(move, PAPER, swindle=True), plain("b", 500), depth=3)

    accepts(of(400, 500))
    accepts(of(401, complete=False))
    accepts(of(399, complete=False, is_bound=True))
    refuses(of(401), "not the least")
    refuses(of(399, 400), "below the raw value")


def test_every_reply_has_a_score_of_every_depth() -> None:
    short = with_trap(plain("b", 5, replies=(ReplyProfile("x", (5,)),)), PAPER, swindle=True)
    refuses(standard(short), "x has 1 scores, not 2")
    accepts(standard(short, depth=2))
    accepts(standard(replace(short, replies=(ReplyProfile("x", (), 5),))))


def test_a_reply_has_scores_or_a_bound_and_occurs_once() -> None:
    def of(*replies: ReplyProfile) -> Decision:
        return standard(with_trap(plain("b", 5, replies=replies), PAPER, swindle=True))

    accepts(of(ReplyProfile("x", (5, 5)), ReplyProfile("y", (), 6)))
    refuses(of(ReplyProfile("x", (5, 5), 6)), "b: x has both scores and a bound")
    refuses(of(ReplyProfile("x", (5, 5)), ReplyProfile("x", (), 6)), "b: a reply occurs twice")


def test_a_choice_needs_an_exact_score() -> None:
    draw = VarietyDraw(10, (), 0)
    for more in (
        {},
        {"search_mode": SearchMode.VARIETY_DRAW, "variety_draw": draw},
        {"strategy": "opponent_model"},
    ):
        refuses(standard(bound("a", 1), bound("b", 2), **more), "no candidate has an exact raw value")


def test_other_modes_have_a_pick_and_an_exact_score() -> None:
    moves = (plain("a", 5), plain("b", 2))
    for mode in (SearchMode.STRONG, SearchMode.BOOK, SearchMode.TABLEBASE):
        strong = standard(*moves, strategy="strong", search_mode=mode, pick=PICK)
        accepts(strong)
        refuses(replace(strong, pick=None), "left no exact score")
        refuses(replace(strong, candidates=(plain("a", 5), bound("b", 2))), "left no exact score")
        refuses(replace(strong, strategy="gentle"), "do not choose by")
    refuses(
        standard(*moves, strategy="strong", search_mode=SearchMode.ENGINE_MOVE, pick=PICK), "do not choose by"
    )


def test_a_draw_is_among_all_that_are_near() -> None:
    near = (plain("a", 400), plain("b", 390))
    drawn = standard(*near, search_mode=SearchMode.VARIETY_DRAW, variety_draw=VarietyDraw(10, ("a",), 0))
    accepts(drawn)
    refuses(replace(drawn, variety_draw=None), "the draw is not in the record")
    refuses(replace(drawn, variety_draw=VarietyDraw(10, ("b",), 0)), "selects a")
    accepts(replace(drawn, candidates=(*near, bound("c", 389))))
    refuses(replace(drawn, candidates=(*near, bound("c", 390))), "c did not take part")


# --- Another engine's scores ----------------------------------------------------------------------------


def by_engine(*candidates: Candidate, player: str = "trappy_uci", **more: Any) -> Decision:
    source = SourceInfo("fake", "uci", (), 100, 300, 1)
    made = decision_with(candidates, "b", strategy=player, params=PAPER)
    return replace(made, depth=3, search_mode=SearchMode.ENGINE, source=source, **more)


def test_the_floor_parts_what_was_looked_into() -> None:
    accepts(by_engine(whole("b", 400), bound("c", 300)))
    refuses(by_engine(whole("b", 400), bound("c", 301)), "above the floor")
    refuses(by_engine(whole("b", 400), bound("c", 200, complete=True)), "but has a profile")
    known = (ReplyProfile("x", (200, 200)),)
    refuses(by_engine(whole("b", 400), bound("c", 200, replies=known)), "but has a profile")
    refuses(replace(by_engine(whole("b", 400)), source=None), "the engine is not in the record")
    refuses(replace(by_engine(whole("b", 400)), strategy="trappy"), "do not choose by 'engine'")


def test_all_that_was_looked_into_is_whole() -> None:
    partial = replace(whole("c", 350), complete=False)
    refuses(by_engine(whole("b", 400), partial), "c was analysed, but its profile is incomplete")
    pruned = (ReplyProfile("x", (350, 350)), ReplyProfile("y", (), 350))
    refuses(
        by_engine(whole("b", 400), with_trap(plain("c", 350, replies=pruned, complete=True), PAPER)),
        "c was analysed, but its profile is incomplete",
    )


@pytest.mark.parametrize("player", ["opponent_model_uci", "calibrated_uci"])
def test_who_goes_by_values_needs_the_chosen_move_whole(player: str) -> None:
    model_use = OpponentModelUse(OpponentParams(logistic_centi=200), Person(), None, trouble="it failed")
    partial = replace(whole("c", 350), complete=False)
    accepts(by_engine(whole("b", 400), partial, strategy=player, model_use=model_use))
    mine = replace(whole("b", 400), complete=False)
    refuses(by_engine(mine, whole("c", 350), strategy=player, model_use=model_use), "b was analysed")
    refuses(by_engine(whole("b", 400), strategy=player.removesuffix("_uci"), model_use=model_use), "'engine'")


def test_an_engines_own_move_has_its_whole_profile() -> None:
    def of(chosen: Candidate) -> Decision:
        made = decision_with([chosen, bound("c", 400)], "b", strategy="standard_uci", params=PAPER)
        source = SourceInfo("fake", "uci", (), 0, 400, 1)
        made = replace(made, search_mode=SearchMode.ENGINE_MOVE, profile_source="fake")
        return replace(made, depth=3, source=source, pick=PICK)

    accepts(of(whole("b", 400)))
    refuses(of(replace(whole("b", 400), complete=False)), "its profile is incomplete")
    open_reply = (ReplyProfile("x", (400, 400)), ReplyProfile("y", (), 400))
    refuses(of(with_trap(plain("b", 400, replies=open_reply, complete=True), PAPER, True)), "is incomplete")
