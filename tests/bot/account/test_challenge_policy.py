"""Which challenges are accepted, which wait, and why the others are declined."""

from dataclasses import replace
from typing import Any

import pytest

from bot.account.challenge_policy import (
    Accept,
    ChallengeAnswer,
    Decline,
    GameSlot,
    Load,
    WaitForSlot,
    decide_by_load,
    model_refusal,
    permanent_refusal,
    required_slot,
)
from bot.base.config import AssignmentConfig, AssignmentMethod, BotPolicy, ChallengesConfig
from bot.base.events import Challenge, Clock, DeclineReason, Opponent, Speed
from bot.game.shared_game_limit import MachineCapacity

ANNA = Opponent(id="anna", name="Anna", rating=1600, is_bot=False)
ROBOT = Opponent(id="robot", name="Robot", rating=1600, is_bot=True)
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
CHESS = {"game": "chess", "variant": "standard", "kind": "chess"}
CHESS960 = {"game": "chess", "variant": "chess960", "kind": "chess960"}
ATOMIC = {"game": "atomic", "variant": "atomic", "kind": "atomic"}
SET_UP = {"game": "chess", "variant": "fromPosition", "kind": "from_position"}
LADDER = "7k/8/8/8/8/8/R7/1R5K w - - 0 1"
MATED = "R6k/1R6/8/8/8/8/8/7K b - - 0 1"
BULLET = {"speed": Speed.BULLET, "clock": Clock(60, 0)}
SLOW: dict[str, Any] = {"clock": None, "speed": Speed.CORRESPONDENCE}

A, B, C = GameSlot("anna"), GameSlot("ben"), GameSlot("carl")
ROBOTS = GameSlot("robot", is_bot=True)
SLOW_GAME = GameSlot("dora", has_no_clock=True)


def respond(offer: Challenge, load: Load, config: ChallengesConfig) -> ChallengeAnswer:
    return permanent_refusal(offer, config) or decide_by_load(offer, load, config)


@pytest.mark.parametrize(
    ("settings", "most"),
    [
        ({"max_games": 3, "max_games_per_opponent": 1}, 1),
        ({"max_games": 2, "max_games_per_opponent": 3}, 2),
        ({"max_games": 3, "max_games_per_opponent": 3}, 3),
    ],
)
def test_more_boards_than_could_ever_be_played(settings: dict[str, int], most: int) -> None:
    config = ChallengesConfig(**settings)
    assert permanent_refusal(replace(OFFER, boards=most), config) is None
    declined = permanent_refusal(replace(OFFER, boards=most + 1), config)
    assert declined == Decline(DeclineReason.VARIANT, f"{most + 1} concurrent games; the maximum is {most}")


def test_each_board_counts() -> None:
    config = ChallengesConfig(max_games=4, max_games_per_opponent=3, reserved_for_humans=1)
    pair = replace(OFFER, boards=2)
    two = replace(A, boards=2)
    assert respond(pair, Load(games=[A]), config) == Accept()
    assert isinstance(respond(pair, Load(games=[two]), config), WaitForSlot)
    assert respond(pair, Load(games=[replace(B, boards=2)]), config) == Accept()
    assert isinstance(respond(pair, Load(games=[replace(B, boards=3)]), config), WaitForSlot)
    robots = Load(games=[GameSlot("other", is_bot=True, boards=2)])
    assert respond(pair, robots, config) == Accept()
    assert isinstance(respond(replace(pair, challenger=ROBOT), robots, config), WaitForSlot)
    # One opponent may not fill the queue.
    full = Load(games=[replace(B, boards=3), C], queued_before=[two])
    assert isinstance(respond(pair, full, config), Decline)


def test_an_ordinary_challenge_is_taken() -> None:
    assert respond(OFFER, Load(), ChallengesConfig()) == Accept()


@pytest.mark.parametrize(
    ("offer", "settings", "reason"),
    [
        ({"challenger": None}, {}, DeclineReason.GENERIC),
        ({}, {"block": ("ANNA",)}, DeclineReason.GENERIC),
        ({"challenger": replace(ANNA, id="x", name="Anna")}, {"block": ("anna",)}, DeclineReason.GENERIC),
        ({}, {"allow": ("ben", "carl")}, DeclineReason.GENERIC),
        ({}, {"allow": ("anna",), "block": ("anna",)}, DeclineReason.GENERIC),
        ({"challenger": ROBOT}, {"bots": BotPolicy.DECLINE}, DeclineReason.NO_BOT),
        ({"challenger": ROBOT}, {"max_games": 2, "reserved_for_humans": 2}, DeclineReason.NO_BOT),
        ({}, {"bots": BotPolicy.ONLY}, DeclineReason.ONLY_BOT),
        ({}, {"min_rating": 1601}, DeclineReason.GENERIC),
        ({}, {"max_rating": 1599}, DeclineReason.GENERIC),
        ({"our_rating": 1499}, {"max_rating_difference": 100}, DeclineReason.GENERIC),
        ({"our_rating": 1701}, {"max_rating_difference": 100}, DeclineReason.GENERIC),
        ({"game": None, "variant": "fairy", "kind": ""}, {}, DeclineReason.VARIANT),
        (ATOMIC, {}, DeclineReason.VARIANT),
        (ATOMIC | {"kind": "from_position"}, {}, DeclineReason.VARIANT),
        ({"game": "tictactoe", "kind": "tictactoe"}, {}, DeclineReason.VARIANT),
        (CHESS, {"variants": ("chess960",)}, DeclineReason.VARIANT),
        (CHESS960, {"variants": ("chess",)}, DeclineReason.VARIANT),
        (SET_UP, {"variants": ("othello", "from_position")}, DeclineReason.VARIANT),
        ({"kind": "from_position"}, {"variants": ("othello",)}, DeclineReason.STANDARD),
        (SET_UP | {"initial_position": "no position"}, {}, DeclineReason.STANDARD),
        (SET_UP | {"initial_position": MATED}, {}, DeclineReason.STANDARD),
        (CHESS960 | {"initial_position": "8/8/8/8/8/8/8/8 w - - 0 1"}, {}, DeclineReason.VARIANT),
        ({"rated": True}, {"rated": False}, DeclineReason.CASUAL),
        ({"rated": False}, {"casual": False}, DeclineReason.RATED),
        ({"clock": Clock(20, 0)}, {}, DeclineReason.TOO_FAST),
        ({"clock": Clock(60, 0)}, {"min_increment_s": 1}, DeclineReason.TOO_FAST),
        ({"clock": Clock(7200, 0)}, {}, DeclineReason.TOO_SLOW),
        ({"clock": Clock(60, 120)}, {}, DeclineReason.TOO_SLOW),
        (BULLET | {"challenger": ROBOT}, {"bots_need_increment": True}, DeclineReason.TIME_CONTROL),
        (SLOW, {"unlimited": False}, DeclineReason.TIME_CONTROL),
        (SLOW, {"unlimited": False, "min_days": 1}, DeclineReason.TIME_CONTROL),
        (SLOW | {"days_per_turn": 3}, {"unlimited": True}, DeclineReason.TIME_CONTROL),
        (SLOW | {"days_per_turn": 1}, {"min_days": 2}, DeclineReason.TOO_FAST),
        (SLOW | {"days_per_turn": 8}, {"min_days": 1, "max_days": 7}, DeclineReason.TOO_SLOW),
    ],
)
def test_declined(offer: dict[str, Any], settings: dict[str, Any], reason: DeclineReason) -> None:
    told = permanent_refusal(replace(OFFER, **offer), ChallengesConfig(**settings))
    assert isinstance(told, Decline)
    assert told.reason is reason
    assert told.why


@pytest.mark.parametrize(
    ("offer", "settings"),
    [
        ({}, {"allow": ("Anna",)}),
        ({"clock": None}, {"unlimited": True}),
        (SLOW | {"days_per_turn": 1}, {"min_days": 1}),
        (SLOW | {"days_per_turn": 7}, {"min_days": 1, "max_days": 7}),
        ({"challenger": ROBOT}, {}),
        ({"challenger": ROBOT}, {"bots": BotPolicy.ONLY}),
        ({"challenger": ROBOT}, {"bots_need_increment": True}),
        (BULLET | {"challenger": ROBOT}, {}),
        (BULLET | {"challenger": ROBOT, "clock": Clock(60, 1)}, {"bots_need_increment": True}),
        (BULLET, {"bots_need_increment": True}),
        ({"clock": Clock(0, 1), "speed": Speed.BULLET}, {"min_initial_s": 0}),
        ({"challenger": replace(ANNA, rating=None)}, {"min_rating": 2000}),
        ({"challenger": replace(ANNA, rating=None), "our_rating": 1000}, {"max_rating_difference": 1}),
        ({}, {"max_rating_difference": 1}),
        ({"our_rating": 1500}, {"max_rating_difference": 100}),
        ({"clock": Clock(30, 0)}, {}),
        ({"game": "tictactoe", "kind": "tictactoe"}, {"variants": ("tictactoe",)}),
        (CHESS, {}),
        (ATOMIC, {"variants": ("chess", "atomic")}),
        (CHESS960, {"variants": ("chess960",)}),
        (
            CHESS960
            | {"initial_position": "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"},
            {},
        ),
        (SET_UP | {"initial_position": LADDER}, {}),
        (SET_UP | {"initial_position": LADDER}, {"variants": ("chess960", "from_position")}),
    ],
)
def test_accepted(offer: dict[str, Any], settings: dict[str, Any]) -> None:
    assert respond(replace(OFFER, **offer), Load(), ChallengesConfig(**settings)) == Accept()


def test_people_are_imitated_only_where_there_is_a_model_of_them() -> None:
    like = AssignmentConfig(method=AssignmentMethod.FIXED, strategy="like")
    offer, known = replace(OFFER, game="chess", variant="standard", kind="chess"), {"othello"}
    refusal = model_refusal(offer, like, known.__contains__)
    assert refusal is not None
    assert refusal.reason is DeclineReason.VARIANT
    assert model_refusal(OFFER, like, known.__contains__) is None
    assert model_refusal(replace(OFFER, game=None), like, known.__contains__) is None
    assert model_refusal(offer, AssignmentConfig(), known.__contains__) is None


def test_a_list_of_its_own_blocks_too() -> None:
    assert permanent_refusal(OFFER, ChallengesConfig(), {"ben"}) is None
    told = permanent_refusal(OFFER, ChallengesConfig(), {"ben", "aNNa"})
    assert isinstance(told, Decline)
    assert "block list" in told.why


ROBOT_ASKS = replace(OFFER, challenger=ROBOT)
SLOW_ASKED = replace(OFFER, clock=None)


@pytest.mark.parametrize(
    ("offer", "games", "has_place"),
    [
        (OFFER, (B, C), True),
        (OFFER, (B, C, C), False),
        (OFFER, (A, B), True),
        (OFFER, (A, A), False),
        (OFFER, (B, C, SLOW_GAME), True),
        (OFFER, (ROBOTS, ROBOTS, C), False),
        (ROBOT_ASKS, (B, C), True),
        (ROBOT_ASKS, (GameSlot("x", is_bot=True), C), True),
        (ROBOT_ASKS, (GameSlot("x", is_bot=True), GameSlot("y", is_bot=True)), False),
        (SLOW_ASKED, (B, B, C), True),
        (SLOW_ASKED, (SLOW_GAME,), False),
        (SLOW_ASKED, (A, A), False),
    ],
)
def test_places(offer: Challenge, games: tuple[GameSlot, ...], has_place: bool) -> None:
    config = ChallengesConfig(
        max_games=3, max_games_per_opponent=2, reserved_for_humans=1, max_slow_games=1, unlimited=True
    )
    told = respond(offer, Load(games), config)
    assert isinstance(told, Accept if has_place else WaitForSlot)
    if isinstance(told, WaitForSlot):
        assert told.why
        told = respond(offer, Load(games), config.model_copy(update={"max_waiting": 0}))
        assert isinstance(told, Decline)
        assert told.reason is DeclineReason.LATER


def test_games_that_rest_need_no_place() -> None:
    config = ChallengesConfig(max_games=2, max_games_per_opponent=1)
    games = tuple(GameSlot(f"p{number}") for number in range(8))
    for running, resting, has_place in (
        (2, 0, False),
        (2, 1, True),
        (7, 6, True),
        (8, 8, False),
        (3, 1, False),
    ):
        told = respond(OFFER, Load(games[:running], resting=resting), config)
        assert isinstance(told, Accept) == has_place, (running, resting)
    shared = Load(games[:2], resting=1, machine=MachineCapacity(1))
    assert isinstance(respond(OFFER, shared, config), WaitForSlot), "a machine has its limit, too"


def test_so_many_may_wait() -> None:
    config = ChallengesConfig(max_games=1, max_waiting=2)
    assert isinstance(respond(OFFER, Load((B,), (C,)), config), WaitForSlot)
    told = respond(OFFER, Load((B,), (C, GameSlot("dora"))), config)
    assert isinstance(told, Decline)
    assert told.reason is DeclineReason.LATER


def test_nobody_fills_the_queue_alone() -> None:
    config = ChallengesConfig(max_games=1, max_games_per_opponent=2)
    assert isinstance(respond(OFFER, Load((B,), (A,)), config), WaitForSlot)
    assert isinstance(respond(OFFER, Load((B,), (A, A)), config), Decline)


@pytest.mark.parametrize(
    ("bot_games", "is_taken"),
    [({}, True), ({"robot": 1, "x": 2}, True), ({"robot": 2}, False), ({"robot": 1, "x": 3}, False)],
)
def test_games_with_programs_in_a_day(bot_games: dict[str, int], is_taken: bool) -> None:
    config = ChallengesConfig(max_games_per_bot_per_day=2, max_bot_games_per_day=4)
    assert respond(OFFER, Load(bot_games=bot_games), config) == Accept()
    told = respond(ROBOT_ASKS, Load(bot_games=bot_games), config)
    if is_taken:
        assert told == Accept()
    else:
        assert isinstance(told, Decline)
        assert told.reason is DeclineReason.LATER


def test_nothing_is_taken_while_shutting_down() -> None:
    for games in ((), (B,)):
        told = respond(
            OFFER, Load(games, closed_reason="the program is stopping"), ChallengesConfig(max_games=1)
        )
        assert isinstance(told, Decline)
        assert told.reason is DeclineReason.LATER


def test_lasting_reasons_come_first() -> None:
    """An opponent declined with "later" will try again, so it must be true."""
    told = respond(
        replace(OFFER, game=None), Load(closed_reason="the program is stopping"), ChallengesConfig()
    )
    assert isinstance(told, Decline)
    assert told.reason is DeclineReason.VARIANT


def test_what_a_challenge_asks_for() -> None:
    assert required_slot(OFFER) == A
    assert required_slot(replace(OFFER, challenger=None)) == GameSlot("", False, False)
    assert required_slot(replace(OFFER, challenger=ROBOT, clock=None)) == GameSlot("robot", True, True)


@pytest.mark.parametrize(
    ("clock", "speed", "is_taken"),
    [
        (Clock(180, 2), Speed.BLITZ, True),
        (Clock(180, 0), Speed.BLITZ, False),
        (Clock(60, 0), Speed.BULLET, True),  # whatever the ranges say
        (Clock(10, 1), Speed.BULLET, True),
    ],
)
def test_a_list_of_clocks(clock: Clock, speed: Speed, is_taken: bool) -> None:
    limits = ChallengesConfig(clocks=("180+2", "bullet"), min_initial_s=120)
    refusal = permanent_refusal(replace(OFFER, clock=clock, speed=speed), limits)
    assert (refusal is None) == is_taken
    if refusal is not None:
        assert (refusal.reason, refusal.why) == (
            DeclineReason.TIME_CONTROL,
            f"{clock.initial_s} s + {clock.increment_s} s is not one of the allowed clocks",
        )


def test_people_and_bots_may_have_settings_of_their_own() -> None:
    limits = ChallengesConfig(
        rated=False,
        min_rating=1000,
        for_people={"rated": True},
        for_bots={"min_rating": 1700, "clocks": ["60+0"]},
    )
    assert permanent_refusal(OFFER, limits) is None
    for challenge in (replace(OFFER, challenger=ROBOT), replace(OFFER, challenger=ROBOT, rated=False)):
        refusal = permanent_refusal(challenge, limits)
        assert refusal is not None
        assert refusal.reason is (DeclineReason.CASUAL if challenge.rated else DeclineReason.TIME_CONTROL)
    bullet = replace(OFFER, challenger=ROBOT, rated=False, speed=Speed.BULLET, clock=Clock(60, 0))
    refusal = permanent_refusal(bullet, limits)
    assert refusal is not None
    assert refusal.why == "rating 1600 is outside 1700 to 4000"
    assert permanent_refusal(replace(bullet, challenger=replace(ROBOT, rating=1800)), limits) is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"for_bots": {"max_games": 3}}, "max_games cannot differ; known here: rated, casual"),
        ({"for_people": {"rated": False, "casual": False}}, "no game could be accepted"),
        ({"for_people": {"min_rating": 4500}}, "min_rating is above max_rating"),
        ({"for_bots": {"clocks": ["3+2 minutes"]}}, "neither like 180\\+2"),
        ({"clocks": ["correspondence"]}, "neither like 180\\+2"),
    ],
)
def test_settings_that_make_no_sense(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ChallengesConfig(**changes)
