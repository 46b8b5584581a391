"""Which player meets an opponent."""

import json
from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from bot.base.config import AssignmentConfig, AssignmentMethod, AssignmentRule
from bot.base.events import Speed
from bot.game.assignment import (
    BIASED_COIN_PROBABILITY,
    BLIND_COIN_PROBABILITY,
    DRAW_BITS,
    Assignment,
    AssignmentContext,
    assign,
    drawn_strategy,
)
from tests.storage.samples import NEW_GAME

BALANCED = AssignmentConfig(method=AssignmentMethod.BALANCED)


def context(**changes: Any) -> AssignmentContext:
    known: dict[str, Any] = {
        "site": "arena",
        "game": "othello",
        "speed": Speed.BLITZ,
        "rated": True,
        "opponent_rating": 1600,
        "opponent_is_bot": False,
        "against_opponent": {},
        "overall": {},
    }
    return AssignmentContext(**(known | changes))


def number(seed: int) -> int:
    """The random number of a draw."""
    return Random(seed).getrandbits(DRAW_BITS)


def test_fixed() -> None:
    config = AssignmentConfig(method=AssignmentMethod.FIXED, strategy="standard")
    assert assign(context(), config, 1) == Assignment("standard", {"method": "fixed"})


def test_a_level_is_stored_with_the_game_and_never_drawn() -> None:
    config = AssignmentConfig(method=AssignmentMethod.FIXED, strategy="gentle", level=2)
    assert assign(context(), config, 1) == Assignment("gentle", {"method": "fixed", "level": 2})
    config = AssignmentConfig(method=AssignmentMethod.FIXED, strategy="like", like_rating=1700)
    assert assign(context(), config, 1) == Assignment("like", {"method": "fixed", "like_rating": 1700})
    with pytest.raises(ValueError, match="gentle, a weakened player that cannot be compared"):
        AssignmentConfig(strategies=("standard", "gentle"))


@pytest.mark.parametrize("method", AssignmentMethod)
def test_a_game_that_only_one_player_can_play(method: AssignmentMethod) -> None:
    config = AssignmentConfig.model_construct(
        method=method, strategy="strong", strategies=("standard",), rules=()
    )
    found = assign(context(game="atomic"), config, 1)
    assert found == Assignment("trappy_uci", {"method": "only"})


def test_a_game_that_some_players_can_play() -> None:
    fixed = AssignmentConfig(method=AssignmentMethod.FIXED, strategy="standard_uci")
    assert assign(context(game="atomic"), fixed, 1) == Assignment("standard_uci", {"method": "fixed"})
    balanced = AssignmentConfig(strategies=("standard", "standard_uci", "trappy_uci"))
    found = {assign(context(game="atomic"), balanced, number(seed)).strategy for seed in range(20)}
    assert found == {"standard_uci", "trappy_uci"}
    rule = AssignmentRule(strategy="standard_uci", game="atomic")
    rules = AssignmentConfig(method=AssignmentMethod.RULES, rules=(rule,))
    assert assign(context(game="atomic"), rules, 1).strategy == "standard_uci"


@pytest.mark.parametrize(
    ("changes", "player", "rule"),
    [
        ({}, "trappy", None),
        ({"speed": Speed.BULLET}, "standard", 1),
        ({"site": "lichess"}, "trappy", 2),
        ({"game": "tictactoe", "opponent_rating": 2100}, "standard", 3),
        ({"game": "tictactoe", "opponent_rating": 2000}, "standard", 3),
        ({"game": "tictactoe", "opponent_rating": 1999}, "trappy", None),
        ({"game": "tictactoe", "opponent_rating": None}, "trappy", None),
        ({"opponent_rating": 900}, "standard", 4),
        ({"opponent_rating": 999}, "standard", 4),
        ({"opponent_rating": 1000}, "trappy", None),
    ],
)
def test_rules(changes: dict[str, Any], player: str, rule: int | None) -> None:
    config = AssignmentConfig(
        method=AssignmentMethod.RULES,
        strategy="trappy",
        rules=(
            AssignmentRule(strategy="standard", speed=Speed.BULLET),
            AssignmentRule(strategy="trappy", site="lichess"),
            AssignmentRule(strategy="standard", game="tictactoe", min_rating=2000),
            AssignmentRule(strategy="standard", max_rating=999),
        ),
    )
    assert assign(context(**changes), config, 1) == Assignment(player, {"method": "rules", "rule": rule})


@pytest.mark.parametrize(
    ("changes", "has_people_model", "strategy", "reason"),
    [
        ({"rated": False}, True, "exploit", "casual"),
        ({"opponent_is_bot": True}, True, "strong", "program"),
        ({"opponent_is_bot": True, "rated": False}, False, "strong", "program"),
        ({"game": "connect4"}, False, "strong", "no model of people"),
        ({"game": "connect4", "rated": False}, False, "strong", "no model of people"),
    ],
)
def test_full_strength_draws_nothing_where_nothing_is_compared(
    changes: dict[str, Any], has_people_model: bool, strategy: str, reason: str
) -> None:
    for seed in range(20):
        made = assign(context(**changes), AssignmentConfig(), number(seed), has_people_model=has_people_model)
        assert made == Assignment(strategy, {"method": "full_strength", "reason": reason})
        assert not is_drawn(made)


def test_full_strength_draws_rated_games_against_people() -> None:
    rng, overall = Random(4), Counter[str]()
    for _ in range(300):
        made = assign(context(overall=dict(overall)), AssignmentConfig(), rng.getrandbits(DRAW_BITS))
        overall[made.strategy] += 1
        game = replace(NEW_GAME, strategy=made.strategy, selection=made.detail)
        assert game.drawn_from == game.arms == ("exploit", "strong")
        assert made.detail["method"] == "full_strength"
        again = drawn_strategy(made.detail["chances"], int(made.detail["number"], 16))
        assert again == made.strategy
    assert abs(overall["exploit"] - overall["strong"]) < 20


@pytest.mark.parametrize("coin_probability", [BIASED_COIN_PROBABILITY, BLIND_COIN_PROBABILITY])
def test_balanced_leans_to_who_is_behind(coin_probability: float) -> None:
    config = BALANCED
    rng = Random(1)

    def share(**changes: Any) -> float:
        picked = Counter(
            assign(context(**changes), config, rng.getrandbits(DRAW_BITS), coin_probability).strategy
            for _ in range(2000)
        )
        return picked["trappy"] / 2000

    assert share() == pytest.approx(0.5, abs=0.05)
    assert share(overall={"standard": 5, "trappy": 4}) == pytest.approx(coin_probability, abs=0.05)
    assert share(overall={"standard": 4, "trappy": 5}) == pytest.approx(1 - coin_probability, abs=0.05)
    # The opponent's own games count first.
    assert share(against_opponent={"standard": 1}, overall={"standard": 4, "trappy": 9}) == pytest.approx(
        coin_probability, abs=0.05
    )


def test_balanced_stays_balanced() -> None:
    rng, config = Random(3), BALANCED
    overall: Counter[str] = Counter()
    worst = 0
    for _ in range(500):
        overall[assign(context(overall=dict(overall)), config, rng.getrandbits(DRAW_BITS)).strategy] += 1
        worst = max(worst, abs(overall["standard"] - overall["trappy"]))
    assert worst <= 8
    assert abs(overall["standard"] - overall["trappy"]) <= 4


def test_a_draw_is_recomputed_from_its_record() -> None:
    counts = {"standard": 2, "trappy": 1}
    players = set()
    for seed in range(50):
        occasion_ = context(overall=counts, against_opponent=counts)
        found = assign(occasion_, BALANCED, number(seed))
        detail = json.loads(json.dumps(found.detail, sort_keys=True))  # databases order keys as they like
        assert detail == found.detail
        assert (detail["method"], detail["coin_probability"]) == ("balanced", BIASED_COIN_PROBABILITY)
        assert detail["against_opponent"] == detail["overall"] == counts
        assert detail["chances"] == {
            "trappy": BIASED_COIN_PROBABILITY,
            "standard": 1 - BIASED_COIN_PROBABILITY,
        }
        assert detail["chance"] == detail["chances"][found.strategy]
        assert int(detail["number"], 16) == number(seed)
        assert drawn_strategy(detail["chances"], int(detail["number"], 16)) == found.strategy
        players.add(found.strategy)
    assert players == {"standard", "trappy"}


@pytest.mark.parametrize("order", [("a", "b", "c"), ("c", "b", "a")])
def test_each_number_draws_one_player(order: tuple[str, ...]) -> None:
    known = {"a": 0.25, "b": 0.5, "c": 0.25}
    chances = {player: known[player] for player in order}
    whole = 1 << DRAW_BITS
    numbers = [0, whole // 4 - 4096, whole // 4, 3 * whole // 4 - 4096, 3 * whole // 4, whole - 1]
    assert [drawn_strategy(chances, each) for each in numbers] == ["a", "a", "b", "b", "c", "c"]
    assert drawn_strategy({"a": 0.0, "b": 1.0, "c": 0.0}, 0) == drawn_strategy({"b": 1.0}, whole - 1) == "b"


def test_draws_that_make_no_sense() -> None:
    for wrong in (-1, 1 << DRAW_BITS):
        with pytest.raises(ValueError, match=f"number is {wrong}, must have at most 64 bits"):
            drawn_strategy({"a": 1.0}, wrong)
    with pytest.raises(ValueError, match="no strategy has a positive probability"):
        drawn_strategy({"a": 0.0}, 1)


@pytest.mark.parametrize(
    ("coin_probability", "overall", "chances"),
    [
        (
            BIASED_COIN_PROBABILITY,
            {"standard": 2, "strong": 2},
            {"trappy": 0.75, "standard": 0.125, "strong": 0.125},
        ),
        (BIASED_COIN_PROBABILITY, {"standard": 2}, {"trappy": 0.375, "standard": 0.25, "strong": 0.375}),
        (
            BLIND_COIN_PROBABILITY,
            {"standard": 2, "strong": 1},
            {"trappy": 0.6, "standard": 0.2, "strong": 0.2},
        ),
        # Two of three behind: an even share, which is more than .6.
        (BLIND_COIN_PROBABILITY, {"standard": 2}, dict.fromkeys(("trappy", "standard", "strong"), 1 / 3)),
        (BLIND_COIN_PROBABILITY, {}, dict.fromkeys(("trappy", "standard", "strong"), 1 / 3)),
    ],
)
def test_balanced_tells_the_chances_of_all(
    coin_probability: float, overall: dict[str, int], chances: dict[str, float]
) -> None:
    config = AssignmentConfig(strategies=("standard", "trappy", "strong"))
    told = assign(context(overall=overall), config, number(1), coin_probability).detail["chances"]
    assert told == pytest.approx(chances)
    assert sum(told.values()) == pytest.approx(1)


def test_nobody_can_predict_the_next_player_in_more_than_six_games_of_ten() -> None:
    """Not even who knows every player so far."""
    rng, config = Random(5), BALANCED
    overall: Counter[str] = Counter()
    right = 0
    for _ in range(3000):
        found = assign(
            context(overall=dict(overall)), config, rng.getrandbits(DRAW_BITS), BLIND_COIN_PROBABILITY
        )
        right += found.strategy == min(("standard", "trappy"), key=overall.__getitem__)
        assert max(found.detail["chances"].values()) <= BLIND_COIN_PROBABILITY
        overall[found.strategy] += 1
    assert right / 3000 < BLIND_COIN_PROBABILITY


def test_balanced_with_one_player() -> None:
    config = AssignmentConfig(strategies=("trappy",))
    chosen = assign(context(overall={"standard": 3}), config, number(1))
    assert (chosen.strategy, chosen.detail["chances"]) == ("trappy", {"trappy": 1.0})


def is_drawn(found: Assignment) -> bool:
    """What the game says that is played so."""
    return replace(NEW_GAME, strategy=found.strategy, selection=found.detail).is_drawn


def test_what_a_draw_chose() -> None:
    two = AssignmentConfig(strategies=["standard", "trappy"])
    ahead = context(against_opponent={"standard": 9})
    assert all(is_drawn(assign(each, two, number(1))) for each in (context(), ahead))
    one = assign(context(), AssignmentConfig(strategies=["trappy"]), 1)
    fixed = assign(context(), AssignmentConfig(method=AssignmentMethod.FIXED), 1)
    assert not any(is_drawn(each) for each in (one, fixed))
    assert is_drawn(Assignment("randomised", fixed.detail | {"randomised": {}}))
