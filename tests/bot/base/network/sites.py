"""A site with a certificate, and a forward proxy, on loopback."""

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path

import pytest
from aiohttp import web

DATA = Path(__file__).parent / "data"
AUTHORITY = DATA / "authority.pem"
"""The authority that has signed the certificates in `DATA`."""
HOST = "site.test"
"""A name that no resolver knows, so that only a proxy leads to it."""
VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE")

Handle = Callable[[web.Request], Awaitable[web.StreamResponse]]


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of whoever runs the tests names no proxy."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions of this process trust our authority."""
    context = ssl.create_default_context(cafile=str(AUTHORITY))
    monkeypatch.setattr("aiohttp.connector._SSL_CONTEXT_VERIFIED", context)


@asynccontextmanager
async def site(handle: Handle, certificate: str = "site.pem") -> AsyncIterator[int]:
    """A site's port; without a certificate it speaks plain HTTP."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.01)
    await runner.setup()
    context = None
    if certificate:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(DATA / certificate)
    try:
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


class ForwardProxy:
    """Forwards every request to one port, whatever host it names.

    Args:
        port: The port on loopback.
        login: ``user:password`` that it demands; empty for none.
    """

    def __init__(self, port: int, login: str = "") -> None:
        self._port = port
        self._login = login
        self.asked: list[str] = []
        """Method and target of each request."""
        self._tasks: list[asyncio.Task[None]] = []

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        """Listen; yields host and port."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        async with server:
            yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if task := asyncio.current_task():
            self._tasks.append(task)
        with closing(writer), suppress(OSError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            method, target, _ = head.partition("\r\n")[0].split(" ")
            self.asked.append(f"{method} {target}")
            if self._login and base64.b64encode(self._login.encode()).decode() not in head:
                writer.write(b"HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n")
                await writer.drain()
                return
            their_reader, their_writer = await asyncio.open_connection("127.0.0.1", self._port)
            with closing(their_writer):
                if method == "CONNECT":
                    writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                else:
                    their_writer.write(head.encode())
                await asyncio.gather(_copy(reader, their_writer), _copy(their_reader, writer))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with closing(writer), suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
