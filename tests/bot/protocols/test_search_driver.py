"""The players behind the front ends: books, clocks, and reports ever deeper."""

import math
import random
from typing import Any

import pytest

from bot.protocols.nboard import NBoard
from bot.protocols.search_driver import FrontEndSettings, SearchDriver
from bot.protocols.uci import Uci
from engine.decision import DirectMove, Person, SearchMode
from engine.game import positions
from engine.games import get_rules
from engine.human.opponent_model_search import Background
from engine.lookup.source import LookupMove
from engine.move_chooser import MoveChooser
from engine.params import TrapParams
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.calibrated import CALIBRATED
from engine.strategies.move_context import StrongOptions
from engine.strategies.opponent_model import OPPONENT_MODEL
from engine.strategies.registry import strategy_named
from engine.strategies.standard import STANDARD
from engine.strategies.strong import STRONG
from engine.time_management import MIN_TIME_S, Limits
from tests.bot.protocols.driver import Driver, driver
from tests.engine.human.fakes import FakeModel, OneModel

KINDS = [
    (game, kind) for game in ("othello", "chess", "xiangqi") for kind in ("standard", "trappy", "strong")
]


class OneMove:
    """A book that knows one move, of the initial position."""

    description = "a book"

    def __init__(self, game: str, score: int | None) -> None:
        self._game = get_rules(game)
        self._score = score

    def choose(self, position: Any, rng: random.Random) -> LookupMove | None:  # noqa: ARG002
        first = self._game.initial()
        if self._game.board_text(position) != self._game.board_text(first):
            return None
        return LookupMove(
            self._game.legal_moves(first)[-1], SearchMode.BOOK, DirectMove(self._score, 0, 0, False)
        )


def with_book(game: str, kind: str, score: int | None) -> SearchDriver:
    return driver(game, kind=kind, strong=StrongOptions(sources={game: (OneMove(game, score),)}))


@pytest.mark.parametrize("score", [None, 50])
def test_books_are_the_strong_players(score: int | None) -> None:
    told = [] if score is None else ["info depth 1 score cp 50 nodes 0"]
    for go in ("go depth 3", "go movetime 10", "go nodes 100"):
        with Driver(Uci, with_book("chess", "strong", score)) as gui:
            gui.tell("position startpos", go)
            lines = gui.hear_until("bestmove")
            assert lines[-1] == "bestmove h2h4"
            assert [line[:32] for line in lines[:-1]] == [line[:32] for line in told]
            gui.tell("go searchmoves e2e4 depth 2", "go infinite", "stop")
            assert gui.hear_until("bestmove")[-1].startswith("bestmove e2e4")
    with Driver(NBoard, with_book("othello", "strong", score)) as gui:
        gui.tell("go")
        lines = gui.hear_until("===")
        assert lines[-1].startswith("=== E6/+0.50/" if score else "=== E6//")
        assert ("book E6 +0.50 0 0" in lines) == (score is not None)
    assert with_book("chess", "trappy", score).find_known_move(get_rules("chess").initial()) is None


@pytest.mark.parametrize(("game", "kind"), KINDS)
def test_it_decides_as_the_player_does(game: str, kind: str) -> None:
    """Without a clock, that is; and the last report of a search ever deeper is the same."""
    rules, mind = get_rules(game), driver(game, kind=kind)
    position = rules.initial()
    found = mind.decide(position, Limits(4), StopFlag())
    assert found.chosen.variation[0] == found.move
    if kind != "strong":  # whose own player asks an exact search besides
        player = MoveChooser(strategy_named(kind), rules, TrapParams(), make_searcher(game, 1))
        decision = player.choose(position, Limits(4), StopFlag())
        assert (found.move, found.chosen.score_centi) == (decision.move, decision.chosen.raw_centi)
    reports = list(driver(game, kind=kind).deepen(position, 4, StopFlag()))
    assert [report.chosen.depth for report in reports] == list(range(1 if kind == "strong" else 2, 5))
    if kind != "strong":
        assert reports[-1].move == found.move
    assert [report.nodes for report in reports] == sorted(report.nodes for report in reports)


@pytest.mark.parametrize(("game", "kind"), KINDS)
@pytest.mark.parametrize("lines", [1, 3])
def test_there_is_always_a_report(game: str, kind: str, lines: int) -> None:
    """However early it is stopped."""
    rules, mind, stop = get_rules(game), driver(game, kind=kind), StopFlag()
    stop.set()
    assert len(list(mind.deepen(rules.initial(), 30, stop, lines))) == 1
    assert mind.decide(rules.initial(), Limits(30, 10.0), stop).move


def test_limits() -> None:
    chess = get_rules("chess")
    position = chess.initial()
    mind = SearchDriver(chess, FrontEndSettings(STANDARD, full_depth=7, move_s=1.5))
    assert mind.default_limits() == Limits(7, 1.5)
    assert SearchDriver(chess, FrontEndSettings(STRONG)).default_depth == 60
    assert SearchDriver(chess, FrontEndSettings(STRONG, depth=5)).default_depth == 5
    assert (mind.clamp_depth(1), mind.clamp_depth(1000)) == (2, 60)
    for left_s in (-5.0, 0.0):
        assert mind.clock_limits(position, left_s, 0, 7, 0.05).time_s == MIN_TIME_S
    whole = mind.clock_limits(position, 600, 0, 7, 0.05).time_s
    few = mind.clock_limits(position, 600, 0, 7, 0.05, moves_to_go=10).time_s
    assert whole is not None
    assert few is not None
    assert 5 < whole < few < 120


def test_players_that_reckon_with_a_person_know_what_they_were_told() -> None:
    othello, model = get_rules("othello"), FakeModel("othello", max_history_positions=3)
    line = list(positions(othello, ["f5", "d6", "c3", "d3"]))
    mind = SearchDriver(othello, FrontEndSettings(OPPONENT_MODEL, table_mb=1, models=OneModel(model)))
    mind.background = Background(tuple(line[:-1]), Person(1800))
    report = mind.decide(line[-1], Limits(4), StopFlag())
    assert {ask.positions[:-1] for ask in model.asked} == {tuple(line[-2:])}
    assert {ask.person for ask in model.asked} == {Person(1800)}
    deeper = list(mind.deepen(line[-1], 4, StopFlag()))
    assert deeper[-1].move == report.move
    lines = list(mind.deepen(line[-1], 4, StopFlag(), lines=3))
    assert lines[-1].move == report.move
    scores = [each.score_centi for each in lines[-1].lines]
    assert len(scores) == 3
    assert [report.depth for report in (each.lines[0] for each in lines)] == [1, 2, 3, 4]


def test_a_model_that_fails_leaves_the_lines_to_the_standard_player() -> None:
    othello = get_rules("othello")
    (standard, failed) = (
        list(SearchDriver(othello, settings).deepen(othello.initial(), 4, StopFlag(), lines=2))
        for settings in (
            FrontEndSettings(STANDARD, table_mb=1),
            FrontEndSettings(
                CALIBRATED, table_mb=1, models=OneModel(FakeModel("othello", lambda *_: (math.nan,) * 4))
            ),
        )
    )
    assert [report.move for report in failed] == [report.move for report in standard]
