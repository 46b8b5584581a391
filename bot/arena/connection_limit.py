"""Limits open connections: silent clients must neither lock others out nor use up file descriptors.

A connection that brings no request, or only half of its head, is closed after `IDLE_S`.  Where there is no
room left before that, the oldest one without a request makes room; if all are at work, the newcomer is cut.
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
"""Longest wait for the next request; more than aiohttp's and browsers' programs keep a connection unused."""
MAX_CONNECTIONS = 4096
MAX_DESCRIPTORS = 65_536
_WARN_EVERY_S = 60.0


def most_connections() -> int:
    """How many connections can be served, after asking the system for as many descriptors as it gives.

    A quarter of them: some are taken by connections that wait to be let in or cut, the database needs some,
    and the bot has the other end of its own connections.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MAX_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    return MAX_CONNECTIONS if soft == resource.RLIM_INFINITY else min(MAX_CONNECTIONS, soft // 4)


class ConnectionLimit:
    """Makes the protocol of every new connection."""

    def __init__(
        self, server: web.Server, busy: Container[web.RequestHandler], most: int, proxies: Container[str]
    ) -> None:
        """Stand in front of a server.

        Args:
            server: Speaks HTTP with those who are let in.
            busy: The connections whose request is being answered.
            most: Connections in all; an eighth of them for one address, unless it is this machine's or a
                proxy's.
            proxies: Addresses that bring many people.
        """
        self._server = server
        self._busy = busy
        self._most = most
        self._proxies = proxies
        self._warned_at = float("-inf")

    def __call__(self) -> asyncio.Protocol:
        """For `loop.create_server`."""
        return _Newcomer(self)

    def admit(self, transport: asyncio.Transport) -> None:
        """Serve a new connection, or cut it."""
        host = _host(transport.get_extra_info("peername"))
        there = [each for each in self._server.connections if each.transport is not None]
        if not _is_local(host) and host not in self._proxies:
            own = [each for each in there if limited_as(_host(each.peername)) == limited_as(host)]
            if len(own) >= max(1, self._most // 8) and not self._make_room(own, host):
                transport.abort()
                return
        if len(there) >= self._most and not self._make_room(there, host):
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
    """A connection whose peer is not yet known."""

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
