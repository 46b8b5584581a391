"""Which player meets an opponent."""

import json
from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from bot.base.config import SelectionConfig, SelectionMethod, SelectionRule
from bot.base.events import Speed
from bot.game.selection import (
    BLIND_FAVOUR,
    FAVOUR,
    NUMBER_BITS,
    Occasion,
    Selection,
    drawn,
    select,
)
from tests.storage.samples import NEW_GAME


def occasion(**changes: Any) -> Occasion:
    known: dict[str, Any] = {
        "site": "arena",
        "game": "othello",
        "speed": Speed.BLITZ,
        "opponent_rating": 1600,
        "against_opponent": {},
        "overall": {},
    }
    return Occasion(**(known | changes))


def number(seed: int) -> int:
    """The random number of a draw."""
    return Random(seed).getrandbits(NUMBER_BITS)


def test_fixed() -> None:
    config = SelectionConfig(method=SelectionMethod.FIXED, player="standard")
    assert select(occasion(), config, 1) == Selection("standard", {"method": "fixed"})


def test_a_level_is_stored_with_the_game_and_never_drawn() -> None:
    config = SelectionConfig(method=SelectionMethod.FIXED, player="gentle", level=2)
    assert select(occasion(), config, 1) == Selection("gentle", {"method": "fixed", "level": 2})
    with pytest.raises(ValueError, match="gentle, which is for people to beat, not to be compared"):
        SelectionConfig(players=("standard", "gentle"))


@pytest.mark.parametrize("method", SelectionMethod)
def test_a_game_that_only_one_player_can_play(method: SelectionMethod) -> None:
    config = SelectionConfig.model_construct(method=method, player="strong", players=("standard",), rules=())
    found = select(occasion(game="atomic"), config, 1)
    assert found == Selection("trappy_uci", {"method": "only"})


def test_a_game_that_some_players_can_play() -> None:
    fixed = SelectionConfig(method=SelectionMethod.FIXED, player="standard_uci")
    assert select(occasion(game="atomic"), fixed, 1) == Selection("standard_uci", {"method": "fixed"})
    balanced = SelectionConfig(players=("standard", "standard_uci", "trappy_uci"))
    found = {select(occasion(game="atomic"), balanced, number(seed)).player for seed in range(20)}
    assert found == {"standard_uci", "trappy_uci"}
    rule = SelectionRule(player="standard_uci", game="atomic")
    rules = SelectionConfig(method=SelectionMethod.RULES, rules=(rule,))
    assert select(occasion(game="atomic"), rules, 1).player == "standard_uci"


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
    config = SelectionConfig(
        method=SelectionMethod.RULES,
        player="trappy",
        rules=(
            SelectionRule(player="standard", speed=Speed.BULLET),
            SelectionRule(player="trappy", site="lichess"),
            SelectionRule(player="standard", game="tictactoe", min_rating=2000),
            SelectionRule(player="standard", max_rating=999),
        ),
    )
    assert select(occasion(**changes), config, 1) == Selection(player, {"method": "rules", "rule": rule})


@pytest.mark.parametrize("favour", [FAVOUR, BLIND_FAVOUR])
def test_balanced_leans_to_who_is_behind(favour: float) -> None:
    config = SelectionConfig()
    rng = Random(1)

    def share(**changes: Any) -> float:
        picked = Counter(
            select(occasion(**changes), config, rng.getrandbits(NUMBER_BITS), favour).player
            for _ in range(2000)
        )
        return picked["trappy"] / 2000

    assert share() == pytest.approx(0.5, abs=0.05)
    assert share(overall={"standard": 5, "trappy": 4}) == pytest.approx(favour, abs=0.05)
    assert share(overall={"standard": 4, "trappy": 5}) == pytest.approx(1 - favour, abs=0.05)
    # The opponent's own games count first.
    assert share(against_opponent={"standard": 1}, overall={"standard": 4, "trappy": 9}) == pytest.approx(
        favour, abs=0.05
    )


def test_balanced_stays_balanced() -> None:
    rng, config = Random(3), SelectionConfig()
    overall: Counter[str] = Counter()
    worst = 0
    for _ in range(500):
        overall[select(occasion(overall=dict(overall)), config, rng.getrandbits(NUMBER_BITS)).player] += 1
        worst = max(worst, abs(overall["standard"] - overall["trappy"]))
    assert worst <= 8
    assert abs(overall["standard"] - overall["trappy"]) <= 4


def test_a_draw_is_recomputed_from_its_record() -> None:
    counts = {"standard": 2, "trappy": 1}
    players = set()
    for seed in range(50):
        occasion_ = occasion(overall=counts, against_opponent=counts)
        found = select(occasion_, SelectionConfig(), number(seed))
        detail = json.loads(json.dumps(found.detail, sort_keys=True))  # databases order keys as they like
        assert detail == found.detail
        assert (detail["method"], detail["favour"]) == ("balanced", FAVOUR)
        assert detail["against_opponent"] == detail["overall"] == counts
        assert detail["chances"] == {"trappy": FAVOUR, "standard": 1 - FAVOUR}
        assert detail["chance"] == detail["chances"][found.player]
        assert int(detail["number"], 16) == number(seed)
        assert drawn(detail["chances"], int(detail["number"], 16)) == found.player
        players.add(found.player)
    assert players == {"standard", "trappy"}


@pytest.mark.parametrize("order", [("a", "b", "c"), ("c", "b", "a")])
def test_each_number_draws_one_player(order: tuple[str, ...]) -> None:
    known = {"a": 0.25, "b": 0.5, "c": 0.25}
    chances = {player: known[player] for player in order}
    whole = 1 << NUMBER_BITS
    numbers = [0, whole // 4 - 4096, whole // 4, 3 * whole // 4 - 4096, 3 * whole // 4, whole - 1]
    assert [drawn(chances, each) for each in numbers] == ["a", "a", "b", "b", "c", "c"]
    assert drawn({"a": 0.0, "b": 1.0, "c": 0.0}, 0) == drawn({"b": 1.0}, whole - 1) == "b"


def test_draws_that_make_no_sense() -> None:
    for wrong in (-1, 1 << NUMBER_BITS):
        with pytest.raises(ValueError, match=f"number is {wrong}, must have at most 64 bits"):
            drawn({"a": 1.0}, wrong)
    with pytest.raises(ValueError, match="no player has a chance"):
        drawn({"a": 0.0}, 1)


@pytest.mark.parametrize(
    ("favour", "overall", "chances"),
    [
        (FAVOUR, {"standard": 2, "strong": 2}, {"trappy": 0.75, "standard": 0.125, "strong": 0.125}),
        (FAVOUR, {"standard": 2}, {"trappy": 0.375, "standard": 0.25, "strong": 0.375}),
        (BLIND_FAVOUR, {"standard": 2, "strong": 1}, {"trappy": 0.6, "standard": 0.2, "strong": 0.2}),
        # Two of three behind: an even share, which is more than .6.
        (BLIND_FAVOUR, {"standard": 2}, dict.fromkeys(("trappy", "standard", "strong"), 1 / 3)),
        (BLIND_FAVOUR, {}, dict.fromkeys(("trappy", "standard", "strong"), 1 / 3)),
    ],
)
def test_balanced_tells_the_chances_of_all(
    favour: float, overall: dict[str, int], chances: dict[str, float]
) -> None:
    config = SelectionConfig(players=("standard", "trappy", "strong"))
    told = select(occasion(overall=overall), config, number(1), favour).detail["chances"]
    assert told == pytest.approx(chances)
    assert sum(told.values()) == pytest.approx(1)


def test_nobody_can_predict_the_next_player_in_more_than_six_games_of_ten() -> None:
    """Not even who knows every player so far."""
    rng, config = Random(5), SelectionConfig()
    overall: Counter[str] = Counter()
    right = 0
    for _ in range(3000):
        found = select(occasion(overall=dict(overall)), config, rng.getrandbits(NUMBER_BITS), BLIND_FAVOUR)
        right += found.player == min(("standard", "trappy"), key=overall.__getitem__)
        assert max(found.detail["chances"].values()) <= BLIND_FAVOUR
        overall[found.player] += 1
    assert right / 3000 < BLIND_FAVOUR


def test_balanced_with_one_player() -> None:
    config = SelectionConfig(players=("trappy",))
    chosen = select(occasion(overall={"standard": 3}), config, number(1))
    assert (chosen.player, chosen.detail["chances"]) == ("trappy", {"trappy": 1.0})


def is_drawn(found: Selection) -> bool:
    """What is said of a game for which this was selected."""
    return replace(NEW_GAME, player=found.player, selection=found.detail).is_drawn


def test_what_a_lot_chose() -> None:
    two = SelectionConfig(players=["standard", "trappy"])
    ahead = occasion(against_opponent={"standard": 9})
    assert all(is_drawn(select(each, two, number(1))) for each in (occasion(), ahead))
    one = select(occasion(), SelectionConfig(players=["trappy"]), 1)
    fixed = select(occasion(), SelectionConfig(method=SelectionMethod.FIXED), 1)
    assert not any(is_drawn(each) for each in (one, fixed))
    assert is_drawn(Selection("randomised", fixed.detail))
