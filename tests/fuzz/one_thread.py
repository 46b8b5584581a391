"""An event loop without sockets or threads, whose clock jumps: the same program runs the same way each time.

SQLite's functions and the client library's calls, which elsewhere have threads of their own, run inside the
loop; connections are pairs of transports in memory, between aiohttp's own client and server.
"""

import asyncio
import selectors
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from unittest.mock import patch

import aiohttp
from aiohttp.client_proto import ResponseHandler
from sqlalchemy.util import await_only, greenlet_spawn

from tests.inline_sqlite import sqlite_threads

T = TypeVar("T")


class Stuck(Exception):
    """Every task waits for something that no task and no timer will bring about."""


class _Selector(selectors.DefaultSelector):
    """Waits for timers only, by moving the clock."""

    loop: "JumpingLoop"

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise Stuck
        self.loop.now += max(0.0, timeout)
        return []


class JumpingLoop(asyncio.SelectorEventLoop):
    """Time stands still while code runs, and jumps while everything waits."""

    def __init__(self) -> None:
        self.now = 1000.0
        selector = _Selector()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return self.now

    def run_in_executor(  # type: ignore[override]
        self, _executor: Any, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        # The function may wait for the loop (see `_Sent`), so it gets a greenlet, as a thread would.
        return self.create_task(greenlet_spawn(func, *args))


class _Sent:
    """The future that a function outside the loop waits for."""

    def __init__(self, work: Coroutine[Any, Any, Any], loop: asyncio.AbstractEventLoop) -> None:
        self._task = loop.create_task(work)

    def result(self, timeout_s: float | None = None) -> Any:
        return await_only(asyncio.wait_for(self._task, timeout_s))


class MemoryTransport(asyncio.Transport):
    """One end of a connection: what is written here arrives at the peer, in order."""

    def __init__(self, loop: asyncio.AbstractEventLoop, protocol: asyncio.Protocol) -> None:
        super().__init__()
        self._loop = loop
        self._protocol = protocol
        self._is_closing = False
        self.peer: MemoryTransport

    def write(self, data: Any) -> None:
        if not self._is_closing:
            self._loop.call_soon(self.peer._receive, bytes(data))

    def _receive(self, data: bytes) -> None:
        if not self._is_closing:
            self._protocol.data_received(data)

    def close(self) -> None:
        """Close both ends."""
        self._close(None)

    def abort(self) -> None:
        """Reset the connection."""
        self._close(ConnectionResetError("reset by the peer"))

    def _close(self, error: Exception | None) -> None:
        for end in (self, self.peer):
            if not end._is_closing:
                self._loop.call_soon(end._lose, error if end is self.peer else None)
        self._is_closing = True

    def _lose(self, error: Exception | None) -> None:
        self._is_closing = True
        self._protocol.connection_lost(error)

    def is_closing(self) -> bool:
        return self._is_closing

    def set_protocol(self, protocol: Any) -> None:
        self._protocol = protocol

    def get_protocol(self) -> asyncio.BaseProtocol:
        return self._protocol

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None: ...


def joined(near: asyncio.Protocol, far: asyncio.Protocol) -> MemoryTransport:
    """Connect two protocols, and return the near one's transport."""
    loop = asyncio.get_running_loop()
    ends = MemoryTransport(loop, near), MemoryTransport(loop, far)
    ends[0].peer, ends[1].peer = ends[1], ends[0]
    far.connection_made(ends[1])
    near.connection_made(ends[0])
    return ends[0]


class Network:
    """Connects every request of aiohttp's client to one server.

    Args:
        serve: Returns the server's protocol for a new connection.
    """

    def __init__(self, serve: Callable[[], asyncio.Protocol]) -> None:
        self._serve = serve
        self._ends: list[MemoryTransport] = []

    def connect(self, connector: aiohttp.TCPConnector) -> ResponseHandler:
        """In place of `aiohttp.TCPConnector._create_connection`."""
        protocol: ResponseHandler = connector._factory()
        near = joined(protocol, self._serve())
        self._ends = [end for end in self._ends if not end.is_closing()] + [near]
        return protocol

    @property
    def open(self) -> int:
        """Number of open connections."""
        return sum(not end.is_closing() for end in self._ends)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Replace the real network."""

        async def connect(connector: aiohttp.TCPConnector, *_: Any) -> ResponseHandler:
            return self.connect(connector)

        with patch.object(aiohttp.TCPConnector, "_create_connection", connect):
            yield


Dial = Callable[[str, int], Awaitable[asyncio.Protocol]]
"""Returns the server's protocol for a new connection to a host and port.

Raises:
    OSError: There is none.
"""


@contextmanager
def dialling(dial: Dial) -> Iterator[None]:
    """Replace the real network for plain TCP connections."""

    async def connect(
        _loop: JumpingLoop, factory: Callable[[], asyncio.Protocol], host: str, port: int, **_: Any
    ) -> tuple[asyncio.Transport, asyncio.Protocol]:
        far = await dial(host, port)
        near = factory()
        return joined(near, far), near

    with patch.object(JumpingLoop, "create_connection", connect):
        yield


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine without waiting for time to pass; return its result.

    Raises:
        Stuck: It would never end.
    """
    with (
        sqlite_threads(wanted=False),
        patch.object(asyncio, "run_coroutine_threadsafe", _Sent),
        asyncio.Runner(loop_factory=JumpingLoop) as runner,
    ):
        return runner.run(work)
