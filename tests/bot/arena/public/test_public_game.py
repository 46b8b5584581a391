"""The page of a game for everybody: secret while it runs, all of it afterwards."""

import re
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from bot.arena import wire
from bot.arena.public import routes
from bot.arena.public.downloads import as_file, formats_of
from bot.arena.public.preview import preview
from bot.arena.public.rendering import TEMPLATES
from bot.arena.public.spectator_view import spectator_view
from bot.arena.traffic.assets import assets
from engine.formats import ggf, pgn, transcripts
from engine.formats.files import GameFormat
from tests.bot.arena.conftest import House, Json, Player, Street
from tests.bot.arena.test_play import WIPE_OUT, meet, take_turns

FULL = {
    *("type", "id", "variant", "speed", "rated", "createdAt", "white", "black", "initialFen", "clock"),
    *("keepAlive", "state"),
}
STATE = {"wtime", "btime", "winc", "binc", "status", "view"}
VIEW = {
    *("rows", "toMove", "highlights", "counts", "game", "title", "sides", "colours", "lastSquares", "moves"),
    *("names", "legal"),
}
PLAYER = {"id", "name", "title", "rating", "provisional"}
TELLTALE = ("trap", "score", "bait", "engine", "depth", "offer", "draw", "takeback", "expiration", "chat")
"""No word of these is in anything that a spectator of a running game gets."""


def keys_of(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(keys_of, value.values()))
    return set().union(*map(keys_of, value)) if isinstance(value, list) else set()


async def report(_game_id: str) -> Json:
    return {"secret": "nobody's business before the end"}


async def seen(house: House, game: str) -> Json:
    return await (await house.stream(f"/api/arena/game/{game}/watch", "")).next()


async def test_a_running_game_tells_board_clocks_and_moves_only(street: Street) -> None:
    house = await street.open(report=report, bot="Desdemona")
    person, bot, game = await meet(house, variant="standard", color="white")
    await take_turns(game, ["e2e4", "e7e5"], person, bot)
    await person.act(game, "draw/yes")
    await bot.act(game, "takeback/yes")
    told = await seen(house, game)
    assert (set(told), set(told["state"]), set(told["state"]["view"])) == (FULL, STATE, VIEW)
    assert set(told["white"]) == set(told["black"]) == PLAYER
    assert told["state"]["view"]["legal"] == []
    replay = await house.request("GET", f"/api/arena/game/{game}")
    for keys in (keys_of(told), keys_of(replay[1])):
        assert not [key for key in keys for word in TELLTALE if word in key.lower()]
    status, page = await house.request("GET", f"/game/{game}")
    assert status == 200
    assert "Anna against Desdemona" in page
    head = page.split("<body>")[0].replace("sets traps, and see afterwards", "")  # what the whole site says
    assert not [word for word in TELLTALE if word in head.lower()]
    assert f"/game/{game}/preview.png" not in page, "a board that others keep"
    for hidden in (
        f"/api/arena/game/{game}/report",
        f"/api/arena/game/{game}/analysis?ply=1",
        f"/game/{game}/preview.png",
        f"/game/{game}/pgn",
        f"/game/{game}/txt",
    ):
        assert (await house.request("GET", hidden))[0] == 403, hidden


async def test_what_players_alone_are_told_stays_with_them(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fields are chosen: one that is added for players does not leak."""
    _, _, game = await meet(house)
    full, state = wire.game_full, wire.game_state
    monkeypatch.setattr(wire, "game_state", lambda *a: state(*a) | {"secret": 1})
    monkeypatch.setattr(
        wire, "game_full", lambda *a: full(*a) | {"secret": 1, "white": full(*a)["white"] | {"secret": 1}}
    )
    assert "secret" not in keys_of(await seen(house, game))


async def test_standing_clocks_are_told(house: House) -> None:
    _, _, game = await meet(house)
    match = await house.arena._referee.find(game)
    for are_clocks_stopped in (False, True):
        told = spectator_view(match, 0.0, 30.0, 7.0, are_clocks_stopped=are_clocks_stopped)
        assert ("clocksStand" in told["state"]["view"]) is are_clocks_stopped


async def over(house: House, **terms: Any) -> tuple[Player, Player, str]:
    person, bot, game = await meet(house, **terms)
    await take_turns(game, WIPE_OUT, person, bot)
    return person, bot, game


async def test_a_finished_game_has_a_preview_and_its_result(street: Street) -> None:
    house = await street.open(report=report, public_url="https://play.example/")
    _, _, game = await over(house)
    status, page = await house.request("GET", f"/game/{game}")
    tags = dict(re.findall(r'<meta (?:property|name)="((?:og|twitter):[a-z:_]+)" content="([^"]*)">', page))
    assert status == 200
    assert tags["og:title"] == "Othello: Anna against Desdemona"
    assert tags["og:description"] == "Anna won after 9 moves. Step through the game, and see the traps."
    assert tags["og:url"] == f"https://play.example/game/{game}"
    assert tags["og:image"] == f"https://play.example/game/{game}/preview.png"
    told = await seen(house, game)
    assert set(told) == FULL | {"files"}
    assert told["files"] == ["ggf", "txt"]
    assert (await house.request("GET", f"/api/arena/game/{game}/report"))[1] == await report(game)


def picture(png: bytes) -> NDArray[np.uint8]:
    """Rows of pixels, each red, green and blue."""
    with Image.open(BytesIO(png)) as image:
        return np.asarray(image.convert("RGB"))


def pixels_of(colour: tuple[int, int, int], part: NDArray[np.uint8]) -> int:
    return int((part == colour).all(axis=-1).sum())


async def test_the_picture_is_drawn_once(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []

    def counted(game: str, *position: Any) -> bytes:
        drawn.append(game)
        return preview(game, *position)

    monkeypatch.setattr(routes, "preview", counted)
    _, _, game = await over(house)
    for address in (f"/game/{game}/preview.png", "/preview/standard", "/preview/xiangqi"):
        for _ in range(2):
            async with house._http.get(house.url + address) as answer:
                png = await answer.read()
                assert answer.content_type == "image/png"
                assert answer.headers["Cache-Control"] == "public, max-age=86400"
                tag = answer.headers["ETag"]
        assert picture(png).shape == (630, 1200, 3)
        async with house._http.get(house.url + address, headers={"If-None-Match": tag}) as answer:
            assert answer.status == 304
    assert len(drawn) == 3
    assert (await house.request("GET", "/preview/ludo"))[0] == 404


def test_a_picture_has_the_pieces_and_the_last_move() -> None:
    image = picture(preview("othello", ["...b...."] + ["........"] * 7, ["d1"]))
    # The corner is the page's ground; d1, 69 pixels wide, has black's disc and a bright edge, e1 nothing.
    assert tuple(image[0, 0]) == (0xF6, 0xF3, 0xEC)
    assert image[72, 565].max() < 0x50
    assert image[72, 533].min() > 0x50
    assert tuple(image[72, 635]) == (0x2B, 0x7D, 0x58)


def test_a_picture_has_chinese_letters_whatever_fonts_there_are() -> None:
    image = picture(preview("xiangqi", ["........."] * 9 + ["R........"]))
    assert pixels_of((0xB3, 0x22, 0x1A), image[550:586, 360:392]) > 100, "the chariot's letter"
    assert pixels_of((165, 135, 96), image[290:340, 430:770]) > 300, "the river's name"


def test_squares_and_rows_must_be_of_the_game() -> None:
    with pytest.raises(ValueError, match="not a board"):
        preview("othello", ["..."])


async def test_files_in_the_players_formats(house: House) -> None:
    person, bot, othello = await over(house)
    chess = await house.start(person, bot, variant="standard", color="white")
    await take_turns(chess, ["e2e4", "e7e5", "g1f3"], person, bot)
    await bot.act(chess, "resign")
    drop = await house.start(person, bot, variant="connect4", color="white")
    await take_turns(drop, ["d1", "d2"], person, bot)
    await person.act(drop, "resign")

    async def file(game: str, form: str) -> str:
        async with house._http.get(f"{house.url}/game/{game}/{form}") as answer:
            assert answer.status == 200
            assert answer.headers["Content-Disposition"] == f'attachment; filename="desdemona-{game}.{form}"'
            return await answer.text()

    (found,) = list(ggf.find(await file(othello, "ggf")))
    assert isinstance(found, ggf.GgfGame)
    assert (found.black, found.white, len(found.moves), found.result) == ("Anna", "Desdemona", 9, "+64.000")
    assert transcripts.parse(await file(othello, "txt")).moves == tuple(WIPE_OUT)
    record = pgn.parse(await file(chess, "pgn"))
    assert (record.players, record.moves) == (("Anna", "Desdemona"), ("e2e4", "e7e5", "g1f3"))
    assert (record.points, record.ending) == (1.0, "resigned")
    terms = {"variant": "standard", "rated": "false", "color": "white"}
    untimed = (await person.post(f"/api/challenge/{bot.name}", data=terms))["id"]
    await bot.post(f"/api/challenge/{untimed}/accept")
    await person.act(untimed, "abort")
    match = await house.arena._referee.find(untimed)
    assert formats_of(match) == ()  # nobody has moved
    assert '[Event "casual game without a clock"]' in as_file(match, GameFormat.PGN, "")
    assert await file(drop, "txt") == "d1 d2\n"
    for game, form in ((othello, "pgn"), (chess, "ggf"), (drop, "pgn")):
        assert (await house.request("GET", f"/game/{game}/{form}"))[0] == 404


@pytest.mark.parametrize("game", ["nogame00", "short", "x" * 300, "<b>", "nul%00nul"])
async def test_an_unknown_game_is_not_found(house: House, game: str) -> None:
    status, page = await house.request("GET", f"/game/{game}")
    assert (status, "og:" in page) == (404, False)
    assert (await house.request("GET", "/api/arena/game/nogame00/watch"))[0] == 404


async def test_games_need_not_be_public(street: Street) -> None:
    house = await street.open(report=report, public_games=False)
    person, bot, game = await over(house)
    own = [
        f"/game/export/{game}",
        *(f"/api/arena/game/{game}{of}" for of in ("", "/report", "/analysis?ply=9")),
    ]
    for call in own:  # what is kept for the players is for no others
        for player in (person, bot):
            assert (await player.request("GET", call))[0] == 200, call
    stranger = await house.person("Eve")
    for call in own:
        refused = (403, {"error": "Games are not public here: only their players see them"})
        assert await stranger.request("GET", call) == refused
    status, page = await house.request("GET", f"/game/{game}")
    assert (status, "og:" in page, "Anna" in page) == (200, False, False)
    for closed in (
        *own,
        f"/api/arena/game/{game}/watch",
        f"/game/{game}/preview.png",
        f"/game/{game}/ggf",
        "/api/arena/user/anna/games",
    ):
        assert (await house.request("GET", closed))[0] == 403, closed
    status, page = await house.request("GET", "/@/anna")
    assert (status, game in page) == (200, False)
    assert [each["id"] for each in (await person.get("/api/arena/games"))["games"]] == [game]


def test_pages_name_files_that_exist() -> None:
    for template in TEMPLATES.glob("*.html"):
        for name in re.findall(r"asset\('([^']+)'\)", template.read_text()):
            assert assets().body(name), name
