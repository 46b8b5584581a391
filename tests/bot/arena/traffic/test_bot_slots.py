"""A bot's slots are shared out: newcomers get one whatever others do, and idle games yield."""

from typing import Any

import pytest

from bot.arena.traffic.bot_slots import (
    IDLE_AFTER_S,
    NOTICE_S,
    BotSlots,
    GamesToday,
    idle_limit_s,
    slot_refusal,
)
from bot.arena.traffic.game_quota import QuotaEntry
from bot.base.config import REST_AFTER_S, ArenaConfig
from tests.bot.arena.conftest import FakeClock, House, Lines, Player, Street
from tests.bot.arena.traffic.test_attacks import Visitor

SLOW = {"clock.limit": 3600, "clock.increment": 0}
GAME = QuotaEntry(("anna", "desdemona"), (("anna", "10.5.0.1"), ("desdemona", "")))


async def with_slots(street: Street, with_clock: int = 8, without_clock: int = 16) -> tuple[House, Player]:
    house = await street.open(
        bot="Desdemona",
        slots={"desdemona": BotSlots(with_clock, without_clock)},
        games_per_opponent=3,
        trusted_proxies=("127.0.0.1",),
    )
    return house, await house.bot("Desdemona")


async def begin(house: House, bot: Player, address: str, name: str, **terms: Any) -> tuple[int, Any, Player]:
    """Join and challenge the bot, which accepts and makes its move after the visitor's first one."""
    visitor = Visitor(house, address)
    player = await visitor.join(name)
    return *await again(bot, visitor, player, **terms), player


async def again(bot: Player, visitor: Visitor, player: Player, **terms: Any) -> tuple[int, Any]:
    status, body = await visitor.challenge(player, bot, **{"color": "black", **SLOW, **terms})
    if status != 200:
        return status, body["ratelimit"]["key"]
    await bot.post(f"/api/challenge/{body['id']}/accept")
    await visitor.request("POST", f"/api/board/game/{body['id']}/move/f5", player)
    await bot.move(body["id"], "d6")
    return status, body["id"]


async def attack(house: House, bot: Player, addresses: list[str]) -> int:
    """Six accounts, at these addresses in turn, begin as many slow games as they get, with one move each."""
    begun = 0
    for number in range(6):
        visitor = Visitor(house, addresses[number % len(addresses)])
        player = await visitor.join(f"Mal{number}")
        for _ in range(2):
            begun += (await again(bot, visitor, player))[0] == 200
    return begun


@pytest.mark.parametrize(
    ("addresses", "most"),
    [
        (["203.0.113.6", "192.0.2.6", "198.51.100.6"], 6),
        ([f"203.0.113.{number}" for number in range(6)], 6),
        ([f"2001:db8:0:{number}::1" for number in range(6)], 4),
        (["203.0.113.6"], 3),
    ],
)
async def test_one_move_each_keeps_no_newcomer_out(street: Street, addresses: list[str], most: int) -> None:
    """Three addresses held all eight slots for up to an hour, and five of five newcomers got no answer."""
    house, bot = await with_slots(street)
    assert await attack(house, bot, addresses) == most
    assert [(await begin(house, bot, f"10.{n}.0.1", f"Anna{n}"))[0] for n in range(2)] == [200, 200]
    house.clock.advance(REST_AFTER_S)
    assert [(await begin(house, bot, f"10.{n}.0.1", f"Anna{n}"))[0] for n in range(2, 7)] == [200] * 5


async def test_games_that_go_on_need_their_slots(street: Street) -> None:
    house, bot = await with_slots(street, 4)
    visitors = []
    for number in range(4):
        visitor = Visitor(house, f"10.{number}.0.1")
        _, game, player = await begin(house, bot, f"10.{number}.0.1", f"Anna{number}")
        visitors.append((visitor, player, game))
    house.clock.advance(REST_AFTER_S - 1)
    entries = list(house.arena._referee.quota_entries())
    assert [each.is_resting for each in entries] == [False] * 4
    house.clock.advance(1)
    visitor, player, game = visitors[0]
    await visitor.request("POST", f"/api/board/game/{game}/move/c3", player)
    house.clock.advance(REST_AFTER_S)  # the bot thinks: that is no rest
    entries = list(house.arena._referee.quota_entries())
    assert [each.is_resting for each in entries] == [False, True, True, True]


async def test_the_last_slot_is_for_who_has_had_none_today(street: Street) -> None:
    house, bot = await with_slots(street, 4)
    visitor = Visitor(house, "10.0.0.1")
    _, game, player = await begin(house, bot, "10.0.0.1", "Anna")
    await visitor.request("POST", f"/api/board/game/{game}/resign", player)
    others = [(await begin(house, bot, f"10.{n}.0.1", f"Ben{n}"))[0] for n in range(1, 4)]
    assert others == [200] * 3
    assert await again(bot, visitor, player) == (429, "games")
    assert (await begin(house, bot, "10.9.0.1", "Chen"))[0] == 200
    house.clock.advance(86_400)
    assert (await again(bot, visitor, player))[0] == 200


async def test_without_a_clock_places_are_shared_out_too(street: Street) -> None:
    house, bot = await with_slots(street, 8, 4)
    endless = {"clock.limit": "", "clock.increment": ""}
    begun = [(await begin(house, bot, f"203.0.113.{n}", f"Mal{n}", **endless))[0] for n in range(5)]
    assert begun == [200] * 4 + [429]
    assert (await begin(house, bot, "203.0.113.9", "Mal9"))[0] == 200, "with a clock there are slots"


async def state_of(stream: Lines) -> dict[str, Any]:
    """The next state in a game's stream."""
    while (line := await stream.next())["type"] == "opponentGone":
        pass
    state: dict[str, Any] = line.get("state", line)
    return state


@pytest.mark.parametrize("rated", ["true", "false"])
async def test_the_longest_idle_game_ends_when_somebody_waits(street: Street, rated: str) -> None:
    house, bot = await with_slots(street, 1)
    players = []
    for number in range(4):
        _, game, player = await begin(house, bot, f"10.{number}.0.1", f"Anna{number}", rated=rated)
        players.append((Visitor(house, f"10.{number}.0.1"), player, game))
        await house.advance(REST_AFTER_S)
    await house.advance(2 * idle_limit_s(3600))
    assert len(house.arena._referee._live) == 4, "nobody waits"
    _, told = await players[0][0].open(f"/api/board/game/stream/{players[0][2]}", players[0][1])
    _, other = await players[1][0].open(f"/api/board/game/stream/{players[1][2]}", players[1][1])
    assert told is not None
    assert other is not None
    assert "slotWanted" not in await state_of(told)
    await state_of(other)
    newcomer = Visitor(house, "10.9.0.1")
    ben = await newcomer.join("Ben")
    await newcomer.challenge(ben, bot, **SLOW)
    await house.advance(0)
    state = await state_of(told)
    assert state["slotWanted"] == {"millisToMove": 60_000}
    await house.advance(NOTICE_S - 1)
    assert len(house.arena._referee._live) == 4
    await players[0][0].request("POST", f"/api/board/game/{players[0][2]}/move/c3", players[0][1])
    assert "slotWanted" not in await state_of(told)
    await newcomer.challenge(ben, bot, **SLOW)
    await house.advance(1)  # who moves keeps the game, and the next one is told
    assert (await state_of(other))["slotWanted"] == {"millisToMove": 60_000}
    await house.advance(NOTICE_S)
    lost = await state_of(other)
    assert (lost["status"], lost["winner"]) == ("timeout", "white")
    assert len(house.arena._referee._live) == 3
    _, export = await house.request(
        "GET", f"/game/export/{players[1][2]}", headers={"Accept": "application/json"}
    )
    assert len(export["moves"].split()) == 2
    assert ("ratingDiff" in export["players"]["black"]) == (rated == "true")


def test_how_long_anybody_may_think() -> None:
    assert [idle_limit_s(initial_s) for initial_s in (60, 1800, 3600, None)] == [IDLE_AFTER_S, 180, 360, 3600]


def test_who_has_played_today() -> None:
    clock = FakeClock()
    today = GamesToday(clock)
    for number in range(3):
        today.note(f"2001:db8:0:{number}00::/64")
    assert today.has_played("2001:db8:0:100::/64")
    assert not today.has_played("2001:db8:0:101::/64"), "a home has two, a /48 has four"
    today.note("2001:db8:0:101::/64")
    assert today.has_played("2001:db8:0:102::/64")
    assert today.has_played("2001:db8:0:900::/64")
    assert not today.has_played("2001:db8:1::/64")
    clock.advance(86_400)
    assert not today.has_played("2001:db8:0:100::/64")


def test_places_are_not_shared_out_if_an_address_may_have_all() -> None:
    for most, refused in ((8, False), (7, True)):
        why = slot_refusal(ArenaConfig(games_per_opponent=most), 8, [], "10.0.0.1", has_played=True)
        assert why is None
        config = ArenaConfig(games_per_opponent=most)
        full = slot_refusal(config, 8, [GAME] * 8, "10.0.0.1", has_played=True)
        assert (full is not None) == refused


def test_our_own_accounts_have_no_limit() -> None:
    assert slot_refusal(ArenaConfig(), 8, [GAME] * 8, "", has_played=True) is None
