"""The core's trap analysis against the whole table: whatever it leaves out is bounded truly, and it leaves
out as much as it always did."""

import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from engine.decision import Candidate
from engine.game import WIN_CENTI, positions
from engine.games import get_rules
from engine.params import Assessment, DecidedScores, Scale, TrapParams
from engine.search.profiles import Profiler
from engine.search.searchers import NativeSearcher, make_searcher
from engine.stop import StopFlag
from engine.strategies.trappy import TRAPPY
from engine.trappy import assess_shallow_scores, utility
from tests.engine.positions import random_position

PARAMS = {
    "median": TrapParams(),
    "median, even positions too": TrapParams(margin_centi=300),
    "best": TrapParams(Assessment.BEST, 100),
    "last": TrapParams(Assessment.LAST, 300),
    "decided games as any other": TrapParams(margin_centi=300, decided=DecidedScores.PAPER),
    "expected": TrapParams(scale=Scale.EXPECTED, logistic_centi=150),
    "expected, all risks": TrapParams(
        Assessment.BEST, scale=Scale.EXPECTED, logistic_centi=600, risk_percent=20, risk_share_percent=100
    ),
}
DEPTHS = {"connect4": (2, 3, 5, 8), "othello": (2, 4, 7)}
"""Deep enough for all of its proofs: those of a single shallow score begin with 7."""
PLIES = {"connect4": 30, "othello": 54}


NODES = {
    "median": 113_305,
    "median, even positions too": 138_827,
    "best": 123_130,
    "last": 158_057,
    "decided games as any other": 145_370,
    "expected": 112_620,
    "expected, all risks": 145_694,
}


WON, LOST = (7, 119, 177, 223), (76, 91, 161, 269, 280, 340)
"""Random games of Connect Four that come to a win in some moves, and to where every move loses."""


def decided(seed: int) -> Any:
    rng = random.Random(f"connect4 decided {seed}")
    return random_position(get_rules("connect4"), rng, rng.randint(16, 38))


def cases(name: str) -> Iterator[tuple[Any, int]]:
    """Positions and depths: some of them are lost or won by force."""
    game = get_rules(name)
    if name == "connect4":
        for seed in WON + LOST:
            yield decided(seed), 6
    for depth in DEPTHS[name]:
        for number in range(4):
            rng = random.Random(f"{name} {depth} {number}")
            yield random_position(game, rng, rng.randint(4, PLIES[name])), depth


def assert_bounds_hold(found: Candidate, whole: Candidate, params: TrapParams) -> None:
    """What was found of a move, beside all that there is to find."""
    assert found.move == whole.move
    assert found.raw_centi >= whole.raw_centi if found.raw_is_bound else found.raw_centi == whole.raw_centi
    assert whole.replies or found.complete  # it ends the game: there is nothing to leave out
    is_whole = len(found.replies) == len(whole.replies) and not found.raw_is_bound
    assert found.complete == (is_whole and all(reply.bound_centi is None for reply in found.replies))
    for reply, full in zip(found.replies, whole.replies if found.replies else (), strict=True):
        assert reply.reply == full.reply
        if reply.bound_centi is None:
            assert reply.scores_centi == full.scores_centi
            continue
        assert reply.bound_centi >= full.final_centi
        if reply.shallow_bound_centi is not None and len(full.scores_centi) > 1:
            seen = assess_shallow_scores(
                [-utility(score, params) for score in full.scores_centi[:-1]], params.assessment
            )
            assert reply.shallow_bound_centi <= -seen


@pytest.mark.parametrize(("seeds", "result"), [(WON, 1), (LOST, -1)], ids=["won", "lost"])
def test_a_decided_game_is_looked_into_only_where_it_might_help(seeds: Sequence[int], result: int) -> None:
    """A win needs no trap; where all is lost, the replies that let us off are looked into."""
    game, let_off = get_rules("connect4"), 0
    for seed in seeds:
        position, source = decided(seed), make_searcher("connect4", 1)
        assert isinstance(source, NativeSearcher)
        found = source.trappy_candidates(game.for_search(position), 6, TrapParams(), StopFlag())
        best = max(found, key=lambda each: (not each.raw_is_bound, each.raw_centi))
        assert result * best.raw_centi >= WIN_CENTI
        if result > 0:
            assert best.replies == ()
            continue
        table = Profiler(game, source, position, TrapParams(), StopFlag()).naive_candidates(6)
        for one, whole in zip(found, table, strict=True):
            assert one.raw_centi == whole.raw_centi
            assert not one.raw_is_bound
            for reply, full in zip(one.replies, whole.replies, strict=True):
                assert bool(reply.scores_centi) == (full.final_centi > -WIN_CENTI)
                let_off += bool(reply.scores_centi)
    assert result > 0 or let_off > 0


@pytest.mark.parametrize("params", PARAMS.values(), ids=PARAMS)
@pytest.mark.parametrize("name", DEPTHS)
def test_what_is_left_out_is_bounded_truly(name: str, params: TrapParams) -> None:
    game, judge = get_rules(name), make_searcher(name, 4)
    for position, depth in cases(name):
        source = make_searcher(name, 1)
        assert isinstance(source, NativeSearcher)
        found = source.trappy_candidates(game.for_search(position), depth, params, StopFlag())
        table = Profiler(game, judge, position, params, StopFlag()).naive_candidates(depth)
        for one, whole in zip(found, table, strict=True):
            assert_bounds_hold(one, whole, params)
        assert TRAPPY.best_move(found, params) == TRAPPY.best_move(table, params)


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_a_move_that_ends_the_game_is_known_in_full(depth: int) -> None:
    """Even one that is no better than the best: here, for the third time, the same position."""
    game, params = get_rules("chess"), PARAMS["median, even positions too"]
    *_, position = positions(game, ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1"])
    source = make_searcher("chess", 1)
    assert isinstance(source, NativeSearcher)
    found = source.trappy_candidates(game.for_search(position), depth, params, StopFlag())
    table = Profiler(game, make_searcher("chess", 4), position, params, StopFlag()).naive_candidates(depth)
    assert [one.move for one in table if not one.replies] == ["f6g8"]
    for one, whole in zip(found, table, strict=True):
        assert_bounds_hold(one, whole, params)
    assert TRAPPY.best_move(found, params) == TRAPPY.best_move(table, params)


def test_the_analysis_visits_as_many_positions_as_ever() -> None:
    """Connect Four has no weights to learn: only a change of the search or of the analysis alters the number.

    More means that less is left out; a commit that means to change it says so.
    """
    game, nodes = get_rules("connect4"), {}
    for name, params in PARAMS.items():
        source = make_searcher("connect4", 1)
        assert isinstance(source, NativeSearcher)
        for position, depth in cases("connect4"):
            source.trappy_candidates(game.for_search(position), depth, params, StopFlag())
        nodes[name] = source.nodes
    assert nodes == NODES
