"""The guess at a person's reply that needs no model."""

import math
import random

import pytest

from engine.games import ENGINE_GAMES, GAMES, get_rules
from engine.human.model import HumanModel, PredictionQuery, predictions_of
from engine.human.shallow import ShallowModel, ShallowOptions
from engine.search.reference import ReferenceSearcher
from tests.engine.positions import random_position


@pytest.mark.parametrize("name", [name for name in GAMES if name not in ENGINE_GAMES])
def test_every_game_has_probabilities(name: str) -> None:
    game, rng = get_rules(name), random.Random(1)
    model: HumanModel = ShallowModel(name)
    position, asks = game.initial(), []
    for _ in range(6):
        asks.append(PredictionQuery((position,)))
        position = game.play(position, rng.choice(game.legal_moves(position)))
    for ask, probabilities in zip(asks, predictions_of(model, game, asks), strict=True):
        assert len(probabilities) == len(game.legal_moves(ask.positions[-1]))
        assert math.fsum(probabilities) == pytest.approx(1)
        assert min(probabilities) >= 0.05 / len(probabilities) - 1e-12


def test_what_looks_good_is_likely() -> None:
    """A queen that hangs is mostly taken."""
    game = get_rules("chess")
    position = game.parse_position("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1")
    (probabilities,) = predictions_of(ShallowModel("chess"), game, [PredictionQuery((position,))])
    texts = [game.move_text(move) for move in game.legal_moves(position)]
    assert texts[probabilities.index(max(probabilities))] == "e4d5"
    assert max(probabilities) > 0.5


def test_any_searcher_sees_the_same() -> None:
    game = get_rules("othello")
    asks = [PredictionQuery((random_position(game, random.Random(seed), plies=20),)) for seed in range(3)]
    slow = ShallowModel("othello", searcher=ReferenceSearcher(game))
    assert predictions_of(ShallowModel("othello"), game, asks) == predictions_of(slow, game, asks)


def test_nobody_looks() -> None:
    game = get_rules("othello")
    model = ShallowModel("othello", ShallowOptions(plies=0))
    assert predictions_of(model, game, [PredictionQuery((game.initial(),))]) == [(0.25,) * 4]
    assert model.info.name == "uniform"


def test_the_options_are_what_the_fingerprint_is_of() -> None:
    usual, again = ShallowModel("othello").info, ShallowModel("chess").info
    assert usual == again
    assert (usual.kind, usual.name, len(usual.sha256)) == ("shallow", "shallow-2", 64)
    assert ShallowModel("othello", ShallowOptions(percent=7)).info.sha256 != usual.sha256


@pytest.mark.parametrize("wrong", [{"plies": -1}, {"percent": 0.0}, {"share_percent": math.nan}])
def test_wrong_options_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ShallowOptions(**wrong)  # type: ignore[arg-type]
