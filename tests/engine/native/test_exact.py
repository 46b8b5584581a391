"""The core's exact search and trap analysis, for every game that it knows: one suite for all."""

import random
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.completion import complete
from engine.decision import Decision
from engine.games import get_rules
from engine.move_chooser import MoveChooser
from engine.params import Assessment, TrapParams
from engine.search.profiles import Profiler
from engine.search.reference import INFINITY, ReferenceSearcher, Searcher, exact_score, minimax
from engine.search.searchers import NATIVE_GAMES, NativeSearcher, make_searcher
from engine.stop import StopFlag, Stopped
from engine.strategies.registry import strategy_named
from engine.strategies.trappy import TRAPPY
from engine.time_management import Limits
from engine.verification import verify
from tests.engine.positions import positions, random_position, repetitive_position


@dataclass(frozen=True)
class Size:
    """How much of a game a test can afford."""

    plies: int
    """Of random play before a position."""
    reference_depth: int
    """For the readable search."""
    depth: int
    """For the core's."""
    table_depths: dict[int, int]
    """Whole tables: how many positions at which depth."""


SIZES = {
    "othello": Size(60, 4, 8, {4: 24, 5: 16, 6: 8}),
    "chess": Size(120, 2, 5, {3: 9, 4: 12, 5: 3}),
    "xiangqi": Size(120, 2, 5, {3: 9, 4: 9}),
    "connect4": Size(36, 5, 9, {4: 60, 6: 60, 8: 12}),
}

# One table for all examples: whatever was searched before must not show in a score.
used = {name: make_searcher(name, 4) for name in NATIVE_GAMES}
other = {name: make_searcher(name, 16) for name in NATIVE_GAMES}

every_native_game = pytest.mark.parametrize("name", NATIVE_GAMES)


def test_every_native_game_is_tested() -> None:
    assert set(NATIVE_GAMES) <= set(SIZES)


@every_native_game
@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_native_equals_reference(name: str, data: st.DataObject) -> None:
    game, size = get_rules(name), SIZES[name]
    position = data.draw(positions(game, size.plies))
    depth = data.draw(st.integers(0, size.reference_depth))
    expected = exact_score(ReferenceSearcher(game), position, depth, StopFlag())
    assert exact_score(used[name], position, depth, StopFlag()) == expected
    if depth <= 1:
        assert minimax(game, game.for_search(position), depth) == expected


@every_native_game
@given(data=st.data())
@settings(max_examples=10, deadline=None)
def test_many_scores_at_a_call_are_those_of_single_calls(name: str, data: st.DataObject) -> None:
    game, size = get_rules(name), SIZES[name]
    repetitive = st.randoms(use_true_random=False).map(lambda rng: repetitive_position(game, rng, 12))
    position = game.for_search(data.draw(st.one_of(positions(game, size.plies), repetitive)))
    stop = StopFlag()
    moves = data.draw(st.lists(st.sampled_from(game.legal_moves(position) or (-1,)), max_size=4))
    if -1 in moves:
        return
    least, most = sorted(data.draw(st.lists(st.integers(0, size.depth - 2), min_size=2, max_size=2)))
    batch = used[name]
    assert isinstance(batch, NativeSearcher)
    assert batch.scores_after(position, moves, least, most, stop) == [
        tuple(exact_score(other[name], game.play(position, move), d, stop) for d in range(least, most + 1))
        for move in moves
    ]


@every_native_game
def test_many_scores_are_of_legal_moves_and_of_some_depth(name: str) -> None:
    game, stop = get_rules(name), StopFlag()
    start, batch = game.for_search(game.initial()), used[name]
    assert isinstance(batch, NativeSearcher)
    for moves, least, most in (([12_345], 0, 1), (game.legal_moves(start), 2, 1), ((), -1, 1)):
        with pytest.raises(ValueError, match=r"legal|depth"):
            batch.scores_after(start, moves, least, most, stop)
    stop.set()
    with pytest.raises(Stopped):
        batch.scores_after(start, game.legal_moves(start), 3, 3, stop)


@every_native_game
@given(data=st.data())
@settings(max_examples=10, deadline=None)
def test_searches_of_lines_know_the_same_past(name: str, data: st.DataObject) -> None:
    """A search may begin within a line: moves since the root are not the game's past, for either search."""
    game, size = get_rules(name), SIZES[name]
    position = game.for_search(data.draw(positions(game, size.plies)))
    for _ in range(data.draw(st.integers(1, 6))):
        moves = game.legal_moves(position)
        if not moves:
            break
        position = game.play(position, data.draw(st.sampled_from(moves)))
    depth = data.draw(st.integers(0, size.reference_depth - 1))
    expected = exact_score(ReferenceSearcher(game), position, depth, StopFlag())
    assert exact_score(used[name], position, depth, StopFlag()) == expected


@every_native_game
@given(data=st.data(), alpha=st.integers(-1000, 1000), width=st.integers(1, 400))
@settings(max_examples=10, deadline=None)
def test_windows_give_true_bounds(name: str, data: st.DataObject, alpha: int, width: int) -> None:
    """Inside the window the score, outside it a bound from the same side (fail-soft)."""
    position = data.draw(positions(get_rules(name), SIZES[name].plies))
    depth, beta = data.draw(st.integers(0, SIZES[name].depth - 1)), alpha + width
    true = exact_score(used[name], position, depth, StopFlag())
    for searcher in (used[name], make_searcher(name, 1)):
        found = searcher.search(position, depth, alpha, beta, StopFlag())
        if found <= alpha:
            assert true <= found
        elif found >= beta:
            assert true >= found
        else:
            assert found == true


@every_native_game
@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_the_table_never_shows(name: str, data: st.DataObject) -> None:
    """Two exact strategies agree: a small, used table and a fresh, large one, other depths first or not."""
    position = data.draw(positions(get_rules(name), SIZES[name].plies))
    depth = data.draw(st.integers(SIZES[name].depth - 2, SIZES[name].depth))
    fresh = make_searcher(name, 8)
    for shallow in range(depth):
        exact_score(fresh, position, shallow, StopFlag())
    assert exact_score(fresh, position, depth, StopFlag()) == exact_score(
        used[name], position, depth, StopFlag()
    )


@every_native_game
def test_the_past_never_shows_where_it_does_not_matter(name: str) -> None:
    """One searcher for two games that reach the same position, in one of which it has stood twice."""
    game, searcher = get_rules(name), make_searcher(name, 8)
    for seed in range(3):
        position = repetitive_position(game, random.Random(seed), SIZES[name].plies)
        bare = game.parse_position(game.position_text(position).split(" moves ")[0])
        for start in (position, bare, position):
            depth = SIZES[name].depth - 2
            fresh = exact_score(make_searcher(name, 1), start, depth, StopFlag())
            assert exact_score(searcher, start, depth, StopFlag()) == fresh


def assert_same_choice(name: str, position: Any, depth: int, params: TrapParams) -> Decision:
    game = get_rules(name)
    decision = MoveChooser(strategy_named("trappy"), game, params, used[name]).choose(
        position, Limits(depth), StopFlag()
    )
    verify(decision)
    table = Profiler(game, other[name], position, decision.params, StopFlag()).naive_candidates(
        decision.depth
    )
    assert decision.move == TRAPPY.best_move(table, decision.params)
    whole = next(candidate for candidate in table if candidate.move == decision.move)
    assert decision.chosen.raw_centi == whole.raw_centi
    assert decision.chosen.adjusted_centi <= whole.adjusted_centi
    full = complete(decision, used[name], StopFlag())
    assert full.chosen.adjusted_centi == whole.adjusted_centi
    return full


@every_native_game
@pytest.mark.parametrize("assessment", Assessment)
def test_lazy_equals_naive(name: str, assessment: Assessment) -> None:
    """The analysis that leaves out what cannot matter, against the whole table."""
    game, bonuses = get_rules(name), 0
    for depth, count in SIZES[name].table_depths.items():
        for number in range(count // 3):
            rng = random.Random(f"{depth} {number} {assessment}")
            position = random_position(game, rng, rng.randrange(4, SIZES[name].plies * 3 // 4))
            margin = (0, 300)[number % 2]
            decision = assert_same_choice(name, position, depth, TrapParams(assessment, margin))
            bonuses += decision.chosen.adjusted_centi != decision.chosen.raw_centi
    assert bonuses or assessment is not Assessment.MEDIAN  # traps were there to be found


@every_native_game
@given(data=st.data())
@settings(max_examples=10, deadline=None)
def test_a_profile_is_completed_from_the_record(name: str, data: st.DataObject) -> None:
    """Another process, with nothing but the record, finds the same scores."""
    game = get_rules(name)
    position = data.draw(positions(game, SIZES[name].plies))
    decision = MoveChooser(strategy_named("trappy"), game, TrapParams(), used[name]).choose(
        position, Limits(4), StopFlag()
    )
    stored = Decision.from_record(decision.to_record())
    full = complete(stored, make_searcher(name, 1), StopFlag())
    assert full.is_complete
    verify(full)
    assert full.chosen.raw_centi == decision.chosen.raw_centi


@every_native_game
def test_scores_of_full_depth_are_reached(name: str) -> None:
    """A stop leaves the table sound."""
    searcher: Searcher = make_searcher(name, 2)
    game = get_rules(name)
    position = random_position(game, random.Random(3), 10)
    stop = StopFlag()
    stop.set_node_limit(20_000)
    with pytest.raises(Exception, match="stop"):
        searcher.search(position, min(30, game.deepest_search), -INFINITY, INFINITY, stop)
    for depth in range(SIZES[name].depth - 1):
        fresh = exact_score(make_searcher(name, 1), position, depth, StopFlag())
        assert exact_score(searcher, position, depth, StopFlag()) == fresh


def test_nearly_over_by_counter() -> None:
    """So few plies are left that one might search to the end, and yet more than a search may be asked for."""
    game = get_rules("xiangqi")
    position = game.parse_position("3k5/9/9/9/9/9/9/9/9/5K3 w - - 0 40")
    assert game.most_plies_left(position) > game.deepest_search
    decision = MoveChooser(strategy_named("trappy"), game, TrapParams(), used["xiangqi"]).choose(
        position, Limits(60), StopFlag()
    )
    verify(decision)


@every_native_game
def test_a_clock_that_has_run_out_leaves_a_move(name: str) -> None:
    game, searcher = get_rules(name), make_searcher(name, 1)
    assert isinstance(searcher, NativeSearcher)
    result = searcher.think(game.initial(), 10, 1e-9, StopFlag(), confidence_percent=73, threads=1)
    assert game.parse_move(game.initial(), result.move) in game.legal_moves(game.initial())


@every_native_game
def test_thinking_is_ended_by_its_flag(name: str) -> None:
    """Before there is a move it says so; later it answers with what it has."""
    game, searcher = get_rules(name), make_searcher(name, 1)
    assert isinstance(searcher, NativeSearcher)
    stop = StopFlag()
    stop.set()
    with pytest.raises(Stopped):
        searcher.think(game.initial(), 10, None, stop, confidence_percent=73, threads=1)
    brief = StopFlag()
    brief.set_node_limit(30_000)
    result = searcher.think(game.initial(), 40, None, brief, confidence_percent=73, threads=1)
    assert result.depth >= 1
    position = game.initial()
    for text in result.principal_variation:
        position = game.play(position, game.parse_move(position, text))
