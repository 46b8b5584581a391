"""What a position is worth between two players."""

import json
import math
from dataclasses import asdict, replace
from typing import Any

import pytest

from engine.decision import Decision
from engine.errors import RecordError
from engine.expected import WHOLE
from engine.game import WIN_CENTI
from engine.games import GAMES, get_rules
from engine.opponents.pair_value import (
    MAX_DIFFERENCE,
    MAX_X,
    Coefficients,
    PairModel,
    PairRatings,
    decides,
    is_decided,
    pair_features,
    pair_model,
    pair_value,
    stage_of,
)
from tests.storage.samples import decision

FITTED = ("othello", "chess", "xiangqi")
CARD: dict[str, Any] = {
    "game": "othello",
    "coefficients": asdict(Coefficients(0.1, 0.8, 0.0, -0.4, 1.0, 0.5)),
}


def root(game: str) -> Any:
    rules = get_rules(game)
    return rules.for_search(rules.initial())


def test_the_formula() -> None:
    found = PairModel.parse(json.dumps(CARD).encode(), "card")
    features = pair_features(100, 50.0, 0.4, 200)
    assert features == (2.0, 0.4, 0.5)
    logit = 0.1 + (0.8 - 0.4 * 0.4) * 2 + (1.0 + 0.5 * 0.4) * 0.5
    assert found.coefficients.value(features) == pytest.approx(1 / (1 + math.exp(-logit)))
    assert pair_features(10**6, 50.0, 0.4, -5000) == (MAX_X, 0.4, -MAX_DIFFERENCE)


@pytest.mark.parametrize(
    "changes",
    [
        {"coefficients": {}},
        {"coefficients": CARD["coefficients"] | {"score": -0.1}},
        {"coefficients": CARD["coefficients"] | {"score_stage": -0.9}},  # at the first move
        {"coefficients": CARD["coefficients"] | {"score": "much"}},
        {"coefficients": CARD["coefficients"] | {"clock": 1.0}},
        {"coefficients": None},
        {"game": 1},
    ],
)
def test_what_is_no_card(changes: dict[str, Any]) -> None:
    with pytest.raises(RecordError, match="card: not the card of a pair's value"):
        PairModel.parse(json.dumps(CARD | changes).encode(), "card")
    with pytest.raises(RecordError):
        PairModel.parse(b"{", "card")


@pytest.mark.parametrize("game", FITTED)
def test_the_bundled_coefficients_make_sense(game: str) -> None:
    """More score and a higher rating are worth more; equal players at an even score share the points."""
    model = pair_model(game)
    assert model is not None
    assert model.game == game
    position = root(game)
    values = [pair_value(game, position, score, 1500, 1500) for score in (-300, -50, 0, 50, 300)]
    assert values == sorted(values, key=lambda each: each or 0)
    even = values[2]
    assert even is not None
    assert even == pytest.approx(WHOLE / 2, abs=WHOLE * 0.08)
    stronger = [pair_value(game, position, 0, 1500 + each, 1500) for each in (-400, -100, 0, 100, 400)]
    assert stronger == sorted(stronger, key=lambda each: each or 0)


def test_the_stage_falls_from_one_to_nothing() -> None:
    othello = get_rules("othello")
    assert stage_of(othello, othello.initial()) == 1
    late = othello.parse_position("bbbbbbbb/bbbbbbbb/bbbbbbbb/bbbbbbbb/bbbbbbbb/wwwwwwww/wwwwwwww/5wb1 b")
    assert stage_of(othello, late) == pytest.approx(6 / 60)


@pytest.mark.parametrize("game", FITTED)
def test_a_forced_result_stays_one(game: str) -> None:
    assert pair_value(game, root(game), WIN_CENTI, 1000, 2000) == WHOLE
    assert pair_value(game, root(game), -WIN_CENTI, 2000, 1000) == 0
    assert is_decided(game, root(game), WIN_CENTI, 1000, 2000) is True


def test_a_game_without_coefficients() -> None:
    for game in GAMES.keys() - set(FITTED):
        assert pair_model(game) is None
        assert pair_value(game, None, 0, 1500, 1500) is None
        assert is_decided(game, None, 0, 1500, 1500) is None


def test_a_decision() -> None:
    made: Decision = decision()
    assert decides(made, 0, None) is None
    assert decides(made, 0, PairRatings(1500, 1500)) is False
    assert decides(made, WIN_CENTI, PairRatings(1500, 1500)) is True
    assert decides(replace(made, game="connect4", position="7/7/7/7/7/7 w"), 0, None) is None


def test_ratings_are_both_known() -> None:
    assert PairRatings.of(1500, 1600) == (1500, 1600)
    assert PairRatings.of(None, 1600) is None
    assert PairRatings.of(1500, None) is None
