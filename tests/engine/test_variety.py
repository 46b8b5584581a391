"""Moves drawn at random: which take part, how often each is drawn, and that the record tells it all."""

import json
import random
from collections import Counter
from dataclasses import replace

import pytest

from engine.completion import complete
from engine.decision import Candidate, Decision, VarietyDraw
from engine.errors import RecordError
from engine.game import WIN_CENTI
from engine.games import get_rules
from engine.lookup.othello_book import Book, BookMove, canonical
from engine.move_chooser import MoveChooser
from engine.params import TrapParams
from engine.search.profiles import Profiler
from engine.search.reference import ReferenceSearcher
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.move_context import StrongOptions
from engine.strategies.registry import strategy_named
from engine.time_management import Limits
from engine.variety import LEVELS, RepetitionAvoidance, draw_move
from engine.verification import verify
from tests.engine.positions import random_position

chess, othello = get_rules("chess"), get_rules("othello")
searchers = {name: make_searcher(name, 1) for name in ("chess", "othello", "connect4", "tictactoe")}


def candidate(move: str, raw: int, *, bound: bool = False) -> Candidate:
    return Candidate(move, raw, bound, float(raw))


def decide(
    name: str,
    avoidance: RepetitionAvoidance,
    *,
    kind: str = "trappy",
    plies: int = 0,
    seed: int = 1,
    limits: Limits | None = None,
) -> Decision:
    game = get_rules(name)
    position = random_position(game, random.Random(seed), plies) if plies else game.initial()
    player = MoveChooser(strategy_named(kind), game, TrapParams(), searchers[name], rng=random.Random(seed))
    return player.choose(position, limits or Limits(4), StopFlag(), avoidance)


# --- The draw -------------------------------------------------------------------------------------------


def test_near_moves_are_drawn_by_how_near_they_are() -> None:
    candidates = [
        candidate("far", 0),
        candidate("best", 100),
        candidate("near", 91),
        candidate("avoided", 99),
        candidate("open", 89, bound=True),
    ]
    count = Counter(draw_move(candidates, VarietyDraw(10, ("avoided",), number)) for number in range(13_000))
    assert count == {"best": 11_000, "near": 2_000}


def test_nothing_to_draw_from() -> None:
    assert draw_move([candidate("a", 5), candidate("b", 3)], VarietyDraw(10, ("a", "b"), 0)) is None
    assert (
        draw_move([candidate("a", WIN_CENTI + 5), candidate("b", WIN_CENTI)], VarietyDraw(10, (), 1)) is None
    )
    assert (
        draw_move([candidate("a", -WIN_CENTI - 5), candidate("b", -WIN_CENTI)], VarietyDraw(10, (), 1))
        is None
    )


def test_rather_than_an_avoided_move_a_worse_one_is_drawn() -> None:
    candidates = [
        candidate("avoided", 100),
        candidate("near", 65),
        candidate("far", 30),
        candidate("x", -900),
    ]
    narrow = RepetitionAvoidance(("avoided",), 40).draw(candidates, 1)
    assert narrow == VarietyDraw(40, ("avoided",), 1)
    assert RepetitionAvoidance(("avoided", "near"), 40).draw(candidates, 1) is None
    assert RepetitionAvoidance(("avoided", "near"), 40, 60).draw(candidates, 1) is None
    wide = RepetitionAvoidance(("avoided", "near"), 40, 320).draw(candidates, 1)
    assert wide == VarietyDraw(80, ("avoided", "near"), 1)
    assert draw_move(candidates, wide) == "far"
    assert RepetitionAvoidance(("avoided", "near"), 0, 70).draw(candidates, 1) == VarietyDraw(
        70, ("avoided", "near"), 1
    )


def test_a_wider_draw_is_proved_by_its_record() -> None:
    usual = decide("othello", RepetitionAvoidance((), 0), plies=4)
    near = tuple(
        c.move
        for c in decide("othello", RepetitionAvoidance((), 40), plies=4).candidates
        if not c.raw_is_bound
    )
    decision = decide("othello", RepetitionAvoidance((usual.move, *near), 40, 1280), plies=4)
    assert decision.search_mode == "lot"
    assert decision.move not in (usual.move, *near)
    assert decision.variety_draw is not None
    assert decision.variety_draw.within_centi > 40
    verify(Decision.from_record(json.loads(json.dumps(decision.to_record()))))


# --- Exact scores near the best -------------------------------------------------------------------------


@pytest.mark.parametrize("within", [0, 30, 300])
@pytest.mark.parametrize("name", ["chess", "othello", "connect4"])
def test_plain_candidates_are_exact_near_the_best(name: str, within: int) -> None:
    game, searcher = get_rules(name), searchers[name]
    for seed in range(5):
        position = random_position(game, random.Random(seed), plies=10)
        profiler = Profiler(game, searcher, position, TrapParams(), StopFlag())
        exact = {c.move: c.raw_centi for c in profiler.raw_candidates(3, within_centi=10**6)}
        for depth in (2, 3):  # the second in the order that the first has found
            found = profiler.raw_candidates(depth, within)
        best = max(exact.values())
        for each in found:
            if each.raw_is_bound:
                assert exact[each.move] <= each.raw_centi < best - within
            else:
                assert each.raw_centi == exact[each.move]


# --- Players --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["standard", "trappy", "strong", "trappy_uci"])
@pytest.mark.parametrize("name", ["chess", "othello", "connect4"])
def test_a_drawn_move_is_proved_by_its_record(name: str, kind: str) -> None:
    usual = decide(name, RepetitionAvoidance((), 0), kind=kind, plies=4).move
    decision = decide(name, RepetitionAvoidance((usual,), 500), kind=kind, plies=4)
    assert decision.search_mode == "lot"
    assert decision.move != usual
    assert decision.variety_draw is not None
    assert decision.variety_draw.avoided == (usual,)
    assert decision.nodes > 0
    again = Decision.from_record(json.loads(json.dumps(decision.to_record())))
    assert again == decision
    verify(again)
    full = complete(again, searchers[name], StopFlag())
    assert full.is_complete
    verify(full)


def test_records_that_prove_nothing() -> None:
    decision = decide("othello", RepetitionAvoidance((), 2000), plies=10)
    verify(decision)
    assert decision.variety_draw is not None
    others = [c.move for c in decision.candidates if c.move != decision.move and not c.raw_is_bound]
    assert others, "the test wants several"
    best = max(c.raw_centi for c in decision.candidates if not c.raw_is_bound)
    left_out = replace(decision.candidates[0], raw_centi=best, adjusted_centi=best, raw_is_bound=True)
    for forged in (
        replace(decision, move=others[0]),
        replace(decision, variety_draw=None),
        replace(decision, variety_draw=replace(decision.variety_draw, avoided=(decision.move,))),
        replace(decision, candidates=(*decision.candidates, replace(left_out, move="new"))),
    ):
        with pytest.raises(RecordError, match=r"selects|the draw is not in the record|did not take part"):
            verify(forged)


def test_every_near_move_is_drawn_some_time() -> None:
    moves = {
        decide("chess", RepetitionAvoidance((), 40), seed=seed, limits=Limits(2)).move for seed in range(60)
    }
    assert len(moves) > 3


@pytest.mark.parametrize("kind", ["standard", "trappy", "strong"])
def test_without_another_good_move_the_usual_one_is_played(kind: str) -> None:
    usual = MoveChooser(strategy_named(kind), othello, TrapParams(), searchers["othello"]).choose(
        position := random_position(othello, random.Random(5), plies=30), Limits(4), StopFlag()
    )
    player = MoveChooser(strategy_named(kind), othello, TrapParams(), searchers["othello"])
    decision = player.choose(position, Limits(4), StopFlag(), RepetitionAvoidance((usual.move,), 0))
    near = [c for c in decision.candidates if not c.raw_is_bound]
    assert decision.search_mode != "lot" or len(near) > 1
    verify(decision)


def test_no_time_for_a_draw() -> None:
    stop = StopFlag()
    stop.set()
    player = MoveChooser(strategy_named("trappy"), chess, TrapParams(), searchers["chess"])
    decision = player.choose(chess.initial(), Limits(6, 0.001), stop, RepetitionAvoidance(("e2e4",), 40))
    assert decision.depth == 2
    verify(decision)


def test_a_book_is_asked_until_it_has_another_move() -> None:
    position = random_position(othello, random.Random(3), plies=1)
    key, _ = canonical(position.mover, position.waiter)
    turned = position._replace(mover=key[0], waiter=key[1])
    book = Book({key: tuple(BookMove(move, 0, 8) for move in othello.legal_moves(turned))})
    strong = StrongOptions(sources={"othello": [book]})
    avoided, *others = (othello.move_text(move) for move in othello.legal_moves(position))
    for seed in range(10):
        player = MoveChooser(
            strategy_named("strong"), othello, TrapParams(), searchers["othello"], strong, random.Random(seed)
        )
        decision = player.choose(position, Limits(2), StopFlag(), RepetitionAvoidance((avoided,), 40))
        assert decision.search_mode == "book"
        assert decision.move in others


def test_the_reference_search_draws_too() -> None:
    game = get_rules("tictactoe")
    player = MoveChooser(
        strategy_named("trappy"), game, TrapParams(), ReferenceSearcher(game), rng=random.Random(2)
    )
    decision = player.choose(game.initial(), Limits(4), StopFlag(), RepetitionAvoidance(("b2",), 9000))
    assert decision.move != "b2"
    verify(complete(decision, ReferenceSearcher(game), StopFlag()))


@pytest.mark.parametrize("name", ["othello", "chess"])
def test_the_lower_the_level_the_more_it_gives_away(name: str) -> None:
    lost = []
    for level in LEVELS:
        total = 0
        for seed in range(6):
            decision = decide(name, level.avoidance, kind="gentle", plies=16, seed=seed, limits=Limits(2))
            assert (decision.strategy, decision.search_mode) == ("gentle", "lot")
            best = max(c.raw_centi for c in decision.candidates if not c.raw_is_bound)
            assert best - decision.chosen.raw_centi <= level.within_centi
            total += best - decision.chosen.raw_centi
        lost.append(total)
    assert lost[0] > lost[2] >= lost[5] == 0
    assert [level.depth for level in LEVELS] == sorted(level.depth for level in LEVELS)
