"""What one visitor with many names, tabs or requests cannot take from the others."""

from typing import Any

import aiohttp
import pytest

from bot.arena.proxies import FORWARDED
from bot.base.config import ArenaConfig
from storage.arena import accounts as arena
from tests.bot.arena.conftest import House, Lines, Player, Street
from tests.bot.arena.test_connection_limiter import connect

MALLORY, ANNA, NETWORK = "203.0.113.66", "198.51.100.7", "2001:db8:0:1::"


class Visitor:
    """Somebody behind the trusted proxy, under any number of names."""

    def __init__(self, house: House, address: str) -> None:
        self._house = house
        self._headers = {FORWARDED: address}

    async def join(self, name: str) -> Player:
        status, body = await self.request("POST", "/api/person", json={"name": name})
        assert status == 201, body
        return Player(self._house, name, body["token"], "board")

    async def request(
        self, method: str, path: str, by: Player | None = None, **options: Any
    ) -> tuple[int, Any]:
        token = {"Authorization": f"Bearer {by.token}"} if by else {}
        return await self._house.request(method, path, headers={**self._headers, **token}, **options)

    async def challenge(self, by: Player, opponent: Player, **terms: Any) -> tuple[int, Any]:
        data = {"variant": "othello", "clock.limit": 300, "clock.increment": 3, **terms}
        return await self.request("POST", f"/api/challenge/{opponent.name}", by, data=data)

    async def open(self, path: str, by: Player) -> tuple[int, Lines | None]:
        headers = {**self._headers, "Authorization": f"Bearer {by.token}"}
        try:
            response = await self._house._streams.get(self._house.url + path, headers=headers)
        except aiohttp.ClientError:
            return 0, None  # it made room for another before it was answered
        self._house._open.append(response)
        return response.status, Lines(response) if response.status == 200 else None


async def behind_proxy(street: Street, **settings: Any) -> House:
    settings.setdefault("games_per_opponent", ArenaConfig().games_per_opponent)
    return await street.open(bot="Desdemona", trusted_proxies=("127.0.0.1",), **settings)


async def test_four_names_do_not_take_all_places_of_the_bot(street: Street) -> None:
    house = await behind_proxy(street)
    bot, mallory, visitor = await house.bot("Desdemona"), Visitor(house, MALLORY), Visitor(house, ANNA)
    begun = 0
    for name in ("Mal1", "Mal2", "Mal3", "Mal4"):
        alias = await mallory.join(name)
        for _ in range(2):
            status, body = await mallory.challenge(alias, bot)
            if status == 200:
                await bot.post(f"/api/challenge/{body['id']}/accept")
                begun += 1
            else:
                assert (status, body["ratelimit"]) == (429, {"key": "games", "seconds": 60})
    assert begun == 3
    anna = await visitor.join("Anna")
    assert (await visitor.challenge(anna, bot))[0] == 200


async def test_who_challenges_and_withdraws_again_and_again_takes_no_last_place(street: Street) -> None:
    house = await behind_proxy(street, games_per_opponent=3)
    bot, mallory = await house.bot("Desdemona"), Visitor(house, MALLORY)
    one = await mallory.join("Mal1")
    for _ in range(4):
        status, body = await mallory.challenge(one, bot)
        assert status == 200
        assert (await mallory.request("POST", f"/api/challenge/{body['id']}/cancel", one))[0] == 200
    today = house.arena._parts.referee.games_today
    assert today.has_played(MALLORY)
    assert not today.has_played(ANNA)


async def test_waiting_challenges_hold_places(street: Street) -> None:
    house = await behind_proxy(street, games_per_account=4, games_per_address=6, games_per_opponent=2)
    bots = [await house.bot(f"Bot{number}") for number in range(8)]
    mallory, visitor = Visitor(house, MALLORY), Visitor(house, ANNA)
    one, two = await mallory.join("Mal1"), await mallory.join("Mal2")

    async def ask(by: Player, *numbers: int) -> list[int]:
        return [(await mallory.challenge(by, bots[number]))[0] for number in numbers]

    assert await ask(one, 0, 0, 0, 1, 2, 3) == [200, 200, 429, 200, 200, 429]
    assert await ask(two, 0, 3, 4, 5) == [429, 200, 200, 429]
    # Whoever is challenged is not charged for it, only for the game; and nobody else is.
    anna = await visitor.join("Anna")
    assert (await visitor.challenge(anna, bots[0]))[0] == 200
    for number, bot in enumerate(bots[:5]):
        for each in (await bot.get("/api/challenge"))["in"]:
            host = Visitor(house, f"192.0.2.{number}")
            assert (await host.request("POST", f"/api/challenge/{each['id']}/accept", bot))[0] == 200
    assert await ask(two, 6) == [429]
    await two.events()
    game = (await bots[7].challenge(two))["id"]
    status, body = await mallory.request("POST", f"/api/challenge/{game}/accept", two)
    assert (status, body["error"]) == (429, "Your address already has 6 games and unanswered challenges")
    assert (await bots[7].get(f"/api/challenge/{game}/show"))["status"] != "canceled"
    held = (await two.get("/api/account/playing"))["nowPlaying"][0]["gameId"]
    await mallory.request("POST", f"/api/board/game/{held}/abort", two)
    assert (await mallory.request("POST", f"/api/challenge/{game}/accept", two))[0] == 200


async def test_a_game_that_begins_holds_its_place(street: Street, monkeypatch: pytest.MonkeyPatch) -> None:
    house = await behind_proxy(street, games_per_opponent=1)
    bot, mallory = await house.bot("Desdemona"), Visitor(house, MALLORY)
    alias, add_game = await mallory.join("Mal1"), arena.add_game
    _, body = await mallory.challenge(alias, bot)
    second: list[int] = []

    async def slowly(*args: Any) -> None:
        second.append((await mallory.challenge(alias, bot))[0])
        await add_game(*args)

    monkeypatch.setattr(arena, "add_game", slowly)
    await bot.post(f"/api/challenge/{body['id']}/accept")
    assert second == [429]


async def test_a_network_counts_as_one_address(street: Street) -> None:
    house = await behind_proxy(street, accounts_per_day=3)
    statuses = [
        (await Visitor(house, f"{NETWORK}{n}").request("POST", "/api/person", json={"name": f"Mal{n}"}))[0]
        for n in range(1, 5)
    ]
    assert statuses == [201, 201, 201, 429]
    await Visitor(house, "2001:db8:0:2::1").join("Anna")


async def test_the_networks_around_an_address_have_limits_too(street: Street) -> None:
    house = await behind_proxy(
        street, accounts_per_day=2, games_per_opponent=1, games_per_address=2, streams_per_address=2
    )
    bots = [await house.bot(f"Bot{number}") for number in range(3)]
    players, statuses = [], []
    for number in range(10):
        visitor = Visitor(house, f"203.0.113.{number}")
        status, body = await visitor.request("POST", "/api/person", json={"name": f"Mal{number}"})
        statuses.append(status)
        if status == 201:
            players.append((visitor, Player(house, f"Mal{number}", body["token"], "board")))
    assert statuses == [201] * 8 + [429] * 2
    asked = [(await visitor.challenge(player, bots[0]))[0] for visitor, player in players]
    assert asked == [200] * 4 + [429] * 4
    asked = [
        (await visitor.challenge(player, bots[n % 2 + 1]))[0] for n, (visitor, player) in enumerate(players)
    ]
    assert asked == [200] * 4 + [429] * 4, "eight games and challenges of one network"
    opened = [(await players[n // 2][0].open("/api/stream/event", players[n // 2][1]))[0] for n in range(10)]
    assert opened == [200] * 8 + [429] * 2
    anna = Visitor(house, ANNA)
    player = await anna.join("Anna")
    assert (await anna.challenge(player, bots[0]))[0] == 200
    assert (await anna.open("/api/stream/event", player))[0] == 200


async def test_accounts_in_a_day(street: Street) -> None:
    house = await behind_proxy(street, accounts_per_day=2)
    mallory = Visitor(house, MALLORY)
    for name in ("Mal1", "Mal2"):
        await mallory.join(name)
        # A name that is taken costs nothing.
        assert (await mallory.request("POST", "/api/person", json={"name": "mal1"}))[0] in (409, 429)
    status, body = await mallory.request("POST", "/api/person", json={"name": "Mal3"})
    assert (status, body["ratelimit"]) == (429, {"key": "account.create", "seconds": 43_200})
    house.clock.advance(43_200)
    await mallory.join("Mal3")


async def test_streams_of_strangers_make_room_for_players(
    street: Street, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Accounts of many addresses with eight streams each, all through a proxy: more than the server holds."""
    monkeypatch.setattr("bot.arena.server.max_connections", lambda: 24)
    house = await behind_proxy(street)
    bot, visitor = await house.bot("Desdemona"), Visitor(house, ANNA)
    told = await bot.events()
    anna = await visitor.join("Anna")
    _, body = await visitor.challenge(anna, bot, color="black")
    game = body["id"]
    await bot.post(f"/api/challenge/{game}/accept")
    _, seen = await visitor.open(f"/api/board/game/stream/{game}", anna)
    assert seen is not None
    await seen.next()
    for number in range(5):
        mallory = Visitor(house, f"203.0.113.{number}")
        alias = await mallory.join(f"Mal{number}")
        for _ in range(8):
            await mallory.open("/api/stream/event", alias)
    # New connections of the player and of the bot, as after a link that broke.
    for player, move in ((anna, "f5"), (bot, "d6")):
        reader, writer = await connect(
            house,
            f"POST /api/{player._kind}/game/{game}/move/{move} HTTP/1.1\r\nHost: here\r\n"
            f"Authorization: Bearer {player.token}\r\n{FORWARDED}: {ANNA}\r\n\r\n".encode(),
        )
        assert b"200" in await reader.readline()
        writer.close()
    assert (await seen.next())["moves"] == "f5"
    assert [(await told.next())["type"] for _ in range(2)] == ["challenge", "gameStart"]


async def test_streams_of_one_address(street: Street) -> None:
    house = await behind_proxy(street, streams_per_account=3, streams_per_address=4)
    bot, mallory = await house.bot("Desdemona"), Visitor(house, MALLORY)
    one, two = await mallory.join("Mal1"), await mallory.join("Mal2")
    opened = [await mallory.open("/api/stream/event", one) for _ in range(4)]
    assert [status for status, _ in opened] == [200, 200, 200, 429]
    assert (await mallory.open("/api/stream/event", two))[0] == 200
    assert (await mallory.open("/api/stream/event", two))[0] == 429
    assert (await Visitor(house, ANNA).open("/api/stream/event", await house.person("Anna")))[0] == 200
    # Somebody in a game takes the place of the newest who is not, and of the own surplus tabs.
    _, body = await mallory.challenge(one, bot)
    await bot.post(f"/api/challenge/{body['id']}/accept")
    path = f"/api/board/game/stream/{body['id']}"
    for _ in range(2):
        assert (await mallory.open(path, one))[0] == 200
    assert opened[0][1] is not None
    assert opened[1][1] is not None
    told = [await opened[number][1].next() for number in (0, 2) if opened[number][1]]  # type: ignore[union-attr]
    assert told[0]["type"] == "challenge"


async def play(house: House) -> tuple[Player, str]:
    """A person in a game, whose steps so far an address of their own has paid."""
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    return person, await house.start(person, bot, color="white")


async def test_the_points_of_an_address(street: Street) -> None:
    house = await behind_proxy(street, work_per_address=2)  # 20 at once, 5 of them for those in a game
    person, game = await play(house)
    bot, mallory = await house.bot("Desdemona"), Visitor(house, MALLORY)
    names = [await mallory.join("Mal1"), await mallory.join("Mal2")]
    answers = [(await mallory.request("GET", "/api/account", names[n % 2])) for n in range(7)]
    assert [status for status, _ in answers] == [200] * 5 + [429] * 2
    assert answers[-1][1]["ratelimit"] == {"key": "requests", "seconds": 1}
    await bot.move(game, "f5")
    for status in (200, 400, 400, 400, 400, 429):
        assert (await mallory.request("POST", f"/api/board/game/{game}/move/d6", person))[0] == status
    # Another address has its own, and so has our program.
    assert (await Visitor(house, ANNA).request("GET", "/api/account", names[0]))[0] == 200
    await bot.get("/api/account")


async def test_a_stranger_waits_for_a_refusal(street: Street) -> None:
    house = await behind_proxy(street, work_per_address=1.6, work_per_s=1000)
    person, game = await play(house)
    mallory, pauses = Visitor(house, MALLORY), list[float]()

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    house.arena._gate.pause = pause
    assert [(await mallory.request("GET", "/healthz"))[0] for _ in range(15)] == [200] * 12 + [429] * 3
    assert pauses == [0.5] * 3
    # Not somebody in a game.
    path = f"/api/board/game/{game}/move/a1"
    assert [(await mallory.request("POST", path, person))[0] for _ in range(6)] == [400] * 4 + [429] * 2
    assert len(pauses) == 3
    # Unless they go on and on.
    assert {(await mallory.request("POST", path, person))[0] for _ in range(30)} == {429}
    assert len(pauses) == 3 + 12


async def test_who_asks_little_is_answered(street: Street) -> None:
    house = await behind_proxy(street, work_per_address=4, work_per_s=8)
    person, game = await play(house)
    await (await house.bot("Desdemona")).move(game, "f5")
    answered = []
    for number in range(6):
        each = Visitor(house, f"203.0.{number}.66")
        answers = [await each.request("GET", "/api/user/nobody") for _ in range(35)]
        answered.append(sum(status == 404 for status, _ in answers))
        if number == 0:
            assert (await Visitor(house, ANNA).request("GET", "/"))[0] == 200
    assert 20 < answered[0] <= 30, "what it keeps for players is left in its own bucket"
    assert 0 < answered[1] < answered[0], "the common one is no longer full"
    assert answered[-1] <= 2
    visitor = Visitor(house, ANNA)
    assert (await visitor.request("GET", "/healthz"))[1]["ratelimit"]["key"] == "server.requests"
    assert (await visitor.request("POST", f"/api/board/game/{game}/move/d6", person))[0] == 200
