"""The strong search: exact where it says so, legal and within its limits everywhere."""

import random
import threading
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import _native
from engine.game import WIN_CENTI
from engine.games.othello import PASS, Othello, OthelloPosition
from engine.games.othello_evaluation import native_evaluation
from engine.search.reference import INFINITY, ReferenceSearcher, exact_score
from engine.search.result import SearchResult
from engine.search.searchers import NativeOthelloSearcher
from engine.stop import StopFlag, Stopped
from tests.engine.positions import positions, random_position
from tests.patience import PATIENCE_S

othello = Othello()
# One for all examples: what was searched before must not make a result wrong.
searcher = NativeOthelloSearcher(table_mb=8)
CONFIDENCES = (73, 87, 95, 99)


def ending(seed: int, empties: int) -> OthelloPosition | None:
    """A position of a random game with so many empty squares, if the game lasts so long."""
    rng = random.Random(seed)
    position = othello.initial()
    while othello.plies_left(position) > empties:
        moves = othello.legal_moves(position)
        if not moves:
            return None
        position = othello.play(position, rng.choice(moves))
    return position if othello.legal_moves(position) else None


def endings(*empties: int) -> st.SearchStrategy[OthelloPosition]:
    made = st.builds(ending, st.integers(0, 2**32 - 1), st.sampled_from(empties))
    return made.filter(lambda position: position is not None)  # type: ignore[return-value]


def brute_force(position: OthelloPosition) -> int:
    moves = othello.legal_moves(position)
    if not moves:
        return othello.result_centi(position)
    return max(-brute_force(othello.play(position, move)) for move in moves)


def at_the_end_of(position: OthelloPosition, line: tuple[str, ...]) -> OthelloPosition:
    """Where a line leads; each of its moves is legal."""
    for text in line:
        position = othello.play(position, othello.parse_move(position, text))
    return position


def check_is_sane(position: OthelloPosition, result: SearchResult) -> None:
    assert result.principal_variation[0] == result.move
    assert len(result.principal_variation) <= 64
    at_the_end_of(position, result.principal_variation)
    assert result.nodes > 0
    if result.solved:
        assert result.confidence_percent == 100
        assert result.depth == 64 - (position.mover | position.waiter).bit_count()
        assert result.score_centi == 0 or abs(result.score_centi) > WIN_CENTI
    elif result.confidence_percent < 100:
        assert abs(result.score_centi) <= 6_400


@given(positions(othello, 54), st.integers(1, 4))
@settings(max_examples=30, deadline=None)
def test_full_confidence_equals_the_reference(position: OthelloPosition, depth: int) -> None:
    result = searcher.think(position, depth, None, StopFlag(), confidence_percent=100)
    check_is_sane(position, result)
    if not result.solved:  # so near the end the true result is given
        assert (result.depth, result.confidence_percent) == (depth, 100)
        assert result.score_centi == exact_score(ReferenceSearcher(othello), position, depth, StopFlag())
        after = othello.play(position, othello.parse_move(position, result.move))
        assert -exact_score(ReferenceSearcher(othello), after, depth - 1, StopFlag()) == result.score_centi


@given(positions(othello, 40), st.integers(6, 8))
@settings(max_examples=30, deadline=None)
def test_full_confidence_equals_the_exact_search(position: OthelloPosition, depth: int) -> None:
    result = searcher.think(position, depth, None, StopFlag(), confidence_percent=100)
    assert result.score_centi == exact_score(searcher, position, depth, StopFlag())


@given(positions(othello, 60), st.integers(1, 12), st.sampled_from(CONFIDENCES))
@settings(max_examples=50, deadline=None)
def test_selective_results_are_sane(position: OthelloPosition, depth: int, confidence: int) -> None:
    result = searcher.think(position, depth, None, StopFlag(), confidence_percent=confidence)
    check_is_sane(position, result)
    assert result.solved or (result.depth, result.confidence_percent) == (
        depth,
        confidence,
    )


def test_selective_scores_are_near_exact_ones() -> None:
    errors = []
    for seed in range(30):
        position = random_position(othello, random.Random(seed), plies=10 + seed)
        exact = exact_score(searcher, position, 8, StopFlag())
        if abs(exact) < 4_000:
            errors.append(
                searcher.think(position, 8, None, StopFlag(), confidence_percent=99).score_centi - exact
            )
    assert len(errors) > 20
    assert sum(error * error for error in errors) / len(errors) < 150**2


@given(endings(1, 2, 3, 4, 5, 6, 7))
@settings(max_examples=30, deadline=None)
def test_solved_equals_brute_force(position: OthelloPosition) -> None:
    expected = brute_force(position)
    move, score = searcher.solve(position, StopFlag())
    assert score == expected
    assert -brute_force(othello.play(position, othello.parse_move(position, move))) == expected
    result = searcher.think(position, 60, None, StopFlag())
    assert result.solved
    assert result.score_centi == expected
    last = at_the_end_of(position, result.principal_variation)
    assert not othello.legal_moves(last)
    final = othello.result_centi(last)
    assert (final if len(result.principal_variation) % 2 == 0 else -final) == expected


@given(endings(9, 10, 11, 12, 13))
@settings(max_examples=20, deadline=None)
def test_solved_equals_the_exact_search(position: OthelloPosition) -> None:
    """Both ways to the end of the game: the solver's, and full width past the end."""
    result = searcher.think(position, 60, None, StopFlag())
    check_is_sane(position, result)
    assert result.solved
    # One ply short of where the exact search hands over to the solver: deep enough, but for a pass at once.
    most = 2 * othello.plies_left(position)
    if othello.legal_moves(position) != (PASS,):
        assert result.score_centi == exact_score(searcher, position, most - 1, StopFlag())
    assert result.score_centi == exact_score(searcher, position, most, StopFlag())
    full = searcher.think(position, 60, None, StopFlag(), confidence_percent=100)
    assert (full.solved, full.score_centi) == (True, result.score_centi)
    assert searcher.solve(position, StopFlag())[1] == result.score_centi


def test_decided_positions() -> None:
    """One side can take the last disc of the other at once, or has no disc left to lose."""
    position = othello.parse_position("8/8/8/3wb3/8/8/8/8 b")
    for confidence in (*CONFIDENCES, 100):
        result = searcher.think(position, 5, None, StopFlag(), confidence_percent=confidence)
        assert result.move == "c4"
        assert result.score_centi == (6_400 if confidence < 100 else WIN_CENTI + 6_400)
    move, score = searcher.solve(othello.parse_position("bbbbbbbb/" * 7 + "bbbbbbw1 b"), StopFlag())
    assert (move, score) == ("h8", WIN_CENTI + 6_400)


def test_a_pass_is_a_move() -> None:
    position = othello.parse_position("bw6/8/8/8/8/8/8/8 w")
    assert othello.legal_moves(position) == (PASS,)
    for confidence in (73, 100):
        result = searcher.think(position, 4, None, StopFlag(), confidence_percent=confidence)
        assert result.move == "pass"
        check_is_sane(position, result)
    nearly_over = othello.parse_position("bw6/" + "bbbbbbbb/" * 6 + "bbbbbbbb w")
    move, score = searcher.solve(nearly_over, StopFlag())
    assert (move, score) == ("pass", brute_force(nearly_over))


def test_a_single_move_is_no_reason_to_think_long() -> None:
    """With a clock, that is; without, the score is what is asked for."""
    position = next(
        position
        for seed in range(1_000)
        if len(othello.legal_moves(position := random_position(othello, random.Random(seed), plies=20))) == 1
    )
    result = searcher.think(position, 60, 20.0, StopFlag())
    assert result.depth < 10
    assert searcher.think(position, 11, None, StopFlag()).depth == 11


def test_one_thread_without_a_clock_is_deterministic() -> None:
    found = []
    for _ in range(2):
        fresh = NativeOthelloSearcher(4)
        games = [random_position(othello, random.Random(seed), plies=15 + seed) for seed in range(5)]
        found.append([fresh.think(position, 10, None, StopFlag()) for position in games])
    assert found[0] == found[1]


def test_the_exact_search_does_not_see_selective_results() -> None:
    fresh = NativeOthelloSearcher(1)
    for seed in range(10):
        position = random_position(othello, random.Random(seed), plies=20)
        expected = exact_score(NativeOthelloSearcher(1), position, 6, StopFlag())
        fresh.think(position, 12, None, StopFlag())
        assert exact_score(fresh, position, 6, StopFlag()) == expected


@given(positions(othello, 50), st.integers(1, 200_000))
@settings(max_examples=40, deadline=None)
def test_node_limits_hold(position: OthelloPosition, nodes: int) -> None:
    stop = StopFlag()
    stop.set_node_limit(nodes)
    result = searcher.think(position, 60, None, stop)
    check_is_sane(position, result)
    assert result.nodes < nodes + 20_000  # the end-game solver looks up from its smallest endings late


@given(positions(othello, 50), st.integers(1, 100_000))
@settings(max_examples=40, deadline=None)
def test_a_search_manages_its_nodes(position: OthelloPosition, nodes: int) -> None:
    """It solves the ending only where the nodes will do; equal calls are equal."""
    first, again = (
        NativeOthelloSearcher(1).think(position, 60, None, StopFlag(), nodes=nodes) for _ in range(2)
    )
    check_is_sane(position, first)
    assert first == again
    assert first.nodes < nodes + 20_000


def test_few_nodes_are_not_spent_on_a_solution_out_of_reach() -> None:
    """Of 16 empty squares, where a search without any limit solves at once."""
    rng = random.Random(7)
    position = othello.initial()
    while (position.mover | position.waiter).bit_count() < 48:
        position = othello.play(position, rng.choice(othello.legal_moves(position)))
    few = NativeOthelloSearcher(1).think(position, 60, None, StopFlag(), nodes=20_000)
    assert few.depth > 8
    many = NativeOthelloSearcher(1).think(position, 60, None, StopFlag(), nodes=10**8)
    assert (few.solved, many.solved) == (False, True)
    with pytest.raises(ValueError, match="nodes is 0"):
        searcher.think(position, 60, None, StopFlag(), nodes=0)


def test_a_set_flag_allows_nothing() -> None:
    stop = StopFlag()
    stop.set()
    with pytest.raises(Stopped):
        searcher.think(othello.initial(), 8, None, stop)
    with pytest.raises(Stopped):
        searcher.solve(othello.initial(), stop)
    limited = StopFlag()
    limited.set_node_limit(50_000)
    with pytest.raises(Stopped):
        searcher.solve(othello.initial(), limited)
    assert searcher.think(othello.initial(), 8, None, StopFlag()).depth == 8  # the searcher is still sound


def test_two_threads_share_a_node_limit() -> None:
    stop = StopFlag()
    stop.set_node_limit(200_000)
    own = NativeOthelloSearcher(1)
    check_is_sane(othello.initial(), own.think(othello.initial(), 60, None, stop, threads=2))
    assert own.nodes < 210_000


def test_stopped_from_another_thread() -> None:
    """An endless search ends on the flag and answers with what it has."""
    own, stop, found = NativeOthelloSearcher(1), StopFlag(), list[SearchResult]()
    thread = threading.Thread(target=lambda: found.append(own.think(othello.initial(), 60, None, stop)))
    thread.start()
    while own.nodes < 200_000:
        pass
    assert thread.is_alive()
    stop.set()
    thread.join(timeout=PATIENCE_S)
    check_is_sane(othello.initial(), found[0])


def test_a_clock_ends_the_search() -> None:
    result = searcher.think(othello.initial(), 60, 0.05, StopFlag())
    assert 0 < result.depth < 60
    check_is_sane(othello.initial(), result)


@given(positions(othello, 60), st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_two_threads_give_sane_results(position: OthelloPosition, depth: int) -> None:
    result = searcher.think(position, depth, None, StopFlag(), threads=2)
    check_is_sane(position, result)
    assert result.solved or result.depth == depth


def test_two_threads_find_what_one_finds_when_all_is_exact() -> None:
    for seed in range(12):
        position = ending(seed, 12)
        if position is None:
            continue
        result = searcher.think(position, 60, None, StopFlag(), threads=2)
        assert (result.solved, result.score_centi) == (
            True,
            searcher.solve(position, StopFlag())[1],
        )
    for seed in range(5):
        position = random_position(othello, random.Random(seed), plies=25)
        result = searcher.think(position, 7, None, StopFlag(), confidence_percent=100, threads=2)
        assert result.score_centi == searcher.search(position, 7, -INFINITY, INFINITY, StopFlag())


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"position": (3, 1)}, "two discs"),
        ({"position": (0, 1)}, "over"),
        ({"depth": 0}, "depth"),
        ({"depth": 121}, "depth"),
        ({"seconds": -1.0}, "seconds"),
        ({"seconds": float("nan")}, "seconds"),
        ({"seconds": float("inf")}, "seconds"),
        ({"confidence": 50}, "confidence"),
        ({"threads": 0}, "threads"),
        ({"threads": 65}, "threads"),
        ({"contempt_centi": 1001}, "contempt"),
    ],
)
def test_bad_arguments_are_refused(changes: dict[str, Any], complaint: str) -> None:
    core = _native.OthelloSearch(1, native_evaluation())
    start = othello.initial()
    position = othello.native_position(start)
    arguments = {"position": position, "depth": 2, "seconds": 0.0, "confidence": 73, "threads": 1}
    with pytest.raises(ValueError, match=complaint):
        core.think(**(arguments | {"contempt_centi": 0} | changes), stop=StopFlag())  # type: ignore[arg-type]


def test_there_is_nothing_to_think_about_when_the_game_is_over() -> None:
    over = othello.parse_position("bbbbbbbb/" * 7 + "bbbbbbbb b")
    with pytest.raises(ValueError, match="over"):
        searcher.think(over, 4, None, StopFlag())
    with pytest.raises(ValueError, match="over"):
        searcher.solve(over, StopFlag())
    with pytest.raises(ValueError, match="time_s"):
        searcher.think(othello.initial(), 4, 0.0, StopFlag())
