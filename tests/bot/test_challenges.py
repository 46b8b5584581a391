"""Which challenges are taken, and what the others are told."""

from dataclasses import replace
from typing import Any

import pytest

from bot.challenges import Accept, Decline, Load, answer
from bot.config import BotPolicy, ChallengesConfig
from bot.events import Challenge, Clock, DeclineReason, Opponent, Speed

ANNA = Opponent(id="anna", name="Anna", rating=1600, is_bot=False)
ROBOT = replace(ANNA, is_bot=True)
OFFER = Challenge(
    id="c1",
    challenger=ANNA,
    game="othello",
    variant="othello",
    kind="othello",
    rated=True,
    speed=Speed.BLITZ,
    clock=Clock(180, 2),
    days_per_turn=None,
    initial_position=None,
    is_ours=False,
)


def test_an_ordinary_challenge_is_taken() -> None:
    assert answer(OFFER, Load(), ChallengesConfig()) == Accept()


@pytest.mark.parametrize(
    ("offer", "settings", "reason"),
    [
        ({"challenger": None}, {}, DeclineReason.GENERIC),
        ({}, {"block": ("ANNA",)}, DeclineReason.GENERIC),
        ({"challenger": replace(ANNA, id="x", name="Anna")}, {"block": ("anna",)}, DeclineReason.GENERIC),
        ({"challenger": ROBOT}, {"bots": BotPolicy.DECLINE}, DeclineReason.NO_BOT),
        ({}, {"bots": BotPolicy.ONLY}, DeclineReason.ONLY_BOT),
        ({}, {"min_rating": 1601}, DeclineReason.GENERIC),
        ({}, {"max_rating": 1599}, DeclineReason.GENERIC),
        ({"game": None, "variant": "antichess", "kind": ""}, {}, DeclineReason.VARIANT),
        ({"game": "tictactoe", "kind": "tictactoe"}, {}, DeclineReason.VARIANT),
        ({"kind": "from_position"}, {"variants": ("othello",)}, DeclineReason.STANDARD),
        ({"rated": True}, {"rated": False}, DeclineReason.CASUAL),
        ({"rated": False}, {"casual": False}, DeclineReason.RATED),
        ({"clock": None}, {}, DeclineReason.TIME_CONTROL),
        ({"clock": Clock(20, 0)}, {}, DeclineReason.TOO_FAST),
        ({"clock": Clock(60, 0)}, {"min_increment_s": 1}, DeclineReason.TOO_FAST),
        ({"clock": Clock(7200, 0)}, {}, DeclineReason.TOO_SLOW),
        ({"clock": Clock(60, 120)}, {}, DeclineReason.TOO_SLOW),
    ],
)
def test_declined(offer: dict[str, Any], settings: dict[str, Any], reason: DeclineReason) -> None:
    told = answer(replace(OFFER, **offer), Load(), ChallengesConfig(**settings))
    assert isinstance(told, Decline)
    assert told.reason is reason
    assert told.why


@pytest.mark.parametrize(
    ("offer", "settings"),
    [
        ({"clock": None}, {"unlimited": True}),
        ({"challenger": ROBOT}, {}),
        ({"challenger": ROBOT}, {"bots": BotPolicy.ONLY}),
        ({"challenger": replace(ANNA, rating=None)}, {"min_rating": 2000}),
        ({"clock": Clock(30, 0)}, {}),
        ({"game": "tictactoe", "kind": "tictactoe"}, {"variants": ("tictactoe",)}),
    ],
)
def test_accepted(offer: dict[str, Any], settings: dict[str, Any]) -> None:
    assert answer(replace(OFFER, **offer), Load(), ChallengesConfig(**settings)) == Accept()


def test_too_many_games() -> None:
    config = ChallengesConfig(max_games=3, max_games_per_opponent=2)
    assert answer(OFFER, Load(("anna", "ben")), config) == Accept()
    for load in (Load(("ben", "carl", "")), Load(("anna", "anna")), Load(is_open=False)):
        told = answer(OFFER, load, config)
        assert isinstance(told, Decline)
        assert told.reason is DeclineReason.LATER


def test_lasting_reasons_come_first() -> None:
    """Who is told "later" will come again, so it must be true."""
    told = answer(replace(OFFER, game=None), Load(is_open=False), ChallengesConfig())
    assert isinstance(told, Decline)
    assert told.reason is DeclineReason.VARIANT
