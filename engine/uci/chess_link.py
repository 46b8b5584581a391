"""The link to chess engines: python-chess's ``SimpleEngine``, with every wait bounded.

``SimpleEngine`` runs the engine on an event loop in its own thread.  Its waits for the next line have no
timeout, and an illegal ``bestmove`` ends none of them; so one coroutine collects a whole search on that loop,
and this thread meanwhile checks the stop flag.

(python-chess parses every move of every line: 43 ms for a search of 38 lines and 9 depths, where our own
reader needs 2 ms.  It is the better tested one.)
"""

import asyncio
import math
import os
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from typing import Any

import chess
import chess.engine

from engine.process import POLL_S, EngineError, end_group, not_started
from engine.processor_time import processor_time_s
from engine.stop import StopFlag, Stopped
from engine.uci.link import (
    ANSWER_S,
    BestMoveRequest,
    EngineOutput,
    InfoLine,
    Patience,
    SearchRequest,
    plausible_depth,
    plausible_nodes,
)
from engine.uci.settings import EngineSettings

_END_S = 1.0  # for an engine to exit by itself
_STOP_S = 5.0  # for it to end a search
_WANTED = chess.engine.INFO_BASIC | chess.engine.INFO_SCORE | chess.engine.INFO_PV


class ChessLink:
    """A chess engine behind python-chess; see `engine.uci.link.Link`.

    Raises:
        EngineError: It does not start, does not greet in time, or lacks a feature that we need.
    """

    def __init__(self, settings: EngineSettings) -> None:
        self.name = settings.command[0]
        self._fault: BaseException | None = None
        self._running: tuple[_Search, Future[EngineOutput]] | None = None
        self._stopped_at = 0.0
        try:
            # Its own process group: Ctrl-C must reach only the bot, which ends its engines itself.
            self._engine = chess.engine.SimpleEngine.popen(
                _protocol(settings.start_s), list(settings.command), timeout=None, setpgrp=True
            )
        except (OSError, ValueError) as error:
            raise EngineError(not_started(self.name, os.getcwd(), error)) from error
        except chess.engine.EngineError as error:
            raise EngineError(f"cannot start {self.name}: {error}") from error
        self._engine.timeout = settings.start_s
        self._loop = self._engine.protocol.loop
        self._loop.set_exception_handler(self._on_fault)
        try:
            self._configure(settings)
        except EngineError:
            self.close(quickly=True)
            raise

    def _configure(self, settings: EngineSettings) -> None:
        try:
            self.name = self._engine.id.get("name", self.name)
            offered = self._engine.options
            if "MultiPV" not in offered:
                raise EngineError(f"{self.name} has no option MultiPV, which trap profiles need")
            self.max_lines = offered["MultiPV"].max or 1
            self._engine.configure(dict(settings.options))
            self._engine.ping()
        except TimeoutError as error:
            raise EngineError(
                f"{self.name} does not answer 'isready' within {settings.start_s:g} s"
            ) from error
        except (CancelledError, chess.engine.EngineError) as error:
            raise EngineError(f"{self.name}: {error}") from error

    def processor_time_s(self) -> float | None:
        """See `Link.processor_time_s`."""
        pid = self._engine.transport.get_pid()
        return None if pid is None else processor_time_s(pid)

    def search(self, ask: SearchRequest | BestMoveRequest, patience: Patience) -> EngineOutput:
        """See `Link.search`."""
        patience.check(self.name, patience.clock())
        if self._running is not None:  # a stopped search; python-chess waits for its end
            self._wait(patience)
        search = _Search(ask, patience.clock)
        running = search.run(self._engine.protocol)
        try:
            self._running = search, asyncio.run_coroutine_threadsafe(running, self._loop)
        except RuntimeError as error:  # the loop is closed
            running.close()
            raise self._ended() from error
        self._stopped_at = math.inf
        try:
            return self._wait(patience)
        except Stopped:
            self._stopped_at = patience.clock()
            self._loop.call_soon_threadsafe(search.stop)
            if isinstance(ask, SearchRequest):
                raise
        try:
            until = patience.clock() + ANSWER_S
            return self._wait(Patience(StopFlag(), math.inf, until, patience.clock))
        except Stopped as error:
            raise EngineError(f"{self.name} names no move on 'stop'") from error

    def _wait(self, patience: Patience) -> EngineOutput:
        """The output of the running search, when it ends."""
        assert self._running is not None  # noqa: S101 - for the type checker
        search, answer = self._running
        since = patience.clock()
        try:
            while not answer.done():
                if self._fault is not None:
                    raise EngineError(f"{self.name}: {self._fault}") from self._fault
                if self._engine.returncode.done():
                    raise self._ended()
                patience.check(self.name, max(since, search.heard_at))
                if patience.clock() - self._stopped_at > _STOP_S:
                    raise EngineError(f"{self.name} does not end its search on 'stop'")
                with suppress(FutureTimeoutError):
                    answer.result(POLL_S)
            self._running = None
            return answer.result()
        except (CancelledError, chess.engine.EngineTerminatedError) as error:
            raise self._ended() from error
        except chess.engine.EngineError as error:
            raise EngineError(f"{self.name}: {error}") from error

    def close(self, *, quickly: bool = False) -> None:
        """See `Link.close`."""
        if not quickly:
            self._engine.timeout = _END_S
            with suppress(TimeoutError, CancelledError, chess.engine.EngineError):
                self._engine.quit()
        pid = self._engine.transport.get_pid()
        if pid is not None:
            end_group(pid)
        self._engine.close()
        with suppress(FutureTimeoutError, CancelledError):
            self._engine.returncode.result(_END_S)

    def _on_fault(self, _loop: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
        """Runs on the engine's thread: python-chess found nonsense after the search had begun."""
        self._fault = context.get("exception") or RuntimeError(context["message"])

    def _ended(self) -> EngineError:
        with suppress(FutureTimeoutError, CancelledError):
            status = self._engine.returncode.result(_END_S)
            return EngineError(f"{self.name} ended by itself (exit status {status})")
        return EngineError(f"{self.name} ended by itself")


class _Search:
    """One search, on the engine's loop."""

    def __init__(self, ask: SearchRequest | BestMoveRequest, clock: Callable[[], float]) -> None:
        self._ask = ask
        self._clock = clock
        self._analysis: chess.engine.AnalysisResult | None = None
        self._is_unwanted = False
        self.heard_at = clock()
        """When the engine last sent output for it."""

    async def run(self, engine: chess.engine.Protocol) -> EngineOutput:
        lines, nodes = [], 0
        self._analysis = await self._begin(engine)
        if self._is_unwanted:
            self._analysis.stop()
        async for info in self._analysis:
            self.heard_at = self._clock()
            so_far = plausible_nodes(info.get("nodes"))
            nodes = nodes if so_far is None else so_far
            if line := _line(info):
                lines.append(line)
        best = (await self._analysis.wait()).move
        return EngineOutput(tuple(lines), nodes, None if best is None else best.uci())

    async def _begin(self, engine: chess.engine.Protocol) -> chess.engine.AnalysisResult:
        ask, board, new_game = self._ask, board_of(self._ask.position), object()  # each time: ``ucinewgame``
        if isinstance(ask, BestMoveRequest):
            analyses = "UCI_AnalyseMode" in engine.options
            options = {"UCI_AnalyseMode": False} if analyses else {}
            limit = _limit(ask, board.turn)
            return await engine.analysis(board, limit, game=new_game, info=_WANTED, options=options)
        return await engine.analysis(
            board,
            chess.engine.Limit(depth=ask.depth),
            multipv=ask.lines,
            game=new_game,
            info=_WANTED,
            root_moves=[chess.Move.from_uci(move) for move in ask.moves] or None,
        )

    def stop(self) -> None:
        """End it, but only once it has begun: python-chess fails if a search is cancelled earlier."""
        self._is_unwanted = True
        if self._analysis is not None:
            self._analysis.stop()


def _protocol(greeting_s: float) -> type[chess.engine.UciProtocol]:
    """python-chess's protocol, leaving no process behind when the greeting is not answered in time."""

    class Protocol(chess.engine.UciProtocol):
        async def initialize(self) -> None:
            try:
                async with asyncio.timeout(greeting_s):
                    await super().initialize()
            except TimeoutError:
                assert self.transport is not None  # noqa: S101 - for the type checker
                self.transport.kill()
                await self.returncode
                raise chess.engine.EngineError(
                    f"it does not answer 'uci' with 'uciok' within {greeting_s:g} s"
                ) from None

    return Protocol


def _limit(ask: BestMoveRequest, turn: chess.Color) -> chess.engine.Limit | None:
    """The limits of a search for a move; None: it goes on until it is stopped."""
    if ask.depth is None and ask.nodes is None and ask.clock is None:
        return None
    limit = chess.engine.Limit(depth=ask.depth, nodes=ask.nodes)
    if ask.clock is not None:
        ours, theirs, increment = ask.clock.remaining_s, ask.clock.their_remaining_s, ask.clock.increment_s
        limit.white_clock, limit.black_clock = (ours, theirs) if turn == chess.WHITE else (theirs, ours)
        limit.white_inc = limit.black_inc = increment
    return limit


def _line(info: chess.engine.InfoDict) -> InfoLine | None:
    """The exact score of a line, if it has one.

    Raises:
        EngineError: A line of a MultiPV search has a variation that python-chess could not replay.
    """
    if "score" not in info or "depth" not in info or "lowerbound" in info or "upperbound" in info:
        return None
    score, depth, moves = info["score"].relative, plausible_depth(info["depth"]), info.get("pv")
    if depth is None:
        return None
    if not moves:
        if "multipv" in info and depth > 0:
            raise EngineError(f"a line of depth {depth} and score {score} has no variation that is legal")
        return None
    variation = tuple(move.uci() for move in moves)
    mate = score.mate()
    if mate is not None:
        return InfoLine(depth, mate, True, variation)
    centi = score.score()
    return None if centi is None else InfoLine(depth, centi, False, variation)


def board_of(position_text: str) -> chess.Board:
    """The board of a `Game.position_text`, with the moves that led there.

    Chess960 is recognised by castling rights that name files (``HAha``).

    Raises:
        ValueError: It is not a position.
    """
    words = position_text.split()
    board = chess.Board(" ".join(words[:6]), chess960=not set(words[2]) <= set("KQkq-"))
    for word in words[6:]:
        if word not in ("moves", "line"):
            board.push_uci(word)
    return board
