"""Which player meets an opponent."""

import json
from collections import Counter
from random import Random
from typing import Any

import pytest

from bot.base.config import SelectionConfig, SelectionMethod, SelectionRule
from bot.base.events import Speed
from bot.game.selection import FAVOUR, Occasion, Selection, select


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


def test_fixed() -> None:
    config = SelectionConfig(method=SelectionMethod.FIXED, player="standard")
    assert select(occasion(), config, Random(1)) == Selection("standard", {"method": "fixed"})


@pytest.mark.parametrize("method", SelectionMethod)
def test_a_game_that_only_one_player_can_play(method: SelectionMethod) -> None:
    config = SelectionConfig.model_construct(method=method, player="strong", players=("standard",), rules=())
    found = select(occasion(game="atomic"), config, Random(1))
    assert found == Selection("trappy_uci", {"method": "only"})


def test_a_game_that_some_players_can_play() -> None:
    fixed = SelectionConfig(method=SelectionMethod.FIXED, player="standard_uci")
    assert select(occasion(game="atomic"), fixed, Random(1)) == Selection("standard_uci", {"method": "fixed"})
    balanced = SelectionConfig(players=("standard", "standard_uci", "trappy_uci"))
    found = {select(occasion(game="atomic"), balanced, Random(seed)).player for seed in range(20)}
    assert found == {"standard_uci", "trappy_uci"}
    rule = SelectionRule(player="standard_uci", game="atomic")
    rules = SelectionConfig(method=SelectionMethod.RULES, rules=(rule,))
    assert select(occasion(game="atomic"), rules, Random(1)).player == "standard_uci"


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
    assert select(occasion(**changes), config, Random(1)) == Selection(
        player, {"method": "rules", "rule": rule}
    )


def test_balanced_leans_to_who_is_behind() -> None:
    config = SelectionConfig()
    rng = Random(1)

    def share(**changes: Any) -> float:
        picked = Counter(select(occasion(**changes), config, rng).player for _ in range(2000))
        return picked["trappy"] / 2000

    assert share() == pytest.approx(0.5, abs=0.05)
    assert share(overall={"standard": 5, "trappy": 4}) == pytest.approx(FAVOUR, abs=0.05)
    assert share(overall={"standard": 4, "trappy": 5}) == pytest.approx(1 - FAVOUR, abs=0.05)
    # The opponent's own games count first.
    assert share(against_opponent={"standard": 1}, overall={"standard": 4, "trappy": 9}) == pytest.approx(
        FAVOUR, abs=0.05
    )


def test_balanced_stays_balanced() -> None:
    rng, config = Random(3), SelectionConfig()
    overall: Counter[str] = Counter()
    worst = 0
    for _ in range(500):
        overall[select(occasion(overall=dict(overall)), config, rng).player] += 1
        worst = max(worst, abs(overall["standard"] - overall["trappy"]))
    assert worst <= 8
    assert abs(overall["standard"] - overall["trappy"]) <= 4


def test_balanced_tells_how_and_repeats() -> None:
    counts = {"standard": 2, "trappy": 1}
    one, two = (
        select(occasion(overall=counts, against_opponent=counts), SelectionConfig(), Random(7))
        for _ in range(2)
    )
    assert one == two
    assert json.loads(json.dumps(one.detail)) == one.detail
    assert one.detail["method"] == "balanced"
    assert one.detail["against_opponent"] == counts
    assert one.detail["chance"] == (FAVOUR if one.player == "trappy" else 1 - FAVOUR)


def test_balanced_tells_the_chance_of_whoever_is_drawn() -> None:
    config, chances = SelectionConfig(players=("standard", "trappy", "strong")), {}
    for seed in range(30):
        drawn = select(occasion(overall={"standard": 2, "strong": 2}), config, Random(seed))
        chances[drawn.player] = drawn.detail["chance"]
    assert chances == {"trappy": FAVOUR, "standard": (1 - FAVOUR) / 2, "strong": (1 - FAVOUR) / 2}


def test_balanced_with_one_player() -> None:
    config = SelectionConfig(players=("trappy",))
    chosen = select(occasion(overall={"standard": 3}), config, Random(1))
    assert (chosen.player, chosen.detail["chance"]) == ("trappy", 1.0)
