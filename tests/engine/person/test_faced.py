"""`engine.person.faced` and `engine.forecasts`: models asked, states used, records verified."""

import json
import random
from dataclasses import replace
from functools import lru_cache
from typing import Any

import pytest

from engine.completion import complete
from engine.decision import Decision, ModelInfo, Person
from engine.errors import RecordError
from engine.forecasts import forecast_replies, verify_forecast
from engine.games import get_rules
from engine.human.model import BadModel, PredictionQuery
from engine.human.opponent_model_search import GameModels
from engine.human.reply_forecast import ReplyForecast
from engine.move_chooser import MoveChooser
from engine.params import TrapParams
from engine.person.card import PersonModel
from engine.person.faced import Faced, face
from engine.person.state import FoldedGame, FoldedReply, KnownPerson, PersonState, fold_games
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.time_management import Limits
from tests.engine.human.fakes import FakeModel
from tests.engine.human.test_reply_probabilities import prior_over
from tests.engine.positions import random_position

OTHELLO = get_rules("othello")
PERSON = Person(1900)


class FakePlanes:
    """Marks the first legal move."""

    def __init__(self, sha256: str, *, is_broken: bool = False) -> None:
        self.info = ModelInfo("people", "fake planes", sha256)
        self._is_broken = is_broken

    def planes(self, query: PredictionQuery) -> tuple[tuple[float, ...], ...]:
        if self._is_broken:
            raise BadModel("broken")
        count = len(OTHELLO.legal_moves(query.positions[-1]))
        return tuple((float(at == 0),) + (0.0,) * 15 for at in range(count))


@lru_cache(maxsize=1)
def decision() -> Decision:
    searcher = make_searcher("othello", 4)
    for seed in range(100):
        position = random_position(OTHELLO, random.Random(seed), 24)
        player = MoveChooser(strategy_named("standard"), OTHELLO, TrapParams(), searcher)
        made = complete(player.choose(position, Limits(4), StopFlag()), searcher, StopFlag())
        if len(made.chosen.replies) > 3:
            return made
    raise AssertionError


def models(planes: FakePlanes | None = None) -> GameModels:
    return GameModels(FakeModel("othello"), None, person_prior=prior_over("f" * 64), planes=planes)


def faced(of: GameModels) -> Faced:
    made = decision()
    before: Any = OTHELLO.parse_position(made.position)
    after = OTHELLO.play(before, OTHELLO.parse_move(before, made.move))
    found = face(OTHELLO, (before, after), made.chosen, of, PERSON, 25)
    assert found is not None
    return found


def network_of(model: PersonModel) -> str:
    assert model.card.vector is not None
    return model.card.vector.network


def learned(found: Faced, index: int, games: int = 5) -> PersonState:
    """A person who always replies so in this position."""
    position = found.position
    reply = FoldedReply(
        position=position.position,
        ply=position.ply,
        replies=position.replies,
        base=position.base,
        costs=position.costs,
        planes=position.planes,
        reply=position.replies[index],
        judged_cost=0.0,
    )
    game = FoldedGame(is_lost=False, replies=(reply,), rating=1900.0)
    return fold_games(PersonState(found.model.version), [game] * games, found.model)


def forecast(of: GameModels, known: KnownPerson | None) -> ReplyForecast:
    return forecast_replies(decision(), (), of, PERSON, None, StopFlag(), known=known)


def test_the_position_has_what_the_models_say() -> None:
    found = faced(models())
    made = decision()
    assert found.position.replies == tuple(each.reply for each in made.chosen.replies)
    assert found.position.base == found.prediction.base
    assert min(found.position.costs) == 0
    assert found.position.planes is None
    assert found.model.base == "f" * 64


def test_planes_come_from_the_network_of_the_card() -> None:
    sha256 = network_of(faced(models()).model)
    known = faced(models(FakePlanes(sha256)))
    assert known.position.planes is not None
    assert known.position.planes[0][0] == 1.0
    assert faced(models(FakePlanes("9" * 64))).position.planes is None
    assert faced(models(FakePlanes(sha256, is_broken=True))).position.planes is None


def test_without_a_state_nothing_changes() -> None:
    made = forecast(models(), None)
    assert made.person is None
    assert "person" not in made.to_record()
    other = PersonState("e" * 64, games=3)
    assert forecast(models(), KnownPerson(other, 25)) == made


@pytest.mark.parametrize("has_planes", [False, True])
def test_a_known_person_is_predicted_and_verified(has_planes: bool) -> None:
    planes = FakePlanes(network_of(faced(models()).model)) if has_planes else None
    found = faced(models(planes))
    state = learned(found, 2)
    anybody, known = forecast(models(planes), None), forecast(models(planes), KnownPerson(state, 25))
    assert known.probabilities[2] > anybody.probabilities[2] + 0.2
    assert known.person is not None
    assert bool(known.person.shifts) is has_planes
    verify_forecast(decision(), known, found.model)
    record = json.loads(json.dumps(known.to_record()))
    restored = ReplyForecast.from_record(record)
    assert restored == known
    verify_forecast(decision(), restored, found.model)
    verify_forecast(decision(), anybody, found.model)


def test_costs_that_are_not_the_decision_s_are_found() -> None:
    found = faced(models())
    known = forecast(models(), KnownPerson(learned(found, 1), 25))
    assert known.person is not None
    other = replace(known.person, costs=(0.5, *known.person.costs[1:]))
    with pytest.raises(RecordError, match="costs"):
        verify_forecast(decision(), replace(known, person=other), found.model)
    with pytest.raises(RecordError):
        verify_forecast(decision(), replace(known, base=known.base[::-1], probabilities=()), found.model)
