"""Reads PyChess's game pages, because its streams sometimes omit the end of a game."""

import asyncio
import html
import logging
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from bot.base.dialects import BLACK, WHITE
from bot.base.errors import ProtocolError, RefusedError, TransientError
from bot.base.events import UNRECORDED, EndReason, GameEnd, GameEvent, GameSnapshot, GameState
from bot.servers.lichess_wire import MAX_BRACKETS, MAX_MOVES, GameReader, as_object, need, read_line

logger = logging.getLogger(__name__)

RESUME_TIMEOUT_S = 3.0
"""Timeout for the page when we resume a game, in seconds; short, because the opponent's moves wait for it."""
STREAM_RETRY_WAIT_S = 2.0
"""Wait before a game's stream is opened again, in seconds: the site holds a lost one for up to 6 s, and
allows 45 page requests in half a minute."""
MAX_PAGE_REQUESTS = 5
"""Maximum number of page requests, one per stream line; after these, the game's result counts as unknown."""
CLOCK_EXPIRY_SLACK_S = 30.0
"""Time after which a game counts as over once both clocks must have run out, in seconds."""

MIN_RECORDED_PLIES = 3
"""The site deletes games of fewer plies when they end."""

END_WORDS: Mapping[int, str] = {
    0: "aborted",
    1: "mate",
    2: "resign",
    3: "stalemate",
    4: "timeout",
    5: "draw",
    6: "outoftime",
    7: "timeout",  # the player left
    8: "cheat",
    10: "invalidMove",
    11: "unknownFinish",
    12: "variantEnd",
    13: "variantEnd",  # claimed
}
"""The Lichess ``status`` for each status in a PyChess game record (GameStatus in PyChess's source); negative
numbers mean that the game is running."""
_WINNERS = {"1-0": 0, "0-1": 1}
_MAX_QUOTED_LENGTH = 1000
"""Maximum number of characters of a page quoted in an error."""


def read_end(page: str, reader: GameReader) -> GameState | None:
    """Return a game's end according to its page; None if the game is running or we have no snapshot yet.

    Raises:
        ProtocolError: The page is malformed, or not the page of this game.
    """
    if not reader.started:
        return None
    record = _record(page)
    if record.get("gameId") != reader.game_id:
        raise ProtocolError("the page of another game", record)
    number = need(record, "status", int)
    if number < 0:
        return None
    winner = _WINNERS.get(need(record, "result", str))
    return reader.finish(_moves_text(record), END_WORDS.get(number, f"status {number}"), winner)


def read_game(page: str, reader: GameReader) -> GameSnapshot:
    """The running or finished game that a page shows.

    Raises:
        ProtocolError: The page is malformed, or not a game page.
    """
    record = _record(page)
    start, *_ = (as_object(step) for step in need(record, "steps", list))
    times = dict(zip(("wtime", "btime"), need(record, "clocks", list), strict=False))
    increment = {key: int(_attribute(page, "inc") or 0) for key in ("winc", "binc")}
    players = {
        side.key: {reader.dialect.player_key: _attribute(page, f"{side.letter}player")}
        for side in (WHITE, BLACK)
    }
    snapshot = reader.snapshot(
        {
            "id": record.get("gameId"),
            "variant": {"name": record.get("variant")},
            "initialFen": _attribute(page, "initialfen") or start.get("fen"),
            "state": {"moves": _moves_text(record), "status": "started", **times, **increment},
            **players,
        }
    )
    state = read_end(page, reader)
    return snapshot if state is None else replace(snapshot, state=state)


def _moves_text(record: Mapping[str, Any]) -> str:
    """All moves of a game record, as the game's stream writes them."""
    _start, *steps = (as_object(step) for step in need(record, "steps", list))
    return " ".join(need(step, "move", str) for step in steps)


def _attribute(page: str, name: str) -> str:
    """The value of a ``data-`` attribute; empty if there is none."""
    match = re.search(rf'\bdata-{name}="([^"]*)"', page)
    return html.unescape(match[1]) if match else ""


def _record(page: str) -> Mapping[str, Any]:
    """Parse the game record of a page, which is JSON in an HTML attribute."""
    record = read_line(_attribute(page, "board").encode(errors="replace"), MAX_MOVES + MAX_BRACKETS)
    if record is None:
        raise ProtocolError("a page without a game", page[:_MAX_QUOTED_LENGTH])
    return record


class PychessGame:
    """Completes one game's stream with the end shown on the game's page.

    Args:
        game_id: Id of the game.
        reader: Reader of the game's stream.
        read: Fetches the page; raises RefusedError if the site does not have the game, or no longer has it.
        clock: Monotonic clock, in seconds.
    """

    def __init__(
        self,
        game_id: str,
        reader: GameReader,
        read: Callable[[], Awaitable[str]],
        clock: Callable[[], float],
    ) -> None:
        self._game_id = game_id
        self._reader = reader
        self._read = read
        self._clock = clock
        self._heard_at = clock()
        self._left = MAX_PAGE_REQUESTS

    async def with_end_from_page(
        self, events: AsyncGenerator[GameEvent | None, None]
    ) -> AsyncGenerator[GameEvent | None, None]:
        """The stream's events, followed by the end of the game if the stream omits it."""
        unknown: GameState | None = None  # a pending end without a result
        try:
            async with aclosing(events):
                async for event in events:
                    if event is None and not self._reader.started:
                        continue  # the site may still refuse the stream
                    if isinstance(event, GameSnapshot) and event.state.moves:
                        # It may have ended while we were away, and no stream tells that again.
                        yield event
                        event = await self._end_if_known()
                    event = self._with_end_by_clock(event)
                    if isinstance(event, GameState) and event.end is not None:
                        unknown = event if event.end.reason is EndReason.UNKNOWN else None
                    if unknown is not None:
                        event = await self._end(unknown)
                        unknown = None if event is not None else unknown
                    yield event
            if unknown is not None:
                yield unknown
        except TransientError as error:
            if self._reader.started:
                raise
            # The site breaks off a second stream of a game, a stream that replaces a lost one it still holds,
            # and the stream of a game that is over.
            snapshot = read_game(await self._read(), self._reader)
            yield snapshot
            if snapshot.state.end is None:
                wait_s = max(STREAM_RETRY_WAIT_S, error.retry_after_s or 0.0)
                raise TransientError(str(error), wait_s) from error

    def _with_end_by_clock(self, event: GameEvent | None) -> GameEvent | None:
        """Return the event; without one, an end with unknown result once both clocks must have run out."""
        if event is not None:
            self._heard_at = self._clock()
            return event
        last = self._reader.last
        if last is None or last.remaining_s is None or last.end is not None:
            return None
        is_over = self._clock() - self._heard_at > max(last.remaining_s) + CLOCK_EXPIRY_SLACK_S
        return self._reader.ended("unknown") if is_over else None

    async def _end_if_known(self) -> GameState | None:
        """The end of the game according to its page; None if the game is running or the page is unusable."""
        try:
            async with asyncio.timeout(RESUME_TIMEOUT_S):  # the next lines of the stream wait
                return read_end(await self._read(), self._reader)
        except (TimeoutError, TransientError, RefusedError, ProtocolError) as error:
            logger.info("game %s: its page does not say whether it is over: %s", self._game_id, error)
            return None

    async def _end(self, unknown: GameState) -> GameState | None:
        """Return the end shown on the page, or `unknown` if there is none; None to retry at the next line."""
        try:
            recorded = read_end(await self._read(), self._reader)
            if recorded is not None:
                return recorded
            reason = "it is still running there"
        except TransientError as error:
            reason = str(error)
        except (RefusedError, ProtocolError) as error:
            is_missing = isinstance(error, RefusedError) and error.status == HTTPStatus.NOT_FOUND
            if is_missing and len(unknown.moves) < MIN_RECORDED_PLIES:
                return replace(unknown, end=GameEnd(EndReason.UNKNOWN, None, UNRECORDED))
            logger.warning("game %s: its outcome cannot be determined: %s", self._game_id, error)
            return unknown
        self._left -= 1
        if self._left:
            return None
        logger.warning("game %s: its page does not say how it ended: %s", self._game_id, reason)
        return unknown
