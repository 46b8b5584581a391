"""Answers of models are checked before anybody counts on them."""

import math
from collections.abc import Sequence

import pytest

from engine.decision import ModelInfo
from engine.games import get_rules
from engine.human.model import BadModel, PredictionQuery, predictions_of

GAME = get_rules("othello")


class Says:
    """A model that always gives the same answers."""

    game = "othello"
    info = ModelInfo("shallow", "fake", "0")
    max_history_positions = 1

    def __init__(self, *answers: tuple[float, ...]) -> None:
        self.answers = list(answers)

    def predict(self, asks: Sequence[PredictionQuery]) -> list[tuple[float, ...]]:
        return self.answers[: len(asks)]


def test_a_sound_answer_is_taken() -> None:
    assert predictions_of(Says((0.5, 0.25, 0.125, 0.125)), GAME, [PredictionQuery((GAME.initial(),))]) == [
        (0.5, 0.25, 0.125, 0.125)
    ]


def test_rounding_is_made_good() -> None:
    (answer,) = predictions_of(Says((0.5001, 0.25, 0.125, 0.125)), GAME, [PredictionQuery((GAME.initial(),))])
    assert math.fsum(answer) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ([(math.nan, 0.5, 0.25, 0.25)], "not probabilities: nan"),
        ([(math.inf, 0.0, 0.0, 0.0)], "not probabilities: inf"),
        ([(-0.5, 0.5, 0.5, 0.5)], "not probabilities: -0.5"),
        ([(0.5, 0.5, 0.5, 0.5)], "add up to 2.0000"),
        ([(0.0, 0.0, 0.0, 0.0)], "add up to 0.0000"),
        ([(0.5, 0.5)], "2 probabilities for 4 moves"),
        ([], "0 answers to 1 questions"),
    ],
)
def test_garbage_is_refused(answers: list[tuple[float, ...]], why: str) -> None:
    with pytest.raises(BadModel, match=f"fake: .*{why}"):
        predictions_of(Says(*answers), GAME, [PredictionQuery((GAME.initial(),))])


def test_where_there_is_no_choice_nobody_is_asked() -> None:
    position = GAME.initial()
    while len(GAME.legal_moves(position)) > 1:
        position = GAME.play(position, GAME.legal_moves(position)[0])
    over = position
    while GAME.legal_moves(over):
        over = GAME.play(over, GAME.legal_moves(over)[-1])
    assert len(GAME.legal_moves(position)) == 1
    assert predictions_of(Says(), GAME, [PredictionQuery((position,)), PredictionQuery((over,))]) == [
        (1.0,),
        (),
    ]
