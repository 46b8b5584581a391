"""Moves looked up at a site: real requests to a server on the loopback, which has every fault there is."""

import asyncio
import json
import logging
import random
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess
import chess.polyglot
import pytest
from aiohttp import web

from bot.base.config import (
    AssignmentConfig,
    AssignmentMethod,
    Config,
    EngineConfig,
    OnlineConfig,
    ServerConfig,
)
from bot.base.events import EndReason
from bot.cli.check import check
from bot.game.game_runner import GameRunner
from bot.servers.online_lookup import (
    FAILURE_PAUSE_S,
    MAX_CLOCK_SHARE,
    MAX_FAILURES,
    REFUSED_PAUSE_S,
    InvalidResponse,
    OnlineLookup,
    explorer_move,
    open_lookup,
    tablebase_move,
)
from engine.decision import DirectMove, SearchMode
from engine.game import WIN_CENTI
from engine.games import get_rules
from engine.lookup.polyglot import PolyglotBook
from engine.strategies.move_context import StrongOptions
from engine.verification import verify
from storage.database import Database
from tests.bot.cli.test_check import settings as config_of
from tests.bot.fakes import GAME_ID, FakeServer, config, picker, services
from tests.bot.ledger_samples import check_books, stored_decisions
from tests.patience import PATIENCE_S

GAME: Any = get_rules("chess")
START = GAME.initial()
ENDING = GAME.parse_position("8/8/8/3k4/8/8/1Q6/K7 w - - 0 60")
LOGGER = "bot.servers.online_lookup"


def row(uci: str, *games: int) -> dict[str, Any]:
    white, draws, black = games
    return {"uci": uci, "san": "?", "white": white, "draws": draws, "black": black, "averageRating": 2500}


OPENINGS = {"white": 9, "draws": 9, "black": 9, "moves": [row("e2e4", 30, 10, 20), row("a2a3", 1, 0, 0)]}
WON = {
    "category": "win",
    "dtz": 9,
    "moves": [{"uci": "b2c3", "category": "loss", "dtz": -8}, {"uci": "b2b1", "category": "draw"}],
}


class Clock:
    """Seconds that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


Answer = Callable[["Site", web.Request], Awaitable[web.StreamResponse]]


def says(body: Any, status: int = 200, **headers: str) -> Answer:
    """Answers with a text, or a value as JSON."""
    text = body if isinstance(body, str) else json.dumps(body)

    async def answer(_site: "Site", _request: web.Request) -> web.StreamResponse:
        return web.Response(text=text, status=status, headers=headers)

    return answer


async def stalls(site: "Site", _request: web.Request) -> web.StreamResponse:
    await site.released.wait()
    return web.Response(text="{}")


async def floods(_site: "Site", request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b" " * (1 << 16))


async def cuts_off(_site: "Site", request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    await response.write(b'{"moves":')
    assert request.transport is not None
    request.transport.abort()
    return response


class Site:
    """Both services."""

    def __init__(self) -> None:
        self.url = ""
        self.answer: Answer = says({})
        self.requests: list[web.Request] = []
        self.released = asyncio.Event()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        return await self.answer(self, request)


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    made = Site()
    app = web.Application()
    app.router.add_get("/{path:.*}", made.handle)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.01)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    made.url = f"http://{host}:{port}"
    try:
        yield made
    finally:
        made.released.set()
        await runner.cleanup()


def settings(site: Site, **changes: Any) -> OnlineConfig:
    known = {"explorer": "masters", "tablebase": True, "timeout_s": 10.0}
    return OnlineConfig(**(known | {"explorer_url": site.url, "tablebase_url": site.url} | changes))


@asynccontextmanager
async def lookup(
    site: Site, clock: Clock | None = None, token: str = "", **changes: Any
) -> AsyncIterator[OnlineLookup]:
    made = OnlineLookup(settings(site, **changes), token, clock or Clock(), random.Random(1))
    try:
        yield made
    finally:
        await made.close()


# --- Answers -----------------------------------------------------------------------------------------------


async def test_a_move_of_the_explorer(site: Site) -> None:
    site.answer = says(OPENINGS)
    async with lookup(site, token="lip_secret") as online:
        found = await online.find("chess", START, 60.0)
    assert found is not None
    assert (GAME.move_text(found.move), found.mode) == ("e2e4", SearchMode.EXPLORER)
    assert found.pick == DirectMove(None, 0, 0, False, "masters: 60 of 61 games")
    (request,) = site.requests
    assert request.path == "/masters"
    assert request.query["fen"] == chess.STARTING_FEN
    assert request.headers["Authorization"] == "Bearer lip_secret"


async def test_a_move_of_the_tablebase(site: Site) -> None:
    site.answer = says(WON)
    async with lookup(site, token="lip_secret") as online:
        found = await online.find("chess", ENDING, None)
    assert found is not None
    assert (GAME.move_text(found.move), found.mode) == ("b2c3", SearchMode.ONLINE_TABLEBASE)
    assert found.pick == DirectMove(WIN_CENTI, 0, 100, True, "lichess.org: win")
    (request,) = site.requests
    assert (request.path, request.query["fen"]) == ("/standard", ENDING.board.fen())
    assert "Authorization" not in request.headers  # which it does not need


async def test_only_the_tablebase(site: Site) -> None:
    site.answer = says(WON)
    async with lookup(site) as online:
        assert await online.find("chess", START, None, tables_only=True) is None
        assert site.requests == []
        assert await online.find("chess", ENDING, None, tables_only=True) is not None


def test_draws_by_the_number_of_games() -> None:
    answer = {"moves": [row("e2e4", 30, 0, 0), row("d2d4", 5, 3, 2), row("c2c4", 0, 4, 5)]}
    rng = random.Random(1)
    found = [explorer_move(answer, START, 10, rng) for _ in range(400)]
    played = [GAME.move_text(each.move) for each in found if each is not None]
    assert set(played) == {"e2e4", "d2d4"}
    assert 270 < played.count("e2e4") < 330
    avoided = {explorer_move(answer, START, 10, rng, ("e2e4",)) for _ in range(20)}
    assert {GAME.move_text(each.move) for each in avoided if each is not None} == {"d2d4"}
    assert explorer_move(answer, START, 30, rng, ("e2e4",)) is not None  # there is no other
    assert explorer_move(answer, START, 31, rng) is None
    assert explorer_move({"moves": []}, START, 1, rng) is None
    assert explorer_move({"moves": [row("e2e4", 0, 0, 0)]}, START, 1, rng) is None


def test_castling_as_the_king_takes_its_rook() -> None:
    position = GAME.parse_position("r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1")
    for told, meant in (("e1h1", "e1g1"), ("e1a1", "e1c1"), ("e1g1", "e1g1")):
        found = explorer_move({"moves": [row(told, 9, 9, 9)]}, position, 1, random.Random(1))
        assert found is not None
        assert GAME.move_text(found.move) == meant


@pytest.mark.parametrize(
    ("category", "score"),
    [("win", WIN_CENTI), ("loss", -WIN_CENTI), ("draw", 0), ("cursed-win", 0), ("blessed-loss", 0)]
    + [(name, None) for name in ("unknown", "maybe-win", "maybe-loss", "syzygy-win", "something new")],
)
def test_what_the_tablebase_is_sure_of(category: str, score: int | None) -> None:
    found = tablebase_move(WON | {"category": category}, ENDING)
    assert (None if found is None else found.pick.score_centi) == score


@pytest.mark.parametrize(
    "answer",
    [
        [],
        "e2e4",
        7,
        {},
        {"moves": "e2e4"},
        {"moves": ["e2e4"]},
        {"moves": [{}]},
        {"moves": [row("e2e5", 9, 9, 9)]},
        {"moves": [row("e2e4", 9, 9, 9), row("zz", 9, 9, 9)]},
        {"moves": [row("0000", 9, 9, 9)]},
        {"moves": [row("e2e4", 9, 9, -1)]},
        {"moves": [row("e2e4", 9, 9, 9) | {"white": "9"}]},
        {"moves": [row("e2e4", 9, 9, 9) | {"uci": 7}]},
    ],
)
def test_nonsense_is_no_answer(answer: Any) -> None:
    with pytest.raises(InvalidResponse, match="makes no sense"):
        explorer_move(answer, START, 1, random.Random(1))
    if isinstance(answer, dict):
        answer = answer | {"category": "win"}
    if answer != {"moves": [row("e2e4", 9, 9, 9)]}:
        with pytest.raises(InvalidResponse, match="makes no sense"):
            tablebase_move(answer, ENDING)


# --- What is asked -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "position", "changes"),
    [
        ("othello", get_rules("othello").initial(), {}),
        ("chess", START, {"explorer": ""}),
        ("chess", ENDING, {"tablebase": False}),
        ("chess", GAME.parse_position("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 11"), {}),
        ("chess", GAME.parse_position("bnrkrqnb/pppppppp/8/8/8/8/PPPPPPPP/BNRKRQNB w ECec - 0 1"), {}),
        ("chess", GAME.parse_position("4k3/pp6/8/8/8/8/PPPP4/4K3 w - - 0 60"), {}),
        ("chess", GAME.parse_position("4k3/8/8/8/8/8/7P/4K2R w K - 0 60"), {}),
    ],
)
async def test_what_no_service_has_is_not_asked(
    site: Site, game: str, position: Any, changes: dict[str, Any]
) -> None:
    async with lookup(site, **changes) as online:
        assert await online.find(game, position, 60.0) is None
    assert site.requests == []


async def test_an_unknown_position(site: Site) -> None:
    site.answer = says("not there", 404)
    async with lookup(site) as online:
        for _ in range(MAX_FAILURES + 2):
            assert await online.find("chess", ENDING, 60.0) is None
    assert len(site.requests) == MAX_FAILURES + 2  # no failure


# --- Faults ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        stalls,
        floods,
        cuts_off,
        says("<html>garbage</html>"),
        says("[" * 100_000),
        says({"moves": [row("e2e5", 9, 9, 9)]}),
        says("", 500),
        says("", 302, Location="http://127.0.0.1:1/"),
        says(OPENINGS, 503),
    ],
)
async def test_faults_cost_no_more_than_the_look_up(
    site: Site, answer: Answer, caplog: pytest.LogCaptureFixture
) -> None:
    """After some in a row the service is left alone, which is said once; then it is tried again."""
    site.answer = answer
    clock = Clock()
    async with lookup(site, clock, timeout_s=0.2 if answer is stalls else 10.0) as online:
        with caplog.at_level(logging.INFO, logger=LOGGER):
            for _ in range(MAX_FAILURES + 3):
                assert await online.find("chess", START, None) is None
            assert len(site.requests) == MAX_FAILURES
            clock.now += FAILURE_PAUSE_S
            assert await online.find("chess", START, None) is None
            assert await online.find("chess", START, None) is None
            assert len(site.requests) == MAX_FAILURES + 1
            clock.now += FAILURE_PAUSE_S
            site.answer = says(OPENINGS)
            assert await online.find("chess", START, None) is not None
            assert await online.find("chess", START, None) is not None
    told = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert [level for level, _ in told] == ["WARNING", "INFO"]
    assert "online.explorer" in told[0][1]
    assert "works again" in told[1][1]


async def test_a_redirection_is_not_followed(site: Site) -> None:
    """It might lead the token elsewhere."""

    async def answer(_site: Site, request: web.Request) -> web.StreamResponse:
        if request.path == "/elsewhere":
            return web.json_response(OPENINGS)
        return web.Response(status=307, headers={"Location": f"{site.url}/elsewhere"})

    site.answer = answer
    async with lookup(site) as online:
        assert await online.find("chess", START, None) is None
    assert [request.path for request in site.requests] == ["/masters"]


async def test_one_success_forgets_the_failures(site: Site) -> None:
    async with lookup(site) as online:
        for _ in range(3):
            for answer in (*[says("", 500)] * (MAX_FAILURES - 1), says(OPENINGS)):
                site.answer = answer
                await online.find("chess", START, None)
    assert len(site.requests) == 3 * MAX_FAILURES


@pytest.mark.parametrize(
    ("answer", "pause_s"),
    [
        (says("", 429), 60.0),
        (says("<html>", 429, **{"Retry-After": "120"}), 120.0),
        (says({"error": "No token"}, 401), REFUSED_PAUSE_S),
        (says("<html>", 401), REFUSED_PAUSE_S),
        (says({"error": "Forbidden"}, 403), REFUSED_PAUSE_S),
    ],
)
async def test_a_refusal_is_obeyed_at_once(
    site: Site, answer: Answer, pause_s: float, caplog: pytest.LogCaptureFixture
) -> None:
    site.answer = answer
    clock = Clock()
    async with lookup(site, clock, token="lip_secret") as online:
        assert await online.find("chess", START, 60.0) is None
        clock.now += pause_s - 1
        assert await online.find("chess", START, 60.0) is None
        assert len(site.requests) == 1
        site.answer = says(WON)  # the other service is not concerned
        assert await online.find("chess", ENDING, 60.0) is not None
        site.answer = answer
        clock.now += 1
        assert await online.find("chess", START, 60.0) is None
        assert len(site.requests) == 3
    told = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(told) == 1
    assert "lip_secret" not in caplog.text


async def test_a_service_that_is_down(site: Site) -> None:
    nowhere = "http://127.0.0.1:1"
    async with lookup(site, explorer_url=nowhere, tablebase_url=nowhere) as online:
        assert await online.find("chess", START, 60.0) is None
        assert await online.find("chess", ENDING, 60.0) is None


async def test_a_share_of_the_clock_is_the_limit(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    site.answer = stalls
    async with lookup(site) as online:
        with caplog.at_level(logging.DEBUG, logger=LOGGER):
            assert await online.find("chess", START, 2.0) is None
    assert f"no answer within {MAX_CLOCK_SHARE * 2.0:.2g} s" in caplog.text


# --- In a game ---------------------------------------------------------------------------------------------


async def play(
    database: Database, site: Site, strong: StrongOptions | None = None, player: str = "strong"
) -> list[Any]:
    """The decisions of a game with three moves of ours."""
    given_settings = config(
        assignment=AssignmentConfig(method=AssignmentMethod.FIXED, strategy=player),
        engine=EngineConfig(max_depth=2, max_time_s=600, workers=1, table_mb=1, ponder=True),
    )
    server = FakeServer("chess", pick=picker(3))
    server.clock = None
    async with (
        services(server, database, settings=given_settings) as given,
        lookup(site) as online,
        asyncio.timeout(PATIENCE_S),
    ):
        given = replace(given, online=online, strong=strong or StrongOptions(depth=2))
        running = asyncio.create_task(GameRunner(GAME_ID, given).run())
        await server.until(lambda: sum(call.startswith("move") for call in server.calls) == 3)
        server.finish(EndReason.RESIGNATION, 0)
        await running
    await check_books(database, server)
    return [stored.decision for stored in await stored_decisions(database)]


async def knows_the_start(_site: Site, request: web.Request) -> web.StreamResponse:
    if request.query["fen"] == chess.STARTING_FEN:
        return web.json_response(OPENINGS)
    return web.json_response({"moves": [row("a1a1", 99, 0, 0)]})


async def test_a_game_with_look_ups(database: Database, site: Site) -> None:
    """A hit is played and recorded with its origin; where the answer is nonsense, the search decides."""
    site.answer = knows_the_start
    first, *others = await play(database, site)
    verify(first)
    assert (first.move, first.search_mode) == ("e2e4", SearchMode.EXPLORER)
    assert first.pick.origin == "masters: 60 of 61 games"
    assert first.is_complete
    assert {decision.search_mode for decision in others} == {"strong"}
    assert len(site.requests) >= 3


async def test_our_own_books_come_first(database: Database, site: Site, tmp_path: Path) -> None:
    site.answer = knows_the_start
    key = chess.polyglot.zobrist_hash(chess.Board())
    path = tmp_path / "book.bin"
    path.write_bytes(struct.pack(">QHHI", key, 0o1333, 1, 0))  # d2d4
    book = StrongOptions(depth=2, sources={"chess": (PolyglotBook.open(path),)})
    first, *_ = await play(database, site, book)
    assert (first.move, first.search_mode) == ("d2d4", "book")
    assert chess.STARTING_FEN not in [request.query["fen"] for request in site.requests]


async def test_players_without_books_ask_nobody(database: Database, site: Site) -> None:
    await play(database, site, player="standard")
    assert site.requests == []


async def by_path(_site: Site, request: web.Request) -> web.StreamResponse:
    return web.json_response(OPENINGS if request.path == "/lichess" else WON)


@pytest.mark.usefixtures("shallow_check")
async def test_check_tries_the_services(site: Site, tmp_path: Path) -> None:
    site.answer = by_path
    wanted = config_of(tmp_path, online=settings(site, explorer="lichess"))
    (found,) = [finding for finding in await check(wanted) if finding.what == "online"]
    assert found.is_good
    assert found.text == f"{site.url}/lichess and {site.url}/standard answer"
    site.answer = says({"error": "No token"}, 401)
    (found,) = [finding for finding in await check(wanted) if finding.what == "online"]
    assert not found.is_good
    assert "demands the token of a lichess.org account" in found.text
    site.answer = says({"moves": [{"uci": "e2e5"}]})
    (found,) = [finding for finding in await check(wanted) if finding.what == "online"]
    assert "makes no sense" in found.text


# --- Settings ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("online", "server", "token"),
    [
        ({}, {"dialect": "lichess"}, "lip_x"),
        ({}, {"dialect": "lichess", "url": "https://lichess.example"}, ""),
        ({}, {"dialect": "playstrategy"}, ""),
        ({"explorer_url": "https://explorer.example"}, {"dialect": "lichess"}, ""),
        ({"explorer_url": "https://notlichess.org"}, {"dialect": "lichess"}, ""),
        ({"explorer_url": "http://explorer.lichess.org"}, {"dialect": "lichess"}, ""),
    ],
)
async def test_who_gets_the_token(online: dict[str, Any], server: dict[str, Any], token: str) -> None:
    made_of = Config(
        online=OnlineConfig(**({"explorer": "lichess"} | online)),
        server=ServerConfig(**server, token="lip_x"),
    )
    made = open_lookup(made_of)
    assert made is not None
    await made.close()
    assert made._token == token


async def test_nothing_is_opened_unless_asked_for() -> None:
    assert open_lookup(Config()) is None
