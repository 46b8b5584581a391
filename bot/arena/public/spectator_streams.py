"""Streams for spectators: each line is the state of a whole game, encoded once for all who watch it.

A slow reader skips lines and gets the newest one.
"""

import logging
import time
from collections.abc import Callable
from sys import maxsize

from bot.arena.game import ReplayedGame
from bot.arena.streams import Listeners, Stream, line_of
from bot.arena.wire import Json
from bot.base.line_limit import LineLimit

logger = logging.getLogger(__name__)

_LINES_PER_MINUTE = 5


class SpectatorStreams:
    """The streams by the game that they show.

    Args:
        view: What spectators may see of a game.
    """

    def __init__(self, view: Callable[[ReplayedGame], Json]) -> None:
        self._view = view
        self._streams: Listeners[str] = Listeners(lambda _game_id: None)
        self._lines = LineLimit(_LINES_PER_MINUTE, time.monotonic)

    def join(self, game: ReplayedGame, stream: Stream) -> None:
        """Send a stream a running game and its later states."""
        stream.send(self._view(game))
        self._streams.add(game.id, stream, maxsize)

    def leave(self, game_id: str, stream: Stream) -> None:
        """Remove a stream; a second call does nothing."""
        self._streams.remove(game_id, stream)

    def publish(self, game: ReplayedGame) -> None:
        """Send a changed game to its spectators, if any; the last state ends the streams."""
        if not self._streams.is_listening(game.id):
            return
        line = None
        try:
            line = line_of(self._view(game))
        except Exception:  # must not affect the player who moved
            if (dropped := self._lines.next()) is not None:
                logger.exception("spectators may have missed something%s", dropped)
        for stream in self._streams.of(game.id):
            if line is not None:
                stream.send_line(line)
            if game.is_over:
                stream.close()

    def close_all(self) -> None:
        """End all streams, for a shutdown."""
        self._streams.close_all()
