"""However the account's stream ends, the bot soon reconnects, and accepts challenges made in the meantime.

The whole lobby, with the adapter and a database, runs on real sockets with a clock that jumps: see
`tests.bot.virtual_time`.
"""

import asyncio
import json
import shutil
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from bot.account.lobby import Lobby
from bot.base.config import ChallengesConfig
from bot.base.dialects import DIALECTS
from bot.servers.lichess import LichessServer
from storage.database import Database
from tests.bot.fakes import config, services
from tests.bot.virtual_time import VirtualTimeLoop, run

WITHIN_S = 15.0
KEEP_ALIVE_S = 6.0
OUTAGE_S = 300.0
"""Of a server that is down for long."""

CHALLENGE: dict[str, Any] = {
    "type": "challenge",
    "challenge": {
        "id": "chal0001",
        "challenger": {"id": "ann", "name": "Ann"},
        "variant": {"key": "standard"},
        "rated": False,
        "speed": "blitz",
        "timeControl": {"type": "clock", "limit": 300, "increment": 3},
    },
}


def told(**changes: Any) -> bytes:
    """A challenge as a line of the stream."""
    message = {**CHALLENGE, "challenge": {**CHALLENGE["challenge"], **changes}}
    return json.dumps(message).encode() + b"\n"


class Site:
    """Sends a standing challenge to every client that opens the stream, as servers do."""

    def __init__(self) -> None:
        self.url = ""
        self.opened_at: list[float] = []
        """Times at which the account's stream was opened or kept alive."""
        self.accepted_at: list[float] = []
        self.accepted = asyncio.Event()
        self.heard = asyncio.Event()
        """A client is connected."""
        self.ends: asyncio.Future[Way] = asyncio.get_running_loop().create_future()
        """How the stream is to end."""
        self.refusal: Callable[[], web.StreamResponse] | None = None
        self.challenged = False
        self.unwanted = 0
        """Further standing challenges, to be declined."""
        self.declined = self.declined_before = 0
        """How many have been declined so far, and had been when one was accepted."""
        self._runner: web.AppRunner
        self._site: web.TCPSite

    async def handle(self, request: web.Request) -> web.StreamResponse:
        match request.path:
            case "/api/account":
                return web.json_response({"id": "desdemona", "username": "Desdemona", "title": "BOT"})
            case "/api/stream/event":
                return await self._stream(request)
            case path if path.endswith("/decline"):
                self.declined += 1
            case "/api/account/playing":
                return web.json_response({"nowPlaying": []})
            case "/api/challenge/chal0001/accept":
                self.accepted_at.append(now())
                self.declined_before = self.declined
                self.accepted.set()
        return web.json_response({"ok": True})

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        if self.refusal is not None:
            return self.refusal()
        response = web.StreamResponse()
        response.enable_chunked_encoding()
        await response.prepare(request)
        self.opened_at.append(now())
        if self.challenged:
            for number in range(self.unwanted):
                await response.write(told(id=f"unwanted{number}", variant={"key": "crazyhouse"}))
            await response.write(told())
        self.heard.set()
        while self.challenged or not self.ends.done():
            if self.challenged:
                await asyncio.sleep(KEEP_ALIVE_S)
            else:
                await asyncio.wait([self.ends], timeout=KEEP_ALIVE_S)
            await response.write(b"\n")
        self.challenged = True
        await self.ends.result()(self, request, response)
        return response

    async def open(self, port: int = 0) -> None:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self.handle)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.01)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", port, reuse_address=True).start()
        host, self.port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{self.port}"

    async def close(self) -> None:
        await self._runner.cleanup()


Way = Callable[[Site, web.Request, web.StreamResponse], Awaitable[None]]


def now() -> float:
    return asyncio.get_running_loop().time()


async def clean_end(_site: Site, _request: web.Request, response: web.StreamResponse) -> None:
    await response.write_eof()


async def broken_chunk(_site: Site, request: web.Request, response: web.StreamResponse) -> None:
    await response.write(b'{"type":')
    assert request.transport is not None
    request.transport.close()


async def reset(_site: Site, request: web.Request, _response: web.StreamResponse) -> None:
    assert request.transport is not None
    connection: socket.socket = request.transport.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    request.transport.abort()


async def silence(_site: Site, _request: web.Request, _response: web.StreamResponse) -> None:
    await asyncio.sleep(3600)


async def line_without_end(_site: Site, _request: web.Request, response: web.StreamResponse) -> None:
    """Never silent, and never a complete message."""
    while True:
        await response.write(b" ")
        await asyncio.sleep(5.0)


async def garbage(_site: Site, _request: web.Request, response: web.StreamResponse) -> None:
    await response.write(b"<html>oops\n\xff\xfe\n[]\n")
    await response.write_eof()


async def half_a_line(_site: Site, _request: web.Request, response: web.StreamResponse) -> None:
    await response.write(told()[:-10])
    await response.write_eof()


async def crowd(site: Site, _request: web.Request, response: web.StreamResponse) -> None:
    """When it is reopened, one challenge to accept stands behind many to decline."""
    site.unwanted = 30
    await response.write_eof()


def refusing(status: int, **headers: str) -> Way:
    """A clean end, then errors."""

    async def way(site: Site, _request: web.Request, response: web.StreamResponse) -> None:
        def refuse() -> web.StreamResponse:
            return web.Response(status=status, text="<html>", content_type="text/html", headers=headers)

        site.refusal = refuse
        await response.write_eof()

    way.__name__ = "_".join(["http", str(status), *headers])
    return way


@asynccontextmanager
async def nobody_answers(port: int) -> AsyncIterator[None]:
    """A port whose accept queue is full: connections hang."""
    with socket.socket() as door, socket.socket() as first, socket.socket() as second:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind(("127.0.0.1", port))
        door.listen(0)
        for waiting in (first, second):
            waiting.setblocking(False)
            waiting.connect_ex(door.getsockname())
        yield


class Steady:
    """A database in its own thread; time stands still while it works."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self) -> Any:
        return self._steadily(self._database.read())

    def write(self) -> Any:
        return self._steadily(self._database.write())

    @asynccontextmanager
    async def _steadily(self, transaction: Any) -> AsyncIterator[Any]:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualTimeLoop)
        loop.threads += 1
        try:
            async with transaction as session:
                yield session
        finally:
            loop.threads -= 1


@asynccontextmanager
async def listening(site: Site, database: Any) -> AsyncIterator[None]:
    """A lobby connected to a site."""
    server = LichessServer(DIALECTS["lichess"], site.url, "lip_token", clock=now)
    settings = config(challenges=ChallengesConfig(variants=("chess",)))
    async with services(server, database, settings=settings, sleep=asyncio.sleep) as given:
        task = asyncio.create_task(Lobby(replace(given, clock=now)).listen())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])
            await server.close()


async def ended(way: Way, database: Any) -> tuple[float, Site]:
    """End the stream in a given way; return when it ended, or could be reopened, and the site."""
    site = Site()
    await site.open()
    async with listening(site, database):
        await site.heard.wait()
        await asyncio.sleep(3 * KEEP_ALIVE_S)
        over_at = await end(site, way)
        await site.accepted.wait()
    await site.close()
    return over_at, site


async def end(site: Site, way: Way) -> float:
    began_at = now()
    if way is away or way is unreachable:
        site.challenged = True
        await site.close()
        if way is unreachable:
            async with nobody_answers(site.port):
                await asyncio.sleep(OUTAGE_S)
        else:
            await asyncio.sleep(OUTAGE_S)
        site.opened_at.clear()
        await site.open(site.port)
        return now()
    site.ends.set_result(way)
    if way not in OUTAGES:
        return began_at
    refused_s, unwanted_s = OUTAGES[way]
    await asyncio.sleep(refused_s)
    site.refusal = None
    return began_at + unwanted_s


async def away(*_: Any) -> None:
    """The server's port is closed for a while."""


async def unreachable(*_: Any) -> None:
    """Connections to the server hang for a while."""


OUTAGES: dict[Way, tuple[float, float]] = {
    refusing(502): (OUTAGE_S, OUTAGE_S),
    refusing(503): (1.0, 1.0),
    refusing(404): (OUTAGE_S, OUTAGE_S),
    # Its answer when it was opened too often: to retry earlier would only bring more of the same.
    refusing(429): (1.0, 60.0),
    refusing(429, **{"Retry-After": "100"}): (1.0, 100.0),
}
"""Seconds for which the stream is refused, and seconds until the bot may reconnect."""


@pytest.mark.parametrize(
    "way",
    [
        clean_end,
        broken_chunk,
        reset,
        silence,
        line_without_end,
        garbage,
        half_a_line,
        crowd,
        away,
        unreachable,
        *OUTAGES,
    ],
    ids=lambda way: way.__name__,
)
def test_never_deaf(way: Way, template: Path, tmp_path: Path) -> None:
    shutil.copy(template, tmp_path / "desdemona.db")

    async def work() -> None:
        database = await Database.open(f"sqlite:///{tmp_path / 'desdemona.db'}")
        over_at, site = await ended(way, Steady(database))
        await database.close()
        (accepted_at,) = site.accepted_at
        assert site.declined_before <= site.unwanted / 2
        assert over_at <= site.opened_at[-1] + 1 <= accepted_at + 1 <= over_at + 1 + WITHIN_S

    run(work())
