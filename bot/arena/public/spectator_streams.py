"""Streams for spectators: each line is the full state of a game, encoded once for all its spectators.

A slow reader misses lines but always receives the newest line.
"""

import logging
import time
from collections.abc import Callable
from sys import maxsize

from bot.arena.game import ReplayedGame
from bot.arena.streams import Listeners, Stream, line_of
from bot.arena.wire import Json
from bot.base.log import LogLineLimiter

logger = logging.getLogger(__name__)

_MAX_LOG_LINES_PER_MINUTE = 5


class SpectatorStreams(Listeners[str]):
    """The open streams, keyed by game.

    Args:
        view: Returns the part of a game that spectators are allowed to see.
    """

    def __init__(self, view: Callable[[ReplayedGame], Json]) -> None:
        super().__init__()
        self._view = view
        self._lines = LogLineLimiter(_MAX_LOG_LINES_PER_MINUTE, time.monotonic)

    def join(self, game: ReplayedGame, stream: Stream) -> None:
        """Send a running game and its later states to a stream."""
        stream.send(self._view(game))
        self.add(game.id, stream, maxsize)

    def publish(self, game: ReplayedGame) -> None:
        """Send a changed game to its spectators, if any; the final state ends the streams."""
        if not self.is_listening(game.id):
            return
        line = None
        try:
            line = line_of(self._view(game))
        except Exception:  # must not affect the player who moved
            if (dropped := self._lines.next()) is not None:
                logger.exception("spectators may have missed an update%s", dropped)
        for stream in self.of(game.id):
            if line is not None:
                stream.send_line(line)
            if game.is_over:
                stream.close()
