"""Garbled, excessive or forbidden requests get a clear answer and change nothing."""

import asyncio
import json
import logging
import socket
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.http_exceptions import BadHttpMessage
from sqlalchemy import text

from bot.arena.http import MAX_BODY_BYTES
from bot.arena.server import Arena, ClientErrorFilter
from bot.base.config import ArenaConfig
from bot.base.errors import ConfigError
from bot.base.rate_limiter import Rate, RateLimiter
from storage.database import Database
from storage.errors import StorageError
from tests.bot.arena.conftest import FakeClock, House, Street

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
JSON = {"Content-Type": "application/json"}


async def test_without_a_token(house: House) -> None:
    for method, path in [
        ("GET", "/api/account"),
        ("GET", "/api/stream/event"),
        ("GET", "/api/board/game/stream/abcdefgh"),
        ("POST", "/api/bot/game/abcdefgh/move/f5"),
        ("POST", "/api/challenge/anna"),
    ]:
        status, body = await house.request(method, path)
        assert (status, "token" in body["error"]) == (401, True)
        for header in ("Bearer nonsense", "Bearer ", "Basic abc", "Bearer \xe9"):
            status, body = await house.request(method, path, headers={"Authorization": header})
            assert (status, body) == (401, {"error": "No such token"})


@pytest.mark.parametrize(
    "path",
    [
        "/api/nothing",
        "/api/bot/game/short/move/f5",
        "/api/bot/game/abcdefg%00/move/f5",
        "/game/export/abcdefgh",
    ],
)
async def test_unknown_addresses(house: House, path: str) -> None:
    bot = await house.bot("Desdemona")
    for method in ("GET", "POST"):
        status, body = await bot.request(method, path)
        assert status in (404, 405)
        assert set(body) == {"error"}


async def test_games_of_others(house: House) -> None:
    person, bot, other = await house.person("Anna"), await house.bot("Desdemona"), await house.person("Carl")
    game = await house.start(person, bot)
    for action in ("move/f5", "abort", "resign", "draw/yes", "rematch", "chat"):
        assert await other.act(game, action) == (404, {"error": "You are not playing in this game"})
    assert (await other.request("GET", f"/api/board/game/stream/{game}"))[0] == 404
    assert (await other.request("GET", f"/api/board/game/{game}/chat"))[0] == 404
    # Programs and people have separate endpoints.
    assert (await person.request("POST", f"/api/bot/game/{game}/move/f5"))[0] == 400
    assert (await bot.request("POST", f"/api/board/game/{game}/move/f5"))[0] == 400
    assert (await (await person.game(game)).next())["state"]["moves"] == ""


async def test_moves_that_are_refused(house: House) -> None:
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    game = await house.start(person, bot)
    assert await bot.act(game, "move/f5") == (400, {"error": "Not your turn, or game already over"})
    for move in ("a1", "pass", "%00", "..%2f..", "x" * 500):
        status, body = await person.act(game, f"move/{move}")
        assert (status, "is not a legal move here" in body["error"]) == (400, True)
    assert (await person.act(game, "move/f5", params={"ply": "two"}))[0] == 400
    assert (await person.act(game, "move/f5", params={"offeringDraw": "maybe"}))[0] == 400
    assert (await person.act(game, "draw/perhaps"))[0] == 404
    assert (await (await person.game(game)).next())["state"]["moves"] == ""


@pytest.mark.parametrize(
    ("data", "headers", "status"),
    [
        (b"{", JSON, 400),
        (b"[1]", JSON, 400),
        (b"\xff\xfe", JSON, 400),
        (b"[" * 10_000, JSON, 400),
        (b'{"name": 5}', JSON, 400),
        (b'{"name": null}', JSON, 400),
        (b'{"name": "\\ud800"}', JSON, 400),
        (b"name=%ff", FORM, 400),
        (b"name=\xff", FORM, 400),
        (b"a=1&" * 60 + b"name=Anna", FORM, 400),
        (b"<name>Anna</name>", {"Content-Type": "text/xml"}, 415),
        (b"", FORM, 400),
    ],
)
async def test_garbled_bodies(house: House, data: bytes, headers: dict[str, str], status: int) -> None:
    got, body = await house.request("POST", "/api/person", data=data, headers=headers)
    assert (got, set(body)) == (status, {"error"})


async def test_oversized_bodies(house: House) -> None:
    big = b"x" * (MAX_BODY_BYTES + 1)

    async def in_chunks() -> Any:
        for _ in range(20):
            yield b"x" * 1024

    for path in ("/api/person", "/api/token/test", "/api/bot/game/abcdefgh/resign"):
        for data in (big, in_chunks()):
            status, body = await house.request("POST", path, data=data, headers=FORM)
            assert status == 413
            assert str(MAX_BODY_BYTES) in body["error"]


@pytest.mark.parametrize("name", ["", "A", "x" * 21, "Anna Maria", "Ännchen", "<b>", "a\u0000b", "a/b"])
async def test_names_that_are_refused(house: House, name: str) -> None:
    status, body = await house.request("POST", "/api/person", json={"name": name})
    assert (status, "2 to 20 letters" in body["error"]) == (400, True)


async def test_names_that_are_taken(house: House) -> None:
    await house.bot("Desdemona")
    await house.person("Anna")
    for name in ("anna", "ANNA", "desdemona", "Lichess", "open"):
        status, body = await house.request("POST", "/api/person", json={"name": name})
        assert (status, "choose another" in body["error"]) == (409, True)
    with pytest.raises(ConfigError, match="Anna is taken by a person"):
        await house.arena.accounts.ensure_bot("Anna")
    with pytest.raises(ConfigError, match="cannot be a bot's name"):
        await house.arena.accounts.ensure_bot("no name")


async def test_a_new_token_replaces_the_old_one(house: House) -> None:
    old = await house.bot("Desdemona")
    new = await house.bot("Desdemona")
    assert (await old.request("GET", "/api/account"))[0] == 401
    assert (await new.get("/api/account"))["title"] == "BOT"


async def test_too_many_tokens(house: House) -> None:
    for count, status in ((50, 200), (51, 400)):
        tokens = ",".join(f"token{number}" for number in range(count))
        got, body = await house.request("POST", "/api/token/test", data=tokens)
        assert got == status, body
    assert body == {"error": "At most 50 tokens per request"}


async def test_too_many_requests(house: House) -> None:
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    path = f"/api/challenge/{bot.name}"
    status, body = 400, dict[str, Any]()
    for _ in range(400):
        status, body = await person.request("POST", path, data={"clock.limit": 50, "clock.increment": 0})
        if status == 429:
            break
    assert status == 429
    assert body["ratelimit"] == {"key": "challenge.create", "seconds": 1}
    house.clock.advance(1)
    await person.challenge(bot)


def test_throttle() -> None:
    clock = FakeClock()
    limiter = RateLimiter(Rate("test", burst=2, per_s=0.5), clock)
    assert [limiter.wait_s("anna") for _ in range(4)] == [0, 0, 2, 2]
    assert limiter.wait_s("bert") == 0
    clock.advance(2)
    assert [limiter.wait_s("anna") for _ in range(2)] == [0, 2]
    clock.advance(1000)
    assert [limiter.wait_s("anna") for _ in range(3)] == [0, 0, 2]


async def test_a_failure_is_one_line_without_a_traceback(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    game = await house.start(person, bot)
    stream = await bot.game(game)
    await stream.next()

    async def fail(*_: object) -> None:
        raise StorageError("the disk is full")

    with monkeypatch.context() as patch, caplog.at_level(logging.ERROR):
        patch.setattr("storage.arena.accounts.save_game", fail)
        status, body = await person.act(game, "move/f5")
        assert (status, "cannot reach its database" in body["error"]) == (503, True)
    assert [(record.getMessage(), record.exc_info) for record in caplog.records] == [
        (f"POST /api/board/game/{game}/move/f5: the disk is full", None)
    ]
    # Not committed: not played.
    await person.move(game, "f5")
    assert (await stream.next())["moves"] == "f5"


async def test_a_port_in_use(database: Database) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        arena = Arena(ArenaConfig(port=port), database)
        with pytest.raises(
            ConfigError, match=rf"cannot listen on 127.0.0.1:{port}: port in use \(.*arena.port"
        ):
            async with arena.running():
                pass
    with pytest.raises(ConfigError, match=r"cannot listen on no\.such\.invalid:0"):
        async with Arena(ArenaConfig(host="no.such.invalid", port=0), database).running():
            pass


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 99_999), ("a\u00e9..b", 0)])
async def test_an_address_that_is_none(database: Database, host: str, port: int) -> None:
    config = ArenaConfig(port=0).model_copy(update={"host": host, "port": port})
    with pytest.raises(ConfigError, match=r"^cannot listen on .*arena\.port\)$"):
        async with Arena(config, database).running():
            pass


async def test_health_writes(house: House) -> None:
    async with house.database.write() as session:
        await session.execute(
            text(
                "CREATE TRIGGER full BEFORE INSERT ON arena_accounts "
                "BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END"
            )
        )
    assert (await house.request("GET", "/healthz"))[0] == 503
    async with house.database.write() as session:
        await session.execute(text("DROP TRIGGER full"))
    assert (await house.request("GET", "/healthz"))[0] == 200
    async with house.database.read() as session:
        assert await session.scalar(text("SELECT count(*) FROM arena_accounts")) == 0


async def test_names_of_files_that_cannot_be(house: House, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("a" * 300, "%00", "a/" * 3000):
        assert (await house.request("GET", f"/static/{name}"))[0] == 404
    assert not caplog.records


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br"])
async def test_a_body_that_cannot_be_unpacked(
    house: House, encoding: str, caplog: pytest.LogCaptureFixture
) -> None:
    headers = {**JSON, "Content-Encoding": encoding}
    status, _ = await house.request("POST", "/api/person", data=b"rubbish, surely", headers=headers)
    assert status == 400
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


async def test_an_account_has_a_limit_of_its_own(street: Street, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "bot.arena.traffic.budgets.PERSON_RATE", Rate("account.requests", burst=5, per_s=0.001)
    )
    house = await street.open()
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    assert {(await bot.request("GET", "/api/account"))[0] for _ in range(20)} == {200}
    # Every request with a token counts for its account, also one that needs none.
    paths = ["/api/account", "/api/challenge", "/api/user/anna", "/nowhere", "/healthz", "/api/account"]
    answers = [await person.request("GET", path) for path in paths]
    assert [status for status, _ in answers] == [200, 200, 200, 404, 200, 429]
    assert answers[-1][1]["ratelimit"]["key"] == "account.requests"


def test_what_is_not_http_leaves_one_short_line_and_few_of_them(caplog: pytest.LogCaptureFixture) -> None:
    """18 bytes left 752 in the log, as often as anybody liked."""
    clock = FakeClock()
    mine = ClientErrorFilter(clock)
    caplog.set_level(logging.INFO, "bot.test")
    kept = []
    for number in range(20):
        error = BadHttpMessage("x" * 9000 + "\n")
        record = logging.LogRecord("bot.test", logging.ERROR, "", 0, "Error", (), (type(error), error, None))
        if mine.filter(record):
            kept.append(record)
        clock.advance(60 if number == 18 else 0)
    assert len(kept) == 6
    assert all(len(record.getMessage()) < 200 for record in kept)
    assert all((record.exc_info, record.levelno) == (None, logging.INFO) for record in kept)
    assert kept[-1].getMessage().endswith("(14 similar lines omitted before this one)")
    ours = logging.LogRecord("bot.test", logging.ERROR, "", 0, "Error", (), (ValueError, ValueError(), None))
    assert mine.filter(ours)
    assert ours.exc_info is not None


def test_who_hangs_up_halfway_leaves_no_line_and_other_failures_few() -> None:
    clock = FakeClock()
    mine = ClientErrorFilter(clock)

    def is_kept(error: Exception) -> bool:
        about = (type(error), error, None)
        return mine.filter(logging.LogRecord("bot.test", logging.ERROR, "", 0, "Error in %s", ("x",), about))

    for lost in (ConnectionResetError, ConnectionError):
        assert not any(is_kept(lost("Connection lost")) for _ in range(20))
    assert sum(is_kept(ValueError()) for _ in range(20)) == 5
    clock.advance(60)
    later = logging.LogRecord("bot.test", logging.ERROR, "", 0, "Error in %s", ("x",), None)
    assert mine.filter(later)
    assert later.getMessage() == "Error in x (15 similar lines omitted before this one)"


async def test_failures_fill_no_log(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(*_: object) -> None:
        raise StorageError("the disk is full " + "x" * 9000)

    person = await house.person("Anna")
    house.clock.advance(11)  # its token is looked up again
    monkeypatch.setattr("storage.arena.accounts.find_account_id_by_token", fail)
    for _ in range(30):
        assert (await person.request("GET", f"/api/account?{'y' * 4000}"))[0] == 503
    told = [record for record in caplog.records if record.name == "bot.arena.http"]
    assert len(told) == 20
    assert all(len(record.getMessage()) < 700 for record in told)


async def test_reset_connections_fill_no_log(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def lose(*_: object) -> None:
        raise ConnectionError("Connection lost")  # what aiohttp raises where a writer waits

    caplog.set_level(logging.INFO)
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    game = await house.start(person, bot)
    streams = ("/api/stream/event", f"/api/board/game/stream/{game}", f"/api/arena/game/{game}/watch")
    with monkeypatch.context() as patch:
        patch.setattr(web.StreamResponse, "write", lose)
        for path in streams:
            assert await (await house.stream(path, person.token)).rest() == []
    assert not caplog.records
    monkeypatch.setattr(house.arena._referee, "find", lose)
    for _ in range(25):
        assert (await person.act(game, f"abort?{'y' * 4000}"))[0] == 500  # whoever may still read it
    lines = [record.getMessage() for record in caplog.records]
    assert lines == [f"POST /api/board/game/{game}/abort: the connection broke: Connection lost"] * 20
    assert not any(record.exc_info for record in caplog.records)


async def test_streams_have_no_head(house: House) -> None:
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    game = await house.start(person, bot)
    host, port = house.url.removeprefix("http://").split(":")
    streams = ("stream/event", f"board/game/stream/{game}", f"bot/game/stream/{game}")
    for path in (*streams, f"arena/game/{game}/watch"):
        head = f"HEAD /api/{path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {person.token}\r\n\r\n"
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(f"{head}GET /healthz HTTP/1.0\r\n\r\n".encode())
        first, second = (await reader.read()).split(b"\r\n\r\n", 1)
        assert first.startswith(b"HTTP/1.1 405 ")
        assert second.startswith(b"HTTP/1.0 200 ")  # no body came between
        writer.close()
        await writer.wait_closed()


async def test_half_a_request(house: House, caplog: pytest.LogCaptureFixture) -> None:
    """A peer that does not speak HTTP, or hangs up halfway, disturbs no other."""
    host, port = house.url.removeprefix("http://").split(":")
    for data in (b"nonsense\r\n\r\n", b"POST /api/person HTTP/1.1\r\nContent-Length: 50\r\n\r\n{"):
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(data)
        await writer.drain()
        if data.startswith(b"nonsense"):
            assert b"400" in await reader.readline()
        writer.close()
        await writer.wait_closed()
    assert (await house.request("GET", "/healthz"))[1] == {"ok": True, "games": 0}
    assert "Traceback" not in caplog.text


LINK = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


async def test_pages_of_other_sites_make_no_accounts(house: House) -> None:
    for site, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 201)):
        answer = await house.request(
            "POST", "/api/person", json={"name": "Anna"}, headers={**LINK, "Sec-Fetch-Site": site}
        )
        assert answer[0] == status


async def test_pages_of_other_sites_may_link_but_cannot_measure(house: House) -> None:
    """How long an analysis takes tells whether somebody at the visitor's address is in a rated game."""
    for path, usual in (("/api/arena", 200), ("/api/arena/game/abcdefgh/analysis", 404)):
        for change, status in (
            ({}, usual),
            ({"Sec-Fetch-Mode": "no-cors"}, 403),
            ({"Sec-Fetch-Dest": "iframe"}, 403),
        ):
            assert (await house.request("GET", path, headers={**LINK, **change}))[0] == status
        assert (await house.request("GET", path))[0] == usual
    for path, policy in (
        ("/", "same-origin"),
        ("/api/arena", "same-origin"),
        ("/preview/standard", "cross-origin"),
    ):
        headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"} if path[1:4] != "api" else {}
        async with house._http.get(house.url + path, headers=headers) as response:
            assert (response.status, response.headers["Cross-Origin-Resource-Policy"]) == (200, policy)


async def test_the_page_and_its_headers(house: House) -> None:
    for path, status in (("/", 200), ("/game/abcdefgh", 404), ("/static/index.html", 200)):
        async with house._http.get(house.url + path) as response:
            assert response.status == status
            assert response.content_type == "text/html"
            assert "default-src 'none'" in response.headers["Content-Security-Policy"]
            assert response.headers["X-Content-Type-Options"] == "nosniff"
            assert response.headers["Cache-Control"] == "no-cache"
    for path in ("/static/../server.py", "/static/%2e%2e/server.py", "/static/..%2fserver.py", "/static/"):
        assert (await house.request("GET", path))[0] in (403, 404)


async def test_the_report(street: Street) -> None:
    async def report(game: str) -> dict[str, Any] | None:
        return {"game": game} if game == known else None

    house = await street.open(report=report)
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    known, unknown = await house.start(person, bot), await house.start(person, bot)
    path = "/api/arena/game/{}/report"
    assert (await house.request("GET", path.format(known)))[0] == 403
    for game in (known, unknown):
        await person.act(game, "abort")
    assert await house.request("GET", path.format(known)) == (200, {"game": known})
    # No error, which browsers write into their console while the page waits for the report.
    assert (await house.request("GET", path.format(unknown)))[0] == 204
    assert (await house.request("GET", path.format("abcdefgh")))[0] == 404


def test_the_documentation_names_every_address(database: Database) -> None:
    text = (Path(__file__).parents[3] / "docs" / "arena-api.md").read_text()
    arena = Arena(ArenaConfig(), database)
    for resource in arena._app.router.resources():
        for word in resource.canonical.split("/"):
            assert word.startswith("{") or word in text, json.dumps(resource.canonical)
