"""Limits open connections, so that silent clients neither lock others out nor exhaust file descriptors.

A connection that has sent no complete request within `IDLE_CONNECTION_TIMEOUT_S` is closed. At the limit, a
new connection replaces the first available of these: the oldest connection without a request, a stream that
no player in a game needs (`bot.arena.traffic`), the oldest connection that a player keeps open between
requests. When every connection is serving a player, the new one is closed.
"""

import asyncio
import logging
import resource
from collections import Counter
from collections.abc import Callable, Container, Iterable
from contextlib import suppress
from itertools import islice

from aiohttp import web

from bot.arena.proxies import limit_key, networks
from bot.arena.traffic.open_streams import Priority, close_at_once
from bot.base.config import is_loopback

logger = logging.getLogger(__name__)

IDLE_CONNECTION_TIMEOUT_S = 30.0
"""Maximum wait for a request, in seconds; aiohttp clients and browsers close idle connections sooner."""
MAX_CONNECTIONS = 4096
MAX_DESCRIPTORS = 65_536
_WARNING_INTERVAL_S = 60.0
_EVICTION_DIVISOR = 32  # this part of the connections makes room at once


def max_connections() -> int:
    """Raise the limit of file descriptors as far as possible and return the number of connections to serve.

    Connections get a quarter of the descriptors. The rest are for connections waiting to be accepted or
    closed, for the database, and for the bot's own connections to the arena.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MAX_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    return MAX_CONNECTIONS if soft == resource.RLIM_INFINITY else min(MAX_CONNECTIONS, soft // 4)


class ConnectionLimiter:
    """Creates the protocol for each new connection that the limits allow."""

    def __init__(
        self,
        server: web.Server,
        busy: Container[web.RequestHandler],
        most: int,
        proxies: Container[str],
        priority_of: Callable[[web.RequestHandler], Priority] = lambda _: Priority.ANONYMOUS,
        make_room: Callable[[Iterable[web.RequestHandler]], bool] = lambda _: False,
    ) -> None:
        """Limit the connections of a server.

        Args:
            server: Speaks HTTP on the admitted connections.
            busy: The connections with a request in progress.
            most: Maximum number of connections. One address may hold an eighth of the connections, a
                network around it a quarter or half (`networks`), a loopback address half, and a trusted proxy
                all, because its clients have their own limits.
            proxies: The trusted proxies.
            priority_of: Returns the priority of a connection's client, known from its latest request.
            make_room: Ends one unneeded stream among the given connections; returns whether it found one.
        """
        self._server = server
        self._busy = busy
        self._priority_of = priority_of
        self._make_stream_room = make_room
        self._most = most
        self._proxies = proxies
        self._open: dict[web.RequestHandler, str] = {}
        """The connections with their addresses, oldest first; may include closed connections."""
        self._by_network: Counter[str] = Counter()
        self._warned_at = float("-inf")

    def __call__(self) -> asyncio.Protocol:
        """Protocol factory for `loop.create_server`."""
        return _PendingConnection(self)

    def admit(self, transport: asyncio.Transport) -> None:
        """Serve a new connection if the limits allow it; otherwise close it."""
        host = _host(transport.get_extra_info("peername"))
        # A proxy's connections must not count against its neighbours.
        address = "" if host in self._proxies else limit_key(host)
        if address:
            for network, factor in networks(address):
                most = max(1, self._most // 2 if is_loopback(host) else self._most * factor // 8)
                if self._by_network[network] >= most and not self._has_room(most, host, network):
                    transport.abort()
                    return
        if len(self._open) >= self._most and not self._has_room(self._most, host):
            transport.abort()
            return
        protocol = self._server()
        transport.set_protocol(protocol)
        protocol.connection_made(transport)
        self._open[protocol] = address
        self._by_network.update(network for network, _ in networks(address))

    def _has_room(self, most: int, host: str, network: str | None = None) -> bool:
        """Return whether one more connection is within the limits, after closing others if necessary."""
        self._open = {each: by for each, by in self._open.items() if each.transport is not None}
        keys = {each: {key for key, _ in networks(by)} for each, by in self._open.items()}
        self._by_network = Counter(key for each in keys.values() for key in each)
        crowd = [each for each, own in keys.items() if network is None or network in own]
        return len(crowd) < most or self._close_unneeded(crowd, host)

    def _close_unneeded(self, crowd: list[web.RequestHandler], host: str) -> bool:
        now = asyncio.get_running_loop().time()
        if now - self._warned_at >= _WARNING_INTERVAL_S:
            self._warned_at = now
            logger.warning("too many connections: %d; the latest is from %s", len(crowd), host)
        idle = [each for each in crowd if each not in self._busy]
        for priority in (Priority.ANONYMOUS, Priority.PLAYER):
            candidates = (each for each in idle if self._priority_of(each) is priority)
            # Several at once: otherwise a flood makes us look through all of them for each that comes.
            if oldest := list(islice(candidates, max(1, len(crowd) // _EVICTION_DIVISOR))):
                for each in oldest:
                    close_at_once(each)
                return True
            if priority is Priority.ANONYMOUS and self._make_stream_room(crowd):
                return True
        return False


class _PendingConnection(asyncio.Protocol):
    """A connection that has not been admitted yet."""

    def __init__(self, connections: ConnectionLimiter) -> None:
        self._connections = connections

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - of a socket
        self._connections.admit(transport)


def _host(peer: object) -> str:
    return str(peer[0]) if isinstance(peer, tuple) else "unknown"
