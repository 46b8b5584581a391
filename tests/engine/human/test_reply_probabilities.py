"""A person's replies predicted: by which model, and tilted by which card."""

import json
from dataclasses import replace
from typing import Any

import pytest

from engine.decision import Candidate, ModelInfo, Person, ReplyProfile
from engine.errors import IncompleteProfile
from engine.game import Game
from engine.games.othello import Othello
from engine.human.model import BadModel, HumanModel, PredictionQuery
from engine.human.opponent_model_search import GameModels
from engine.human.person_prior import (
    BasePrior,
    PersonPrior,
    base_key,
    card_path,
    costs_of,
    read_card,
)
from engine.human.registry import ModelRegistry
from engine.human.reply_probabilities import predict_replies
from engine.human.shallow import ShallowModel
from lab.analysis.person_fitting import base_record
from tests.engine.human.fakes import FakeModel, FakeReplyModel
from tests.engine.human.test_person_prior import PRIOR

GAME = Othello()
ROOT = GAME.initial()
AFTER = GAME.play(ROOT, GAME.parse_move(ROOT, "f5"))
TEXTS = tuple(GAME.move_text(move) for move in GAME.legal_moves(AFTER))
ROWS = ((50, 300, -100), (-20, -30, 40), (-400, -500, 600))
MOVE = Candidate(
    "f5",
    -100,
    False,
    -100.0,
    replies=tuple(ReplyProfile(text, row) for text, row in zip(TEXTS, ROWS, strict=True)),
    complete=True,
)
PERSON = Person(1900, 60.0)
CHANCES = (0.5, 0.3, 0.2)


def network(plies: int = 1) -> FakeModel:
    return FakeModel("othello", lambda *_: CHANCES, plies)


def broken(game: Game[Any], ask: PredictionQuery) -> tuple[float, ...]:
    raise BadModel(f"{game.name} {len(ask.positions)}: broken")


def prior_over(*keys: str, depth: int = 3) -> PersonPrior:
    bases: list[BasePrior] = [replace(PRIOR, base=key, depth=depth) for key in keys]
    card = {"game": "othello", "uniform": 0.003, "forgetting": 0.05, "bases": [base_record(b) for b in bases]}
    return PersonPrior.parse(json.dumps(card).encode(), "card")


def models(
    human: HumanModel, probabilities: FakeReplyModel | None = None, prior: PersonPrior | None = None
) -> GameModels:
    return GameModels(human, probabilities, person_prior=prior)


def test_the_calibrated_model_comes_first_and_is_tilted() -> None:
    human, probabilities = network(2), FakeReplyModel("othello")
    key = base_key(probabilities.info, human.info)
    prior = prior_over(key, human.info.sha256)
    found = predict_replies(GAME, (ROOT, AFTER), MOVE, models(human, probabilities, prior), PERSON, 60.0)
    assert found is not None
    assert (found.model, found.human, found.version) == (probabilities.info, human.info, prior.version)
    assert found.replies == TEXTS
    assert found.base == pytest.approx((0.25, 0.15, 0.6))
    costs = costs_of(MOVE, GAME.expected_scale_centi(AFTER), 3)
    assert found.probabilities == prior.tilted(key, found.base, costs, 1900, 60.0)
    assert found.probabilities != pytest.approx(found.base, abs=1e-3)
    assert human.asked == [PredictionQuery((ROOT, AFTER), PERSON)]
    assert probabilities.people == [PERSON]


def test_the_depth_is_that_of_the_card() -> None:
    def at(depth: int) -> tuple[float, ...]:
        prior = prior_over("f" * 64, depth=depth)
        found = predict_replies(GAME, (AFTER,), MOVE, models(network(), None, prior), PERSON)
        assert found is not None
        return found.probabilities

    assert at(4) == at(9)
    assert at(4) != pytest.approx(at(3), abs=1e-3)


def test_without_a_calibrated_model_the_network_predicts() -> None:
    human = network()
    prior = prior_over(human.info.sha256)
    found = predict_replies(GAME, (ROOT, AFTER), MOVE, models(human, None, prior), PERSON, 300.0)
    assert found is not None
    assert (found.model, found.human, found.version) == (human.info, None, prior.version)
    assert found.base == CHANCES
    assert human.asked[0].positions == (AFTER,)


def test_without_a_card_or_with_an_unknown_base_nothing_is_tilted() -> None:
    for prior in (None, prior_over("9" * 64)):
        found = predict_replies(GAME, (AFTER,), MOVE, models(network(), None, prior), PERSON)
        assert found is not None
        assert found.probabilities == found.base == CHANCES
        assert found.version == ""


def test_a_broken_model_leaves_the_next_one(caplog: pytest.LogCaptureFixture) -> None:
    probabilities = FakeReplyModel("othello")
    alone = predict_replies(GAME, (AFTER,), MOVE, models(FakeModel("othello", broken), probabilities), PERSON)
    assert alone is not None
    assert (alone.model, alone.human) == (probabilities.info, None)
    assert alone.base == pytest.approx((1 / 6, 1 / 6, 2 / 3))
    assert "broken" in caplog.text

    class Broken(FakeReplyModel):
        def reply_probabilities(self, *_: Any) -> dict[str, float]:
            raise RuntimeError("out of order")

    found = predict_replies(GAME, (AFTER,), MOVE, models(network(), Broken("othello")), PERSON)
    assert found is not None
    assert (found.model.kind, found.base) == ("othello", CHANCES)
    assert "RuntimeError: out of order" in caplog.text
    both = models(FakeModel("othello", broken), Broken("othello"))
    assert predict_replies(GAME, (AFTER,), MOVE, both, PERSON) is None


def test_a_guess_from_searches_is_no_prediction() -> None:
    shallow = ShallowModel("othello")
    assert predict_replies(GAME, (AFTER,), MOVE, models(shallow), PERSON) is None
    probabilities = FakeReplyModel("othello")
    found = predict_replies(GAME, (AFTER,), MOVE, models(shallow, probabilities), PERSON)
    assert found is not None
    assert (found.model, found.human) == (probabilities.info, None)


def test_profiles_must_be_whole_and_of_the_position() -> None:
    for wrong in (replace(MOVE, complete=False), replace(MOVE, replies=(ReplyProfile("d6", (), 5),))):
        with pytest.raises(IncompleteProfile, match="the profile of f5 is incomplete"):
            predict_replies(GAME, (AFTER,), wrong, models(network()), PERSON)
    with pytest.raises(ValueError, match="the replies to f5 are not the legal ones of 8/8"):
        predict_replies(GAME, (AFTER,), replace(MOVE, replies=MOVE.replies[::-1]), models(network()), PERSON)


def test_the_cards_of_the_program_are_for_its_models() -> None:
    """After a model is fitted again, `desdemona lab fit-person` has to follow."""
    registry = ModelRegistry()
    with registry.lend("othello") as lent:
        human, probabilities, prior = lent.human, lent.calibrated, lent.person_prior
        assert prior is not None
        assert probabilities is not None
        assert prior.version == read_card(card_path("othello")).version
        assert set(prior.bases) == {base_key(human.info)}, "the calibrated model knows the rating itself"
        ours = ModelInfo(probabilities.info.kind, probabilities.info.name, probabilities.info.sha256)
        alone = GameModels(human, person_prior=prior)
        for lent_models, model, version in ((lent, ours, ""), (alone, human.info, prior.version)):
            found = predict_replies(GAME, (ROOT, AFTER), MOVE, lent_models, PERSON, 300.0)
            assert found is not None
            assert (found.model, found.version) == (model, version)
            assert sum(found.probabilities) == pytest.approx(1.0, abs=1e-12)
    assert read_card(card_path("chess")).game == "chess"
