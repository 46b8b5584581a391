"""Streams for spectators: all spectators of a game share one feed.

A line is the state of a whole game.  It is encoded once and written to the connections directly, so a
thousand
spectators cost little more than one.  Slow readers skip lines and get the newest one.  Lines go out in
slices,
and the event loop serves players between slices.
"""

import asyncio
import json
import logging
import time
from collections.abc import Callable
from itertools import islice
from typing import Any, Protocol

from bot.arena.game import ReplayedGame
from bot.base.log import LineLimit

logger = logging.getLogger(__name__)

SLICE = 50
"""Connections to write to before other tasks run."""
MOST_BUFFERED = 64 * 1024
"""Longest backlog of a slow reader in bytes; beyond it lines are skipped."""
BEHIND_S = 30.0
"""A connection is closed when its client has read nothing for this long."""
FRESH_S = 1.0
"""Older lines carry stale clocks; re-encode them for new viewers."""
_LINES_PER_MINUTE = 5


class FeedLine:
    """A line of a stream, ready to be sent to any number of connections.

    Args:
        plain: Its text, with the line feed.
        made_at: Time of its clocks, by the arena's clock.
    """

    __slots__ = ("chunk", "made_at", "plain")

    def __init__(self, plain: bytes, made_at: float = 0.0) -> None:
        self.plain = plain
        self.made_at = made_at
        self.chunk = b"%x\r\n%b\r\n" % (len(plain), plain)
        """In HTTP's chunked encoding."""


BLANK = FeedLine(b"\n")


class Wire(Protocol):
    """The transport of a spectator's connection: an `asyncio.Transport`."""

    def write(self, data: bytes) -> None: ...
    def is_closing(self) -> bool: ...
    def abort(self) -> None: ...
    def get_write_buffer_size(self) -> int: ...


class Spectator:
    """One spectator's connection.

    Args:
        wire: Its transport.
        is_chunked: Whether the answer is sent in chunks.
    """

    def __init__(self, wire: Wire, *, is_chunked: bool = True) -> None:
        self._wire = wire
        self._is_chunked = is_chunked
        self.ended = asyncio.Event()
        """Set when the stream has ended."""
        self.seen: FeedLine | None = None
        """The newest line that it has received or missed."""
        self._behind_since: float | None = None

    @property
    def is_behind(self) -> bool:
        """Whether it has missed a line."""
        return self._behind_since is not None

    def close(self) -> None:
        """End the stream."""
        self.ended.set()

    def offer(self, line: FeedLine, now: float) -> None:
        """Send a line, unless too many wait already."""
        self.seen = line
        if self.ended.is_set() or self._wire.is_closing():
            self.ended.set()
        elif self._wire.get_write_buffer_size() > MOST_BUFFERED:
            if self._behind_since is None:
                self._behind_since = now
        else:
            self._behind_since = None
            self._write(line)

    def beat(self, newest: FeedLine, now: float) -> None:
        """Keep the connection alive: a blank line, or the newest one to a reader that has missed it."""
        if self._behind_since is None:
            if self._wire.is_closing():
                self.ended.set()
            elif self._wire.get_write_buffer_size() <= MOST_BUFFERED:
                self._write(BLANK)
        elif now - self._behind_since >= BEHIND_S:
            self._wire.abort()
            self.ended.set()
        else:
            self.offer(newest, now)

    def _write(self, line: FeedLine) -> None:
        self._wire.write(line.chunk if self._is_chunked else line.plain)


class _Failures:
    """Isolates failures in spectators' streams from the rest of the arena, and logs a few of them a
    minute."""

    def __init__(self) -> None:
        self._lines = LineLimit(_LINES_PER_MINUTE, time.monotonic)

    def tell(self) -> None:
        """Log the exception that is being handled."""
        if (dropped := self._lines.next()) is not None:
            logger.exception("spectators may have missed something%s", dropped)


class Feed:
    """The spectators of one game, and the newest line.

    Args:
        match: The game.
        line: The line to send.
        encode: Makes such a line.
        clock: The arena's.
        failures: Receives the errors.
    """

    def __init__(
        self,
        match: ReplayedGame,
        line: FeedLine,
        encode: Callable[[ReplayedGame], FeedLine],
        clock: Callable[[], float],
        failures: _Failures,
    ) -> None:
        self.match = match
        self.line = line
        self.spectators: dict[Spectator, None] = {}
        self._encode = encode
        self._clock = clock
        self._failures = failures
        self.spreading: asyncio.Task[None] | None = None

    def fresh_line(self) -> FeedLine:
        """The newest line, with the clocks as they are now.

        While a line is being sent it stays the newest, so that no spectator gets it twice.
        """
        is_old = self._clock() - self.line.made_at > FRESH_S
        if is_old and not self.match.is_over and self.spreading is None:
            self.line = self._encode(self.match)
        return self.line

    def publish(self, match: ReplayedGame) -> None:
        """Schedule a changed game for all spectators; the last line ends the streams."""
        self.match = match
        try:
            self.line = self._encode(match)
        except Exception:  # must not affect the player who moved
            self._failures.tell()
        if self.spreading is None:
            self.spreading = asyncio.create_task(self._spread(), name="spectators")

    async def _spread(self) -> None:
        now = asyncio.get_running_loop().time
        try:
            while some := list(
                islice((each for each in self.spectators if each.seen is not self.line), SLICE)
            ):
                for spectator in some:
                    self._offer(spectator, now())
                await asyncio.sleep(0)
            while self.match.is_over and (
                some := [each for each in self.spectators if not each.ended.is_set()]
            ):
                for spectator in some[:SLICE]:
                    spectator.close()
                await asyncio.sleep(0)
        finally:
            self.spreading = None

    def _offer(self, spectator: Spectator, now: float) -> None:
        try:
            spectator.offer(self.line, now)
        except Exception:  # one connection's; the others get the line
            self._failures.tell()
            spectator.close()

    async def beat(self) -> None:
        """Keep all connections alive."""
        now = asyncio.get_running_loop().time
        for number, spectator in enumerate(list(self.spectators)):
            try:
                spectator.beat(self.fresh_line() if spectator.is_behind else self.line, now())
            except Exception:  # one connection's; the others stay alive
                self._failures.tell()
                spectator.close()
            if number % SLICE == SLICE - 1:
                await asyncio.sleep(0)


class SpectatorStreams:
    """The watched games.

    Args:
        tell: Returns what spectators may see of a game.
        keep_alive_s: Seconds between keep-alives.
        clock: The arena's, by which the games' clocks run.
    """

    def __init__(
        self,
        tell: Callable[[ReplayedGame], dict[str, Any]],
        keep_alive_s: float,
        clock: Callable[[], float],
    ) -> None:
        self._tell = tell
        self._keep_alive_s = keep_alive_s
        self._clock = clock
        self._failures = _Failures()
        self._feeds: dict[str, Feed] = {}
        self._beating: asyncio.Task[None] | None = None

    def line(self, match: ReplayedGame) -> FeedLine:
        """The newest line of a game; encoded now, unless its spectators have just received one."""
        feed = self._feeds.get(match.id)
        return self._encode(match) if feed is None else feed.fresh_line()

    def join(self, match: ReplayedGame, spectator: Spectator) -> None:
        """Add a spectator, who has already received the line `spectator.seen`."""
        feed = self._feeds.get(match.id)
        if feed is None:
            line = spectator.seen or self._encode(match)
            feed = self._feeds[match.id] = Feed(match, line, self._encode, self._clock, self._failures)
        feed.spectators[spectator] = None
        if spectator.seen is not feed.line:
            spectator.offer(feed.line, asyncio.get_running_loop().time())
        if self._beating is None:
            self._beating = asyncio.create_task(self._beat(), name="spectators' keep-alives")

    def catch_up(self, match: ReplayedGame) -> None:
        """Publish a game that changed or ended while a spectator joined, unless that was already sent."""
        feed = self._feeds.get(match.id)
        if feed is not None and (feed.match is not match or match.is_over):
            feed.publish(match)

    def leave(self, game_id: str, spectator: Spectator) -> None:
        """Remove a spectator; a second call does nothing."""
        feed = self._feeds.get(game_id)
        if feed is not None:
            feed.spectators.pop(spectator, None)
            if not feed.spectators:
                del self._feeds[game_id]
        if not self._feeds and self._beating is not None:
            self._beating.cancel()
            self._beating = None

    def count(self, game_id: str) -> int:
        """The number of a game's spectators."""
        feed = self._feeds.get(game_id)
        return 0 if feed is None else len(feed.spectators)

    def publish(self, match: ReplayedGame) -> None:
        """Notify the spectators of a game, if any, of a change."""
        if feed := self._feeds.get(match.id):
            feed.publish(match)

    async def close_all(self) -> None:
        """End all streams, for a shutdown."""
        feeds = list(self._feeds.values())
        for feed in feeds:
            for spectator in feed.spectators:
                spectator.close()
        tasks = [feed.spreading for feed in feeds if feed.spreading is not None]
        if self._beating is not None:
            self._beating.cancel()
            tasks.append(self._beating)
            self._beating = None
        await asyncio.gather(*tasks, return_exceptions=True)

    def _encode(self, match: ReplayedGame) -> FeedLine:
        plain = json.dumps(self._tell(match), separators=(",", ":")).encode() + b"\n"
        return FeedLine(plain, self._clock())

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self._keep_alive_s)
            for feed in list(self._feeds.values()):
                await feed.beat()
