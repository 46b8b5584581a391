"""Drives Othello programs over GTP version 2.

The program holds the state of the game: we send it the moves since the last query or, if the game changed,
all moves from the start.  GTP cannot interrupt a program that is thinking.
"""

import math
from typing import Any

from engine.game import Game
from engine.protocols.client import EngineProtocol, EngineReply, MoveRequest, move_wait
from engine.protocols.process import EngineError, EngineProcess, EngineTimeout, Resigned, WaitLimit
from engine.protocols.settings import Allowance, ExternalSettings
from engine.stop import StopFlag

_MAX_ANSWER_LINES = 10_000  # in one answer


class GtpClient(EngineProtocol):
    """A program that speaks GTP."""

    is_interruptible = False

    def __init__(self, process: EngineProcess, settings: ExternalSettings, game: Game[Any]) -> None:
        super().__init__(process, settings, game)
        self._commands: frozenset[str] = frozenset()
        self._moves_sent: tuple[str, ...] | None = None
        """Moves that the program has received; None if all moves must be sent."""
        self._time_sent: tuple[int, int, int] | None = None

    def greet(self) -> str:
        wait = self._command_wait_limit(StopFlag())
        try:
            self._commands = frozenset(self._command("list_commands", wait).split())
        except EngineTimeout as error:
            raise self._process.handshake_error("list_commands", "=", "GTP") from error
        name = self._command("name", wait).strip()
        version = self._command("version", wait).strip() if "version" in self._commands else ""
        return " ".join(f"{name} {version}".split())

    def new_game(self, start: Any) -> None:
        if start != self._game.initial():
            raise EngineError(
                f"{self._process.name}: GTP cannot begin from {self._game.position_text(start)}; "
                "let the game begin with moves from the usual start"
            )
        self._moves_sent = self._time_sent = None

    def choose(self, question: MoveRequest, stop: StopFlag) -> EngineReply:
        game, soon = self._game, self._command_wait_limit(stop)
        self._send_moves(question.moves, soon)
        side = game.side_to_move(question.position)
        colour = game.sides[side]
        self._send_time(question.allowance, soon)
        if question.allowance.remaining_s is not None and "time_left" in self._commands:
            left_s = math.floor(max(0.0, question.allowance.remaining_s[side]))
            self._command(f"time_left {colour} {left_s} 0", soon)
        wait = move_wait(question, game, self._settings, stop)
        said = self._command(f"genmove {colour}", wait)
        move = said.strip().lower()
        if move == "resign":
            raise Resigned(f"{self._process.name} resigns")
        self._moves_sent = (*question.moves, move)  # if it is illegal, the caller ends the program
        return EngineReply(move, said)

    def _send_moves(self, moves: tuple[str, ...], wait: WaitLimit) -> None:
        sent = self._moves_sent
        if sent is None or moves[: len(sent)] != sent:
            if "boardsize" in self._commands:
                self._command("boardsize 8", wait)
            self._command("clear_board", wait)
            self._time_sent = None
            sent = ()
        self._moves_sent = None  # in case a command fails
        for ply in range(len(sent), len(moves)):
            self._command(f"play {self._game.sides[ply % 2]} {moves[ply]}", wait)
        self._moves_sent = moves

    def _send_time(self, allowance: Allowance, wait: WaitLimit) -> None:
        """Send the clock's settings.  GTP has no increment; the times that ``time_left`` sends include it."""
        settings = None
        if allowance.remaining_s is not None:
            settings = (math.floor(max(1.0, *allowance.remaining_s)), 0, 0)
        elif allowance.move_s is not None:
            settings = (0, max(1, round(allowance.move_s)), 1)
        is_sent = self._time_sent is not None and allowance.remaining_s is not None
        if settings is None or is_sent or settings == self._time_sent:
            return
        if "time_settings" in self._commands:
            self._command("time_settings {} {} {}".format(*settings), wait)
        self._time_sent = settings

    def _command(self, command: str, wait: WaitLimit) -> str:
        """Send a command and return the answer, without its status character.

        Raises:
            EngineError: The program refuses the command, or does not speak GTP.
        """
        self._process.send(command, wait)
        while not (line := self._process.receive(wait)).startswith(("=", "?")):
            pass  # noise
        parts, first = [line[1:].lstrip("0123456789").strip()], line
        while line := self._process.receive(wait):
            if len(parts) >= _MAX_ANSWER_LINES:
                raise EngineError(f"{self._process.name} does not end its answer to {command!r}")
            parts.append(line)
        if first.startswith("?"):
            raise EngineError(f"{self._process.name} refuses {command!r}: {parts[0][:200]}")
        return "\n".join(parts)
