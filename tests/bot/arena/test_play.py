"""Games over HTTP: streams, moves, endings, ratings."""

import asyncio
import random

import pytest

from bot.arena import variants
from bot.arena.public.spectator_view import spectator_view
from bot.arena.variants import ArenaVariant
from engine.games import get_rules
from tests.bot.arena.conftest import House, Json, Lines, Player, Street
from tests.patience import PATIENCE_S

WIPE_OUT = ["f5", "d6", "c5", "f4", "e3", "f6", "g5", "e6", "e7"]


async def meet(house: House, **terms: object) -> tuple[Player, Player, str]:
    """Start a game; return a person (black, who moves first), a program and the game's id."""
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    return person, bot, await house.start(person, bot, **terms)


async def take_turns(game: str, moves: list[str], first: Player, second: Player) -> None:
    for ply, move in enumerate(moves):
        await (first, second)[ply % 2].move(game, move)


async def test_a_whole_game(house: House) -> None:
    person, bot, game = await meet(house, rated="true")
    events, ours, theirs = await bot.events(), await bot.game(game), await person.game(game)
    assert (await events.next())["type"] == "gameStart"
    full = await ours.next()
    assert (full["type"], full["id"], full["initialFen"]) == ("gameFull", game, "startpos")
    assert (full["black"]["name"], full["white"]["title"]) == ("Anna", "BOT")
    assert full["state"]["moves"] == ""
    assert "view" not in full["state"]

    rules, rng = get_rules("othello"), random.Random(7)
    position, moves = rules.initial(), []
    while legal := rules.legal_moves(position):
        move = rng.choice(legal)
        moves.append(rules.move_text(move))
        await (person, bot)[rules.side_to_move(position)].move(game, moves[-1])
        position = rules.play(position, move)

    states = await ours.rest()
    assert [state["moves"].split() for state in states] == [moves[: n + 1] for n in range(len(moves))]
    assert {state["status"] for state in states[:-1]} == {"started"}
    end = states[-1]
    black, white = ("".join(rules.board_rows(position)).count(letter) for letter in "bw")
    assert end["status"] == "variantEnd"
    assert end["winner"] == ("black" if black > white else "white")

    views = [line["view"] for line in await theirs.rest() if "view" in line]
    assert views[-1]["rows"] == list(rules.board_rows(position))
    assert views[-1]["counts"] == {"black": black, "white": white}
    assert views[-1]["toMove"] is None
    assert views[-1]["winner"] == end["winner"]
    diff = views[-1]["ratingDiffs"]
    assert diff["black"] == -diff["white"] != 0

    finish = await events.next()
    assert finish["type"] == "gameFinish"
    assert finish["game"]["ratingDiff"] == diff["white"]
    assert finish["game"]["opponent"]["ratingDiff"] == diff["black"]
    account = await person.get("/api/account")
    assert account["perfs"]["othello"]["rating"] == 1500 + diff["black"]
    assert account["perfs"]["othello"]["games"] == 1

    exported = await bot.get(f"/game/export/{game}", headers={"Accept": "application/json"})
    assert exported["moves"].split() == moves
    assert exported["players"]["white"]["ratingDiff"] == diff["white"]
    status, text = await bot.request("GET", f"/game/export/{game}")
    assert status == 200
    assert '[White "Desdemona"]' in text
    assert f"1. {moves[0]} {moves[1]} 2." in text


async def test_a_finished_game_is_told_once_more(house: House) -> None:
    person, bot, game = await meet(house)
    await take_turns(game, WIPE_OUT, person, bot)
    for player in (person, bot):
        lines = await (await player.game(game)).rest()
        assert [line["type"] for line in lines] == ["gameFull"]
        assert (lines[0]["state"]["status"], lines[0]["state"]["winner"]) == ("variantEnd", "black")
    assert await bot.act(game, "move/a1") == (400, {"error": "Not your turn, or game already over"})
    assert await person.act(game, "resign") == (400, {"error": "The game is already over"})
    # Casual: the ratings have not changed.
    assert (await person.get("/api/account"))["perfs"]["othello"]["games"] == 0


async def test_the_view_of_the_board(house: House) -> None:
    person, _, game = await meet(house)
    stream = await person.game(game)
    view = (await stream.next())["state"]["view"]
    assert view["you"] == view["toMove"] == "black"
    assert view["rows"][3:5] == ["...wb...", "...bw..."]
    assert view["legal"] == [{"move": move, "squares": [move]} for move in ("d3", "c4", "f5", "e6")]
    assert (view["lastMove"], view["lastSquares"], view["moves"]) == (None, [], [])
    await person.move(game, "f5")
    view = (await stream.next())["view"]
    assert (view["toMove"], view["legal"]) == ("white", [])
    assert (view["lastMove"], view["lastSquares"], view["counts"]) == ("f5", ["f5"], {"black": 4, "white": 1})
    steps = (await person.get(f"/api/arena/game/{game}"))["steps"]
    assert [step["move"] for step in steps] == [None, "f5"]
    assert steps[1]["rows"] == view["rows"]


async def test_a_pass_is_a_move(house: House) -> None:
    person, bot, game = await meet(house)
    await take_turns(game, ["d3", "c3", "e6", "d2", "d1", "e1", "b2", "c1"], person, bot)
    view = (await (await person.game(game)).next())["state"]["view"]
    assert view["legal"] == [{"move": "pass", "squares": []}]
    match = await house.arena._referee.find(game)
    assert spectator_view(match, 0.0, 30.0, 7.0)["state"]["view"]["mustPass"] is True
    refused = await person.act(game, "move/a1")
    assert refused == (400, {"error": "'a1' is not a legal move here; legal: pass"})
    await person.move(game, "pass")


async def test_a_second_tab(house: House) -> None:
    """Both tabs see everything; a move made on a stale board changes nothing."""
    person, bot, game = await meet(house)
    tabs = [await person.game(game), await person.game(game)]
    for tab in tabs:
        assert (await tab.next())["type"] == "gameFull"
    assert (await person.act(game, "move/f5", params={"ply": 0}))[0] == 200
    await bot.move(game, "d6")
    status, body = await person.act(game, "move/c3", params={"ply": 0})
    assert status == 409
    assert "out of date" in body["error"]
    assert (await person.act(game, "move/c3", params={"ply": 2}))[0] == 200
    for tab in tabs:
        assert [(await tab.next())["moves"] for _ in range(3)] == ["f5", "f5 d6", "f5 d6 c3"]


async def test_a_programs_new_stream_ends_the_old_one(house: House) -> None:
    person, bot, game = await meet(house)
    old, old_events = await bot.game(game), await bot.events()
    new, new_events = await bot.game(game), await bot.events()
    assert [line["type"] for line in await old.rest()] == ["gameFull"]
    assert [line["type"] for line in await old_events.rest()] == ["gameStart"]
    await person.move(game, "f5")
    assert (await new.next())["type"] == "gameFull"
    assert (await new.next())["moves"] == "f5"
    assert (await new_events.next())["type"] == "gameStart"


async def test_streams_are_kept_alive(street: Street) -> None:
    house = await street.open(keep_alive_s=0.02)
    bot = await house.bot("Desdemona")
    assert await (await bot.events()).raw() == b"\n"


async def test_opening_an_event_stream_tells_everything(house: House) -> None:
    person, bot, game = await meet(house)
    challenge = await person.challenge(bot)
    events = await bot.events()
    assert (await events.next())["game"]["gameId"] == game
    shown = await events.next()
    assert (shown["type"], shown["challenge"]["id"]) == ("challenge", challenge["id"])


async def test_endings(house: House) -> None:
    person, bot = await house.person("Anna"), await house.bot("Desdemona")

    async def ended(*steps: tuple[Player, str], moves: int) -> Json:
        game = await house.start(person, bot)
        stream = await bot.game(game)
        await take_turns(game, WIPE_OUT[:moves], person, bot)
        for player, action in steps:
            assert await player.act(game, action) == (200, {"ok": True})
        return (await stream.rest())[-1]

    end = await ended((bot, "abort"), moves=1)
    assert (end["status"], "winner" in end) == ("aborted", False)
    assert (await ended((person, "resign"), moves=1))["status"] == "aborted"
    end = await ended((person, "resign"), moves=2)
    assert (end["status"], end["winner"]) == ("resign", "white")
    end = await ended(
        (person, "draw/yes"), (bot, "draw/no"), (bot, "draw/yes"), (person, "draw/yes"), moves=2
    )
    assert (end["status"], "winner" in end) == ("draw", False)


async def test_offers_are_told_without_a_move(house: House) -> None:
    person, bot, game = await meet(house)
    await take_turns(game, WIPE_OUT[:3], person, bot)
    stream = await bot.game(game)
    await stream.next()
    await person.act(game, "draw/yes")
    state = await stream.next()
    assert (state["bdraw"], state["moves"], "wdraw" in state) == (True, "f5 d6 c5", False)
    await bot.act(game, "draw/no")
    assert "bdraw" not in await stream.next()
    await person.act(game, "takeback/yes")
    assert (await stream.next())["btakeback"] is True
    await bot.act(game, "takeback/yes")
    state = await stream.next()
    assert (state["moves"], "btakeback" in state) == ("f5 d6", False)
    await person.act(game, "takeback/yes", params={"ply": "2"})  # again, since the answer was lost: no offer
    await person.act(game, "move/c3", params={"offeringDraw": "true"})
    state = await stream.next()
    assert (state["moves"], state["bdraw"]) == ("f5 d6 c3", True)


async def test_the_flag_falls(house: House) -> None:
    person, bot, game = await meet(house, **{"clock.limit": 60, "clock.increment": 0}, rated="true")
    await take_turns(game, ["f5", "d6"], person, bot)
    events = await person.events()
    await events.next()
    await house.advance(59.9)
    assert (await bot.get("/api/account/playing"))["nowPlaying"][0]["isMyTurn"] is False
    await house.advance(0.2)
    finish = (await events.next())["game"]
    assert (finish["status"], finish["winner"]) == ({"id": 35, "name": "outoftime"}, "white")
    assert finish["ratingDiff"] < 0


async def test_the_clock_of_the_first_moves(street: Street) -> None:
    house = await street.open(gone_s=1000)
    person, bot, game = await meet(house)
    stream = await bot.game(game)
    full = await stream.next()
    assert full["state"]["expiration"] == {"idleMillis": 0, "millisToMove": 30_000}
    await house.advance(29)
    await person.move(game, "f5")
    assert (await stream.next())["expiration"]["idleMillis"] == 0
    await house.advance(29)
    assert (await bot.get("/api/account/playing"))["nowPlaying"]
    await house.advance(2)
    assert (await stream.next())["status"] == "aborted"
    assert (await bot.get("/api/account/playing")) == {"nowPlaying": [], "nbMyTurn": 0}


async def test_who_leaves_can_be_claimed_from(street: Street) -> None:
    house = await street.open(gone_s=30, keep_alive_s=0.02)  # it checks this often whether a reader has gone
    person, bot, game = await meet(house)
    await take_turns(game, ["f5", "d6"], person, bot)
    ours, theirs = await bot.game(game), await person.game(game)
    await ours.next()
    await theirs.next()
    await house.advance(100)
    for path in ("claim-victory", "claim-victory/"):
        assert await bot.act(game, path) == (400, {"error": "Your opponent is still here"})
    await leave(theirs, person)
    await house.advance(29)
    assert (await bot.act(game, "claim-victory"))[0] == 400
    await house.advance(2)
    assert await ours.next() == {"type": "opponentGone", "gone": True, "claimWinInSeconds": 0}
    back = await person.game(game)
    await back.next()
    assert await ours.next() == {"type": "opponentGone", "gone": False}
    await leave(back, person)
    await house.advance(31)
    await bot.act(game, "claim-victory")
    assert [line.get("status") for line in await ours.rest()] == [None, "timeout"]


async def test_nobody_is_waited_for_without_a_clock(street: Street) -> None:
    """Programs disconnect from such games between their moves."""
    house = await street.open(gone_s=30, keep_alive_s=0.02)
    person, bot, game = await meet(house, **{"clock.limit": "", "clock.increment": ""})
    await take_turns(game, ["f5", "d6"], person, bot)
    ours, theirs = await bot.game(game), await person.game(game)
    await ours.next()
    await theirs.next()
    await leave(theirs, person)
    await house.advance(1000)
    assert await bot.act(game, "claim-victory") == (
        400,
        {"error": "A game without a clock cannot be claimed"},
    )
    await person.move(game, "c3")
    assert (await ours.next())["type"] == "gameState", "nobody was told to have gone"


async def test_the_rating_of_chess_stands_under_every_speed(house: House) -> None:
    person, bot, game = await meet(house, variant="standard", color="white", rated="true")
    await take_turns(game, ["e2e4", "e7e5"], person, bot)
    await person.act(game, "resign")
    perfs = (await house.request("GET", "/api/user/desdemona"))[1]["perfs"]
    assert (perfs["blitz"]["games"], perfs["blitz"]["rating"] > 1500) == (1, True)
    assert perfs["bullet"] == perfs["blitz"] == perfs["rapid"] == perfs["classical"] == perfs["standard"]


async def leave(stream: Lines, player: Player) -> None:
    """Hang up, and poll the arena until it has noticed."""
    stream.close()
    async with asyncio.timeout(PATIENCE_S):
        while (await player.get(f"/api/users/status?ids={player.id}"))[0].get("online"):
            pass


async def test_chat(house: House) -> None:
    person, bot, game = await meet(house)
    stream = await bot.game(game)
    await stream.next()
    assert (await person.act(game, "chat", data={"room": "player", "text": " Good\n luck! ♟ "}))[0] == 200
    line = {"type": "chatLine", "room": "player", "username": "Anna", "text": "Good luck! ♟"}
    assert await stream.next() == line
    await bot.act(game, "chat", data={"room": "spectator", "text": "a trap"})
    assert await person.get(f"/api/board/game/{game}/chat") == [{"user": "Anna", "text": "Good luck! ♟"}]
    assert len(await person.get(f"/api/board/game/{game}/chat?room=spectator")) == 1
    for data in ({"text": "x" * 141}, {"text": " \n"}, {"room": "player"}, {"room": "lobby", "text": "x"}):
        assert (await person.act(game, "chat", data=data))[0] == 400
    await person.act(game, "abort")
    assert (await bot.act(game, "chat", data={"text": "after the game"}))[0] == 200


async def test_chat_has_a_limit(house: House) -> None:
    person, _, game = await meet(house)
    statuses = [(await person.act(game, "chat", data={"text": "hello"}))[0] for _ in range(51)]
    assert statuses == [200] * 50 + [429]


async def test_any_game_can_be_played(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """A game in which white moves first, with other squares, is just another row of the table."""
    noughts = ArenaVariant("tictactoe", "Tic-tac-toe", "Ttt", "tictactoe", ("white", "black"))
    monkeypatch.setitem(variants.VARIANTS, "tictactoe", noughts)
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    game = await house.start(person, bot, variant="tictactoe", color="white", rated="true")
    stream = await person.game(game)
    full = await stream.next()
    assert full["white"]["name"] == "Anna"
    assert full["state"]["view"]["rows"] == ["...", "...", "..."]
    assert full["state"]["view"]["sides"] == ["x", "o"]
    await take_turns(game, ["a1", "a2", "b1", "b2", "c1"], person, bot)
    end = (await stream.rest())[-1]
    assert (end["winner"], end["view"]["winner"], end["view"]["counts"]) == ("white", "x", {"x": 3, "o": 2})
    assert (await person.get("/api/account"))["perfs"]["tictactoe"]["games"] == 1


async def test_moves_at_the_same_moment(house: House) -> None:
    """One move sent twenty times at once is played once."""
    person, bot, game = await meet(house)
    answers = await asyncio.gather(*(person.act(game, "move/f5", params={"ply": 0}) for _ in range(20)))
    assert sorted(status for status, _ in answers) == [200] + [409] * 19
    assert (await (await bot.game(game)).next())["state"]["moves"] == "f5"
