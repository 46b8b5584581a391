"""`ExternalEngine`: another program that plays one side, over any protocol."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from engine.game import Game, IllegalMove, continued_position, legal_prefix, replay
from engine.games import get_rules
from engine.protocols.client import EngineProtocol, MoveRequest
from engine.protocols.gtp import GtpClient
from engine.protocols.nboard import NBoardClient
from engine.protocols.process import EngineCrashed, EngineError, EngineProcess, IllegalAnswer
from engine.protocols.settings import Allowance, ChosenMove, ExternalSettings
from engine.protocols.uci_moves import UciClient
from engine.stop import StopFlag, Stopped

logger = logging.getLogger(__name__)

_CLIENTS: dict[str, Callable[[EngineProcess, ExternalSettings, Game[Any]], EngineProtocol]] = {
    "nboard": NBoardClient,
    "gtp": GtpClient,
    "uci": UciClient,
    "ucci": UciClient,
}
_MAX_RESTARTS = 1
"""Maximum number of restarts per game if the program exits by itself."""


class ExternalEngine:
    """Another program, used by one thread at a time.  The program starts when a game begins.

    Args:
        settings: The program, and how to use it.
    """

    def __init__(self, settings: ExternalSettings) -> None:
        self.settings = settings
        self._game = get_rules(settings.game)
        self.name = settings.command[0]
        """The program's own name, or its command until the program has sent its name."""
        self._start: Any = self._game.initial()
        self._process: EngineProcess | None = None
        self._client: EngineProtocol | None = None
        self._restarts = 0

    def new_game(self, start: Any = None) -> None:
        """Begin a game, and start the program if it is not running.

        Args:
            start: The first position; None for the game's usual starting position.

        Raises:
            EngineError: The program does not start, or cannot start from this position.
        """
        self._start = self._game.initial() if start is None else start
        self._restarts = 0
        try:
            if self._client is not None:
                self._client.new_game(self._start)
                return
        except EngineError as error:  # a new game can use a new process
            logger.warning("%s", error)
            self._end()
        self._running()

    def choose(self, moves: Sequence[str], allowance: Allowance, stop: StopFlag) -> ChosenMove:
        """Get a move from the program.

        If the program exits by itself, it is restarted (once per game) and receives the query again.

        Args:
            moves: All moves since the game began, in the game's notation.
            allowance: Clock, time and depth limits of the move.
            stop: A flag that ends the wait immediately when it is set.

        Raises:
            Stopped: The flag was set.
            EngineError: The program returned no move; the exception's class gives the reason. The program is
            then ended; the next call restarts it.
            ValueError: The game is over.
            IllegalMove: One of the moves is illegal.
        """
        game = self._game
        position = continued_position(game, replay(game, moves, self._start))
        if not game.legal_moves(position):
            raise ValueError(f"the game is over: {game.position_text(position)}")
        side, began = game.side_to_move(position), time.monotonic()
        question = MoveRequest(self._start, tuple(moves), position, allowance)
        client: EngineProtocol | None = None
        while True:
            try:
                client = self._running()
                before_s = self._processor_time_s()
                answer = client.choose(question, stop)
                after_s = self._processor_time_s()
                break
            except EngineCrashed as error:
                self._end()
                if self._restarts >= _MAX_RESTARTS:
                    raise
                self._restarts += 1
                logger.warning("%s; restarting it", error)
                left = allowance.after_spending(time.monotonic() - began, side)
                question = replace(question, allowance=left)
            except EngineError:
                self._end()
                raise
            except Stopped:
                if client is None or not client.is_interruptible:
                    self._end()
                raise
        time_s = time.monotonic() - began
        try:
            move = game.move_text(game.parse_move(position, answer.move))
        except IllegalMove as error:
            self._end()
            raise IllegalAnswer(f"{self.name} said {answer.said[:200]!r}: {error}") from error
        line = legal_prefix(game, position, answer.variation)
        line = line if line[:1] == (move,) else (move,)
        cpu_s = None if before_s is None or after_s is None else max(0.0, after_s - before_s)
        return ChosenMove(move, answer.evaluation_centi, line, answer.depth, time_s, cpu_s, answer.nodes)

    def close(self) -> None:
        """End the program, if it is running."""
        self._end(farewell=True)

    def _processor_time_s(self) -> float | None:
        return None if self._process is None else self._process.processor_time_s()

    def _running(self) -> EngineProtocol:
        if self._client is not None:
            return self._client
        settings = self.settings
        self._process = EngineProcess(settings.command, settings.directory)
        client = _CLIENTS[settings.protocol](self._process, settings, self._game)
        try:
            self.name = self._process.name = client.greet() or settings.command[0]
            client.new_game(self._start)
        except BaseException:
            self._end()
            raise
        self._client = client
        return client

    def _end(self, *, farewell: bool = False) -> None:
        process, self._process = self._process, None
        client, self._client = self._client, None
        if process is not None:
            process.close(client.farewell if farewell and client is not None else None)
