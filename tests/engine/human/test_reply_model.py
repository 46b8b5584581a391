from dataclasses import replace
from typing import Any

import pytest

from engine.decision import Candidate, ModelInfo, Person, ReplyProfile
from engine.errors import IncompleteProfile
from engine.games.othello import Othello
from engine.human.model import BadModel
from engine.human.reply_model import checked_probabilities

GAME = Othello()
AFTER = GAME.play(GAME.initial(), GAME.parse_move(GAME.initial(), "f5"))
MOVE = Candidate(
    "f5",
    -10,
    False,
    -10.0,
    replies=(ReplyProfile("d6", (0, 5)), ReplyProfile("f4", (3, -10)), ReplyProfile("f6", (1, 2))),
    complete=True,
)


class Says:
    game = "othello"
    info = ModelInfo("calibrated", "fake", "0" * 64)
    trained_with_model = ""
    judge_tilt = None

    def __init__(self, answer: dict[str, float]) -> None:
        self.answer = answer

    def reply_probabilities(self, *_: Any) -> dict[str, float]:
        return self.answer


def asked(answer: dict[str, float], move: Candidate = MOVE, human: tuple[float, ...] | None = None) -> Any:
    return checked_probabilities(Says(answer), GAME, AFTER, move, human, Person())


def test_rounding_is_mended() -> None:
    assert asked({"d6": 0.5, "f4": 0.25, "f6": 0.2501}) == pytest.approx(
        {"d6": 0.49995, "f4": 0.249975, "f6": 0.250075}
    )


def test_a_single_reply_is_certain_and_no_reply_nothing() -> None:
    assert asked({}, replace(MOVE, replies=MOVE.replies[:1])) == {"d6": 1.0}
    assert asked({}, replace(MOVE, replies=())) == {}


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ({"d6": 0.5, "f4": 0.5}, "differ: f6"),
        ({"d6": 0.5, "f4": 0.25, "f6": 0.25, "c5": 0.0}, "differ: c5"),
        ({"d6": float("nan"), "f4": 0.5, "f6": 0.5}, "not probabilities"),
        ({"d6": -0.5, "f4": 1.0, "f6": 0.5}, "not probabilities"),
        ({"d6": 0.5, "f4": 0.5, "f6": 0.5}, "add up to 1.5000"),
    ],
)
def test_what_is_no_answer(answer: dict[str, float], text: str) -> None:
    with pytest.raises(BadModel, match=text):
        asked(answer)


def test_only_whole_profiles_have_probabilities() -> None:
    whole = {"d6": 0.5, "f4": 0.25, "f6": 0.25}
    with pytest.raises(IncompleteProfile, match="incomplete"):
        asked(whole, replace(MOVE, complete=False))
    with pytest.raises(IncompleteProfile, match="incomplete"):
        asked(whole, replace(MOVE, replies=(*MOVE.replies[:2], ReplyProfile("f6", (), 7))))
    with pytest.raises(ValueError, match="2 probabilities for 3 replies"):
        asked(whole, human=(0.5, 0.5))
