"""The arena stopped at any moment and restarted on the same database."""

import logging
import sqlite3
from contextlib import closing

import pytest

from bot.arena.server import Arena
from bot.base.config import ArenaConfig
from storage.arena import accounts as arena
from storage.database import Database
from storage.errors import StorageError
from tests.bot.arena.conftest import FakeClock, House, Player, Street


def again(player: Player, house: House) -> Player:
    """The same account, including its token, in another run of the arena."""
    return Player(house, player.name, player.token, player._kind)


async def test_games_go_on(street: Street) -> None:
    async with street.opened() as house:
        person, bot = await house.person("Anna"), await house.bot("Desdemona")
        game = await house.start(person, bot, rated="true")
        await person.move(game, "f5")
        await bot.move(game, "d6")
        house.clock.advance(10)
        await person.move(game, "c3")
        await person.act(game, "draw/yes")
        await bot.act(game, "chat", data={"text": "still here"})
        house.clock.advance(100)  # since the latest move

    async with street.opened() as house:
        person, bot = again(person, house), again(bot, house)
        events = await bot.events()
        assert (await events.next())["game"]["gameId"] == game
        stream = await bot.game(game)
        state = (await stream.next())["state"]
        assert (state["moves"], state["bdraw"]) == ("f5 d6 c3", True)
        assert (state["btime"], state["wtime"]) == (293_000, 200_000)
        assert len(await person.get(f"/api/board/game/{game}/chat")) == 1
        house.clock.advance(10 + 5)  # the clocks stand until players have had time to come back
        await bot.move(game, "d3")
        assert (await stream.next())["wtime"] == 198_000
        await person.act(game, "resign")

    async with street.opened() as house:
        person, bot = again(person, house), again(bot, house)
        assert (await bot.get("/api/account/playing"))["nowPlaying"] == []
        lines = await (await person.game(game)).rest()
        assert [line["state"]["status"] for line in lines] == ["resign"]
        assert lines[0]["state"]["view"]["ratingDiffs"]["white"] > 0
        assert (await bot.get("/api/account"))["perfs"]["othello"]["rating"] > 1500


async def test_what_is_acknowledged_is_on_disk(street: Street) -> None:
    """Another program reading the same file sees every acknowledged move while the first still runs."""
    house = await street.open()
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    game = await house.start(person, bot)
    for ply, move in enumerate("f5 d6 c3 d3 c4".split()):  # noqa: SIM905 - reads as a game
        await (person, bot)[ply % 2].move(game, move)
        seen = await Database.open(str(street.database._url))
        async with seen.read() as session:
            record = await arena.load_game(session, game)
        await seen.close()
        assert record is not None
        assert len(record.moves) == ply + 1


async def test_streams_end_cleanly_when_the_arena_stops(street: Street) -> None:
    async with street.opened() as house:
        person, bot = await house.person("Anna"), await house.bot("Desdemona")
        game = await house.start(person, bot)
        streams = [await bot.events(), await bot.game(game), await person.game(game)]
        await house.arena._app.shutdown()
        kinds = [[line["type"] for line in await stream.rest()] for stream in streams]
        assert kinds == [["gameStart"], ["gameFull"], ["gameFull"]]


async def test_a_deadline_that_passed_long_ago_does_not_exist(street: Street) -> None:
    """Time during which the arena is down is charged to neither side."""
    async with street.opened() as house:
        person, bot = await house.person("Anna"), await house.bot("Desdemona")
        game = await house.start(person, bot)
    async with street.opened() as house:
        await house.advance(10 + 29)
        assert (await again(bot, house).get("/api/account/playing"))["nowPlaying"][0]["gameId"] == game
        await house.advance(2)
        assert (await again(bot, house).get("/api/account/playing"))["nowPlaying"] == []


async def test_one_arena_at_a_database(street: Street) -> None:
    async with street.opened() as house:
        with pytest.raises(StorageError, match=r"another program already runs the arena on .*arena\.db"):
            await street.open()
        assert (await house.request("GET", "/healthz"))[0] == 200
    await street.open()


async def test_the_bot_is_there_before_the_door_opens(street: Street) -> None:
    clock = FakeClock()
    first = Arena(ArenaConfig(port=0), street.database, clock=clock)
    async with first.running(["Desdemona"]) as url:
        house = House(first, url, street.database, clock)
        try:
            assert (await house.request("POST", "/api/person", json={"name": "Desdemona"}))[0] == 409
            bot = Player(house, "Desdemona", first.bot_tokens["Desdemona"], "bot")
            assert (await bot.get("/api/account"))["title"] == "BOT"
            second = Arena(ArenaConfig(port=0), street.database)
            with pytest.raises(StorageError):
                await second.running(["Desdemona"]).__aenter__()
            assert (await bot.get("/api/account"))["title"] == "BOT", "its token is still good"
        finally:
            await house.close()


async def test_rows_that_make_no_sense(street: Street, caplog: pytest.LogCaptureFixture) -> None:
    """They are logged and skipped; the other games go on."""
    broken = {
        "account": "UPDATE arena_games SET first_id = 'nobody' WHERE id = :id",
        "variant": "UPDATE arena_games SET variant = 'ludo' WHERE id = :id",
        "moves": "UPDATE arena_games SET moves = 'f5 f5' WHERE id = :id",
    }
    async with street.opened() as house:
        person, bot = await house.person("Anna"), await house.bot("Desdemona")
        games = {what: await house.start(person, bot) for what in broken}
        whole = await house.start(person, bot)
    # sqlite3 does not check foreign keys by default.
    file = sqlite3.connect(street.database.url)
    with closing(file), file:
        for what, statement in broken.items():
            file.execute(statement, {"id": games[what]})
    caplog.clear()
    with caplog.at_level(logging.ERROR):
        house = await street.open()
    assert [row["gameId"] for row in (await again(bot, house).get("/api/account/playing"))["nowPlaying"]] == [
        whole
    ]
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == len(broken)
    assert all("\n" not in line and "cannot resume" in line for line in told)
    assert (await house.request("GET", f"/api/arena/game/{games['account']}"))[0] == 404
