"""The analysis of a finished game: sound lines for the side to move, only afterwards, and paid for."""

from dataclasses import replace
from typing import Any

import pytest

from bot.arena.play.analysis import (
    MAX_DEPTH,
    MAX_LINE_LOSS_CENTI,
    MAX_LINES,
    analyse,
    is_position_being_played,
)
from bot.arena.proxies import FORWARDED
from bot.arena.traffic.budgets import DEFAULT_COST, REQUEST_COSTS
from bot.arena.variants import VARIANTS
from tests.bot.arena.conftest import House, Player, Street
from tests.bot.arena.test_game import match

MATE = "f2f3 e7e5 g2g4"


def test_the_best_move_comes_first_with_its_line() -> None:
    told = analyse(match(f"{MATE} d8h4", variant=VARIANTS["standard"]), 3)
    assert (told["ply"], told["toMove"]) == (3, "black")
    first = told["lines"][0]
    assert (first["move"], first["squares"], first["score"], first["names"]) == (
        "d8h4",
        ["d8", "h4"],
        "#1",
        ["Qh4#"],
    )


@pytest.mark.parametrize("variant", ["othello", "xiangqi", "connect4"])
def test_lines_are_legal_and_ordered(variant: str) -> None:
    played = match(variant=VARIANTS[variant])
    told = analyse(played, 0)
    assert 2 < told["depth"] <= MAX_DEPTH
    scores = [line["score_centi"] for line in told["lines"]]
    assert 1 <= len(scores) <= MAX_LINES
    assert scores == sorted(scores, reverse=True)
    assert scores[0] - scores[-1] <= MAX_LINE_LOSS_CENTI
    for line in told["lines"]:
        assert len(line["names"]) <= told["depth"]


def test_a_position_without_a_move_has_no_line() -> None:
    over = match(f"{MATE} d8h4", variant=VARIANTS["standard"])
    assert analyse(over, 4) | {"toMove": ""} == {"ply": 4, "depth": 0, "toMove": "", "lines": []}


def test_a_position_of_a_rated_game_is_known_whatever_led_there() -> None:
    standard, set_up = VARIANTS["standard"], VARIANTS["fromPosition"]
    rated = match("e2e4 e7e5 g1f3", variant=standard, rated=True)
    other_way = match("g1f3 e7e5 e2e4", variant=standard)
    counted = match(
        variant=set_up, initial_fen="rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b - - 7 30"
    )
    assert is_position_being_played(other_way, 3, [rated])
    assert is_position_being_played(counted, 0, [match(), rated])
    assert not is_position_being_played(other_way, 2, [rated])
    assert not is_position_being_played(
        other_way, 3, [replace(rated, record=replace(rated.record, rated=False))]
    )
    assert not is_position_being_played(match(), 0, [rated])


async def test_the_analysis_is_no_help_in_a_rated_game(
    street: Street, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.arena.play.analysis.MAX_NODES", 1000)
    house = await street.open(bot="Desdemona", trusted_proxies=("127.0.0.1",))
    bot = await house.bot("Desdemona")
    anna, her_tablet, other = ("198.51.100.7", "198.51.100.8", "203.0.113.66")
    person, ben = await house.person("Anna", anna), await house.person("Ben", other)
    aborted = await house.start(person, bot)
    await person.move(aborted, "f5")
    await person.act(aborted, "abort")
    path = f"/api/arena/game/{aborted}/analysis?ply=1"
    finished = await house.start(person, bot, variant="connect4")
    await person.act(finished, "abort")
    other = f"/api/arena/game/{finished}/analysis?ply=0"

    async def ask(asked: str, address: str, by: Player | None = None) -> Any:
        token = {"Authorization": f"Bearer {by.token}"} if by else {}
        status, told = await house.request("GET", asked, headers={FORWARDED: address, **token})
        return told["error"] if status == 403 else status

    assert await ask(path, other) == 200
    rated = await house.start(person, bot, rated="true")
    await person.move(rated, "f5")
    # Although the answer is kept.
    assert await ask(path, other) == "A rated game is currently at this position; please try again later"
    await bot.move(rated, "d6")
    refused = "No analysis while you or someone at your address is playing a rated game of this kind"
    start = path.replace("ply=1", "ply=0")
    for asked in (path, start):  # of no position, whatever board it is like
        assert await ask(asked, anna) == refused
        assert await ask(asked, her_tablet, person) == refused
        assert await ask(asked, other, ben) == 200
    assert await ask(other, anna, person) == 200  # another game
    assert await ask(path, "127.0.0.1", bot) == refused
    assert await ask(path, "127.0.0.1") == 200  # our own bot's address is the arena's
    await person.act(rated, "resign")
    assert await ask(path, anna, person) == 200


async def test_only_a_finished_game_is_analysed(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.arena.play.analysis.MAX_NODES", 1000)
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    game = await house.start(person, bot)
    await person.move(game, "f5")
    await bot.move(game, "d6")
    path = f"/api/arena/game/{game}/analysis"
    assert await house.request("GET", f"{path}?ply=1") == (403, {"error": "This game is not over yet"})
    await person.act(game, "resign")
    status, told = await house.request("GET", f"{path}?ply=1")
    assert (status, told["toMove"]) == (200, "white")
    assert {line["move"] for line in told["lines"]} <= {"d6", "f4", "f6"}
    assert (await house.request("GET", f"{path}?ply=3"))[0] == 400
    assert (await house.request("GET", path))[0] == 400
    assert REQUEST_COSTS["/api/arena/game/{game}/analysis"] > 50 * DEFAULT_COST
