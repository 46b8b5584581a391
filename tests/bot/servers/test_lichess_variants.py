"""Challenges to variants of chess, from the site's words to the answer."""

from typing import Any

import pytest

from bot.account.challenge_policy import Decline, permanent_refusal
from bot.base.config import ChallengesConfig
from bot.base.dialects import DIALECTS
from bot.base.events import FROM_POSITION, Challenge, ChallengeReceived, DeclineReason
from bot.servers.lichess_wire import read_account_event
from engine.games import ENGINE_GAMES, get_rules


def asked(key: str, fen: str | None = None) -> Challenge:
    message: dict[str, Any] = {
        "id": "abcd1234",
        "challenger": {"id": "anna", "name": "Anna", "rating": 1500},
        "destUser": {"id": "desdemona", "name": "Desdemona"},
        "variant": {"key": key},
        "rated": False,
        "speed": "blitz",
        "timeControl": {"type": "clock", "limit": 300, "increment": 3},
        "initialFen": fen,
    }
    event = read_account_event({"type": "challenge", "challenge": message}, DIALECTS["lichess"], "desdemona")
    assert isinstance(event, ChallengeReceived)
    return event.challenge


@pytest.mark.parametrize("key", sorted(ENGINE_GAMES))
def test_a_variant_is_played_when_the_operator_wants_it(key: str) -> None:
    challenge = asked(key)
    assert (challenge.game, challenge.kind, challenge.initial_position) == (key, key, None)
    assert permanent_refusal(challenge, ChallengesConfig(variants=("chess", key))) is None
    told = permanent_refusal(challenge, ChallengesConfig())
    assert isinstance(told, Decline)
    assert told.reason is DeclineReason.VARIANT


@pytest.mark.parametrize("key", sorted(ENGINE_GAMES))
def test_the_usual_start_is_known(key: str) -> None:
    assert asked(key, get_rules(key).board_text(get_rules(key).initial())).kind == key


@pytest.mark.parametrize(
    ("key", "fen", "is_usual"),
    [
        ("threeCheck", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 +0+0", True),
        ("threeCheck", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 +1+0", False),
        ("crazyhouse", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR/ w KQkq - 0 1", True),
        ("crazyhouse", "rnb1kbnr/ppp1pppp/8/3Q~4/8/8/PPPP1PPP/RNBQKBNR/Qp b KQkq - 0 9", False),
    ],
)
def test_the_sites_own_positions(key: str, fen: str, is_usual: bool) -> None:
    challenge = asked(key, fen)
    assert (challenge.game, challenge.kind) == (key, key if is_usual else FROM_POSITION)
    assert permanent_refusal(challenge, ChallengesConfig(variants=(key, FROM_POSITION))) is None


def test_a_position_that_is_none_is_no_game_of_ours() -> None:
    challenge = asked("crazyhouse", "4k3/8/8/8/8/8/8/4K3[K] w - - 0 1")
    assert challenge.game is None
    told = permanent_refusal(challenge, ChallengesConfig(variants=("crazyhouse", FROM_POSITION)))
    assert isinstance(told, Decline)
    assert told.reason is DeclineReason.VARIANT
