"""The end of a game from its page at PyChess, whose streams may omit it and never repeat it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from bot.base.dialects import Dialect
from bot.base.errors import ProtocolError, RefusedError, TransientError
from bot.base.events import EndReason, GameEvent, GameSnapshot, GameState
from bot.servers.lichess_wire import GameReader

logger = logging.getLogger(__name__)

GOES_ON_S = 3.0
"""Timeout of the page when we resume a game, in seconds: its opponent may move meanwhile."""
LOOK_UPS = 5
"""Requests for the page of a game before its end counts as unknown, one for each line of the stream."""


class PychessGamePage:
    """The page of one game, and a pending end without a result.

    Args:
        dialect: Which site.
        game_id: Of the game.
        reader: The reader of its stream.
        read: Reads the page of a game; raises RefusedError if the site has no such game, or none any more.
    """

    def __init__(
        self, dialect: Dialect, game_id: str, reader: GameReader, read: Callable[[str], Awaitable[str]]
    ) -> None:
        self.exists = bool(dialect.end_words)
        """Whether the site has pages with results."""
        self.unknown: GameState | None = None
        """The pending end without a result."""
        self._game_id = game_id
        self._reader = reader
        self._read = read
        self._left = LOOK_UPS

    async def end_if_known(self) -> GameState | None:
        """The end of a game that the page shows; None: it goes on, or the page does not help."""
        try:
            async with asyncio.timeout(GOES_ON_S):  # the next lines of the stream wait
                return self._reader.recorded(await self._read(self._game_id))
        except (TimeoutError, TransientError, RefusedError, ProtocolError) as error:
            logger.info("game %s: its page does not say whether it goes on: %s", self._game_id, error)
            return None

    async def game(self) -> GameSnapshot | None:
        """The game if it is over; None: it goes on.

        Raises:
            ServerError: The page cannot be read.
        """
        return self._reader.recorded_game(await self._read(self._game_id))

    def is_wanted(self, event: GameEvent | None) -> bool:
        """Whether to query the page for the game's end after the stream's latest event."""
        if self.exists and isinstance(event, GameState) and event.end is not None:
            self.unknown = event if event.end.reason is EndReason.UNKNOWN else None
        return self.unknown is not None

    async def end(self) -> GameState | None:
        """The end by the page, or without a result; None: query again at the stream's next line."""
        try:
            recorded = self._reader.recorded(await self._read(self._game_id))
            if recorded is not None:
                return self._done(recorded)
            reason = "it goes on there"
        except TransientError as error:
            reason = str(error)
        except (RefusedError, ProtocolError) as error:
            logger.warning("game %s: nobody can know how it ended: %s", self._game_id, error)
            return self._done(self.unknown)
        self._left -= 1
        if self._left:
            return None
        logger.warning("game %s: its page does not say how it ended: %s", self._game_id, reason)
        return self._done(self.unknown)

    def _done(self, state: GameState | None) -> GameState | None:
        self.unknown = None
        return state
