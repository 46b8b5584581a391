"""One iteration of the selective search in a window: exact where full width is, and a mate is a mate."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.game import WIN_CENTI
from engine.games import get_rules
from engine.search.reference import INFINITY
from engine.search.searchers import NativeSearcher, make_searcher
from engine.stop import StopFlag, Stopped
from tests.engine.positions import random_position

SEARCHERS = {game: make_searcher(game, 2) for game in ("chess", "xiangqi", "othello", "connect4")}


def native(game: str) -> NativeSearcher:
    searcher = SEARCHERS[game]
    assert isinstance(searcher, NativeSearcher)
    return searcher


@given(
    st.sampled_from(["othello", "connect4"]),
    st.integers(0, 2**32 - 1),
    st.integers(0, 40),
    st.integers(1, 5),
    st.integers(-600, 600),
)
@settings(max_examples=150, deadline=None)
def test_full_width_is_exact(game: str, seed: int, plies: int, depth: int, alpha: int) -> None:
    rules, searcher = get_rules(game), native(game)
    position = random_position(rules, random.Random(seed), plies)
    exact = searcher.search(position, depth, -INFINITY, INFINITY, StopFlag())
    options = {"confidence_percent": 100}
    assert searcher.probe(position, depth, -INFINITY, INFINITY, StopFlag(), **options) == exact
    bound = searcher.probe(position, depth, alpha, alpha + 1, StopFlag(), **options)
    assert exact >= bound > alpha if exact > alpha else exact <= bound <= alpha


@pytest.mark.parametrize(
    ("game", "text", "sign"),
    [
        ("chess", "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", 1),
        ("chess", "k7/7R/8/8/8/8/8/K5R1 b - - 0 1", -1),
        ("xiangqi", "3k5/9/9/9/9/9/9/R8/1R7/4K4 w - - 0 1", 1),
    ],
)
def test_a_mate_has_the_score_of_think(game: str, text: str, sign: int) -> None:
    rules, searcher = get_rules(game), native(game)
    root = rules.for_search(rules.parse_position(text))
    thought = searcher.think(root, 8, None, StopFlag())
    assert thought.solved
    assert sign * thought.score_centi >= WIN_CENTI
    assert searcher.probe(root, 6, -INFINITY, INFINITY, StopFlag()) == thought.score_centi


@pytest.mark.parametrize("game", SEARCHERS)
def test_fresh_searches_agree_and_windows_bound(game: str) -> None:
    rules = get_rules(game)
    root = rules.for_search(random_position(rules, random.Random(1), 10))
    scores = []
    for _ in range(2):
        searcher = make_searcher(game, 2)
        assert isinstance(searcher, NativeSearcher)
        scores.append(searcher.probe(root, 6, -INFINITY, INFINITY, StopFlag()))
        assert searcher.nodes > 0
        high = searcher.probe(root, 6, scores[-1] + 500, scores[-1] + 501, StopFlag())
        low = searcher.probe(root, 6, scores[-1] - 501, scores[-1] - 500, StopFlag())
        assert (high <= scores[-1] + 500, low >= scores[-1] - 500) == (True, True)
    assert scores[0] == scores[1]


def test_a_draw_costs_the_contempt() -> None:
    """After the king takes the queen, nothing but the kings is left."""
    rules, searcher = get_rules("chess"), native("chess")
    capture = rules.for_search(rules.parse_position("8/8/8/8/8/3k4/1q6/K7 w - - 0 1"))
    assert searcher.probe(capture, 4, -INFINITY, INFINITY, StopFlag(), contempt_centi=0) == 0
    assert searcher.probe(capture, 4, -INFINITY, INFINITY, StopFlag(), contempt_centi=40) == -40


@pytest.mark.parametrize("game", SEARCHERS)
def test_a_stop_and_bad_arguments(game: str) -> None:
    rules, searcher = get_rules(game), native(game)
    root, stop = rules.for_search(rules.initial()), StopFlag()
    stop.set()
    with pytest.raises(Stopped):
        searcher.probe(root, 30, -INFINITY, INFINITY, stop)
    for depth, alpha, beta in ((0, 0, 1), (4, 1, 1), (4, -INFINITY - 1, 0), (1000, 0, 1)):
        with pytest.raises(ValueError, match="must be"):
            searcher.probe(root, depth, alpha, beta, StopFlag())


def test_a_finished_game() -> None:
    rules, searcher = get_rules("chess"), native("chess")
    mated = rules.parse_position("R5k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1")
    with pytest.raises(ValueError, match="over"):
        searcher.probe(mated, 4, -INFINITY, INFINITY, StopFlag())
