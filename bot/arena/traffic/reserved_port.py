"""Keeps the arena's port while no arena runs, for instance because the database is away.

Visitors then see a page with status 503 instead of a refused connection, and nobody else can take the port.
The sockets are duplicated, so the system queues connections that arrive while one server replaces another.
"""

import asyncio
import socket
from collections.abc import Iterable

from aiohttp import web

from bot.arena.connection_limiter import IDLE_CONNECTION_TIMEOUT_S, ConnectionLimiter, max_connections
from bot.arena.http import add_headers, unavailable
from bot.arena.proxies import Proxies
from bot.arena.traffic.assets import assets

_SHUTDOWN_TIMEOUT_S = 1.0


class ReservedPort:
    """The listening sockets; none before `keep` is first called.

    Args:
        proxies: The trusted proxies.
    """

    def __init__(self, proxies: Proxies) -> None:
        self._proxies = proxies
        self._sockets: list[socket.socket] = []
        self._runner: web.AppRunner | None = None
        self._servers: list[asyncio.Server] = []

    def keep(self, sockets: Iterable[socket.socket]) -> None:
        """Keep the port that these sockets listen on, unless one is kept already."""
        if not self._sockets:
            self._sockets = [each.dup() for each in sockets]

    async def answer(self) -> None:
        """Answer all requests with status 503 until `take` or `release`; do nothing if no port is kept."""
        if not self._sockets or self._runner is not None:
            return
        app = web.Application()
        app.add_routes([web.get("/static/{name:.*}", assets().file), web.route("*", "/{path:.*}", _answer)])
        app.on_response_prepare.append(add_headers)
        self._runner = web.AppRunner(
            app,
            access_log=None,
            shutdown_timeout=_SHUTDOWN_TIMEOUT_S,
            keepalive_timeout=IDLE_CONNECTION_TIMEOUT_S,
            auto_decompress=False,
        )
        await self._runner.setup()
        assert self._runner.server is not None  # noqa: S101 - created by setup()
        connections = ConnectionLimiter(self._runner.server, frozenset(), max_connections(), self._proxies)
        loop = asyncio.get_running_loop()
        self._servers = [await loop.create_server(connections, sock=each.dup()) for each in self._sockets]

    async def take(self) -> list[socket.socket]:
        """Stop answering, and return sockets for another server; empty if no port is kept."""
        for server in self._servers:
            server.close()
        self._servers = []
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
        return [each.dup() for each in self._sockets]

    async def release(self) -> None:
        """Stop answering, and give the port up."""
        for each in [*await self.take(), *self._sockets]:
            each.close()
        self._sockets = []


async def _answer(request: web.Request) -> web.StreamResponse:
    return unavailable(request)
