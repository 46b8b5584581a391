"""The searches against plain minimax, and the fast one against the readable one."""

import random
import threading
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import _native
from engine.game import WIN_CENTI, Game
from engine.games import ENGINE_GAMES, GAMES, get_rules
from engine.games.othello import Othello, OthelloPosition, moves_mask
from engine.games.othello_evaluation import native_evaluation
from engine.search.reference import (
    INFINITY,
    ReferenceSearcher,
    exact_score,
    minimax,
    principal_variation,
)
from engine.search.searchers import NativeOthelloSearcher, make_searcher
from engine.stop import StopFlag, Stopped
from tests.engine.games.othello_mirror import evaluate_centi
from tests.engine.positions import positions, random_position
from tests.patience import PATIENCE_S

othello = Othello()
tictactoe = get_rules("tictactoe")
SEARCHED = [name for name in GAMES if name not in ENGINE_GAMES]
# One table for all examples: whatever was searched before must not show in a score.
native = NativeOthelloSearcher(table_mb=4)


def test_tictactoe_is_a_draw() -> None:
    searcher = ReferenceSearcher(tictactoe)
    assert exact_score(searcher, tictactoe.initial(), 9, StopFlag()) == 0
    assert searcher.nodes < 60_000  # of 549,946 that plain minimax visits


@pytest.mark.parametrize("game", [get_rules(name) for name in SEARCHED], ids=SEARCHED)
@given(data=st.data())
@settings(max_examples=5, deadline=None)
def test_alpha_beta_equals_minimax(game: Game[Any], data: st.DataObject) -> None:
    position = data.draw(positions(game, 60))
    # Minimax looks at every leaf: some forty moves to the power of the depth, at chess and xiangqi.
    depth = data.draw(st.integers(0, 2 if len(game.legal_moves(position)) > 12 else 3))
    assert exact_score(ReferenceSearcher(game), position, depth, StopFlag()) == minimax(game, position, depth)


@given(positions(othello, 60), st.integers(0, 4))
@settings(max_examples=50, deadline=None)
def test_native_equals_reference(position: OthelloPosition, depth: int) -> None:
    expected = exact_score(ReferenceSearcher(othello), position, depth, StopFlag())
    assert exact_score(native, position, depth, StopFlag()) == expected


@given(positions(othello, 60), st.integers(0, 6), st.integers(-3000, 3000), st.integers(1, 400))
@settings(max_examples=50, deadline=None)
def test_windows_give_true_bounds(position: OthelloPosition, depth: int, alpha: int, width: int) -> None:
    """Inside the window the score, outside it a bound from the same side (fail-soft)."""
    beta = alpha + width
    true = exact_score(native, position, depth, StopFlag())
    for searcher in (native, NativeOthelloSearcher(1)):
        found = searcher.search(position, depth, alpha, beta, StopFlag())
        if found <= alpha:
            assert true <= found
        elif found >= beta:
            assert true >= found
        else:
            assert found == true


@given(positions(othello, 60), st.integers(5, 8))
@settings(max_examples=40, deadline=None)
def test_the_table_never_shows(position: OthelloPosition, depth: int) -> None:
    """Two exact strategies agree: a small, used table and a fresh, large one, other depths first or not."""
    fresh = NativeOthelloSearcher(8)
    for shallow in range(depth):
        exact_score(fresh, position, shallow, StopFlag())
    assert exact_score(fresh, position, depth, StopFlag()) == exact_score(native, position, depth, StopFlag())


@given(positions(othello, 60))
@settings(max_examples=50, deadline=None)
def test_native_rules_and_evaluation(position: OthelloPosition) -> None:
    mover, waiter = position.mover, position.waiter
    assert _native.othello_moves_mask(mover, waiter) == moves_mask(mover, waiter)
    ours, theirs = moves_mask(mover, waiter).bit_count(), moves_mask(waiter, mover).bit_count()
    assert othello.evaluate_centi(position) == evaluate_centi(mover, waiter, ours, theirs)
    turned = OthelloPosition(waiter, mover, 1 - position.side)
    assert othello.evaluate_centi(turned) == evaluate_centi(waiter, mover, theirs, ours)


def test_solved_endings_are_exact() -> None:
    """Seven empty squares: a search past the end finds the result that brute force finds."""
    for seed in range(12):
        rng = random.Random(seed)
        position = othello.initial()
        while othello.plies_left(position) > 7:
            moves = othello.legal_moves(position)
            if not moves:
                break
            position = othello.play(position, rng.choice(moves))
        else:
            expected = brute_force(position)
            assert exact_score(native, position, 20, StopFlag()) == expected
            assert expected == 0 or abs(expected) > WIN_CENTI


def brute_force(position: OthelloPosition) -> int:
    moves = othello.legal_moves(position)
    if not moves:
        return othello.result_centi(position)
    return max(-brute_force(othello.play(position, move)) for move in moves)


@pytest.mark.parametrize("name", SEARCHED)
def test_principal_variation_is_worth_the_score(name: str) -> None:
    game = get_rules(name)
    searcher = make_searcher(name, 1)
    for seed in range(10):
        position = random_position(game, random.Random(seed), plies=5)
        score = exact_score(searcher, position, 4, StopFlag())
        line = principal_variation(game, searcher, position, 4, StopFlag())
        assert len(line) <= 4
        for move in line:
            position = game.play(position, game.parse_move(position, move))
            score = -score
        over = not game.legal_moves(position)
        assert score == (game.result_centi(position) if over else game.evaluate_centi(position))
        assert len(line) == 4 or over


@pytest.mark.parametrize("name", GAMES)
def test_a_stopped_search_stops(name: str) -> None:
    game, searcher = get_rules(name), make_searcher(name, 1)
    stop = StopFlag()
    stop.set()
    with pytest.raises(Stopped):
        exact_score(searcher, game.initial(), 4, stop)
    elapsed = StopFlag()
    elapsed.set_deadline(-1.0)
    assert elapsed.is_set()
    assert isinstance(
        exact_score(searcher, game.initial(), 4, StopFlag()), int
    )  # the searcher is still sound


def test_a_search_is_stopped_from_another_thread() -> None:
    """An endless search ends on the flag, and Python runs on meanwhile (the GIL is free)."""
    stop, outcome, searcher = StopFlag(), [], NativeOthelloSearcher(1)

    def endless() -> None:
        try:
            exact_score(searcher, othello.initial(), 60, stop)
        except Stopped:
            outcome.append("stopped")

    thread = threading.Thread(target=endless)
    thread.start()
    while searcher.nodes < 10_000:  # were the GIL held, this would not be reached
        pass
    assert thread.is_alive()
    stop.set()
    thread.join(timeout=PATIENCE_S)
    assert outcome == ["stopped"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((1, 1, 3, -1, 1), "two discs"),
        ((1, 2, -1, -1, 1), "depth"),
        ((1, 2, 121, -1, 1), "depth"),
        ((1, 2, 3, 1, 1), "window"),
        ((1, 2, 3, -INFINITY - 1, 1), "window"),
    ],
)
def test_bad_arguments_are_refused(arguments: tuple[int, int, int, int, int], complaint: str) -> None:
    core = _native.OthelloSearch(1, native_evaluation())
    with pytest.raises(ValueError, match=complaint):
        core.search(arguments[:2], *arguments[2:], StopFlag())
    with pytest.raises(TypeError):
        core.search((1 << 64, 0), 3, -1, 1, StopFlag())
    with pytest.raises(ValueError, match="table_mb"):
        _native.OthelloSearch(0, native_evaluation())


def test_infinity_is_the_same_everywhere() -> None:
    assert _native.INFINITY == INFINITY


def test_positions_do_not_collide_in_the_table() -> None:
    """Pairs of one game, equal but for a few discs, that a weak key took for one another."""
    pairs = [
        ((0x22063A5A6E1E0D00, 0x41F9C5A591A0F2FF), (0x62063A5A2E1E0D00, 0x81F9C5A591A0F2FF)),
        ((0x000757FF1FBEFEFE, 0xEE38280020410101), (0x400757FF5FBEFEFE, 0x2E38280020410101)),
    ]
    for first, second in pairs:
        for depth in (4, 7, 8):
            shared = NativeOthelloSearcher(1)
            for mover, waiter in (first, second):
                position = OthelloPosition(mover, waiter, 0)
                fresh = exact_score(NativeOthelloSearcher(1), position, depth, StopFlag())
                assert exact_score(shared, position, depth, StopFlag()) == fresh
    ending = OthelloPosition(0x38380071BB5D3F47, 0x4103FF0E04A2C098, 0)
    reference = exact_score(ReferenceSearcher(othello), ending, 5, StopFlag())
    assert exact_score(native, ending, 5, StopFlag()) == reference


def test_an_object_searches_for_one_thread_at_a_time() -> None:
    stop, searcher = StopFlag(), NativeOthelloSearcher(1)
    thread = threading.Thread(target=lambda: searcher.think(othello.initial(), 60, None, stop))
    thread.start()
    while searcher.nodes < 10_000:
        pass
    with pytest.raises(RuntimeError, match="another thread"):
        exact_score(searcher, othello.initial(), 2, StopFlag())
    stop.set()
    thread.join(timeout=PATIENCE_S)
