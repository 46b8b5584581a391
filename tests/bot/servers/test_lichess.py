"""The adapter against a scripted and often rude server on loopback."""

import asyncio
import dataclasses
import gzip
import itertools
import json
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from aiohttp import web

from bot.base.config import ChallengesConfig, Config
from bot.base.dialects import DIALECTS, Capability
from bot.base.errors import (
    AuthError,
    ConfigError,
    ProtocolError,
    RefusedError,
    ServerError,
    TransientError,
)
from bot.base.events import (
    UNRECORDED,
    Bot,
    ChallengeReceived,
    ChatLine,
    Clock,
    DeclineReason,
    EndReason,
    GameEnd,
    GameEvent,
    GameSnapshot,
    GameStarted,
    GameState,
    ListedGame,
    Proposal,
    Room,
    Tournament,
)
from bot.base.events import (
    Reply as ChallengeReply,
)
from bot.base.game_server import Account, Server
from bot.base.rate_limiter import RateLimiter
from bot.base.reconnect import stay_connected
from bot.servers.adapters import make_server
from bot.servers.lag import Lag
from bot.servers.lichess import (
    FULL_STATE_TIMEOUT_S,
    STREAM_OPENING_RATE,
    LichessServer,
    RefusalCounter,
)
from bot.servers.lichess_wire import ChallengeDone, ChallengeMade, read_challenge_answer
from bot.servers.pychess import CLOCK_EXPIRY_SLACK_S, MAX_PAGE_REQUESTS, STREAM_RETRY_WAIT_S
from tests.patience import PATIENCE_S

TOKEN = "lip_VerySecretToken42"
GAME = "abcd1234"
GAME_STREAM = f"/api/bot/game/stream/{GAME}"
MOVE = f"/api/bot/game/{GAME}/move/f5"
ARENA = DIALECTS["arena"]

Reply = Callable[[web.Request], Awaitable[web.StreamResponse]]


def answer(status: int, body: object = None, **headers: str) -> Reply:
    """JSON, or text that claims to be HTML."""

    async def reply(_: web.Request) -> web.StreamResponse:
        if isinstance(body, str):
            return web.Response(status=status, text=body, content_type="text/html", headers=headers)
        return web.json_response(body, status=status, headers=headers)

    return reply


def stream(*lines: object, end: str = "clean") -> Reply:
    """An ND-JSON stream: objects, or bytes as they are; then a clean end, a broken chunk, or silence."""

    async def reply(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        await response.prepare(request)
        for line in lines:
            await response.write(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")
        if end == "broken":
            assert request.transport is not None
            request.transport.abort()
        elif end == "silence":
            await hang(request)
        return response

    return reply


async def hang(_: web.Request) -> web.StreamResponse:
    """Say nothing until the client has gone."""
    await asyncio.Event().wait()
    raise AssertionError


async def hang_up(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


class Peer:
    """Answers from a script; what has no script is answered like a well-behaved server."""

    def __init__(self) -> None:
        self.scripts: dict[str, list[Reply]] = {
            "/api/account": [answer(200, {"id": "desdemona", "username": "Desdemona", "title": "BOT"})]
        }
        self.seen: list[tuple[str, str]] = []
        self.headers: list[dict[str, str]] = []
        self.bodies: list[str] = []
        self.url = ""

    def script(self, path: str, *replies: Reply) -> None:
        """Replies in turn; the last one stays."""
        self.scripts[path] = list(replies)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.seen.append((request.method, request.path_qs))
        self.headers.append({key.lower(): value for key, value in request.headers.items()})
        self.bodies.append(await request.text())
        replies = self.scripts.get(request.path)
        if replies is None:
            return web.json_response({"ok": True})
        return await (replies.pop(0) if len(replies) > 1 else replies[0])(request)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self.handle)
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.01)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            host, port = runner.addresses[0][:2]
            self.url = f"http://{host}:{port}"
            yield
        finally:
            await runner.cleanup()


@pytest.fixture
async def peer() -> AsyncIterator[Peer]:
    peer = Peer()
    async with peer.running():
        yield peer


@pytest.fixture
async def server(peer: Peer) -> AsyncIterator[LichessServer]:
    """One with more patience than a busy machine needs."""
    server = LichessServer(ARENA, peer.url, TOKEN)
    yield server
    await server.close()


@pytest.fixture
async def hasty(peer: Peer) -> AsyncIterator[LichessServer]:
    """For what never answers."""
    hurried = dataclasses.replace(ARENA, keep_alive_s=1.0)
    server = LichessServer(hurried, peer.url, TOKEN, call_timeout_s=1.0, slack_s=0.05)
    yield server
    await server.close()


async def test_answers_are_timed(peer: Peer) -> None:
    times = iter(range(0, 100, 3))
    took: list[float] = []
    server = LichessServer(ARENA, peer.url, TOKEN, clock=lambda: next(times), on_answer=took.append)
    try:
        with suppress(ServerError):
            await server.decline("abcd", DeclineReason.LATER)
    finally:
        await server.close()
    assert took
    assert all(each > 0 and each % 3 == 0 for each in took)


def state(moves: str = "", **fields: Any) -> dict[str, Any]:
    return {"type": "gameState", "moves": moves, "wtime": 60000, "btime": 60000, "status": "started"} | fields


def full(moves: str = "", **fields: Any) -> dict[str, Any]:
    return {
        "type": "gameFull",
        "id": GAME,
        "variant": {"key": "othello"},
        "clock": {"initial": 60000, "increment": 0},
        "speed": "bullet",
        "rated": False,
        "white": {"id": "ann", "name": "Ann"},
        "black": {"id": "desdemona", "name": "Desdemona", "title": "BOT"},
        "initialFen": "startpos",
        "state": state(moves, **fields),
    }


GAME_START = {"type": "gameStart", "game": {"gameId": GAME, "variant": {"key": "othello"}}}
CHALLENGE = {
    "type": "challenge",
    "challenge": {
        "id": "chal0001",
        "challenger": {"id": "ann", "name": "Ann"},
        "variant": {"key": "othello"},
        "rated": False,
        "speed": "blitz",
        "timeControl": {"type": "clock", "limit": 300, "increment": 3},
    },
}


async def collect(events: AsyncIterator[Any]) -> list[Any]:
    """Everything but the signs of life."""
    return [event async for event in events if event is not None]


# --- Making one -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url", ["", "127.0.0.1:80", "ftp://x", "http://", "http://x/lichess", "http://x:port", "http://x?y"]
)
async def test_only_an_origin_is_an_address(url: str) -> None:
    with pytest.raises(ConfigError, match=r"server\.url"):
        LichessServer(ARENA, url, TOKEN)


@pytest.mark.parametrize("token", ["", "two words", "line\nend", "lip_ü"])
async def test_an_impossible_token_is_refused_and_not_shown(token: str) -> None:
    with pytest.raises(ConfigError) as caught:
        LichessServer(ARENA, "http://127.0.0.1:1", token)
    assert not token or token not in str(caught.value)


async def test_it_is_a_server(server: LichessServer) -> None:
    contract: Server = server
    assert contract.site == "arena"


# --- One-shot calls -------------------------------------------------------------------------------------


async def test_one_shot_calls(peer: Peer, server: LichessServer) -> None:
    peer.script("/api/account/playing", answer(200, {"nowPlaying": [{"gameId": GAME}]}))
    peer.script(f"/game/export/{GAME}", answer(200, {"id": GAME, "moves": "f5 d6"}))
    assert await server.account() == Account("desdemona", "Desdemona", is_bot=True)
    assert await server.running_game_ids() == [GAME]
    await server.accept("chal0001")
    await server.decline("chal0002", DeclineReason.TOO_FAST)
    assert (await server.export(GAME))["moves"] == "f5 d6"
    assert [(method, path.split("?")[0]) for method, path in peer.seen] == [
        ("GET", "/api/account"),
        ("GET", "/api/account/playing"),
        ("POST", "/api/challenge/chal0001/accept"),
        ("POST", "/api/challenge/chal0002/decline"),
        ("GET", f"/game/export/{GAME}"),
    ]
    assert peer.seen[1][1].endswith("?nb=50")
    assert peer.bodies[3] == "reason=tooFast"
    assert {headers["authorization"] for headers in peer.headers} == {f"Bearer {TOKEN}"}
    assert all(headers["user-agent"].startswith("desdemona/") for headers in peer.headers)


async def test_the_user_agent_names_the_account_once_known(peer: Peer, server: LichessServer) -> None:
    # A server may tell an account's connections apart by it, so it is the same for both clients.
    await server.account()
    await server.move(GAME, "f5")
    await server.accept("chal0001")
    before, *after = [headers["user-agent"] for headers in peer.headers]
    assert re.fullmatch(r"desdemona/[0-9.]+\S*", before)
    assert after == [f"{before} user:Desdemona"] * 2


async def test_a_name_that_no_header_can_have_is_left_out(peer: Peer, server: LichessServer) -> None:
    peer.script("/api/account", answer(200, {"id": "d", "username": "D\u00e9s\nX: y", "title": "BOT"}))
    await server.account()
    await server.move(GAME, "f5")
    assert peer.headers[1]["user-agent"] == peer.headers[0]["user-agent"]


@pytest.mark.parametrize(
    ("reply", "error", "says"),
    [
        (answer(401, {"error": "No such token"}), AuthError, "HTTP 401: No such token"),
        (answer(401, "<html>Who are you?</html>"), TransientError, "HTTP 401"),
        (answer(403, "<html>blocked</html>"), TransientError, "HTTP 403"),
        (answer(404, "404: Not Found"), TransientError, "HTTP 404"),
        (answer(403, {"error": "Missing scope"}), AuthError, "HTTP 403: Missing scope"),
        (answer(404, {"error": "Not found."}), RefusedError, "HTTP 404: Not found."),
        (answer(429, "<html>slow</html>"), TransientError, "HTTP 429"),
        (answer(502, "<html>bad gateway</html>"), TransientError, "HTTP 502"),
        (answer(200, "<html>not the API</html>"), TransientError, "a web page instead of data"),
        (answer(200, "not the API"), ProtocolError, "not JSON"),
        (answer(200, "[" * 100_000), ProtocolError, ""),
        (answer(200, ["desdemona"]), ProtocolError, ""),
        (answer(200, {"id": "desdemona"}), ProtocolError, "'username'"),
        (answer(200, {"id": "d", "username": "D", "createdAt": "?"}), ProtocolError, "malformed"),
        (answer(404, {"error": f"No such token: {TOKEN}"}), RefusedError, "No such token: ***"),
        (hang_up, TransientError, "GET /api/account: "),
    ],
    ids=[
        "401",
        "401 html",
        "403 html",
        "404 text",
        "403",
        "404",
        "429",
        "502",
        "html",
        "text",
        "nested",
        "list",
        "no name",
        "odd date",
        "token",
        "hang up",
    ],
)
async def test_one_shot_errors(
    peer: Peer, server: LichessServer, reply: Reply, error: type[Exception], says: str
) -> None:
    peer.script("/api/account", reply)
    with pytest.raises(error) as caught:
        await server.account()
    assert says in str(caught.value)
    assert TOKEN not in str(caught.value)


async def test_no_answer_is_transient_and_the_next_call_does_not_wait_behind_it(
    peer: Peer, hasty: LichessServer
) -> None:
    arrived = asyncio.Event()

    async def arrive(_: web.Request) -> web.StreamResponse:
        arrived.set()
        return web.json_response({"nowPlaying": []})

    peer.script("/api/account/playing", hang, arrive)
    with pytest.raises(TransientError, match=r"playing\?nb=50: no answer in 1 s"):
        await hasty.running_game_ids()
    with suppress(TransientError):
        await hasty.running_game_ids()
    await arrived.wait()


async def endless(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b" " * 65536)


async def dribble(request: web.Request) -> web.StreamResponse:
    """A byte now and then, so that no read times out."""
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b" ")
        await asyncio.sleep(0.01)


async def test_answers_without_an_end(peer: Peer, server: LichessServer) -> None:
    for path in ("/api/account/playing", f"/game/export/{GAME}", MOVE):
        peer.script(path, endless)
    for ask in (server.running_game_ids(), server.export(GAME), server.move(GAME, "f5")):
        with pytest.raises(TransientError, match="more than 1048576 bytes"):
            await ask


@pytest.mark.parametrize("rude", [hang, dribble])
async def test_what_never_answers(peer: Peer, hasty: LichessServer, rude: Reply) -> None:
    peer.script("/api/account/playing", rude)
    for _ in range(3):
        with pytest.raises(TransientError, match="no answer in 1 s"):
            await hasty.running_game_ids()


async def test_leaving_in_the_middle_of_a_call(peer: Peer) -> None:
    arrived = asyncio.Event()

    async def arrive(request: web.Request) -> web.StreamResponse:
        arrived.set()
        return await dribble(request)

    peer.script("/api/account/playing", arrive)
    server = LichessServer(ARENA, peer.url, TOKEN, call_timeout_s=3600)
    asking = asyncio.create_task(server.running_game_ids())
    await arrived.wait()
    asking.cancel()
    await asyncio.wait([asking])
    assert asking.cancelled()
    peer.script("/api/account/playing", answer(200, {"nowPlaying": []}))
    assert await server.running_game_ids() == []
    await server.close()


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("<html>Sign in to the hotel's network</html>", "text/html"),
        ("", "application/json"),
        ('{"ok": false}', "application/json"),
        ('{"ok": 1}', "application/json"),
        ("[true]", "application/json"),
        ('{"status": "fine"}', "application/json"),
    ],
)
async def test_an_ok_that_is_not_the_sites_is_none(
    peer: Peer, server: LichessServer, body: str, kind: str
) -> None:
    """A proxy answers every request with status 200."""
    await server.account()

    async def proxy(_: web.Request) -> web.StreamResponse:
        return web.Response(text=body, content_type=kind)

    acts = {
        f"/api/bot/game/{GAME}/move/a1": partial(server.move, GAME, "a1"),
        f"/api/bot/game/{GAME}/abort": partial(server.abort, GAME),
        f"/api/bot/game/{GAME}/resign": partial(server.resign, GAME),
        f"/api/bot/game/{GAME}/claim-victory": partial(server.claim_victory, GAME),
        f"/api/bot/game/{GAME}/draw/yes": partial(server.answer_draw, GAME, True),
        f"/api/bot/game/{GAME}/takeback/no": partial(server.answer_takeback, GAME, False),
        "/api/challenge/c1/accept": partial(server.accept, "c1"),
        "/api/challenge/c1/decline": partial(server.decline, "c1", DeclineReason.LATER),
    }
    for path, act in acts.items():
        peer.script(path, proxy)
        with pytest.raises(TransientError, match="instead of ok"):
            await act()


async def test_calls_go_one_at_a_time(peer: Peer, server: LichessServer) -> None:
    running = most = 0

    async def count(_: web.Request) -> web.StreamResponse:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return web.json_response({"ok": True})

    for index in range(4):
        peer.script(f"/api/challenge/c{index}/accept", count)
    await asyncio.gather(*(server.accept(f"c{index}") for index in range(4)))
    assert most == 1


async def test_an_unanswered_call_delays_none_of_another_kind(peer: Peer, server: LichessServer) -> None:
    await server.account()
    stuck = (f"/api/bot/game/{GAME}/chat", "/api/account/playing")
    released, arrived = asyncio.Event(), {path: asyncio.Event() for path in stuck}

    async def hang(request: web.Request) -> web.StreamResponse:
        arrived[request.path].set()
        await released.wait()
        return web.json_response({"nowPlaying": [], "ok": True})

    for path in stuck:
        peer.script(path, hang)
    async with asyncio.timeout(PATIENCE_S):
        late = [
            asyncio.create_task(server.chat(GAME, "hello")),
            asyncio.create_task(server.chat(GAME, "hello again")),
            asyncio.create_task(server.running_game_ids()),
        ]
        for path in stuck:
            await arrived[path].wait()
        await server.accept("chal0001")
        await server.decline("chal0002", DeclineReason.LATER)
        await server.answer_takeback(GAME, True)
        await server.resign(GAME)
        assert not any(task.done() for task in late)
        released.set()
        await asyncio.gather(*late)
    assert [path.split("?")[0] for _, path in peer.seen].count(stuck[0]) == 2


async def test_chat_is_given_up_first(peer: Peer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.servers.lichess.CHAT_TIMEOUT_S", 0.05)
    server = LichessServer(ARENA, peer.url, TOKEN)

    async def hang(_: web.Request) -> web.StreamResponse:
        await asyncio.Event().wait()
        raise AssertionError

    peer.script(f"/api/bot/game/{GAME}/chat", hang)
    try:
        with pytest.raises(TransientError, match=r"no answer in 0\.05 s"):
            await server.chat(GAME, "hello")
    finally:
        await server.close()


AT_ONCE = round(STREAM_OPENING_RATE.burst)


class Hands:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
async def timed(peer: Peer, hands: Hands) -> AsyncIterator[LichessServer]:
    """One whose time passes as the test says."""
    server = LichessServer(ARENA, peer.url, TOKEN, clock=hands)
    yield server
    await server.close()


@pytest.mark.parametrize(
    ("reply", "wait_s"),
    [
        (answer(429, {"error": "x", "ratelimit": {"seconds": 120}}), 120.0),
        (answer(429, "<html>slow down</html>", **{"Retry-After": "75"}), 75.0),
        (answer(429, "<html>slow down</html>"), 60.0),
        (answer(429, {"error": "x", "ratelimit": {"key": "bot.vsBot.day", "seconds": 7200}}), 60.0),
    ],
    ids=["json", "html with header", "html", "a limit of one kind of request"],
)
@pytest.mark.parametrize("first", ["accept", "stream", "move", "chat"])
async def test_quiet_after_too_many_requests(
    peer: Peer, timed: LichessServer, hands: Hands, reply: Reply, wait_s: float, first: str
) -> None:
    """Whatever was too much: nothing more is asked until the time is over, but moves go out."""
    await timed.account()
    paths = {
        "accept": "/api/challenge/c/accept",
        "stream": GAME_STREAM,
        "move": MOVE,
        "chat": f"/api/bot/game/{GAME}/chat",
    }
    calls: dict[str, Callable[[], Awaitable[object]]] = {
        "accept": lambda: timed.accept("c"),
        "stream": lambda: collect(timed.game_events(GAME)),
        "move": lambda: timed.move(GAME, "f5"),
        "chat": lambda: timed.chat(GAME, "hi"),
    }
    peer.script(paths[first], reply, answer(200, {"ok": True}))
    with pytest.raises(TransientError) as caught:
        await calls[first]()
    retry_after_s = caught.value.retry_after_s
    assert retry_after_s is not None
    assert (retry_after_s == 2.0) if first == "move" else (retry_after_s >= wait_s)
    asked = len(peer.seen)
    hands.now += wait_s - 1
    proposal = Proposal("othello", True, Clock(300, 3))
    for ask in (
        timed.accept("d"),
        timed.decline("d", DeclineReason.LATER),
        timed.running_game_ids(),
        timed.account(),
        timed.chat(GAME, "hi"),
        timed.online_bots(),
        timed.challenge("iago", proposal),
    ):
        with pytest.raises(TransientError, match="the server demands a pause of 1 s") as early:
            await ask
        assert early.value.retry_after_s == 1.0
    assert len(peer.seen) == asked
    await timed.move(GAME, "d3")
    hands.now += 1
    await timed.accept("d")
    assert [path for _, path in peer.seen[asked:]] == [
        f"/api/bot/game/{GAME}/move/d3",
        "/api/challenge/d/accept",
    ]


@pytest.mark.parametrize(
    ("status", "account", "error"),
    [
        (403, answer(401, {"error": "never asked"}), RefusedError),
        (401, answer(200, {"id": "desdemona", "username": "Desdemona"}), TransientError),
        (401, answer(200, "<html>"), TransientError),
        (401, answer(502, "<html>"), TransientError),
        (401, answer(401, "<html>"), TransientError),
        (401, answer(401, {"error": "No such token"}), TransientError),  # so soon
    ],
)
async def test_only_the_account_can_say_that_it_is_refused(
    peer: Peer, server: LichessServer, status: int, account: Reply, error: type[Exception]
) -> None:
    await server.account()
    peer.script("/api/account", account)
    paths = ("/api/challenge/c/accept", "/api/challenge/c/decline", f"/game/export/{GAME}", MOVE, GAME_STREAM)
    for path in paths:
        peer.script(path, answer(status, {"error": "no"}))
    for ask in (
        server.accept("c"),
        server.decline("c", DeclineReason.TOO_FAST),
        server.export(GAME),
        server.move(GAME, "f5"),
        collect(server.game_events(GAME)),
    ):
        with pytest.raises(error):
            await ask


@pytest.mark.parametrize(
    "account", [answer(401, {"error": "No such token"}), answer(403, {"error": "closed"})]
)
@pytest.mark.parametrize("how", ["move", "stream", "call"])
async def test_a_refusal_of_the_account_is_believed_when_it_lasts(
    peer: Peer, timed: LichessServer, hands: Hands, account: Reply, how: str
) -> None:
    await timed.account()
    calls: dict[str, Callable[[], Awaitable[object]]] = {
        "move": lambda: timed.move(GAME, "f5"),
        "stream": lambda: collect(timed.game_events(GAME)),
        "call": lambda: timed.accept("c"),
    }
    for path in (MOVE, GAME_STREAM, "/api/challenge/c/accept", "/api/account"):
        peer.script(path, account if path == "/api/account" else answer(401, {"error": "no"}))
    for passing in (0, 1, 298, 1, 1, 298):
        hands.now += passing
        with pytest.raises(TransientError, match="HTTP 40"):
            await calls[how]()
    hands.now += 1
    with pytest.raises(AuthError):
        await calls[how]()


async def test_a_refusal_that_passed_does_not_count_any_more(
    peer: Peer, timed: LichessServer, hands: Hands
) -> None:
    await timed.account()
    peer.script("/api/challenge/c/accept", answer(401, {"error": "no"}))
    peer.script("/api/account", answer(401, {"error": "No such token"}))
    peer.script(GAME_STREAM, stream())
    for again in (
        lambda: timed.move(GAME, "f5"),
        lambda: collect(timed.game_events(GAME)),
        lambda: timed.chat(GAME, "hi"),
    ):
        for _ in range(2):
            hands.now += 300
            with pytest.raises(TransientError):
                await timed.accept("c")
        await again()


async def test_a_closed_door() -> None:
    gone = Peer()
    async with gone.running():
        pass
    closed = LichessServer(ARENA, gone.url, TOKEN, call_timeout_s=1.0)
    try:
        with pytest.raises(TransientError, match="Connect"):
            await closed.account()
        with pytest.raises(TransientError, match="Connect"):
            await closed.move(GAME, "f5")
        with pytest.raises(TransientError, match="Connect"):
            await collect(closed.game_events(GAME))
    finally:
        await closed.close()


# --- Actions in a game ----------------------------------------------------------------------------------


async def test_actions(peer: Peer, server: LichessServer) -> None:
    await server.move(GAME, "pass")
    await server.chat(GAME, "x" * 200)
    await server.answer_draw(GAME, False)
    await server.answer_takeback(GAME, True)
    await server.claim_victory(GAME)
    await server.move("odd/../id", "f5?a#b")
    await server.move(GAME, "f5", offer_draw=True)
    await server.chat(GAME, "hi", Room.SPECTATOR)
    await server.answer_draw(GAME, True)
    await server.answer_takeback(GAME, False)
    await server.abort(GAME)
    await server.resign(GAME)
    await server.claim_draw(GAME)
    prefix = f"/api/bot/game/{GAME}"
    assert peer.seen == [
        ("POST", f"{prefix}/move/pass"),
        ("POST", f"{prefix}/chat"),
        ("POST", f"{prefix}/draw/no"),
        ("POST", f"{prefix}/takeback/yes"),
        ("POST", f"{prefix}/claim-victory"),
        ("POST", "/api/bot/game/odd%2F..%2Fid/move/f5%3Fa%23b"),
        ("POST", f"{prefix}/move/f5?offeringDraw=true"),
        ("POST", f"{prefix}/chat"),
        ("POST", f"{prefix}/draw/yes"),
        ("POST", f"{prefix}/takeback/no"),
        ("POST", f"{prefix}/abort"),
        ("POST", f"{prefix}/resign"),
        ("POST", f"{prefix}/claim-draw"),
    ]
    assert peer.bodies[1] == f"room=player&text={'x' * 140}"
    assert peer.bodies[7] == "room=spectator&text=hi"


async def test_a_move_out_of_turn_is_refused(peer: Peer, server: LichessServer) -> None:
    peer.script(MOVE, answer(400, {"error": "Not your turn, or game already over"}))
    with pytest.raises(RefusedError, match="Not your turn") as caught:
        await server.move(GAME, "f5")
    assert caught.value.status == 400


@pytest.mark.parametrize("reply", [hang, hang_up, answer(503, "down")], ids=["hang", "hang up", "503"])
async def test_a_lost_answer_to_a_move_is_transient_and_not_repeated(
    peer: Peer, server: LichessServer, hasty: LichessServer, reply: Reply
) -> None:
    # The move may have been played: whether to send it again is for the caller, who reads the state first.
    peer.script(MOVE, reply)
    with pytest.raises(TransientError) as caught:
        await (hasty if reply is hang else server).move(GAME, "f5")
    assert len(peer.seen) == 1
    assert TOKEN not in str(caught.value)


@pytest.mark.parametrize("status", [500, 502, 503])
@pytest.mark.parametrize("retry_after", ["7200", "Fri, 31 Dec 9999 23:59:59 GMT"])
async def test_a_running_game_does_not_wait_as_long_as_an_outage_wants(
    peer: Peer, server: LichessServer, status: int, retry_after: str
) -> None:
    for path in (MOVE, GAME_STREAM):
        peer.script(path, answer(status, "down", **{"Retry-After": retry_after}))
    for ask in (server.move(GAME, "f5"), collect(server.game_events(GAME))):
        with pytest.raises(TransientError, match=f"HTTP {status}") as caught:
            await ask
        assert caught.value.retry_after_s is None


async def test_only_the_games_stream_says_that_there_is_no_such_game(
    peer: Peer, server: LichessServer
) -> None:
    peer.script(MOVE, answer(404, {"error": "No such game"}))
    peer.script(GAME_STREAM, answer(404, {"error": "No such game"}))
    with pytest.raises(TransientError, match="HTTP 404: No such game"):
        await server.move(GAME, "f5")
    with pytest.raises(RefusedError, match="HTTP 404: No such game"):
        await collect(server.game_events(GAME))


async def test_a_packed_stream_is_not_unpacked(peer: Peer, server: LichessServer) -> None:
    """A few bytes of it may be lines without an end."""

    async def packed(_: web.Request) -> web.StreamResponse:
        body = gzip.compress(b"\n" * 1_000_000)
        return web.Response(body=body, headers={"Content-Encoding": "gzip"})

    peer.script(GAME_STREAM, packed)
    with pytest.raises(TransientError, match="'gzip'"):
        await collect(server.game_events(GAME))
    assert peer.headers[-1]["accept-encoding"] == "identity"


async def test_a_flood_of_lines_leaves_turns_to_others(peer: Peer, server: LichessServer) -> None:
    peer.script("/api/stream/event", stream(b"\n" * 10_000))
    turns = 0

    async def another() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(another())
    await collect(server.account_events())
    other.cancel()
    assert turns > 1000


async def test_redirects_are_not_followed(peer: Peer, server: LichessServer) -> None:
    peer.script(MOVE, answer(302, "elsewhere", Location="/api/account"))
    with pytest.raises(TransientError, match="302"):
        await server.move(GAME, "f5")
    assert len(peer.seen) == 1


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize(
    ("path", "call"),
    [
        ("/api/account", lambda server: server.account()),
        ("/api/account/playing", lambda server: server.running_game_ids()),
        (f"/game/export/{GAME}", lambda server: server.export(GAME)),
        (f"/api/challenge/{GAME}/accept", lambda server: server.accept(GAME)),
    ],
)
async def test_no_call_takes_the_token_elsewhere(
    peer: Peer, server: LichessServer, status: int, path: str, call: Callable[[LichessServer], Awaitable[Any]]
) -> None:
    peer.script(path, answer(status, "elsewhere", Location="/api/elsewhere"))
    with pytest.raises(ServerError, match=str(status)):
        await call(server)
    assert len(peer.seen) == 1


async def test_what_a_site_cannot_do_is_refused_without_asking(peer: Peer) -> None:
    server = make_server(Config(), DIALECTS["pychess"], peer.url, TOKEN)
    for kinds in (["chess"], ["othello", "xiangqi"]):  # the latter at a reload of the settings
        server.set_challenge_rules(ChallengesConfig(variants=kinds), lambda _: True)
    try:
        assert [capability for capability in Capability if server.supports(capability)] == [
            Capability.UPGRADE
        ]
        for ask in (
            server.answer_draw(GAME, True),
            server.answer_takeback(GAME, False),
            server.claim_victory(GAME),
            server.claim_draw(GAME),
            server.challenge("iago", Proposal("xiangqi", False, Clock(300, 3))),
            server.online_bots(),
            server.export(GAME),
            server.tournament("cypr0001"),
            server.join_tournament("cypr0001"),
            server.leave_tournament("cypr0001"),
        ):
            with pytest.raises(RefusedError, match="pychess does not offer this"):
                await ask
        assert await server.rating_diff(GAME, "Desdemona") is None
        assert peer.seen == []
        await server.move(GAME, "h3e3", offer_draw=True)
        assert peer.seen == [("POST", f"/api/bot/game/{GAME}/move/h3e3")]
        told = json.loads(peer.headers[0]["x-pychess-bot-capabilities"])
        assert told == {"version": 1, "variants": ["xiangqi"]}
    finally:
        await server.close()


def test_abilities() -> None:
    missing = {name: frozenset(Capability) - dialect.capabilities for name, dialect in DIALECTS.items()}
    assert missing["lichess"] == set()
    assert missing["arena"] == {
        Capability.TOURNAMENTS,
        Capability.CORRESPONDENCE,
        Capability.GAME_LIST,
    }
    assert missing["playstrategy"] == {Capability.TAKEBACK, Capability.CLAIM, Capability.TOURNAMENTS}


# --- Lag ------------------------------------------------------------------------------------------------


def test_lag_is_what_most_requests_took() -> None:
    lag = Lag()
    assert lag.seconds == 0.0
    lag.add(0.05)
    assert lag.seconds == 0.05
    for _ in range(30):
        lag.add(0.1)
    for _ in range(5):
        lag.add(9.0)
    assert lag.seconds == 0.1  # a quarter of the latest twenty may take ages
    lag.add(9.0)
    assert lag.seconds == 1.0  # a site that stalls is no long way
    for _ in range(15):
        lag.add(0.2)
    assert lag.seconds == 0.2


async def test_moves_are_timed(peer: Peer, timed: LichessServer, hands: Hands) -> None:
    def slow(seconds: float, reply: Reply) -> Reply:
        async def wait(request: web.Request) -> web.StreamResponse:
            hands.now += seconds
            return await reply(request)

        return wait

    assert timed.lag_s == 0.0
    peer.script(MOVE, slow(0.25, answer(200, {"ok": True})))
    await timed.move(GAME, "f5")
    assert timed.lag_s == 0.25
    peer.script(MOVE, slow(0.5, answer(400, {"error": "Not your turn"})))
    with pytest.raises(RefusedError):
        await timed.move(GAME, "f5")
    assert timed.lag_s == 0.5
    # Only the game's own answers count.
    for reply in (
        hang_up,
        answer(503, "down"),
        answer(429, "slow down"),
        answer(404, {"error": "Not found."}),
    ):
        peer.script(MOVE, slow(0.9, reply))
        with pytest.raises((TransientError, RefusedError)):
            await timed.move(GAME, "f5")
    hands.now += 60  # of quiet, after the 429
    await timed.chat(GAME, "hi")
    assert timed.lag_s == 0.5


async def test_a_move_without_an_answer_is_not_timed(peer: Peer, hasty: LichessServer) -> None:
    peer.script(MOVE, hang)
    with pytest.raises(TransientError, match="no answer"):
        await hasty.move(GAME, "f5")
    assert hasty.lag_s == 0.0


# --- Other programs -------------------------------------------------------------------------------------

PROPOSAL = Proposal("standard", True, Clock(180, 2))
MADE = {"id": "chal0001", "status": "created"}
CHALLENGE_IAGO = "/api/challenge/iago"


@pytest.mark.parametrize(
    ("reply", "accepted", "reason"),
    [
        (stream(MADE, b"\n", {"done": "accepted"}), True, "accepted"),
        (stream(MADE, {"done": "canceled"}), False, "canceled"),
        (stream(MADE, {"done": "declined"}), False, "declined"),
        (stream({"challenge": MADE}, json.dumps({"done": "accepted"}).encode()), True, "accepted"),
        # Sites without `keepAliveStream`.
        (answer(200, {"challenge": MADE}), None, "no answer"),
    ],
)
async def test_a_challenge_of_ours(
    peer: Peer, server: LichessServer, reply: Reply, accepted: bool | None, reason: str
) -> None:
    peer.script(CHALLENGE_IAGO, reply)
    assert await server.challenge("iago", PROPOSAL) == ChallengeReply("chal0001", accepted, reason)
    assert peer.seen == [("POST", CHALLENGE_IAGO)]
    assert dict(parse_qsl(peer.bodies[0])) == {
        "rated": "true",
        "clock.limit": "180",
        "clock.increment": "2",
        "variant": "standard",
        "color": "random",
        "keepAliveStream": "true",
    }


async def test_a_challenge_at_odds(peer: Peer, server: LichessServer) -> None:
    peer.script(CHALLENGE_IAGO, stream(MADE, {"done": "accepted"}))
    start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1"
    terms = Proposal("standard", False, Clock(180, 2), side=0, initial_position=start)
    assert (await server.challenge("iago", terms)).accepted
    form = dict(parse_qsl(peer.bodies[0]))
    assert (form["variant"], form["rated"], form["color"], form["fen"]) == (
        "standard",
        "false",
        "white",
        start,
    )


async def test_withdrawing_a_challenge(
    peer: Peer, server: LichessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, read = asyncio.Event(), asyncio.Event()

    async def wait(request: web.Request) -> web.StreamResponse:
        try:
            return await stream(MADE, end="silence")(request)
        finally:
            left.set()

    def note(message: Mapping[str, Any]) -> ChallengeMade | ChallengeDone:
        read.set()
        return read_challenge_answer(message)

    monkeypatch.setattr("bot.servers.lichess.read_challenge_answer", note)
    peer.script(CHALLENGE_IAGO, wait)
    asking = asyncio.create_task(server.challenge("iago", PROPOSAL))
    async with asyncio.timeout(PATIENCE_S):
        await read.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await left.wait()
    assert peer.seen == [("POST", CHALLENGE_IAGO), ("POST", "/api/challenge/chal0001/cancel")]


@pytest.mark.parametrize(
    ("reply", "error", "wait_s"),
    [
        (answer(400, {"error": "iago does not accept challenges"}), RefusedError, None),
        (answer(429, {"ratelimit": {"key": "bot.vsBot.day", "seconds": 7200}}), TransientError, 7200.0),
        (answer(429, "<html>"), TransientError, 60.0),
        (answer(502, "<html>"), TransientError, None),
        (hang_up, TransientError, None),
        (stream(MADE, end="broken"), TransientError, None),
        (stream(b"<html>\n"), ProtocolError, None),
        (stream(), ProtocolError, None),
        (stream({"done": "accepted"}), ProtocolError, None),
    ],
    ids=["400", "429", "429 html", "502", "hang up", "broken", "garbled", "empty", "no id"],
)
async def test_challenges_that_fail(
    peer: Peer, server: LichessServer, reply: Reply, error: type[Exception], wait_s: float | None
) -> None:
    peer.script(CHALLENGE_IAGO, reply)
    with pytest.raises(error) as caught:
        await server.challenge("iago", PROPOSAL)
    assert getattr(caught.value, "retry_after_s", None) == wait_s


async def test_who_may_challenge_nobody_learns_why(peer: Peer, server: LichessServer) -> None:
    peer.script(CHALLENGE_IAGO, answer(403, {"error": "Missing scope"}))
    with pytest.raises(RefusedError, match=r"Missing scope; .* lack the scope challenge:write$") as no:
        await server.challenge("iago", PROPOSAL)
    assert no.value.is_forbidden
    peer.script(CHALLENGE_IAGO, answer(400, {"error": "iago does not accept challenges"}))
    with pytest.raises(RefusedError, match=r"iago does not accept challenges$") as no:
        await server.challenge("iago", PROPOSAL)
    assert not no.value.is_forbidden


# --- Tournaments ----------------------------------------------------------------------------------------

CYPRUS = "/api/tournament/cypr0001"


@pytest.fixture
async def lichess(peer: Peer) -> AsyncIterator[LichessServer]:
    server = LichessServer(DIALECTS["lichess"], peer.url, TOKEN)
    yield server
    await server.close()


async def test_tournaments(peer: Peer, lichess: LichessServer) -> None:
    shown = {
        "id": "cypr0001",
        "fullName": "Cyprus Arena",
        "startsAt": "2026-11-23T18:00:00Z",
        "variant": "standard",
    }
    peer.script(CYPRUS, answer(200, shown))
    told = Tournament("Cyprus Arena", "chess", "standard", is_over=False)
    assert await lichess.tournament("cypr0001") == told
    await lichess.join_tournament("cypr0001")
    await lichess.join_tournament("cypr0001", password="open sesame", team="venetians")
    await lichess.leave_tournament("cypr0001")
    assert [(method, path.partition("?")[0]) for method, path in peer.seen] == [
        ("GET", CYPRUS),
        ("POST", f"{CYPRUS}/join"),
        ("POST", f"{CYPRUS}/join"),
        ("POST", f"{CYPRUS}/withdraw"),
    ]
    forms = [dict(parse_qsl(body)) for body in peer.bodies[1:]]
    assert forms[0] == {"pairMeAsap": "true"}
    assert forms[1] == {"pairMeAsap": "true", "password": "open sesame", "team": "venetians"}
    assert forms[2] == {}


@pytest.mark.parametrize("what", ["join", "withdraw"])
async def test_who_may_join_no_tournament_learns_why(peer: Peer, lichess: LichessServer, what: str) -> None:
    ask = lichess.join_tournament if what == "join" else lichess.leave_tournament
    peer.script(f"{CYPRUS}/{what}", answer(403, {"error": "Missing scope"}))
    with pytest.raises(RefusedError, match=r"Missing scope; .* lack the scope tournament:write$"):
        await ask("cypr0001")
    peer.script(f"{CYPRUS}/{what}", answer(400, {"error": "Wrong entry code"}))
    with pytest.raises(RefusedError, match=r"Wrong entry code$"):
        await ask("cypr0001")


async def test_a_tournament_that_is_not_there(peer: Peer, lichess: LichessServer) -> None:
    peer.script(CYPRUS, answer(404, {"error": "No such tournament"}))
    with pytest.raises(RefusedError, match="No such tournament") as no:
        await lichess.tournament("cypr0001")
    assert no.value.status == 404


async def test_online_bots(peer: Peer, server: LichessServer) -> None:
    iago = {"id": "iago", "username": "Iago", "perfs": {"blitz": {"games": 9, "rating": 2100}}}
    last = json.dumps({"id": "cassio", "username": "Cassio"}).encode()  # without an end of the line
    peer.script("/api/bot/online", stream(iago, b"\n", {"id": 5}, b"<html>\n", last))
    assert await server.online_bots() == [Bot("iago", "Iago", {"blitz": 2100}), Bot("cassio", "Cassio", {})]
    assert peer.seen == [("GET", "/api/bot/online?nb=150")]


async def test_finished_games(peer: Peer) -> None:
    players = {
        "white": {"user": {"id": "desdemona", "name": "Desdemona"}},
        "black": {"user": {"name": "Iago"}},
    }
    one = {"id": "abcdefgh", "createdAt": 1764000000000, "status": "mate", "players": players}
    alone = {"white": {"user": {"id": "desdemona", "name": "Desdemona"}}, "black": {}}
    lines = (
        one,
        b"\n",
        {"id": 5},
        one | {"status": "started"},
        one | {"createdAt": 10**20},
        {**one, "players": alone},
    )
    server = LichessServer(DIALECTS["lichess"], peer.url, TOKEN)
    peer.script("/api/games/user/desdemona", stream(*lines))
    at = datetime(2025, 11, 24, 16, tzinfo=UTC)
    try:
        games = await server.finished_games(at)
    finally:
        await server.close()
    assert games == [ListedGame("abcdefgh", "Iago", at), ListedGame("abcdefgh", "", at)]
    path = "/api/games/user/desdemona?since=1764000000000&max=1000&moves=false"
    assert peer.seen[-1] == ("GET", path)


@pytest.mark.parametrize("reply", [dribble, hang], ids=["dribble", "hang"])
async def test_online_bots_without_an_end(
    peer: Peer, server: LichessServer, monkeypatch: pytest.MonkeyPatch, reply: Reply
) -> None:
    monkeypatch.setattr("bot.servers.lichess.ONLINE_TIMEOUT_S", 0.15)
    peer.script("/api/bot/online", reply)
    with pytest.raises(TransientError, match=r"(no answer in|silent for) 0\.15 s"):
        await server.online_bots()


async def test_nobody_waits_behind_a_slow_list_of_bots(peer: Peer, server: LichessServer) -> None:
    asked = asyncio.Event()

    async def slow(request: web.Request) -> web.StreamResponse:
        asked.set()
        return await hang(request)

    peer.script("/api/bot/online", slow)
    bots = asyncio.create_task(server.online_bots())
    await asked.wait()
    await server.accept("c")
    assert not bots.done()
    bots.cancel()
    await asyncio.wait([bots])


async def test_upgrade(peer: Peer, server: LichessServer) -> None:
    await server.upgrade()
    assert peer.seen == [("POST", "/api/bot/account/upgrade")]
    peer.script("/api/bot/account/upgrade", answer(400, {"error": "It has played games"}))
    with pytest.raises(RefusedError, match="It has played games"):
        await server.upgrade()


# --- Streams --------------------------------------------------------------------------------------------


async def test_account_stream(peer: Peer, server: LichessServer) -> None:
    peer.script("/api/stream/event", stream(b"\n", CHALLENGE, GAME_START, b"\n", {"type": "new"}, GAME_START))
    challenge, *starts = await collect(server.account_events())
    assert isinstance(challenge, ChallengeReceived)
    assert starts == [GameStarted(GAME, True, game="othello")] * 2
    assert [path for _, path in peer.seen] == ["/api/account", "/api/stream/event"]
    await collect(server.account_events())
    assert [path for _, path in peer.seen][2:] == ["/api/stream/event"]


async def test_game_stream_with_the_double_end(peer: Peer, server: LichessServer) -> None:
    lines = [full("f5"), state("f5 d6"), {"type": "new"}, state("f5 d6", status="draw")]
    peer.script(GAME_STREAM, stream(*lines))
    snapshot, before, after = await collect(server.game_events(GAME))
    assert isinstance(snapshot, GameSnapshot)
    assert (before.moves, before.end) == (after.moves, None)
    assert isinstance(after.end, GameEnd)


async def test_a_stream_tells_that_it_is_open_and_alive(peer: Peer, server: LichessServer) -> None:
    peer.script("/api/stream/event", stream(b"\n", b"\r\n"))
    assert [event async for event in server.account_events()] == [None, None, None]


async def test_a_line_in_pieces_is_one_line(peer: Peer, server: LichessServer) -> None:
    whole = json.dumps(full("f5")).encode() + b"\n"
    peer.script(GAME_STREAM, stream(*(whole[i : i + 50] for i in range(0, len(whole), 50))))
    assert [event.state.moves for event in await collect(server.game_events(GAME))] == [("f5",)]


async def test_a_cut_off_line_is_not_read(peer: Peer, server: LichessServer) -> None:
    peer.script(GAME_STREAM, stream(full(), json.dumps(state("f5")).encode()))
    assert len(await collect(server.game_events(GAME))) == 1


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (stream(full(), end="broken"), "GET"),
        (stream(full(), b"<html>\n"), "not JSON"),
        (stream(b"<html>\n"), "not JSON"),
        (stream(full(), {"type": "gameState"}), "'moves'"),
        (stream(full(), b"x" * 3_000_000), "a line of more than"),
        (answer(502, "<html>"), "HTTP 502"),
        (hang_up, "GET"),
    ],
    ids=["broken", "html", "html first", "garbled", "oversized", "502", "hang up"],
)
async def test_lost_game_streams(peer: Peer, server: LichessServer, reply: Reply, says: str) -> None:
    peer.script(GAME_STREAM, reply)
    with pytest.raises(TransientError, match=says):
        await collect(server.game_events(GAME))


@pytest.mark.parametrize("reply", [stream(b"\n", end="silence"), hang], ids=["silence", "hang"])
async def test_silence_is_a_lost_stream(
    peer: Peer, server: LichessServer, hasty: LichessServer, reply: Reply
) -> None:
    hasty._account = await server.account()
    peer.script(GAME_STREAM, reply)
    with pytest.raises(TransientError, match=r"silent for 1\.05 s"):
        await collect(hasty.game_events(GAME))


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (answer(403, {"error": "Not yours"}), RefusedError),
        (answer(404, {"error": "Not found."}), RefusedError),
        (stream({"type": "gameFull", "id": GAME}), ProtocolError),
    ],
    ids=["403", "404", "broken snapshot"],
)
async def test_game_streams_that_another_try_would_not_mend(
    peer: Peer, server: LichessServer, reply: Reply, error: type[Exception]
) -> None:
    peer.script(GAME_STREAM, reply)
    with pytest.raises(error):
        await collect(server.game_events(GAME))


async def test_one_broken_message_does_not_hide_the_other_challenges(
    peer: Peer, server: LichessServer, caplog: pytest.LogCaptureFixture
) -> None:
    peer.script("/api/stream/event", stream({"type": "challenge"}, b"<html>\n", CHALLENGE))
    (event,) = await collect(server.account_events())
    assert isinstance(event, ChallengeReceived)
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 2
    assert TOKEN not in caplog.text


async def test_deeply_nested_messages_are_skipped_like_others(
    peer: Peer, server: LichessServer, caplog: pytest.LogCaptureFixture
) -> None:
    """At some depth they can just be read, but not be written to the log any more."""
    depths = range(300, 1000)
    start = b'{"type":"challenge","challenge":5,"x":'
    lines = [start + b"[" * depth + b"]" * depth + b"}\n" for depth in depths]
    peer.script("/api/stream/event", stream(*lines, CHALLENGE))
    (event,) = await collect(server.account_events())
    assert isinstance(event, ChallengeReceived)
    assert len(caplog.records) == len(depths)


async def test_a_broken_line_of_chat_does_not_cost_the_game(
    peer: Peer, server: LichessServer, caplog: pytest.LogCaptureFixture
) -> None:
    chat = {"type": "chatLine", "room": "player", "username": "Ann", "text": "hi"}
    gone = {"type": "opponentGone", "gone": 5}
    peer.script(GAME_STREAM, stream(chat | {"text": 5}, full(), chat | {"room": 5}, gone, chat, state("f5")))
    snapshot, line, after = await collect(server.game_events(GAME))
    assert isinstance(snapshot, GameSnapshot)
    assert line == ChatLine("Ann", Room.PLAYER, "hi")
    assert after.moves == ("f5",)
    assert len(caplog.records) == 3


async def test_moves_in_the_sites_words(peer: Peer) -> None:
    server = LichessServer(DIALECTS["playstrategy"], peer.url, TOKEN)
    players = {"p1": {"id": "desdemona"}, "p2": {"id": "ann"}}
    peer.script(
        GAME_STREAM,
        stream(
            full("P@e3") | {"variant": {"key": "flipello"}} | players,
            state("P@e3 P@f3"),
            state("P@e3 P@f3", status="resign", winner="p1"),
        ),
    )
    try:
        events = server.game_events(GAME)
        assert await anext(events) is None
        assert isinstance(await anext(events), GameSnapshot)
        assert isinstance(await anext(events), GameState)
        await server.move(GAME, "g6")
        await server.move("unknown1", "g6")
        assert [path for _, path in peer.seen[2:]] == [
            f"/api/bot/game/{GAME}/move/P@g3",
            "/api/bot/game/unknown1/move/g6",
        ]
        assert [event.end.winner async for event in events if isinstance(event, GameState) and event.end] == [
            0
        ]
        assert server._scripts == {}
    finally:
        await server.close()


async def test_a_game_whose_end_nobody_heard(peer: Peer, hands: Hands) -> None:
    """PyChess tells the end once; whoever was away then hears nothing but pings."""
    server = LichessServer(DIALECTS["pychess"], peer.url, TOKEN, clock=hands)
    peer.script("/api/account", answer(200, {"id": "Desdemona", "username": "Desdemona", "title": "BOT"}))
    whole = {
        "type": "gameFull",
        "id": GAME,
        "variant": {"name": "xiangqi"},
        "white": {"name": "Desdemona"},
        "black": {"name": "Ann"},
        "initialFen": "",
        "createdAt": 1745112707,
        "state": state("h3e3", winc=3, binc=3),
    }
    peer.script(GAME_STREAM, stream(whole, *[{"type": "ping"}] * 3))
    try:
        events = server.game_events(GAME)
        assert isinstance(await anext(events), GameSnapshot)
        for seconds in (60.0, CLOCK_EXPIRY_SLACK_S):
            hands.now += seconds
            assert await anext(events) is None
        hands.now += 1
        over = await anext(events)
        assert isinstance(over, GameState)
        assert over.end == GameEnd(EndReason.UNKNOWN, None, "unknown")
        await events.aclose()
    finally:
        await server.close()


def pychess_page(status: int, result: str, *moves: str, game_id: str = GAME) -> Reply:
    """The page of a game as pychess-variants writes it: the fields that we read, and one before and after."""
    steps = [{"fen": "startpos", "san": None}, *[{"move": move, "check": False} for move in moves]]
    board = {"type": "board", "gameId": game_id, "status": status, "result": result, "steps": steps, "ply": 2}
    text = json.dumps(board).replace('"', "&#34;")
    return answer(200, f'<!DOCTYPE html><body data-ply="1"\n data-board="{text}"\n data-result="{result}">')


def pychess_game(moves: str) -> dict[str, Any]:
    return {
        "type": "gameFull",
        "id": GAME,
        "variant": {"name": "xiangqi"},
        "white": {"name": "Desdemona"},
        "black": {"name": "Ann"},
        "initialFen": "",
        "createdAt": 1745112707,
        "state": state(moves, winc=3, binc=3),
    }


GAME_END = {"type": "gameEnd", "game": {"id": GAME}}
PING = {"type": "ping"}
UNKNOWN = GameEnd(EndReason.UNKNOWN, None, "gameEnd")
RESIGNED = GameEnd(EndReason.RESIGNATION, 0, "resign")


async def pychess_ends(peer: Peer, *lines: object) -> list[GameState]:
    """The states with an end, from a game's stream at PyChess."""
    server = LichessServer(DIALECTS["pychess"], peer.url, TOKEN)
    peer.script("/api/account", answer(200, {"id": "Desdemona", "username": "Desdemona", "title": "BOT"}))
    peer.script(GAME_STREAM, stream(*lines))
    try:
        events = [event async for event in server.game_events(GAME)]
    finally:
        await server.close()
    return [event for event in events if isinstance(event, GameState) and event.end is not None]


@pytest.mark.parametrize(
    ("status", "result", "end"),
    [
        (0, "*", GameEnd(EndReason.ABORTED, None, "aborted")),
        (1, "0-1", GameEnd(EndReason.NORMAL, 1, "mate")),
        (2, "1-0", RESIGNED),
        (3, "1/2-1/2", GameEnd(EndReason.NORMAL, None, "stalemate")),
        (5, "1/2-1/2", GameEnd(EndReason.NORMAL, None, "draw")),
        (6, "1-0", GameEnd(EndReason.TIME, 0, "outoftime")),
        (7, "0-1", GameEnd(EndReason.LEFT, 1, "timeout")),
        (12, "1-0", GameEnd(EndReason.NORMAL, 0, "variantEnd")),
        (99, "1-0", GameEnd(EndReason.OTHER, 0, "status 99")),
    ],
)
async def test_the_page_of_a_game_says_how_it_ended(
    peer: Peer, status: int, result: str, end: GameEnd
) -> None:
    peer.script(f"/{GAME}", pychess_page(status, result, "h3e3", "h10g8", "b3c3"))
    (over,) = await pychess_ends(peer, pychess_game(""), state("h3e3 h10g8"), GAME_END)
    assert (over.moves, over.end) == (("h3e3", "h10g8", "b3c3"), end)


GOES_ON = pychess_page(-1, "*", "h3e3")
LOST = answer(502, "Bad Gateway")


@pytest.mark.parametrize(
    ("pages", "asked", "end"),
    [
        ([answer(404, "<html>404")], 1, GameEnd(EndReason.UNKNOWN, None, UNRECORDED)),
        ([LOST, GOES_ON, hang_up, pychess_page(2, "1-0", "h3e3")], 4, RESIGNED),
        ([LOST], MAX_PAGE_REQUESTS, UNKNOWN),
        ([answer(200, "<html>")], 1, UNKNOWN),
        ([pychess_page(2, "1-0", "h3e3", game_id="another1")], 1, UNKNOWN),
    ],
    ids=["too short to be kept", "later", "never", "without a game", "of another game"],
)
async def test_a_page_that_does_not_say_how_a_game_ended(
    peer: Peer, pages: list[Reply], asked: int, end: GameEnd
) -> None:
    peer.script(f"/{GAME}", *pages)
    (over,) = await pychess_ends(peer, pychess_game(""), state("h3e3"), GAME_END, *[PING] * 9)
    assert (over.moves, over.end) == (("h3e3",), end)
    assert [path for _, path in peer.seen].count(f"/{GAME}") == asked


async def test_a_longer_game_that_the_site_does_not_have(peer: Peer) -> None:
    peer.script(f"/{GAME}", answer(404, "<html>404"))
    (over,) = await pychess_ends(peer, pychess_game(""), state("h3e3 h10g8 b3c3"), GAME_END)
    assert over.end == UNKNOWN


async def test_the_stream_ends_before_the_page_answers(peer: Peer) -> None:
    peer.script(f"/{GAME}", LOST)
    (over,) = await pychess_ends(peer, pychess_game(""), state("h3e3"), GAME_END)
    assert over.end == UNKNOWN


async def test_a_game_that_ended_while_we_were_away(peer: Peer) -> None:
    """The site streams it as if it went on, and is silent after that."""
    peer.script(f"/{GAME}", pychess_page(2, "1-0", "h3e3", "h10g8"))
    (over,) = await pychess_ends(peer, pychess_game("h3e3"), PING)
    assert (over.moves, over.end) == (("h3e3", "h10g8"), RESIGNED)


async def test_a_game_that_ended_while_we_were_away_and_has_no_stream(peer: Peer) -> None:
    """The site answers 200, then breaks off: it has no queue for the game any more."""
    page = (Path(__file__).parent / "data" / "pychess_page.txt").read_text(encoding="utf-8")
    game_id = re.search('"([A-Za-z0-9]{8})"', page.replace("&#34;", '"'))
    assert game_id is not None
    server = LichessServer(DIALECTS["pychess"], peer.url, TOKEN)
    peer.script("/api/account", answer(200, {"id": "Desdemona", "username": "Desdemona", "title": "BOT"}))
    peer.script(f"/api/bot/game/stream/{game_id[1]}", hang_up)
    peer.script(
        f"/{game_id[1]}",
        answer(200, page.replace("&#34;status&#34;:2", "&#34;status&#34;:-1")),
        answer(200, page),
    )
    try:
        events = server.game_events(game_id[1])
        running = await anext(events)
        with pytest.raises(TransientError) as refused:
            await anext(events)
        (over,) = await collect(server.game_events(game_id[1]))
    finally:
        await server.close()
    assert isinstance(running, GameSnapshot)
    assert running.state.end is None
    assert refused.value.retry_after_s == STREAM_RETRY_WAIT_S
    assert isinstance(over, GameSnapshot)
    assert over.state.moves == running.state.moves
    assert (over.our_side, over.game, over.clock, over.initial_position) == (1, "chess", Clock(60, 0), None)
    assert len(over.state.moves) == 6
    assert over.state.end == GameEnd(EndReason.RESIGNATION, 1, "resign")


async def test_a_page_shows_a_game_whose_stream_is_refused(peer: Peer) -> None:
    """The site has one stream for each game, and holds it for a while after it was lost."""
    start = "4k4/9/9/9/9/9/9/9/R8/3K1R3 w - - 0 1"
    steps = [{"fen": f"{start} (here)"}, *[{"move": move} for move in ("a2a9", "e10d10")]]
    board = {"gameId": GAME, "variant": "xiangqi", "status": -1, "result": "*", "clocks": [58_000, 59_000.5]}
    text = json.dumps(board | {"steps": steps}).replace('"', "&#34;")
    attributes = f'data-initialfen="{start}" data-board="{text}" data-wplayer="Desdemona" data-bplayer="Ann"'
    server = LichessServer(DIALECTS["pychess"], peer.url, TOKEN)
    peer.script("/api/account", answer(200, {"id": "Desdemona", "username": "Desdemona", "title": "BOT"}))
    peer.script(GAME_STREAM, hang_up)
    peer.script(f"/{GAME}", answer(200, f'<body {attributes} data-inc="2">'))
    try:
        async with aclosing(server.game_events(GAME)) as events:
            shown = await anext(events)
        peer.script(GAME_STREAM, stream(pychess_game("") | {"initialFen": start}))
        async with aclosing(server.game_events(GAME)) as events:
            streamed = await anext(events)
    finally:
        await server.close()
    assert isinstance(shown, GameSnapshot)
    assert isinstance(streamed, GameSnapshot)
    assert (shown.our_side, shown.game) == (0, "xiangqi")
    assert shown.initial_position == streamed.initial_position
    assert shown.state == GameState(("a2a9", "e10d10"), (58.0, 59.0005), (False, False), (False, False), None)


async def test_a_stream_garbled_between_two_reads() -> None:
    """The HTTP library calls that a RuntimeError."""
    may_garble, gone = asyncio.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n\n\r\n")
        await may_garble.wait()
        writer.write(b"HTTP/1.1 409 Conflict\r\n\r\n")
        await reader.read()  # until the client hangs up
        gone.set()
        writer.close()

    garbler = await asyncio.start_server(serve, "127.0.0.1", 0)
    server = LichessServer(
        DIALECTS["arena"], f"http://127.0.0.1:{garbler.sockets[0].getsockname()[1]}", TOKEN
    )
    server._account = Account("desdemona", "Desdemona", is_bot=True)
    try:
        events = server.game_events(GAME)
        assert [await anext(events), await anext(events)] == [None, None]
        may_garble.set()
        await asyncio.wait_for(gone.wait(), PATIENCE_S)
        with pytest.raises(TransientError):
            await anext(events)
    finally:
        await server.close()
        garbler.close()


async def test_a_page_is_not_needed_where_the_stream_tells_the_end(peer: Peer, server: LichessServer) -> None:
    peer.script(GAME_STREAM, stream(full("f5"), state("f5", status="resign", winner="black")))
    await collect(server.game_events(GAME))
    assert f"/{GAME}" not in [path for _, path in peer.seen]


@pytest.mark.parametrize(
    ("playing", "error"),
    [
        (answer(200, {"nowPlaying": [{"gameId": GAME}]}), TransientError),
        (answer(200, {"nowPlaying": []}), RefusedError),
        (answer(200, {"nowPlaying": 5}), TransientError),
        (answer(404, {"error": "Not found."}), TransientError),
        (answer(429, "<html>"), TransientError),
    ],
    ids=["it is going on", "it is not", "garbled", "no such list", "429"],
)
@pytest.mark.parametrize("line", [b"\n", state("f5"), {"type": "new"}], ids=["blank", "states", "news"])
async def test_a_stream_that_never_tells_the_game(
    peer: Peer, timed: LichessServer, hands: Hands, playing: Reply, error: type[ServerError], line: object
) -> None:
    """It is alive, so that no silence ends it."""
    peer.script(GAME_STREAM, stream(*[line] * 3, end="silence"))
    peer.script("/api/account/playing", playing)
    events = timed.game_events(GAME)
    for seconds in (0.0, FULL_STATE_TIMEOUT_S):
        hands.now += seconds
        assert await anext(events) is None
    hands.now += 1
    with pytest.raises(error, match="no state in 30 s") as caught:
        await anext(events)
    assert getattr(caught.value, "status", 404) == 404
    assert getattr(caught.value, "retry_after_s", None) is None


async def test_a_game_that_has_been_told_may_be_quiet(peer: Peer, timed: LichessServer, hands: Hands) -> None:
    peer.script(GAME_STREAM, stream(full(), b"\n", b"\n"))
    events = timed.game_events(GAME)
    assert await anext(events) is None
    assert isinstance(await anext(events), GameSnapshot)
    hands.now += 10 * FULL_STATE_TIMEOUT_S
    assert await collect(events) == []
    assert "/api/account/playing" not in [path for _, path in peer.seen]


def test_how_often_the_accounts_stream_may_be_opened() -> None:
    hands = Hands()
    openings, opened = RateLimiter(STREAM_OPENING_RATE, hands), list[float]()
    while hands.now < 5000:
        while not (wait_s := openings.wait_s("lichess")):
            opened.append(hands.now)
        hands.now += wait_s
    # lichess.org allows 30 in any ten minutes.
    assert max(sum(at <= other < at + 600 for other in opened) for at in opened) <= 30
    assert opened[:AT_ONCE] == [1000.0] * AT_ONCE
    assert max(later - earlier for earlier, later in itertools.pairwise(opened)) <= 30.1


async def test_the_accounts_stream_is_not_opened_too_often(
    peer: Peer, timed: LichessServer, hands: Hands
) -> None:
    peer.script("/api/stream/event", stream())
    lichess = LichessServer(DIALECTS["lichess"], peer.url, TOKEN, clock=hands)
    try:
        for _ in range(AT_ONCE):
            await collect(lichess.account_events())
        with pytest.raises(TransientError, match="too often") as caught:
            await collect(lichess.account_events())
        assert caught.value.retry_after_s == pytest.approx(30.0)
        hands.now += 30.1
        await collect(lichess.account_events())
    finally:
        await lichess.close()
    assert sum(path == "/api/stream/event" for _, path in peer.seen) == AT_ONCE + 1
    for _ in range(2 * AT_ONCE):  # the arena has no such limit
        await collect(timed.account_events())


@pytest.mark.parametrize("status", [301, 400, 403, 404, 429, 500, 502])
async def test_only_a_refused_account_ends_listening(peer: Peer, server: LichessServer, status: int) -> None:
    peer.script("/api/stream/event", answer(status, {"error": "no"}))
    with pytest.raises(TransientError, match=f"HTTP {status}"):
        await collect(server.account_events())
    peer.script("/api/stream/event", answer(401, {"error": "no"}))
    peer.script("/api/account", answer(401, {"error": "No such token"}))
    if status != 429:
        hands = Hands()
        server._refusals = RefusalCounter(hands)
        for _ in range(RefusalCounter.MIN_REFUSALS - 1):
            with pytest.raises(TransientError, match="HTTP 401"):
                await collect(server.account_events())
            hands.now += RefusalCounter.MIN_REFUSAL_INTERVAL_S
        with pytest.raises(AuthError):
            await collect(server.account_events())


async def test_leaving_a_stream_closes_it(peer: Peer, server: LichessServer) -> None:
    left = asyncio.Event()

    async def watch(request: web.Request) -> web.StreamResponse:
        try:
            return await stream(full(), end="silence")(request)
        finally:
            left.set()

    peer.script(GAME_STREAM, watch)
    events = server.game_events(GAME)
    assert await anext(events) is None
    assert isinstance(await anext(events), GameSnapshot)
    await events.aclose()
    await asyncio.wait_for(left.wait(), PATIENCE_S)


async def test_a_game_goes_on_through_every_kind_of_loss(peer: Peer, server: LichessServer) -> None:
    peer.script(
        GAME_STREAM,
        stream(full(), end="broken"),
        answer(502, "<html>"),
        stream(full("f5")),
        stream(full("f5 d6"), b"garbled\n"),
        answer(429, "<html>slow</html>", **{"Retry-After": "66"}),
        stream(full("f5 d6 c3"), state("f5 d6 c3 d3"), state("f5 d6 c3 d3", status="resign", winner="black")),
    )
    seen: list[GameState] = []
    slept: list[float] = []

    async def handle(event: GameEvent) -> None:
        if isinstance(event, GameSnapshot):
            seen.append(event.state)
        elif isinstance(event, GameState):
            seen.append(event)

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    await stay_connected(
        lambda: server.game_events(GAME),
        handle,
        name="game",
        done=lambda: bool(seen) and seen[-1].end is not None,
        sleep=sleep,
    )
    assert [len(state.moves) for state in seen] == [0, 1, 2, 3, 4, 4]
    assert len(slept) == 5
    assert slept[4] == 66.0
    assert seen[-1].end is not None
    assert seen[-1].end.winner == 0
