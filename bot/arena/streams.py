"""Open event streams: one bounded queue of lines for each listener.

A slow reader loses only the oldest lines, as on Lichess. Every state is complete, so only the newest line
matters.
"""

import asyncio
import json
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from typing import Any, Generic, TypeVar

MAX_QUEUED_LINES = 32
"""Maximum number of lines queued for a slow reader (the same as in lila)."""

K = TypeVar("K", bound=Hashable)


def line_of(message: dict[str, Any]) -> bytes:
    """Encode a message as a line of a stream."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


class Stream:
    """One listener's queue."""

    def __init__(self, *, wants_view: bool = False, backlog: int = MAX_QUEUED_LINES) -> None:
        self.wants_view = wants_view
        """Whether states include the page's view of the board."""
        self._lines: deque[bytes] = deque(maxlen=backlog)
        self._changed = asyncio.Event()
        self._is_closed = False

    def send(self, message: dict[str, Any]) -> None:
        """Queue one line; a closed stream drops it."""
        self.send_line(line_of(message))

    def send_line(self, line: bytes) -> None:
        """Queue a line encoded by `line_of`; several streams may share it."""
        if not self._is_closed:
            self._lines.append(line)
            self._changed.set()

    def close(self) -> None:
        """End the stream after the queued lines."""
        self._is_closed = True
        self._changed.set()

    async def read(self, timeout_s: float) -> bytes | None:
        """The queued lines; empty if none arrived before the timeout; None if the stream has ended."""
        if not self._lines and not self._is_closed:
            try:
                async with asyncio.timeout(timeout_s):
                    await self._changed.wait()
            except TimeoutError:
                return b""
        self._changed.clear()
        lines = b"".join(self._lines)
        self._lines.clear()
        return lines if lines or not self._is_closed else None


class Listeners(Generic[K]):
    """The open streams, keyed by the account or game side that they listen to."""

    def __init__(self, on_last: Callable[[K], None] = lambda _: None) -> None:
        self._streams: dict[K, list[Stream]] = {}
        self._on_last = on_last

    def add(self, key: K, stream: Stream, limit: int) -> None:
        """Add a stream; above the limit, the oldest stream ends without an error."""
        streams = self._streams.setdefault(key, [])
        streams.append(stream)
        for old in streams[:-limit]:
            old.close()
        del streams[:-limit]

    def remove(self, key: K, stream: Stream) -> None:
        """Remove a stream that has ended or lost its reader; do nothing if it was already removed."""
        streams = self._streams.get(key, [])
        if stream in streams:
            streams.remove(stream)
            if not streams:
                del self._streams[key]
                self._on_last(key)

    def of(self, key: K) -> Iterator[Stream]:
        """The streams that listen to a key."""
        yield from tuple(self._streams.get(key, ()))

    def close(self, key: K) -> None:
        """End the streams that listen to a key."""
        for stream in self.of(key):
            stream.close()

    def keys(self) -> tuple[K, ...]:
        """The keys that have streams, oldest first."""
        return tuple(self._streams)

    def is_listening(self, key: K) -> bool:
        return key in self._streams

    def close_all(self) -> None:
        """End all streams, for shutdown."""
        for streams in self._streams.values():
            for stream in streams:
                stream.close()
