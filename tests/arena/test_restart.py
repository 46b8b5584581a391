"""The arena stopped at any moment and started again on the same database."""

from tests.arena.conftest import House, Player, Street


def again(player: Player, house: House) -> Player:
    """The same account, token and all, at another run of the arena."""
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
        house.clock.advance(100)  # since the latest move; the stop forgives it

    async with street.opened() as house:
        person, bot = again(person, house), again(bot, house)
        events = await bot.events()
        assert (await events.next())["game"]["gameId"] == game
        stream = await bot.game(game)
        state = (await stream.next())["state"]
        assert (state["moves"], state["bdraw"]) == ("f5 d6 c3", True)
        assert (state["btime"], state["wtime"]) == (293_000, 300_000)
        assert len(await person.get(f"/api/board/game/{game}/chat")) == 1
        house.clock.advance(5)
        await bot.move(game, "d3")
        assert (await stream.next())["wtime"] == 298_000
        await person.act(game, "resign")

    async with street.opened() as house:
        person, bot = again(person, house), again(bot, house)
        assert (await bot.get("/api/account/playing"))["nowPlaying"] == []
        lines = await (await person.game(game)).rest()
        assert [line["state"]["status"] for line in lines] == ["resign"]
        assert lines[0]["state"]["view"]["ratingDiffs"]["white"] > 0
        assert (await bot.get("/api/account"))["perfs"]["othello"]["rating"] > 1500


async def test_what_is_acknowledged_is_on_disk(street: Street) -> None:
    """A second arena on the same file sees every acknowledged move while the first still runs."""
    house = await street.open()
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    game = await house.start(person, bot)
    for ply, move in enumerate("f5 d6 c3 d3 c4".split()):  # noqa: SIM905 - reads as a game
        await (person, bot)[ply % 2].move(game, move)
        async with street.opened() as other:
            seen = (await other.request("GET", f"/api/arena/game/{game}"))[1]
            assert len(seen["steps"]) == ply + 2


async def test_streams_end_cleanly_when_the_arena_stops(street: Street) -> None:
    async with street.opened() as house:
        person, bot = await house.person("Anna"), await house.bot("Desdemona")
        game = await house.start(person, bot)
        streams = [await bot.events(), await bot.game(game), await person.game(game)]
        await house.arena._app.shutdown()
        kinds = [[line["type"] for line in await stream.rest()] for stream in streams]
        assert kinds == [["gameStart"], ["gameFull"], ["gameFull"]]


async def test_a_deadline_that_passed_long_ago_does_not_exist(street: Street) -> None:
    """Time in which the arena is down is nobody's."""
    async with street.opened() as house:
        person, bot = await house.person("Anna"), await house.bot("Desdemona")
        game = await house.start(person, bot)
    async with street.opened() as house:
        await house.advance(29)
        assert (await again(bot, house).get("/api/account/playing"))["nowPlaying"][0]["gameId"] == game
        await house.advance(2)
        assert (await again(bot, house).get("/api/account/playing"))["nowPlaying"] == []
