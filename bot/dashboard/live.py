"""Notifies open pages of changes, so that they reload.

One task polls the database's version, only while clients listen; each event is encoded once for all
listeners.  Slow listeners lose their oldest events: only the latest matters.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress

from aiohttp import web

from storage.errors import StorageError

POLL_INTERVAL_S = 1.0
KEEP_ALIVE_INTERVAL_S = 15.0
WRITE_TIMEOUT_S = 10.0
MAX_LISTENERS = 64
_MAX_QUEUED_EVENTS = 8


class LiveStream:
    """Streams notices of database changes to open pages.

    Args:
        version: The database's version (`bot.dashboard.page_cache.PageCache.version`).
        sleep: Waits the given number of seconds.
    """

    def __init__(
        self,
        version: Callable[[], Awaitable[tuple[int, int]]],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._version = version
        self._sleep = sleep
        self._listeners: set[_Listener] = set()
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """``GET /dash/stream``: server-sent events named ``changed``, with the version as their id."""
        if len(self._listeners) >= MAX_LISTENERS or self._is_closed:
            raise web.HTTPServiceUnavailable(reason="too many pages are open")
        response = web.StreamResponse(
            headers={
                "Content-Type": "text/event-stream",
                "Cache-Control": "no-store",
                "X-Accel-Buffering": "no",
            }
        )
        listener = _Listener()
        self._listeners.add(listener)
        if self._task is None:
            self._task = asyncio.create_task(self._watch())
        try:
            await response.prepare(request)
            await response.write(b"retry: 3000\n\n")
            while not self._is_closed:
                await _write(response, await listener.next())
        except (ConnectionError, TimeoutError):
            pass  # the page has gone
        finally:
            self._listeners.discard(listener)
            if not self._listeners and self._task is not None:
                self._task.cancel()
                self._task = None
        return response

    def close(self) -> None:
        """End all streams."""
        self._is_closed = True
        if self._task is not None:
            self._task.cancel()
        for listener in self._listeners:
            listener.tell(b"event: closed\ndata: {}\n\n")

    async def _watch(self) -> None:
        known: tuple[int, int] | None = None
        while True:
            with suppress(StorageError):  # the pages say so themselves
                version = await self._version()
                if version != known:
                    event = f"id: {version[0]}.{version[1]}\nevent: changed\ndata: {{}}\n\n".encode()
                    for listener in self._listeners:
                        listener.tell(event)
                    known = version
            await self._sleep(POLL_INTERVAL_S)


class _Listener:
    """An open page, with its queue of events."""

    def __init__(self) -> None:
        self._waiting: deque[bytes] = deque(maxlen=_MAX_QUEUED_EVENTS)
        self._told = asyncio.Event()

    def tell(self, event: bytes) -> None:
        self._waiting.append(event)
        self._told.set()

    async def next(self) -> bytes:
        """Return the next event, or a comment if no event arrives in `KEEP_ALIVE_INTERVAL_S`."""
        if not self._waiting:
            self._told.clear()
            try:
                async with asyncio.timeout(KEEP_ALIVE_INTERVAL_S):
                    await self._told.wait()
            except TimeoutError:
                return b": alive\n\n"
        return self._waiting.popleft()


async def _write(response: web.StreamResponse, data: bytes) -> None:
    async with asyncio.timeout(WRITE_TIMEOUT_S):
        await response.write(data)
