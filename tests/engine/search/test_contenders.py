"""Contenders and common depths: what a search of every move and position says, in less time."""

import random
from typing import Any

import pytest

from engine.game import WIN_CENTI
from engine.games import get_rules
from engine.search.contenders import (
    MAX_CONTENDERS,
    contenders_within,
    score_near,
    scores_by_depth,
    scores_of,
)
from engine.search.reference import INFINITY
from engine.search.searchers import NativeSearcher, make_searcher
from engine.stop import StopFlag, Stopped
from tests.engine.positions import random_position

GAMES = ("chess", "xiangqi", "othello", "connect4")
DEPTH = 8


def native(game: str) -> NativeSearcher:
    searcher = make_searcher(game, 4)
    assert isinstance(searcher, NativeSearcher)
    return searcher


def thought(game: str, plies: int) -> tuple[Any, NativeSearcher, Any, str, int]:
    """The rules, a searcher that has searched a position, the position, its best move and score."""
    rules, searcher = get_rules(game), native(game)
    root = rules.for_search(random_position(rules, random.Random(3), plies))
    found = searcher.think(root, DEPTH, None, StopFlag())
    return rules, searcher, root, found.move, found.score_centi


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("plies", [4, 12])
def test_contenders_are_worth_the_floor(game: str, plies: int) -> None:
    rules, searcher, root, best, centi = thought(game, plies)
    floor = centi - 80
    found, depth = contenders_within(rules, searcher, root, best, centi, floor, DEPTH, StopFlag())
    assert found[0].move == best
    assert len(found) <= MAX_CONTENDERS
    assert 2 <= depth <= DEPTH
    for each in found[1:]:
        assert floor <= each.score_centi <= max(floor, found[0].score_centi)
        after = rules.play(root, rules.parse_move(root, each.move))
        # The same depth again, from the table that the searches left.
        assert -searcher.probe(after, DEPTH - 2, -floor, 1 - floor, StopFlag()) >= floor


def test_no_move_but_the_best_reaches_its_score_plus_one() -> None:
    rules, searcher, root, best, centi = thought("othello", 12)
    found, _ = contenders_within(rules, searcher, root, best, centi, centi + 400, DEPTH, StopFlag())
    assert [each.move for each in found] == [best]


def test_moves_that_end_the_game_are_no_contenders() -> None:
    rules, searcher = get_rules("chess"), native("chess")
    root = rules.for_search(rules.parse_position("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"))
    assert contenders_within(rules, searcher, root, "a1a8", WIN_CENTI, 0, DEPTH, StopFlag()) == ([], 0)


@pytest.mark.parametrize("game", GAMES)
def test_all_positions_have_one_depth(game: str) -> None:
    rules, searcher = get_rules(game), native(game)
    positions = [rules.for_search(random_position(rules, random.Random(1), plies)) for plies in (4, 6, 8)]
    found = scores_of(rules, searcher, positions, 5, StopFlag())
    assert found.depth == 5
    assert len(found.scores_centi) == 3
    # A window around a guess changes no score by more than the search's own noise of the table's state.
    again = [native(game).probe(each, 1, -INFINITY, INFINITY, StopFlag()) for each in positions]
    assert scores_of(rules, native(game), positions, 1, StopFlag()).scores_centi == tuple(again)


def test_scores_of_each_depth() -> None:
    rules = get_rules("chess")
    positions = [rules.for_search(random_position(rules, random.Random(1), plies)) for plies in (4, 6, 8)]
    by_depth = scores_by_depth(rules, native("chess"), positions, 5, StopFlag())
    assert [len(each) for each in by_depth] == [3] * 5
    assert len(set(by_depth)) > 1
    for depth, scores in enumerate(by_depth, start=1):
        assert scores_of(rules, native("chess"), positions, depth, StopFlag()).scores_centi == scores


def test_the_last_complete_depth_counts() -> None:
    rules, searcher = get_rules("chess"), native("chess")
    stop = StopFlag()
    stop.set_node_limit(30_000)
    positions = [random_position(rules, random.Random(2), plies) for plies in (6, 8, 10)]
    found = scores_of(rules, searcher, positions, 60, stop)
    assert 1 <= found.depth < 60
    same = StopFlag()
    same.set_node_limit(30_000)
    assert scores_of(rules, native("chess"), positions, 60, same) == found
    stopped = StopFlag()
    stopped.set()
    with pytest.raises(Stopped):
        scores_of(rules, searcher, [random_position(rules, random.Random(4), 20)] * 40, 60, stopped)


def test_a_finished_game_has_its_result() -> None:
    rules = get_rules("chess")
    mated = rules.parse_position("R5k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1")
    found = scores_of(rules, native("chess"), [mated, rules.initial()], 3, StopFlag())
    assert found.scores_centi[0] == rules.result_centi(mated) <= -WIN_CENTI


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("guess", [None, 0, 300, -300, WIN_CENTI])
def test_a_guess_is_only_a_guess(game: str, guess: int | None) -> None:
    rules = get_rules(game)
    position = rules.for_search(random_position(rules, random.Random(5), 8))
    plain = native(game).probe(position, 2, -INFINITY, INFINITY, StopFlag())
    assert score_near(native(game), position, 2, guess, StopFlag()) == pytest.approx(plain, abs=60)
