"""What replies cost by the judge."""

import random
from typing import Any

import pytest

from engine.decision import DirectMove, SearchMode
from engine.errors import RecordError
from engine.expected import WHOLE
from engine.figure_9 import MIN_ERROR_COST
from engine.game import WIN_CENTI, IllegalMove
from engine.games import get_rules
from engine.judge import (
    MIN_SMALL_COST,
    NODES,
    PositionValue,
    ReplyCost,
    ReplyWord,
    position_value,
    reply_costs,
)
from engine.lookup.source import LookupMove
from engine.search.reference import minimax
from engine.stop import StopFlag, Stopped
from tests.engine.positions import random_position

FEW_NODES = 5_000
SCHOLAR = "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4"
"""White mates on f7."""


def costs(game: str, position: str, *replies: str, nodes: int | None = FEW_NODES) -> dict[str, ReplyCost]:
    found = reply_costs(game, get_rules(game).parse_position(position), replies, StopFlag(), nodes)
    return {each.reply: each for each in found.replies}


def test_missing_a_mate_costs_what_the_rest_is_worth() -> None:
    found = costs("chess", SCHOLAR, "h5f7", "h5e5", "h5h7")
    mate = found["h5f7"]
    assert mate == ReplyCost("h5f7", mate.score_centi, 0, mate.depth, is_solved=True)
    assert mate.score_centi > WIN_CENTI
    assert found["h5h7"].cost > MIN_ERROR_COST  # the queen is lost
    assert found["h5h7"].word is ReplyWord.ERROR
    assert not found["h5h7"].is_solved


def test_the_end_of_the_game_needs_no_search() -> None:
    game = get_rules("chess")
    after = game.play(root := game.parse_position(SCHOLAR), game.parse_move(root, "h5f7"))
    value = position_value(game, after, StopFlag())
    assert (value.best, value.depth, value.is_solved) == (None, 0, True)
    with pytest.raises(ValueError, match="the game is over"):
        reply_costs("chess", after, ["a7a6"], StopFlag())


def test_a_solved_ending_costs_what_it_costs() -> None:
    game = get_rules("othello")
    for seed in range(4):
        position = random_position(game, random.Random(seed), 53)
        replies = [game.move_text(move) for move in game.legal_moves(position)]
        found = reply_costs("othello", position, replies, StopFlag(), 400_000)
        root = game.for_search(position)
        values = {
            game.move_text(move): -minimax(game, game.play(root, move), 64) for move in game.legal_moves(root)
        }
        best = max(values.values())
        assert values[found.best.reply] == found.best.score_centi == best
        for each in found.replies:
            assert each.is_solved
            assert each.score_centi == values[each.reply]
            # A game that is over is worth its result, whatever the margin.
            worth = [(value > 0) + 0.5 * (value == 0) for value in (best, values[each.reply])]
            assert each.cost == round(WHOLE * (worth[0] - worth[1]))


@pytest.mark.parametrize("name", NODES)
def test_the_best_reply_costs_nothing_and_no_reply_less(name: str) -> None:
    game = get_rules(name)
    for seed in range(3):
        position = random_position(game, random.Random(seed), 10)
        replies = [game.move_text(move) for move in game.legal_moves(position)]
        found = reply_costs(name, position, replies, StopFlag(), FEW_NODES)
        assert [each.reply for each in found.replies] == replies
        assert found.of(found.best.reply) == found.best
        assert found.best.cost == 0
        assert all(0 <= each.cost <= WHOLE and each.depth > 0 for each in found.replies)


@pytest.mark.parametrize("name", NODES)
def test_a_cost_does_not_depend_on_what_else_is_asked_or_was_searched_before(name: str) -> None:
    game = get_rules(name)
    position = random_position(game, random.Random(11), 12)
    replies = [game.move_text(move) for move in game.legal_moves(position)][:3]
    every = reply_costs(name, position, replies, StopFlag(), FEW_NODES)
    for reply in reversed(replies):
        alone = reply_costs(name, position, [reply, reply], StopFlag(), FEW_NODES)
        assert alone.replies == (every.of(reply),)


def test_words() -> None:
    words = {cost: ReplyCost("f5", 0, cost, 9, is_solved=False).word for cost in (0, 499, 500, 999, 1000)}
    assert words == {
        0: ReplyWord.GOOD,
        MIN_SMALL_COST - 1: ReplyWord.GOOD,
        MIN_SMALL_COST: ReplyWord.SMALL,
        MIN_ERROR_COST - 1: ReplyWord.SMALL,
        MIN_ERROR_COST: ReplyWord.ERROR,
    }


def test_a_game_without_selective_search_is_searched_full_width() -> None:
    game = get_rules("tictactoe")
    position: Any = game.initial()
    for move in game.legal_moves(position)[:1]:
        position = game.play(position, move)
    replies = [game.move_text(move) for move in game.legal_moves(position)]
    found = reply_costs("tictactoe", position, replies, StopFlag(), 1_000_000)
    drawn = [each.reply for each in found.replies if each.cost == 0]
    assert len(drawn) == 1  # only the centre draws against a corner
    assert all(each.cost == WHOLE // 2 and each.is_solved for each in found.replies if each.cost)
    shallow = reply_costs("tictactoe", position, replies, StopFlag(), 100)
    assert 0 < shallow.replies[0].depth < found.replies[0].depth


def test_what_was_not_judged_is_not_there() -> None:
    found = reply_costs("chess", get_rules("chess").initial(), ["e2e4"], StopFlag(), 500)
    with pytest.raises(RecordError, match="the reply d2d4 was not judged"):
        found.of("d2d4")
    with pytest.raises(IllegalMove):
        costs("chess", SCHOLAR, "a1a5")


def test_a_stopped_judge_says_nothing() -> None:
    stop = StopFlag()
    stop.set()
    for name in ("chess", "tictactoe"):
        with pytest.raises(Stopped):
            reply_costs(name, get_rules(name).initial(), [], stop)


def test_the_depth_to_which_all_costs_hold() -> None:
    found = reply_costs("chess", get_rules("chess").initial(), ["e2e4", "a2a4"], StopFlag(), FEW_NODES)
    assert found.depth == min(each.depth for each in found.replies) > 0
    assert reply_costs("chess", get_rules("chess").initial(), [], StopFlag(), FEW_NODES).depth == 0


class Table:
    """A source that has the position of SCHOLAR and no other."""

    description = "a table"

    def __init__(self, mode: SearchMode, *, is_sure: bool = True) -> None:
        self.mode, self.is_sure = mode, is_sure

    def choose(self, position: Any, rng: random.Random) -> LookupMove | None:  # noqa: ARG002
        game = get_rules("chess")
        if game.position_text(position) != game.position_text(game.parse_position(SCHOLAR)):
            return None
        pick = DirectMove(-WIN_CENTI, 0, 100, solved=self.is_sure)
        return LookupMove(game.parse_move(position, "a2a3"), self.mode, pick)


def test_a_tablebase_goes_before_a_search_and_a_book_does_not() -> None:
    game = get_rules("chess")
    position = game.parse_position(SCHOLAR)
    table, book = Table(SearchMode.TABLEBASE), Table(SearchMode.BOOK)
    for sources in ((table,), (book, table)):
        value = position_value(game, position, StopFlag(), FEW_NODES, sources)
        assert value == PositionValue("a2a3", -WIN_CENTI, 0, is_solved=True)
        costs = reply_costs("chess", position, ["a2a3"], StopFlag(), FEW_NODES, sources=sources)
        assert costs.best == costs.of("a2a3") == ReplyCost("a2a3", -WIN_CENTI, 0, 0, is_solved=True)
    for source in (book, Table(SearchMode.TABLEBASE, is_sure=False)):
        assert position_value(game, position, StopFlag(), FEW_NODES, (source,)).best == "h5f7"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        # The mean of both searches, to the lesser depth.
        ((30, 14, False), (-21, 12, False), (26, 13, False)),
        ((30, 12, False), (-21, 14, False), (26, 12, False)),
        ((30, 14, True), None, (30, 14, True)),
        ((30, 14, False), (WIN_CENTI + 9, 3, True), (-WIN_CENTI - 9, 14, False)),  # another may be better
    ],
)
def test_what_the_best_reply_is_worth(
    monkeypatch: pytest.MonkeyPatch,
    before: tuple[int, int, bool],
    after: tuple[int, int, bool] | None,
    expected: tuple[int, int, bool],
) -> None:
    found = [PositionValue("e2e4", *before), *([] if after is None else [PositionValue("e7e5", *after)])]
    values = iter(found)
    monkeypatch.setattr("engine.judge.position_value", lambda *_: next(values))
    best = reply_costs("chess", get_rules("chess").initial(), ["e2e4"], StopFlag()).best
    assert best == ReplyCost("e2e4", expected[0], 0, *expected[1:])
    assert next(values, None) is None


@pytest.mark.parametrize(
    ("best", "after", "expected"),
    [
        ((14, False), (12, False), (13, False)),
        ((14, False), (15, False), (14, False)),
        ((9, True), (12, False), (13, False)),  # a solved value holds to any depth
        ((14, False), (3, True), (14, False)),
        ((14, True), (3, True), (4, True)),
    ],
)
def test_the_depth_of_a_cost(
    monkeypatch: pytest.MonkeyPatch,
    best: tuple[int, bool],
    after: tuple[int, bool],
    expected: tuple[int, bool],
) -> None:
    of_best = [PositionValue("e2e4", 30, *best)]
    if not best[1]:
        of_best.append(PositionValue("e7e5", -20, best[0] + 1, is_solved=False))
    values = iter([*of_best, PositionValue("e7e5", 500, *after)])
    monkeypatch.setattr("engine.judge.position_value", lambda *_: next(values))
    found = reply_costs("chess", get_rules("chess").initial(), ["f2f3"], StopFlag()).of("f2f3")
    assert (found.depth, found.is_solved) == expected
