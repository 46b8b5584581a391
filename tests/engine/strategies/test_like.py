"""The strategy that plays as people of a rating do: its draws, records, and play without a model."""

import random
from collections import Counter
from typing import Any

import pytest

from engine.completion import complete
from engine.decision import Decision, Person, SearchMode
from engine.game import Game, positions
from engine.games import get_rules
from engine.human.model import BadModel, PredictionQuery
from engine.human.opponent_model_search import Background, GameModels
from engine.move_chooser import MoveChooser
from engine.params import TrapParams
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.like import LIKE
from engine.time_management import Limits
from engine.variety import RepetitionAvoidance
from engine.verification import verify
from tests.engine.human.fakes import Answer, FakeModel

MATE = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"
KNIGHTS = ("e2e4", "d2d4", "g1f3", "b1c3")


def favourites(game: Game[Any], ask: PredictionQuery) -> tuple[float, ...]:
    """Four moves are played in four cases of ten, three, two and one."""
    moves = [game.move_text(move) for move in game.legal_moves(ask.positions[-1])]
    return tuple((4 - KNIGHTS.index(move)) / 10 if move in KNIGHTS else 0.0 for move in moves)


def never_mates(game: Game[Any], ask: PredictionQuery) -> tuple[float, ...]:
    moves = [game.move_text(move) for move in game.legal_moves(ask.positions[-1])]
    return tuple(float(move == "a1a2") for move in moves)


def fails(_game: Game[Any], _ask: PredictionQuery) -> tuple[float, ...]:
    raise BadModel("broken")


def player(answer: Answer | None, game: str = "chess") -> MoveChooser:
    models = None if answer is None else GameModels(FakeModel(game, answer))
    return MoveChooser(LIKE, get_rules(game), TrapParams(), make_searcher(game, 1), models=models)


def choose(who: MoveChooser, text: str = "startpos", seed: int = 0, **limits: Any) -> Decision:
    game = get_rules("chess")
    *before, position = positions(game, (), game.parse_position(text))
    background = Background(tuple(before), imitated=Person(1300, 60.0), side_time_s=300.0)
    within = Limits(**({"depth": 4} | limits))
    return who.choose(position, within, StopFlag(), background=background, seed=seed)


def test_moves_follow_the_models_probabilities() -> None:
    who, rng, number = player(favourites), random.Random(11), 400
    counts = Counter(choose(who, seed=rng.getrandbits(64), depth=2).move for _ in range(number))
    expected = dict(zip(KNIGHTS, (0.4 * number, 0.3 * number, 0.2 * number, 0.1 * number), strict=True))
    assert counts.keys() <= expected.keys()
    assert sum((counts[move] - each) ** 2 / each for move, each in expected.items()) < 16.27


def test_a_decision_is_recorded_verified_and_completed() -> None:
    decision = choose(player(favourites), seed=2**63)
    assert (decision.search_mode, decision.depth) == (SearchMode.PERSON, 4)
    draw = decision.person_draw
    assert draw is not None
    assert (draw.person, draw.seed) == (Person(1300, 60.0), f"{2**63:016x}")
    assert Decision.from_record(decision.to_record()) == decision
    verify(decision)
    verify(complete(decision, make_searcher("chess", 1), StopFlag()))


def test_a_mate_is_taken_more_often_than_by_the_model() -> None:
    who, rng = player(never_mates), random.Random(5)
    moves = Counter(choose(who, MATE, rng.getrandbits(64), depth=2).move for _ in range(100))
    assert moves.keys() == {"a1a8", "a1a2"}
    assert 40 < moves["a1a8"] < 75


@pytest.mark.parametrize("answer", [None, fails])
def test_without_a_model_shallow_searches_replace_it(answer: Answer | None) -> None:
    decision = choose(player(answer))
    assert decision.person_draw is not None
    assert decision.person_draw.model.kind == "shallow"
    verify(decision)


def test_a_stopped_search_still_draws() -> None:
    stop, game = StopFlag(), get_rules("chess")
    stop.set()
    decision = player(favourites).choose(game.initial(), Limits(20, 0.001), stop, seed=1)
    assert (decision.depth, decision.search_mode) == (2, SearchMode.PERSON)


def test_earlier_games_are_not_avoided() -> None:
    who, game = player(favourites), get_rules("chess")
    avoidance = RepetitionAvoidance(("e2e4",), 10_000)
    decision = who.choose(game.initial(), Limits(2), StopFlag(), avoidance, seed=0)
    assert decision.search_mode is SearchMode.PERSON
