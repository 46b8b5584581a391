"""The adapter against a scripted and often rude server on loopback."""

import asyncio
import dataclasses
import json
import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from aiohttp import web

from bot.errors import AuthError, ConfigError, ProtocolError, RefusedError, TransientError
from bot.events import (
    ChallengeReceived,
    DeclineReason,
    GameEnd,
    GameEvent,
    GameSnapshot,
    GameStarted,
    GameState,
)
from bot.reconnect import stay_connected
from bot.servers import Account, Server
from bot.servers.dialects import DIALECTS
from bot.servers.lichess import LichessServer

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
    hurried = dataclasses.replace(ARENA, keep_alive_s=0.15)
    server = LichessServer(hurried, peer.url, TOKEN, call_timeout_s=0.15, slack_s=0.05)
    yield server
    await server.close()


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
    assert await server.playing() == [GAME]
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
    assert "tooFast" in peer.bodies[3]
    assert {headers["authorization"] for headers in peer.headers} == {f"Bearer {TOKEN}"}
    assert all(headers["user-agent"].startswith("desdemona/") for headers in peer.headers)


async def test_one_user_agent_for_both_clients(peer: Peer, server: LichessServer) -> None:
    # A server may tell an account's connections apart by it.
    await server.account()
    await server.move(GAME, "f5")
    assert len({headers["user-agent"] for headers in peer.headers}) == 1


@pytest.mark.parametrize(
    ("reply", "error", "says"),
    [
        (answer(401, {"error": "No such token"}), AuthError, "HTTP 401: No such token"),
        (answer(403, {"error": "Missing scope"}), AuthError, "HTTP 403: Missing scope"),
        (answer(404, {"error": "Not found."}), RefusedError, "HTTP 404: Not found."),
        (answer(429, "<html>slow</html>"), TransientError, "HTTP 429"),
        (answer(502, "<html>bad gateway</html>"), TransientError, "HTTP 502"),
        (answer(200, "<html>not the API</html>"), ProtocolError, "not JSON"),
        (answer(200, "[" * 100_000), ProtocolError, ""),
        (answer(200, ["desdemona"]), ProtocolError, ""),
        (answer(200, {"id": "desdemona"}), ProtocolError, "'username'"),
        (answer(200, {"id": "d", "username": "D", "createdAt": "?"}), ProtocolError, "no sense"),
        (answer(404, {"error": f"No such token: {TOKEN}"}), RefusedError, "No such token: ***"),
        (hang_up, TransientError, "GET /api/account: "),
    ],
    ids=[
        "401",
        "403",
        "404",
        "429",
        "502",
        "html",
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
    with pytest.raises(TransientError, match=r"playing: no answer in 0\.15 s"):
        await hasty.playing()
    with suppress(TransientError):
        await hasty.playing()
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
    for ask in (server.playing(), server.export(GAME), server.move(GAME, "f5")):
        with pytest.raises(TransientError, match="more than 1048576 bytes"):
            await ask


@pytest.mark.parametrize("rude", [hang, dribble])
async def test_what_never_answers_leaves_no_thread_behind(
    peer: Peer, hasty: LichessServer, rude: Reply
) -> None:
    before = set(threading.enumerate())
    peer.script("/api/account/playing", rude)
    for _ in range(3):
        with pytest.raises(TransientError, match=r"no answer in 0\.15 s"):
            await hasty.playing()
    await hasty.close()
    for thread in set(threading.enumerate()) - before:
        thread.join(20)
        assert not thread.is_alive()


async def test_leaving_in_the_middle_of_a_call(peer: Peer) -> None:
    arrived = asyncio.Event()

    async def arrive(request: web.Request) -> web.StreamResponse:
        arrived.set()
        return await dribble(request)

    before = set(threading.enumerate())
    peer.script("/api/account/playing", arrive)
    server = LichessServer(ARENA, peer.url, TOKEN, call_timeout_s=3600)
    asking = asyncio.create_task(server.playing())
    await arrived.wait()
    asking.cancel()
    await asyncio.wait([asking])
    await server.close()
    for thread in set(threading.enumerate()) - before:
        await asyncio.to_thread(thread.join, 20)
        assert not thread.is_alive()


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


@pytest.mark.parametrize(
    ("reply", "wait_s"),
    [
        (answer(429, {"error": "x", "ratelimit": {"key": "k", "seconds": 120}}), 120.0),
        (answer(429, "<html>slow down</html>", **{"Retry-After": "75"}), 75.0),
        (answer(429, "<html>slow down</html>"), 60.0),
    ],
    ids=["json", "html with header", "html"],
)
async def test_too_many_requests(peer: Peer, server: LichessServer, reply: Reply, wait_s: float) -> None:
    peer.script("/api/challenge/c/accept", reply)
    peer.script(MOVE, reply)
    peer.script(GAME_STREAM, reply)
    waits = []
    for ask in (server.accept("c"), server.move(GAME, "f5"), collect(server.game_events(GAME))):
        with pytest.raises(TransientError) as caught:
            await ask
        waits.append(caught.value.retry_after_s)
    assert waits == [wait_s] * 3


@pytest.mark.parametrize(
    ("status", "account", "error"),
    [
        (403, answer(401, {"error": "never asked"}), RefusedError),
        (401, answer(200, {"id": "desdemona", "username": "Desdemona"}), TransientError),
        (401, answer(200, "<html>"), TransientError),
        (401, answer(502, "<html>"), TransientError),
        (401, answer(401, {"error": "No such token"}), AuthError),
        (401, answer(403, {"error": "closed"}), AuthError),
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
    prefix = f"/api/bot/game/{GAME}"
    assert peer.seen == [
        ("POST", f"{prefix}/move/pass"),
        ("POST", f"{prefix}/chat"),
        ("POST", f"{prefix}/draw/no"),
        ("POST", f"{prefix}/takeback/yes"),
        ("POST", f"{prefix}/claim-victory"),
        ("POST", "/api/bot/game/odd%2F..%2Fid/move/f5%3Fa%23b"),
    ]
    assert peer.bodies[1] == f"room=player&text={'x' * 140}"


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


async def test_redirects_are_not_followed(peer: Peer, server: LichessServer) -> None:
    peer.script(MOVE, answer(302, "elsewhere", Location="/api/account"))
    with pytest.raises(RefusedError, match="302"):
        await server.move(GAME, "f5")
    assert len(peer.seen) == 1


# --- Streams --------------------------------------------------------------------------------------------


async def test_account_stream(peer: Peer, server: LichessServer) -> None:
    peer.script("/api/stream/event", stream(b"\n", CHALLENGE, GAME_START, b"\n", {"type": "new"}, GAME_START))
    challenge, *starts = await collect(server.account_events())
    assert isinstance(challenge, ChallengeReceived)
    assert starts == [GameStarted(GAME, True)] * 2
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
        (stream(full(), {"type": "gameState"}), "'moves'"),
        (stream(full(), b"x" * 3_000_000), "a line of more than"),
        (answer(502, "<html>"), "HTTP 502"),
        (hang_up, "GET"),
    ],
    ids=["broken", "html", "garbled", "oversized", "502", "hang up"],
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
    with pytest.raises(TransientError, match=r"silent for 0\.2 s"):
        await collect(hasty.game_events(GAME))


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (answer(403, {"error": "Not yours"}), RefusedError),
        (answer(404, {"error": "Not found."}), RefusedError),
        (stream({"type": "gameFull", "id": GAME}), ProtocolError),
        (stream(b"{]\n"), ProtocolError),
    ],
    ids=["403", "404", "broken snapshot", "garbled"],
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
    await asyncio.wait_for(left.wait(), 5)


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
