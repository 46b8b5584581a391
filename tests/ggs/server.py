"""The fake server on a port of the loopback, with faults between it and who is logged in."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from tests.ggs.central import Central, Connection
from tests.ggs.clocks import US
from tests.ggs.faults import Fault, MoveCodec, Plan, any_list

_CLOSE, _BREAK = object(), object()

Sleep = Callable[[float], Awaitable[None]]


def _running_time() -> float:
    return asyncio.get_running_loop().time()


class _Link:
    """One connection's way out: faults happen here."""

    def __init__(self, server: "FakeGgs", writer: asyncio.StreamWriter) -> None:
        self._server = server
        self._writer = writer
        self._out: asyncio.Queue[object] = asyncio.Queue()
        self._held = b""
        self._late: list[bytes] = []
        """Lists that are late, and those behind them."""
        self._silent = False
        self.connection = Connection(server.central, self._put, lambda: self._out.put_nowait(_CLOSE))

    def _put(self, data: bytes) -> None:
        """What the server says; it may never arrive."""
        if self._silent:
            return
        fault = None
        if self.connection.is_online:
            text = data.decode("latin-1")
            fault = self._server.plan.strike(self.connection.name, text)
        match fault:
            case Fault.LOSE:
                return
            case Fault.GATHER:
                self._held += data
                asyncio.get_running_loop().call_later(1.0, self._let_go)
                return
            case Fault.SILENCE:
                self._silent = True
                return
            case Fault.CLOSE:
                self._out.put_nowait(_CLOSE)
                return
            case Fault.CUT:
                self._out.put_nowait(self._held + data[: len(data) // 2])
                self._out.put_nowait(_BREAK)
                return
            case Fault.LATE:
                self._late.append(data)
                asyncio.get_running_loop().call_later(self._server.late_s, self._let_lists_go)
                return
            case None if self._late and any_list(data.decode("latin-1")):
                self._late.append(data)  # replies never overtake each other
                return
            case Fault.ALERT:
                data = data.removesuffix(b"READY\r\n") + b"ALERT\r\n"
            case Fault.SLOW:
                self._out.put_nowait(self._server.slow_s)
        data, self._held = self._held + data, b""
        if fault is Fault.SPLIT:
            at = 0
            while at < len(data):
                end = at + self._server.chance.randint(1, 9)
                self._out.put_nowait(data[at:end])
                # The reader gets its turn between any two pieces.
                self._out.put_nowait(0.0)
                at = end
        else:
            self._out.put_nowait(data)
        if fault is Fault.RESTART:
            self._server.soon(self._server.restart())
        elif fault is Fault.EVICT:
            self._server.soon(self._server.evict(self.connection.name))

    def _let_lists_go(self) -> None:
        for data in self._late:
            self._out.put_nowait(data)
        self._late.clear()

    def _let_go(self) -> None:
        """Of what nothing has come after."""
        held, self._held = self._held, b""
        if held:
            self._out.put_nowait(held)

    def drop(self) -> None:
        """The connection breaks here and now."""
        self._out.put_nowait(_BREAK)

    async def run(self, reader: asyncio.StreamReader) -> None:
        """Until either end closes."""
        self.connection.greet()
        hearing = asyncio.create_task(self._hear(reader))
        talking = asyncio.create_task(self._talk())
        try:
            await asyncio.wait([hearing, talking], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (hearing, talking):
                task.cancel()
            await asyncio.wait([hearing, talking])
            self.connection.lost()
            self._writer.close()

    async def _hear(self, reader: asyncio.StreamReader) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65_536):
                self.connection.receive(data)
                self._server.heard.set()

    async def _talk(self) -> None:
        with suppress(ConnectionError):
            while True:
                what = await self._out.get()
                if what is _CLOSE:
                    return
                if what is _BREAK:
                    await self._writer.drain()
                    self._writer.transport.abort()
                    return
                if isinstance(what, float):
                    await self._server.sleep(what)
                elif isinstance(what, bytes):
                    self._writer.write(what)
                    await self._writer.drain()


class FakeGgs:
    """A Central and its Othello service.

    Args:
        plan: Of faults; none without.
        seed: Of colours, random starts and the sizes of pieces.
        slow_s: How late a slow answer is.
        late_s: How late a reply is that does not hold up what is told after it.
        down_s: How long the service is down when it restarts.
        clock: Unix time in seconds; by default the event loop's own, so that a loop may make time go by.
        sleep: Waits by that time.
    """

    def __init__(
        self,
        plan: Plan | None = None,
        *,
        seed: int = 0,
        slow_s: float = 5.0,
        late_s: float = 5.0,
        down_s: float = 20.0,
        clock: Callable[[], float] | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.plan: Plan = MoveCodec() if plan is None else plan
        self.chance = random.Random(seed)
        self.slow_s = slow_s
        self.late_s = late_s
        self.down_s = down_s
        self.sleep = sleep
        running_time = clock or _running_time
        base_s = 0.0 if clock else 1_795_000_000.0
        self.central = Central(lambda: round((base_s + running_time()) * US), seed)
        self.heard = asyncio.Event()
        """Somebody has said something."""
        self.connections = 0
        """Ever made."""
        self._links: dict[_Link, asyncio.Task[None]] = {}
        self._tasks: asyncio.TaskGroup | None = None

    @asynccontextmanager
    async def running(self, port: int = 0) -> AsyncIterator[int]:
        """Listens on the loopback; gives the port."""
        server = await asyncio.start_server(self._accept, "127.0.0.1", port)
        try:
            async with asyncio.TaskGroup() as self._tasks:
                watching = self._tasks.create_task(self._watch())
                try:
                    yield server.sockets[0].getsockname()[1]
                finally:
                    watching.cancel()
                    server.close()
                    for link in self._links:
                        link.drop()
                    if self._links:
                        await asyncio.wait([*self._links.values()])
        finally:
            await server.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        link = _Link(self, writer)
        self._links[link] = asyncio.create_task(link.run(reader))
        try:
            await self._links[link]
        finally:
            del self._links[link]

    async def _watch(self) -> None:
        """Clocks run out while nobody says anything."""
        service = self.central.service
        while True:
            self.heard.clear()
            service.tick()
            due_us = service.next_due_us
            wait_s = None if due_us is None else max(0.001, (due_us - service.now_us()) / US)
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self.heard.wait()

    def soon(self, what: Awaitable[None]) -> None:
        """After what is being said."""

        async def wait() -> None:
            await what

        assert self._tasks is not None
        self._tasks.create_task(wait())

    def drop(self, name: str) -> None:
        """The connection of somebody breaks."""
        for link in self._links:
            if link.connection.is_online and link.connection.name == name:
                link.drop()

    async def restart(self) -> None:
        """The service goes down, and is back after `down_s`."""
        if self.central.service_is_up:
            self.central.stop_service()
            await self.sleep(self.down_s)
            self.central.start_service()

    async def evict(self, name: str) -> None:
        """Somebody else logs in by a name, and stays until he is evicted himself."""
        other = Connection(self.central, lambda _: None, lambda: None)
        for line in (name, self.central.accounts[name].password):
            other.receive(line.encode("latin-1") + b"\r\n")
