"""Limits open connections: silent clients must neither lock others out nor use up file descriptors.

A connection without a complete request head is closed after `IDLE_S`.  At the limit, the oldest connection
without a request is closed for the new one; if all have requests in progress, the new one is closed.
"""

import asyncio
import logging
import resource
from collections.abc import Container
from contextlib import suppress
from ipaddress import ip_address

from aiohttp import web

from bot.arena.proxies import limited_as

logger = logging.getLogger(__name__)

IDLE_S = 30.0
"""Longest wait for the next request; longer than aiohttp clients and browsers keep idle connections."""
MAX_CONNECTIONS = 4096
MAX_DESCRIPTORS = 65_536
_WARN_EVERY_S = 60.0


def most_connections() -> int:
    """Raise the limit of file descriptors as far as possible and return the number of connections to serve.

    It is a quarter of the descriptors: connections waiting to be accepted or closed take some, the database
    needs some, and the bot has the other ends of its own connections.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MAX_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    return MAX_CONNECTIONS if soft == resource.RLIM_INFINITY else min(MAX_CONNECTIONS, soft // 4)


class ConnectionLimit:
    """Creates the protocol of every new connection within the limits."""

    def __init__(
        self, server: web.Server, busy: Container[web.RequestHandler], most: int, proxies: Container[str]
    ) -> None:
        """Limit the connections of a server.

        Args:
            server: Speaks HTTP on the admitted connections.
            busy: The connections with a request in progress.
            most: Most connections in total; an eighth of them for one address, unless it is local or a
                proxy's.
            proxies: Addresses shared by many people.
        """
        self._server = server
        self._busy = busy
        self._most = most
        self._proxies = proxies
        self._warned_at = float("-inf")

    def __call__(self) -> asyncio.Protocol:
        """Protocol factory for `loop.create_server`."""
        return _Newcomer(self)

    def admit(self, transport: asyncio.Transport) -> None:
        """Serve a new connection, or close it."""
        host = _host(transport.get_extra_info("peername"))
        present = [each for each in self._server.connections if each.transport is not None]
        if not _is_local(host) and host not in self._proxies:
            own = [each for each in present if limited_as(_host(each.peername)) == limited_as(host)]
            if len(own) >= max(1, self._most // 8) and not self._make_room(own, host):
                transport.abort()
                return
        if len(present) >= self._most and not self._make_room(present, host):
            transport.abort()
            return
        protocol = self._server()
        transport.set_protocol(protocol)
        protocol.connection_made(transport)

    def _make_room(self, crowd: list[web.RequestHandler], host: str) -> bool:
        now = asyncio.get_running_loop().time()
        if now - self._warned_at >= _WARN_EVERY_S:
            self._warned_at = now
            logger.warning("too many connections: %d; the latest comes from %s", len(crowd), host)
        idle = next((each for each in crowd if each.transport is not None and each not in self._busy), None)
        if idle is not None:
            idle.force_close()
        return idle is not None


class _Newcomer(asyncio.Protocol):
    """A connection before admission."""

    def __init__(self, connections: ConnectionLimit) -> None:
        self._connections = connections

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - of a socket
        self._connections.admit(transport)


def _host(peer: object) -> str:
    return str(peer[0]) if isinstance(peer, tuple) else "unknown"


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
