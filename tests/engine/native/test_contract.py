"""The C++ core against whatever Python may hand it: a ValueError or TypeError, never a crash or nonsense."""

import contextlib
import gc
import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import _native
from engine.expected import expected_table
from engine.games import get_rules
from engine.games.othello import Othello
from engine.games.othello_evaluation import native_evaluation, weight_bytes
from engine.search.reference import INFINITY
from engine.search.searchers import NativeSearcher, make_searcher
from engine.stop import StopFlag, Stopped
from engine.tempting import weight_table
from tests.engine.positions import positions

FULL = (1 << 64) - 1
core = _native.OthelloSearch(1, native_evaluation())

numbers = st.one_of(
    st.integers(-(1 << 70), 1 << 70),
    st.integers(-3, 130),
    st.sampled_from([0, 2**31 - 1, 2**31, -(2**31), 2**32, 2**63, 2**64, INFINITY, -INFINITY]),
)
boards = st.one_of(
    numbers,
    st.integers(0, FULL),
    st.sampled_from([FULL, 0x0000000810000000, 0x0000001008000000]),
)
junk = st.one_of(
    numbers,
    st.floats(),
    st.sampled_from([None, "", "3", b"", [], (), {}, 1.0, math.inf, math.nan, True, object()]),
)


def mixed(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """What belongs there, and now and then anything."""
    return st.one_of(strategy, strategy, strategy, strategy, junk)


def short_stop() -> StopFlag:
    """Ends whatever takes long."""
    stop = StopFlag()
    stop.set_node_limit(3000)
    return stop


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_searches_take_anything(data: st.DataObject) -> None:
    pairs, small = st.tuples(boards, boards), st.one_of(numbers, st.integers(0, 8))
    calls: dict[str, list[st.SearchStrategy[Any]]] = {
        "search": [pairs, small, numbers, numbers],
        "probe": [pairs, small, numbers, numbers, st.sampled_from([73, 100, 0]), st.integers(-1001, 1001)],
        "trappy_candidates": [
            pairs,
            small,
            st.integers(-1, 3),
            numbers,
            st.booleans(),
            st.sampled_from([b"", expected_table(300.0), b"odd"]),
            st.floats(),
            st.floats(),
        ],
        "tempting_candidates": [
            pairs,
            st.integers(2, 6),
            st.sampled_from([b"", expected_table(300.0), b"odd"]),
            st.sampled_from([weight_table(), b""]),
            *(4 * [st.integers(-1, 10_001)]),
            st.booleans(),
        ],
        "think": [
            pairs,
            small,
            st.floats(),
            st.sampled_from([73, 99, 100, 0]),
            st.integers(-1, 3),
            st.integers(-1001, 1001),
        ],
        "solve": [pairs],
    }
    name = data.draw(st.sampled_from(list(calls)))
    arguments = [data.draw(mixed(strategy)) for strategy in calls[name]]
    stop = data.draw(mixed(st.just("a flag")))
    with contextlib.suppress(ValueError, TypeError, Stopped):
        getattr(core, name)(*arguments, short_stop() if stop == "a flag" else stop)


@given(mixed(boards), mixed(boards), mixed(st.integers(-2, 3)))
@settings(max_examples=100, deadline=None)
def test_rules_and_evaluation_take_anything(mover: Any, waiter: Any, depth: Any) -> None:
    with contextlib.suppress(ValueError, TypeError):
        assert _native.othello_moves_mask(mover, waiter) & (mover | waiter) == 0
        assert mover & waiter == 0
    with contextlib.suppress(ValueError, TypeError):
        assert abs(core.evaluate((mover, waiter))) <= 6_000
    if not (isinstance(depth, int) and 3 < depth <= 120):  # allowed, and nothing would end it
        with contextlib.suppress(ValueError, TypeError):
            assert _native.othello_perft(mover, waiter, depth) >= 1


@given(st.integers(0, FULL), st.integers(0, FULL), st.integers(0, 2))
@settings(max_examples=100, deadline=None)
def test_made_up_positions_have_true_bounds(discs: int, side: int, depth: int) -> None:
    mover, waiter = discs & side, discs & ~side
    exact = core.search((mover, waiter), depth, -INFINITY, INFINITY, StopFlag())
    assert abs(exact) <= 106_400
    found = core.search((mover, waiter), depth, exact - 1, exact + 1, StopFlag())
    assert found == exact


@pytest.mark.parametrize("swindle", [False, True])
@pytest.mark.parametrize(("mover", "waiter"), [(0, 0), (FULL, 0), (0, FULL), (FULL >> 32, FULL << 32 & FULL)])
def test_a_finished_game(mover: int, waiter: int, swindle: bool) -> None:
    assert core.trappy_candidates((mover, waiter), 4, 0, 100, swindle, b"", 0.0, 0.0, StopFlag()) == []
    score = core.search((mover, waiter), 4, -INFINITY, INFINITY, StopFlag())
    assert score == {(FULL, 0): 106_400, (0, FULL): -106_400}.get((mover, waiter), 0)
    for call in (
        lambda: core.think((mover, waiter), 4, 0.0, 73, 1, 0, StopFlag()),
        lambda: core.solve((mover, waiter), StopFlag()),
    ):
        with pytest.raises(ValueError, match="over"):
            call()


def test_a_move_that_ends_the_game_has_no_reply() -> None:
    """The last disc of the other side goes: not even a pass is left."""
    ((move, raw, is_bound, complete, replies),) = core.trappy_candidates(
        (1, 2), 4, 0, 100, False, b"", 0.0, 0.0, StopFlag()
    )
    assert (move, raw, is_bound, complete, replies) == (2, 106_400, False, True, [])


def tempting(depth: int = 4, **change: Any) -> Any:
    """Candidates of the initial position, with an argument changed."""
    arguments: dict[str, Any] = {
        "expected": expected_table(300.0),
        "weights": weight_table(),
        "budget": 500,
        "share_percent": 25,
        "gap_centi": 35,
        "won_gap_centi": 10,
        "swindle": True,
    }
    position = (0x0000000810000000, 0x0000001008000000)
    return core.tempting_candidates(position, depth, **(arguments | change), stop=StopFlag())


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"depth": 3}, "depth must be 4 .. "),
        ({"expected": b""}, "expected must be 16-bit integers"),
        ({"expected": b"odd"}, "expected must be 16-bit integers"),
        ({"weights": weight_table()[:-4]}, "weights must be 20001"),
        ({"budget": -1}, "budget must be"),
        ({"budget": 10_001}, "budget must be"),
        ({"share_percent": -1}, "share_percent must be"),
        ({"share_percent": 101}, "share_percent must be"),
        ({"gap_centi": -1}, "gap_centi must be"),
        ({"won_gap_centi": 100_000_001}, "won_gap_centi must be"),
    ],
)
def test_settings_of_the_tempting_player_are_checked(change: dict[str, Any], why: str) -> None:
    assert len(tempting()) == 4
    with pytest.raises(ValueError, match=why):
        tempting(**change)


@pytest.mark.parametrize("seconds", [1e6, 1e10, 1e19, 1e300, math.inf])
def test_a_far_deadline_is_none(seconds: float) -> None:
    stop = StopFlag()
    stop.set_deadline(seconds)
    assert not stop.is_set()
    stop.set_deadline(-seconds)
    assert stop.is_set()


@pytest.mark.parametrize(
    ("stop", "clock"),
    [(StopFlag(), time.monotonic), (StopFlag(processor_time=True), time.process_time)],
)
def test_a_flag_has_a_clock(stop: StopFlag, clock: Callable[[], float]) -> None:
    before = clock()
    assert before - 1e-6 <= stop.now_s() <= clock() + 1e-6


def assert_follows(stop: StopFlag, clock: Callable[[], float]) -> None:
    """Between two looks at the flag's clock that clock goes as far as this one."""
    outer = clock()
    first = stop.now_s()
    inner = clock()
    sum(range(300_000))
    least = clock() - inner
    last = stop.now_s()
    assert least - 1e-6 <= last - first <= clock() - outer + 1e-6


def test_a_flag_may_follow_a_thread() -> None:
    stop = StopFlag()
    stop.follow_thread(1e12)
    assert_follows(stop, time.thread_time)
    stop.set_deadline(60)
    assert not stop.is_set()
    stop.set_deadline(0)
    assert stop.is_set()
    wall = StopFlag()
    wall.follow_thread(0.0)  # 1 is the least
    assert_follows(wall, time.monotonic)


def test_whoever_looks_at_the_clock_of_a_thread_sees_that_threads_time() -> None:
    stop = StopFlag()
    stop.follow_thread(1e12)

    def burn() -> float:
        sum(range(3_000_000))
        return time.thread_time()

    with ThreadPoolExecutor(1) as pool:
        before = time.thread_time(), stop.now_s()
        burnt_s = pool.submit(burn).result()
        seen_s = pool.submit(stop.now_s).result() - before[1]
        assert seen_s <= time.thread_time() - before[0] + 1e-6
        assert burnt_s > 0
        # A thread that is gone uses no processor: the share of the wall time remains.
        gone = StopFlag()
        pool.submit(gone.follow_thread, 1e12).result()
    first = gone.now_s()
    sum(range(300_000))
    assert gone.now_s() - first < 1e-6
    gone.set_most_stretch(1.0)
    assert_follows(gone, time.monotonic)


@pytest.mark.parametrize("game_name", ["othello", "chess", "connect4"])
def test_a_search_measures_by_the_clock_of_its_flag(game_name: str) -> None:
    """With two clocks mixed up, it would take its time for spent at once."""
    searcher, game = make_searcher(game_name, 1), get_rules(game_name)
    assert isinstance(searcher, NativeSearcher)
    position = game.for_search(game.initial())
    assert searcher.think(position, 4, 30.0, StopFlag(processor_time=True)).depth == 4


@pytest.mark.parametrize("seconds", [0.0, -1.0])
def test_a_deadline_of_processor_time(seconds: float) -> None:
    stop = StopFlag(processor_time=True)
    stop.set_deadline(60)
    assert not stop.is_set()
    stop.set_deadline(seconds)
    assert stop.is_set()


def test_a_flag_within_a_flag() -> None:
    """It has the other's clock, is set with it, and counts nodes there; it may be set alone."""
    outer = StopFlag(processor_time=True)
    inner, second = StopFlag(parent=outer), StopFlag(parent=outer)
    assert abs(inner.now_s() - time.process_time()) < abs(inner.now_s() - time.monotonic())
    inner.set_deadline(0)
    assert (inner.is_set(), second.is_set(), outer.is_set()) == (True, False, False)
    outer.set_node_limit(100)
    assert not second.spend(99)
    assert second.spend(1)
    assert outer.is_set()
    last = StopFlag(parent=StopFlag())  # the other one lives as long as it
    gc.collect()
    assert not last.is_set()
    with pytest.raises(TypeError):
        StopFlag(parent=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("nodes", [0, 1, 1000, 5000])
@given(position=positions(Othello(), 40))
@settings(max_examples=10, deadline=None)
def test_a_node_limit_holds(nodes: int, position: Any) -> None:
    stop = StopFlag()
    stop.set_node_limit(nodes)
    before = core.nodes
    with pytest.raises(Stopped):
        core.search((position.mover, position.waiter), 20, -INFINITY, INFINITY, stop)
    assert core.nodes - before <= nodes + 1024


def test_a_deadline_ends_a_search_and_the_core_is_sound() -> None:
    stop, p = StopFlag(), (0x0000000810000000, 0x0000001008000000)
    stop.set_deadline(0.02)
    began = time.monotonic()
    with pytest.raises(Stopped):
        core.search(p, 60, -INFINITY, INFINITY, stop)
    assert time.monotonic() - began < 60  # by far less, but the machine may be busy
    fresh = _native.OthelloSearch(1, native_evaluation())
    for depth in range(6):
        scores = {c.search(p, depth, -INFINITY, INFINITY, StopFlag()) for c in (core, fresh)}
        assert len(scores) == 1


def test_searches_in_threads_share_an_evaluation() -> None:
    p = (0x0000000810000000, 0x0000001008000000)
    found: list[int] = []

    def work() -> None:
        own = _native.OthelloSearch(1, native_evaluation())
        found.append(own.search(p, 7, -INFINITY, INFINITY, StopFlag()))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3
    assert len(set(found)) == 1


@pytest.mark.parametrize("weights", [b"", b"abc", bytes(100), "text", None, 3, [1, 2]])
def test_weights_are_bytes_of_one_length(weights: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        _native.OthelloEvaluation(weights)


@pytest.mark.parametrize("table_mb", [0, -1, 65_537, 1 << 63, 1 << 64, "1", None, 1.5])
def test_a_table_has_a_sensible_size(table_mb: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        _native.OthelloSearch(table_mb, native_evaluation())


@pytest.mark.parametrize("evaluation", [None, b"", "weights", 1, _native.OthelloEvaluation])
def test_an_evaluation_is_one(evaluation: Any) -> None:
    with pytest.raises(TypeError):
        _native.OthelloSearch(1, evaluation)


def test_a_search_keeps_its_evaluation() -> None:
    """The last reference to the evaluation is the search's own."""
    weights = bytes(len(weight_bytes()))
    own = _native.OthelloSearch(1, _native.OthelloEvaluation(weights))
    assert [own.evaluate((1, 2)), own.search((1, 2), 0, -INFINITY, INFINITY, StopFlag())] == [0, 0]
