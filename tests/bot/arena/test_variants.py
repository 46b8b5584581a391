"""Every game of the arena besides Othello: endings, views, and what programs receive."""

from typing import Any

import pytest

from bot.arena import board_view as views
from bot.arena import game as rules
from bot.arena import referee, wire
from bot.arena.export import export_text
from bot.arena.game import ArenaRefusal, Instant, ReplayedGame
from bot.arena.variants import VARIANTS, random_start
from engine.games import GAMES
from tests.bot.arena.conftest import House, Json, Player
from tests.bot.arena.test_game import AT, match, play

FOOLS_MATE = "f2f3 e7e5 g2g4 d8h4"
# Sam Loyd's shortest stalemate.
STALEMATE = "e2e3 a7a5 d1h5 a8a6 h5a5 h7h5 h2h4 a6h6 a5c7 f7f6 c7d7 e8f7 d7b7 d8d3 b7b8 d3h7 b8c8 f7g6 c8e6"
REPETITION = "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8"
TWO_CANNONS = "g1e3 h8c8 h3h5 i7i6 h5a5 g10i8 a5a10 h10g8 a10c10 d10e9 b3b10"
HORSES_BACK_AND_FORTH = "b1c3 b10c8 c3b1 c8b10 b1c3 b10c8 c3b1 c8b10"
THIRD_TIME = "The same position for the third time."
PROMOTION = "e2e4 f7f5 e4f5 g7g6 f5g6 b8c6 g6h7 c6e5"


def chess(moves: str = "") -> ReplayedGame:
    return match(moves, variant=VARIANTS["standard"])


def xiangqi(moves: str = "") -> ReplayedGame:
    return match(moves, variant=VARIANTS["xiangqi"])


def test_every_variant_is_a_known_game() -> None:
    for key, variant in VARIANTS.items():
        assert variant.key == key
        assert variant.game_name in GAMES
        assert sorted(variant.colours) == ["black", "white"]


@pytest.mark.parametrize(
    ("key", "moves", "status", "winner", "ending", "result"),
    [
        ("standard", FOOLS_MATE, "mate", 1, "Checkmate.", "0-1"),
        ("standard", STALEMATE, "stalemate", None, "Stalemate.", "1/2-1/2"),
        ("standard", REPETITION, "draw", None, THIRD_TIME, "1/2-1/2"),
        ("xiangqi", TWO_CANNONS, "mate", 0, "Checkmate.", "1-0"),
        ("xiangqi", HORSES_BACK_AND_FORTH, "draw", None, THIRD_TIME, "1/2-1/2"),
        ("connect4", "a1 b1 a2 b2 a3 b3 a4", "variantEnd", 0, "Four in a line.", "1-0"),
    ],
)
def test_a_game_ends_by_its_rules(
    key: str, moves: str, status: str, winner: int | None, ending: str, result: str
) -> None:
    *before, last = moves.split()
    game = match(" ".join(before), variant=VARIANTS[key])
    assert (game.is_over, game.ending) == (False, "")
    over = play(game, last)
    assert (over.record.status, over.record.winner, over.ending) == (status, winner, ending)
    assert status in wire.STATUS_IDS
    view = views.view(over, 0)
    assert (view["ending"], view["toMove"], view["legal"]) == (ending, None, [])
    assert f'[Result "{result}"]' in export_text(over, "http://arena")
    with pytest.raises(ArenaRefusal, match="already over"):
        rules.resign(over, 0, when=Instant(100.0, AT))


def test_a_resigned_game_has_no_ending_by_rule() -> None:
    over = rules.resign(chess("e2e4 e7e5"), 0, when=Instant(100.0, AT))
    assert (over.record.status, over.ending) == ("resign", "")


def test_moves_are_kept_as_the_game_writes_them() -> None:
    game = play(xiangqi(), "H2-E2 C8=5")
    assert game.record.moves == ("h3e3", "h8e8")
    assert game.names == ("C2=5", "C8=5")
    assert xiangqi("h3e3 h8e8").names == game.names


def test_names_follow_a_takeback() -> None:
    game = chess("e2e4 e7e5 g1f3")
    assert game.names == ("e4", "e5", "Nf3")
    asked = rules.answer_takeback(game, 0, yes=True, when=Instant(110.0, AT))
    back = rules.answer_takeback(asked, 1, yes=True, when=Instant(110.0, AT))
    assert (back.names, back.last_squares) == (("e4", "e5"), ("e7", "e5"))


def test_what_a_pawn_may_become_is_shown_by_the_boards_after_it() -> None:
    view = views.view(chess(PROMOTION), 0)
    promotions = [each for each in view["legal"] if each["squares"] == ["h7", "g8"]]
    assert [(each["move"], each["name"], each["rows"][0]) for each in promotions] == [
        ("h7g8q", "hxg8=Q", "r.bqkbQr"),
        ("h7g8r", "hxg8=R", "r.bqkbRr"),
        ("h7g8b", "hxg8=B", "r.bqkbBr"),
        ("h7g8n", "hxg8=N", "r.bqkbNr"),
    ]
    assert all(set(each) == {"move", "squares"} for each in view["legal"] if each not in promotions)


def test_check_is_pointed_out() -> None:
    view = views.view(chess("e2e4 f7f6 d1h5"), 1)
    (check,) = view["highlights"]
    assert (check["kind"], check["squares"]) == ("check", ["e8"])
    assert views.view(chess("e2e4 f7f6"), 0)["highlights"] == []


def test_generals_that_face_each_other_are_pointed_out() -> None:
    (facing,) = views.view(xiangqi("e4e5 e7e6 e5e6 h8e8 e6d6"), 1)["highlights"]
    assert facing["kind"] == "facing"
    assert set(facing["squares"]) == {"e1", "e8", "e10"}
    assert "cannon" in facing["text"]


def test_the_board_is_shown_from_the_top() -> None:
    view = views.view(xiangqi(), 0)
    assert (view["rows"][0], view["rows"][2], view["rows"][9]) == ("rnbakabnr", ".c.....c.", "RNBAKABNR")
    assert (view["sides"], view["you"], view["counts"]) == (["red", "black"], "red", None)
    assert {"move": "h3e3", "squares": ["h3", "e3"]} in view["legal"]


# --- Over HTTP ------------------------------------------------------------------------------------------


async def meet(house: House, variant: str) -> tuple[Player, Player, str]:
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    terms = {"variant": variant, "color": "white", "rated": "true"}
    return person, bot, await house.start(person, bot, **terms)


async def take_turns(game: str, moves: str, first: Player, second: Player) -> None:
    for ply, move in enumerate(moves.split()):
        await (first, second)[ply % 2].move(game, move)


@pytest.mark.parametrize(
    ("variant", "moves", "status", "winner", "fen"),
    [
        ("standard", FOOLS_MATE, "mate", "black", "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq"),
        ("xiangqi", TWO_CANNONS, "mate", "white", "1CC1ka2r/4a4/1cc3n1b"),
    ],
)
async def test_a_whole_game(
    house: House, variant: str, moves: str, status: str, winner: str, fen: str
) -> None:
    person, bot, game = await meet(house, variant)
    events, ours, theirs = await bot.events(), await bot.game(game), await person.game(game)
    started = (await events.next())["game"]
    assert (started["color"], started["isMyTurn"], started["variant"]["key"]) == ("black", False, variant)
    assert (await ours.next())["white"]["name"] == "Anna"
    await take_turns(game, moves, person, bot)
    states = await ours.rest()
    assert [state["moves"] for state in states][-1] == moves
    assert (states[-1]["status"], states[-1]["winner"]) == (status, winner)
    # White moves first here; its clock ran from the third ply on.
    assert states[2]["wtime"] == 303_000
    assert states[2]["btime"] == 300_000
    lines = [line for line in await theirs.rest() if line["type"] == "gameState"]
    assert lines[-1]["view"]["ending"] == "Checkmate."

    finished = await events.next()
    assert finished["game"]["status"] == {"id": 30, "name": "mate"}
    assert finished["game"]["fen"].startswith(fen)
    assert " moves " not in finished["game"]["fen"]
    account = await person.get("/api/account")
    played = {key: account["perfs"][key]["games"] for key in VARIANTS}
    assert played == {key: int(key == variant) for key in VARIANTS}

    replay = await person.get(f"/api/arena/game/{game}")
    assert [step["move"] for step in replay["steps"]] == [None, *moves.split()]
    assert replay["steps"][-1]["highlights"][0]["kind"] == "check"
    assert all(step["name"] for step in replay["steps"][1:])


async def test_the_lobby_offers_every_game(house: House) -> None:
    await (await house.bot("Desdemona")).events()
    _, lobby = await house.request("GET", "/api/arena")
    assert [(each["key"], each["name"], each["sides"]) for each in lobby["variants"]] == [
        ("othello", "Othello", ["black", "white"]),
        ("standard", "Chess", ["white", "black"]),
        ("xiangqi", "Xiangqi", ["red", "black"]),
        ("connect4", "Connect Four", ["red", "yellow"]),
    ]
    assert lobby["variants"][2]["colours"] == {"red": "white", "black": "black"}
    assert set(lobby["bots"][0]["ratings"]) == set(VARIANTS)
    assert (lobby["firstMove"], lobby["public"], lobby["bots"][0]["takebacks"]) == (30, True, True)
    bot = await house.arena.accounts.get("desdemona")
    assert bot is not None
    assert wire.lobby([(bot, True)], None, 7.0, {"desdemona"})["bots"][0]["takebacks"] is False


async def test_castling_is_told_as_the_king_taking_its_rook(house: House) -> None:
    """As lila does in every variant, however the move was sent."""
    person, bot, game = await meet(house, "standard")
    lines = await bot.game(game)
    moves = "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5 e1g1 e8h8"
    await take_turns(game, moves, person, bot)
    assert (await lines.next())["initialFen"] == "startpos"
    last = [await lines.next() for _ in range(8)][-1]
    assert last["moves"] == "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5 e1h1 e8h8"
    playing = (await bot.get("/api/account/playing"))["nowPlaying"]
    assert playing[0]["lastMove"] == "e8h8"


async def test_a_game_of_chess960(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    start = "nrbkbqnr/pppppppp/8/8/8/8/PPPPPPPP/NRBKBQNR w KQkq - 0 1"
    monkeypatch.setattr(referee, "random_start", lambda: start)
    person, bot, game = await meet(house, "chess960")
    assert (await (await bot.game(game)).next())["initialFen"] == start
    await take_turns(game, "c2c3 c7c6 d1c2 d8c7", person, bot)
    told = await house.request("GET", f"/game/export/{game}", headers={"Accept": "application/json"})
    assert (told[1]["variant"], told[1]["initialFen"]) == ("chess960", start)
    replay = await person.get(f"/api/arena/game/{game}")
    assert replay["steps"][0]["rows"][0] == "nrbkbqnr"
    assert replay["steps"][-1]["move"] == "d8c7"


def test_every_start_of_chess960_can_be_played_from() -> None:
    starts = {random_start() for _ in range(50)}
    assert len(starts) > 10
    for start in starts:
        position = VARIANTS["chess960"].start(start)
        assert len(position.legal) >= 18
        assert position.board.castling_rights.bit_count() == 4


async def test_a_game_from_a_position_that_black_moves_in(house: House) -> None:
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    fen = "4k3/8/8/8/8/8/4p3/7K b - - 0 1"
    events = await bot.events()
    terms = {"variant": "standard", "fen": fen, "color": "white"}
    game = await house.start(person, bot, **terms)
    challenge = (await events.next())["challenge"]
    assert (challenge["variant"]["key"], challenge["initialFen"]) == ("fromPosition", fen)
    lines = await bot.game(game)
    assert (await lines.next())["initialFen"] == fen
    for player, move in ((bot, "e2e1q"), (person, "h1g2"), (bot, "e8d8"), (person, "g2h3")):
        await player.move(game, move)
    taken = await bot.act(game, "takeback/yes"), await person.act(game, "takeback/yes")
    assert taken == ((200, {"ok": True}),) * 2
    await bot.move(game, "e8e7")
    assert await person.act(game, "resign") == (200, {"ok": True})
    *_, end = await lines.rest()
    assert (end["status"], end["winner"], end["moves"]) == ("resign", "black", "e2e1q h1g2 e8e7")
    _, text = await house.request("GET", f"/game/export/{game}")
    assert f'[FEN "{fen}"]' in text


async def test_a_rematch_begins_where_its_variant_does(house: House) -> None:
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"
    for terms, same in (({"variant": "fromPosition", "fen": fen}, fen), ({"variant": "chess960"}, None)):
        game = await house.start(person, bot, color="white", **terms)
        assert await person.act(game, "abort") == (200, {"ok": True})
        rematch = await person.post(f"/api/board/game/{game}/rematch")
        assert (rematch["rematchOf"], rematch.get("initialFen")) == (game, same)


@pytest.mark.parametrize(("increment", "start_ms"), [(1, 3000), (5, 5000)])
async def test_an_empty_clock_begins_with_three_seconds(house: House, increment: int, start_ms: int) -> None:
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    game = await house.start(person, bot, **{"clock.limit": 0, "clock.increment": increment})
    full = await (await bot.game(game)).next()
    assert full["clock"] == {"initial": 0, "increment": 1000 * increment}
    assert (full["state"]["wtime"], full["state"]["btime"]) == (start_ms, start_ms)


async def test_a_draw_is_agreed(house: House) -> None:
    person, bot, game = await meet(house, "standard")
    await take_turns(game, "e2e4 e7e5", person, bot)
    stream = await person.game(game)
    await stream.next()
    assert await person.act(game, "draw/yes") == (200, {"ok": True})
    assert (await stream.next())["wdraw"] is True
    assert await bot.act(game, "draw/yes") == (200, {"ok": True})
    end: Json = (await stream.rest())[-1]
    assert (end["status"], end.get("winner"), end["view"]["ending"]) == ("draw", None, "")


async def test_an_illegal_move_is_refused(house: House) -> None:
    person, _, game = await meet(house, "xiangqi")
    status, body = await person.act(game, "move/e1e3")
    assert status == 400
    assert "'e1e3' is not a legal move here; legal: " in body["error"]


def test_counting_is_for_pieces_that_are_alike() -> None:
    counts: dict[str, Any] = {
        key: views.board(v, v.rules.initial())["counts"] for key, v in VARIANTS.items() if v.is_offered
    }
    assert counts == {
        "othello": {"black": 2, "white": 2},
        "standard": None,
        "xiangqi": None,
        "connect4": {"red": 0, "yellow": 0},
    }
