"""The tempting player's lazy candidates against the whole table; Python and the core agree in all numbers."""

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from engine.completion import complete
from engine.decision import Candidate, Decision
from engine.game import WIN_CENTI
from engine.game import positions as game_positions
from engine.games import get_rules
from engine.move_chooser import MoveChooser
from engine.params import DecidedScores, TemptingParams, TrapParams
from engine.search.profiles import Profiler
from engine.search.reference import ReferenceSearcher
from engine.search.searchers import NATIVE_GAMES, NativeSearcher, make_searcher
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.tempting import choose_tempting, risk_floor_centi, standings
from engine.time_management import Limits
from engine.trappy import is_swindle
from engine.verification import verify
from tests.engine.native.tempting_mirror import (
    Duel,
    adjusted_of,
    choose_from_table,
    tempting_candidates,
)
from tests.engine.positions import random_position

SETTINGS = {
    "default": (TemptingParams(), DecidedScores.SWINDLE),
    "any risk": (
        TemptingParams(budget=4000, share_percent=90, gap_percent=1000, won_gap_percent=1000),
        DecidedScores.SWINDLE,
    ),
    "decided games as any other": (TemptingParams(budget=2000), DecidedScores.PAPER),
}
PLIES = {"connect4": 30, "othello": 54, "chess": 60, "xiangqi": 60}
DEPTHS = {"connect4": (4, 5, 6, 7), "othello": (4, 5, 6), "chess": (4,), "xiangqi": (4,)}
EACH = {"connect4": 12, "othello": 8, "chess": 4, "xiangqi": 3}
LOST = (76, 91, 161, 269)
"""Random games of Connect Four in which every move comes to lose."""


def cases(name: str) -> Iterator[tuple[Any, int]]:
    game = get_rules(name)
    for depth in DEPTHS[name]:
        for number in range(EACH[name]):
            rng = random.Random(f"{name} {depth} {number}")
            yield random_position(game, rng, rng.randint(4, PLIES[name])), depth
    if name == "connect4":
        for seed in LOST:
            rng = random.Random(f"connect4 decided {seed}")
            yield random_position(game, rng, rng.randint(16, 38)), 6


def native(name: str) -> NativeSearcher:
    found = make_searcher(name, 2)
    assert isinstance(found, NativeSearcher)
    return found


def assert_bounds_hold(found: Candidate, whole: Candidate, params: TemptingParams, index: int) -> bool:
    """What was found of a move is true; whether it is any."""
    assert found.move == whole.move
    assert found.raw_centi >= whole.raw_centi if found.raw_is_bound else found.raw_centi == whole.raw_centi
    assert found.complete == (not found.raw_is_bound and not whole.replies)
    if not found.replies:
        return False
    for reply, full in zip(found.replies, whole.replies, strict=True):
        assert (reply.reply, reply.scores_centi, reply.shallow_scores_centi) == (
            full.reply,
            (),
            full.scores_centi[:2],
        )
        assert (reply.least_centi or whole.raw_centi) <= full.final_centi <= reply.final_centi
        assert reply.least_centi is None or reply.least_centi > whole.raw_centi
    low, high = standings(found, index, params)
    assert low.adjusted <= adjusted_of(whole, params) <= high.adjusted
    return True


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("name", list(NATIVE_GAMES))
def test_lazy_equals_the_whole_table_and_the_core_equals_python(
    name: str, settings: tuple[TemptingParams, DecidedScores]
) -> None:
    game, looked, lost = get_rules(name), 0, 0
    trap = TrapParams(decided=settings[1])
    for position, depth in cases(name):
        root = game.for_search(position)
        params = settings[0].for_position(game.expected_scale_centi(root))
        core, judge = native(name), native(name)
        found = core.tempting_candidates(root, depth, trap, params, StopFlag())
        profiler = Profiler(game, judge, position, trap, StopFlag())
        assert tempting_candidates(profiler, depth, trap, params) == found
        table = profiler.naive_candidates(depth)
        if is_swindle(table, trap):
            lost += 1
            continue
        for index, (one, whole) in enumerate(zip(found, table, strict=True)):
            looked += assert_bounds_hold(one, whole, params, index)
        assert choose_tempting(found, params, trap.decided) == choose_from_table(table, params, trap.decided)
    assert looked > 0
    assert (lost > 0) == (name == "connect4" and trap.decided is DecidedScores.SWINDLE)


def test_every_yardstick_gives_the_same_candidates() -> None:
    """Scores that are as good as won begin at another place with each; and nearly everything is allowed."""
    game, settings, trap = (
        get_rules("connect4"),
        SETTINGS["any risk"][0],
        TrapParams(decided=DecidedScores.PAPER),
    )
    core, judge = native("connect4"), native("connect4")
    for number in range(12):
        rng = random.Random(number)
        position = random_position(game, rng, rng.randint(4, 24))
        profiler = Profiler(game, judge, position, trap, StopFlag())
        for logistic in range(1, 40):
            params = replace(settings, logistic_centi=logistic, budget=10_000, share_percent=100)
            found = core.tempting_candidates(game.for_search(position), 5, trap, params, StopFlag())
            assert tempting_candidates(profiler, 5, trap, params) == found


def test_a_reply_that_a_window_bounded_gets_its_exact_score() -> None:
    """Even if the bound is the score itself."""
    game = get_rules("connect4")
    position, uncertain = random_position(game, random.Random(5), 4), 0
    profiler = Profiler(game, native("connect4"), position, TrapParams(), StopFlag())
    params = TemptingParams(logistic_centi=300)
    for move, whole in zip(profiler.moves, profiler.naive_candidates(6), strict=True):
        duel = Duel(profiler, 6, params, {move: whole.raw_centi})
        known = duel.look(move)
        for index, reply in enumerate(whole.replies):
            for above in (0, 1, 50):
                known.least_centi[index] = whole.raw_centi
                known.most_centi[index] = reply.final_centi + above
                duel.settle_reply(move, known, index)
                assert known.is_settled(index)
                assert known.least_centi[index] == min(reply.final_centi, known.certain_centi)
                uncertain += known.least_centi[index] < known.certain_centi
    assert uncertain > 0


def test_a_move_that_ends_the_game_has_no_replies_to_weigh() -> None:
    """Here one that is no better than the best: for the third time the same position."""
    game, trap = get_rules("chess"), TrapParams()
    *_, position = game_positions(game, ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1"])
    params = SETTINGS["any risk"][0].for_position(game.expected_scale_centi(position))
    profiler = Profiler(game, native("chess"), position, trap, StopFlag())
    root = game.for_search(position)
    found = native("chess").tempting_candidates(root, 4, trap, params, StopFlag())
    assert tempting_candidates(profiler, 4, trap, params) == found
    table = profiler.naive_candidates(4)
    assert [each.move for each in table if not each.replies] == ["f6g8"]
    assert [each.move for each in found if each.complete] == ["f6g8"]
    for index, (one, whole) in enumerate(zip(found, table, strict=True)):
        assert_bounds_hold(one, whole, params, index)
    assert choose_tempting(found, params, trap.decided) == choose_from_table(table, params, trap.decided)


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "othello"])
def test_any_search_gives_the_same_candidates(name: str) -> None:
    """Bounds are those of windows, not what the search happened to return."""
    game, trap = get_rules(name), TrapParams()
    for number in range(4):
        rng = random.Random(f"{name} {number}")
        position = random_position(game, rng, rng.randint(1, 4 if name == "tictactoe" else 40))
        params = SETTINGS["any risk"][0].for_position(game.expected_scale_centi(position))
        slow, fast = (
            tempting_candidates(Profiler(game, searcher, position, trap, StopFlag()), 4, trap, params)
            for searcher in (ReferenceSearcher(game), make_searcher(name, 1))
        )
        assert slow == fast


@pytest.mark.parametrize(("name", "changed"), [("connect4", False), ("othello", True)])
def test_decisions_prove_themselves(name: str, changed: bool) -> None:
    """As they are made, stored, and completed; odd and even depths, won and lost games among them."""
    game, searcher = get_rules(name), native(name)
    differs = 0
    for position, depth in cases(name):
        decision = MoveChooser(strategy_named("tempting"), game, TrapParams(), searcher).choose(
            position, Limits(depth), StopFlag()
        )
        verify(decision)
        params = decision.tempting
        assert params is not None
        assert Decision.from_record(decision.to_record()) == decision
        if decision.depth < 4:
            continue
        table = Profiler(game, searcher, position, decision.params, StopFlag()).naive_candidates(
            decision.depth
        )
        full = complete(decision, searcher, StopFlag())
        verify(full)
        if not is_swindle(table, decision.params):
            assert decision.move == choose_from_table(table, params, decision.params.decided)
            assert standings(full.chosen, 0, params)[0].adjusted == adjusted_of(full.chosen, params)
        differs += decision.chosen.raw_centi != max(c.raw_centi for c in table)
    assert (differs > 0) == changed


def test_below_four_plies_it_is_the_standard_player() -> None:
    game = get_rules("othello")
    for number in range(6):
        position = random_position(game, random.Random(number), 20)
        for depth in (2, 3):
            mine, plain = (
                MoveChooser(strategy_named(kind), game, TrapParams(), native("othello")).choose(
                    position, Limits(depth), StopFlag()
                )
                for kind in ("tempting", "standard")
            )
            assert (mine.move, mine.candidates) == (plain.move, plain.candidates)
            verify(mine)


def test_where_all_is_lost_the_escape_is_played() -> None:
    """As the trappy player does, to whom the same replies count."""
    game, seen = get_rules("connect4"), 0
    for seed in LOST:
        rng = random.Random(f"connect4 decided {seed}")
        position = random_position(game, rng, rng.randint(16, 38))
        mine, other = (
            MoveChooser(strategy_named(kind), game, TrapParams(), native("connect4")).choose(
                position, Limits(6), StopFlag()
            )
            for kind in ("tempting", "trappy")
        )
        assert mine.move == other.move
        verify(mine)
        for one, theirs in zip(mine.candidates, other.candidates, strict=True):
            assert one.raw_centi == theirs.raw_centi <= -WIN_CENTI
            for reply, full in zip(one.replies, theirs.replies, strict=True):
                seen += bool(reply.scores_centi)
                assert reply.scores_centi == full.scores_centi
                assert reply.scores_centi or reply.bound_centi == -WIN_CENTI
    assert seen > 0


NODES = {"default": 99_036, "any risk": 146_669, "decided games as any other": 123_940}


def test_the_search_visits_as_many_positions_as_ever() -> None:
    """Connect Four has no weights to learn: only another search, or leaving out other scores, alters them."""
    game, nodes = get_rules("connect4"), {}
    for name, (settings, decided) in SETTINGS.items():
        core = native("connect4")
        for position, depth in cases("connect4"):
            params = settings.for_position(game.expected_scale_centi(position))
            root, trap = game.for_search(position), TrapParams(decided=decided)
            core.tempting_candidates(root, depth, trap, params, StopFlag())
        nodes[name] = core.nodes
    assert nodes == NODES


def test_a_move_of_its_own_is_allowed() -> None:
    """Over whole games against nobody in particular: what it plays gives up no more than it may."""
    game, searcher = get_rules("othello"), native("othello")
    assert strategy_named("tempting").sets_traps
    for number in range(6):
        position = random_position(game, random.Random(number), 24)
        decision = MoveChooser(strategy_named("tempting"), game, TrapParams(), searcher).choose(
            position, Limits(5), StopFlag()
        )
        best = max(c.raw_centi for c in decision.candidates if not c.raw_is_bound)
        assert decision.tempting is not None
        floor = risk_floor_centi(best, decision.tempting, decision.params.decided)
        assert decision.chosen.raw_centi >= floor
