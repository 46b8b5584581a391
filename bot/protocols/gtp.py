"""GTP version 2 for Othello, so that our engine can play under a match runner.

Squares have Othello's usual names, with a1 in the upper left corner. Commands run one after another. The
protocol has no command to stop a search, but the end of the input stops it. If a command names a side that is
not to move because the other side must pass, we insert the pass, as other programs do.
"""

import logging
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from bot.base.files import read_regular
from bot.protocols.console import Console
from bot.protocols.search_driver import MOVE_OVERHEAD_S, SearchDriver
from engine import VERSION
from engine.decision import Person
from engine.game import IllegalMove
from engine.games.othello import PASS
from engine.human.opponent_model_search import Background
from engine.stop import StopFlag
from engine.time_management import MIN_TIME_S, Limits

logger = logging.getLogger(__name__)

_MAX_SGF_BYTES = 1 << 20  # bytes
_COLOURS = {"b": 0, "black": 0, "w": 1, "white": 1}


class GtpFailure(Exception):
    """A command that we cannot execute; the exception's message is the response."""


class GtpClock:
    """What we know about the two sides' clocks.

    ``time_settings`` sets main time, byo-yomi time and byo-yomi stones: after the main time, a side has to
    play that many stones in each byo-yomi period.
    """

    def __init__(self) -> None:
        self.settings: tuple[float, float, int] | None = None
        """None means no limit."""
        self.left: list[tuple[float, int]] = [(0.0, 0), (0.0, 0)]
        """Per side: seconds left, and the number of stones to play in that time (0 during the main time)."""

    def set(self, main_s: float, byo_s: float, stones: int) -> None:
        """Set the clocks; a byo-yomi time without stones means no limit."""
        self.settings = None if byo_s > 0 and stones == 0 else (main_s, byo_s, stones)
        self.reset()

    def reset(self) -> None:
        """Reset the clocks for a new game with the same settings."""
        if self.settings is not None:
            main_s, byo_s, stones = self.settings
            self.left = [(main_s, 0) if main_s > 0 or stones == 0 else (byo_s, stones)] * 2

    def spend(self, side: int, seconds: float) -> None:
        """Deduct the time that a side spent on a move."""
        if self.settings is None:
            return
        _, byo_s, stones_each = self.settings
        left_s, stones = self.left[side]
        left_s -= seconds
        if stones == 0 and left_s <= 0 and stones_each > 0:
            left_s, stones = byo_s, stones_each
        elif stones > 0:
            stones -= 1
            if stones == 0:
                left_s, stones = byo_s, stones_each
        self.left[side] = (left_s, stones)


class Gtp:
    """The GTP front end.

    Args:
        console: Source of the commands.
        driver: The search driver, for Othello.
    """

    def __init__(self, console: Console, driver: SearchDriver) -> None:
        self._console = console
        self._driver = driver
        self._game: Any = driver.game
        self._positions = [self._game.initial()]
        self._clock = GtpClock()
        self._stop = StopFlag()
        """The stop flag of the latest search."""
        self._has_ended = False
        """Whether the input has ended, in which case every search must stop."""
        self._lock = threading.Lock()
        """Lock for `_stop` and `_has_ended`."""
        self._commands: dict[str, Callable[[list[str]], str]] = {
            "protocol_version": lambda _: "2",
            "name": lambda _: "Desdemona",
            "version": lambda _: VERSION,
            "known_command": self._known_command,
            "list_commands": lambda _: "\n".join(self._commands),
            "quit": lambda _: "",
            "boardsize": self._boardsize,
            "clear_board": self._clear_board,
            "komi": self._komi,
            "play": self._play,
            "genmove": self._genmove,
            "reg_genmove": self._reg_genmove,
            "undo": self._undo,
            "time_settings": self._time_settings,
            "time_left": self._time_left,
            "showboard": lambda _: self._board(),
            "final_score": self._final_score,
            "loadsgf": self._loadsgf,
            "set_game": self._set_game,
            "list_games": lambda _: "Othello",
        }

    def run(self) -> None:
        """Execute commands until ``quit`` or the end of the input; ``quit`` lets a running search finish."""
        with ThreadPoolExecutor(1) as worker:
            for line in self._console.lines():
                text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", "", line.split("#", 1)[0]).replace("\t", " ")
                words = text.split()
                number = words.pop(0) if words and re.fullmatch(r"\d{1,18}", words[0]) else ""
                if not words:
                    continue  # a number alone is not a command
                worker.submit(partial(self._execute, number, words[0], words[1:]))
                if words[0] == "quit":
                    return
            self._end()

    def _execute(self, number: str, name: str, arguments: list[str]) -> None:
        try:
            if name not in self._commands:
                raise GtpFailure("unknown command")
            answer = f"={number} {self._commands[name](arguments)}"
        except GtpFailure as refusal:
            answer = f"?{number} {refusal}"
        except Exception as error:  # every command has an answer
            logger.exception("%s failed", name)
            answer = f"?{number} {name} failed: {type(error).__name__}"
        self._console.say(answer, "")

    def _end(self) -> None:
        """Stop the current search and the searches of queued commands."""
        with self._lock:
            self._has_ended = True
            self._stop.set()

    # --- About us ---------------------------------------------------------------------------------------

    def _known_command(self, words: list[str]) -> str:
        return "true" if _single_argument(words, "known_command") in self._commands else "false"

    def _set_game(self, words: list[str]) -> str:
        if _single_argument(words, "set_game").lower() not in ("othello", "reversi"):
            raise GtpFailure("unsupported game")
        return ""

    # --- The game ---------------------------------------------------------------------------------------

    @property
    def _position(self) -> Any:
        return self._positions[-1]

    def _boardsize(self, words: list[str]) -> str:
        if _parse_integer(_single_argument(words, "boardsize")) != 8:
            raise GtpFailure("unacceptable size")
        return self._clear_board([])

    def _clear_board(self, _: list[str]) -> str:
        self._positions = [self._game.initial()]
        self._clock.reset()
        self._driver.forget()
        return ""

    def _komi(self, words: list[str]) -> str:
        _number(_single_argument(words, "komi"))  # Othello has no komi, but match runners send it
        return ""

    def _play(self, words: list[str]) -> str:
        if len(words) < 2:
            raise GtpFailure("syntax error: play needs a colour and a square")
        side, text = _colour(words[0]), words[1].lower()
        if text not in ("pass", "pa", "ps") and not re.fullmatch("[a-h][1-8]", text):
            raise GtpFailure("invalid color or coordinate")
        is_pass = not re.fullmatch("[a-h][1-8]", text)
        if is_pass and self._position.side != side and self._after_pass(self._position) is None:
            # The pass that we inserted arrives as a command, too.
            before = self._positions[-2] if len(self._positions) > 1 else None
            if before is not None and self._after_pass(before) == self._position:
                return ""
        try:
            position = self._position_for(side)
            self._add(position, self._game.parse_move(position, "pass" if is_pass else text))
        except IllegalMove:
            raise GtpFailure("illegal move") from None
        return ""

    def _position_for(self, side: int) -> Any:
        """The position with the specified side to move, after a forced pass by the other side if necessary.

        Raises:
            GtpFailure: It is the other side's turn, and that side does not have to pass.
        """
        position = self._position
        if position.side == side:
            return position
        after = self._after_pass(position)
        if after is None:
            raise GtpFailure("illegal move: it is the other colour's turn")
        return after

    def _after_pass(self, position: Any) -> Any | None:
        game = self._game
        return game.play(position, PASS) if game.legal_moves(position) == (PASS,) else None

    def _add(self, position: Any, move: int) -> None:
        """Play a move and store the position after it; store `position` first if a pass led to it."""
        after = self._game.play(position, move)
        if position != self._position:
            self._positions.append(position)
        self._positions.append(after)

    def _undo(self, _: list[str]) -> str:
        if len(self._positions) == 1:
            raise GtpFailure("cannot undo")
        self._positions.pop()
        return ""

    def _genmove(self, words: list[str]) -> str:
        side = _colour(_single_argument(words, "genmove"))
        began = time.monotonic()
        text = self._search_move(side)
        if text is None:
            return "pass"  # the game is over
        position = self._position_for(side)
        self._add(position, self._game.parse_move(position, text))
        self._clock.spend(side, time.monotonic() - began)
        return text

    def _reg_genmove(self, words: list[str]) -> str:
        return self._search_move(_colour(_single_argument(words, "reg_genmove"))) or "pass"

    def _search_move(self, side: int) -> str | None:
        """Search for our move; return None if the game is over."""
        game = self._game
        if not game.legal_moves(self._position):
            return None
        position = self._position_for(side)
        legal = game.legal_moves(position)
        if not legal:
            return None
        if legal == (PASS,):
            return "pass"
        before = self._positions if position != self._position else self._positions[:-1]
        their_s = None if self._clock.settings is None else self._clock.left[1 - side][0]
        self._driver.background = Background(tuple(before), Person(None, their_s))
        with self._lock:
            stop = self._stop = StopFlag()
            if self._has_ended:
                stop.set()
        return self._driver.decide(position, self._limits(position, side), stop).move

    # --- Time -------------------------------------------------------------------------------------------

    def _time_settings(self, words: list[str]) -> str:
        if len(words) != 3:
            raise GtpFailure("syntax error: time_settings needs three numbers")
        self._clock.set(_number(words[0]), _number(words[1]), _parse_integer(words[2]))
        return ""

    def _time_left(self, words: list[str]) -> str:
        if len(words) < 2:
            raise GtpFailure("syntax error: time_left needs a colour, a time and stones")
        side, seconds = _colour(words[0]), _number(words[1])
        stones = _parse_integer(words[2]) if len(words) > 2 else 0
        if self._clock.settings is None:
            self._clock.settings = (seconds, 0.0, 0)
        self._clock.left[side] = (seconds, stones)
        return ""

    def _limits(self, position: Any, side: int) -> Limits:
        driver = self._driver
        if self._clock.settings is None:
            return driver.default_limits()
        left_s, stones = self._clock.left[side]
        if stones > 0:
            return Limits(driver.default_depth, max(MIN_TIME_S, left_s / stones - MOVE_OVERHEAD_S))
        return driver.clock_limits(position, left_s, 0.0, driver.default_depth, MOVE_OVERHEAD_S)

    # --- Board, result, file ----------------------------------------------------------------------------

    def _board(self) -> str:
        letters = str.maketrans("bw", "XO")
        rows = (row.translate(letters) for row in self._game.board_rows(self._position))
        lines = [f"{number} {' '.join(row)}" for number, row in enumerate(rows, start=1)]
        side = self._game.sides[self._position.side]
        return "\n".join(["", "  a b c d e f g h", *lines, f"{side} to move"])

    def _final_score(self, _: list[str]) -> str:
        position = self._position
        if self._game.legal_moves(position):
            raise GtpFailure("cannot score: the game is not over")
        margin = self._game.margin_discs(position) * (1 if position.side == 0 else -1)
        return "0" if margin == 0 else f"{'B' if margin > 0 else 'W'}+{abs(margin)}"

    def _loadsgf(self, words: list[str]) -> str:
        """Load moves like ``;B[f5]`` (a1 in the upper left corner) or ``;B[fe]`` (file and rank letters)."""
        if not words:
            raise GtpFailure("syntax error: loadsgf needs a file")
        number = _parse_integer(words[-1]) if len(words) > 1 and words[-1].isdigit() else None
        name = " ".join(words if number is None else words[:-1])
        try:
            text = read_regular(Path(name), _MAX_SGF_BYTES).decode("utf-8", "replace")
        except OSError as error:
            raise GtpFailure(f"cannot load file: {error.strerror}") from None
        except ValueError:
            raise GtpFailure("cannot load file: no such file") from None
        moves = re.findall(r";\s*([BW])\s*\[\s*(\w*)\s*\]", text)
        if not moves:
            raise GtpFailure("cannot load file: it has no moves")
        before, self._positions = self._positions, [self._game.initial()]
        try:
            for colour, move in moves if number is None else moves[: max(0, number - 1)]:
                self._play([colour.lower(), _parse_sgf_move(move)])
        except GtpFailure as refusal:
            self._positions = before
            raise GtpFailure(f"cannot load file: {refusal}") from None
        self._clock.reset()
        self._driver.forget()
        return ""


def _parse_sgf_move(text: str) -> str:
    text = text.lower()
    if re.fullmatch("[a-h]{2}", text):
        return f"{text[0]}{'abcdefgh'.index(text[1]) + 1}"
    return text or "pass"


def _single_argument(words: list[str], command: str) -> str:
    if not words:
        raise GtpFailure(f"syntax error: {command} needs an argument")
    return words[0]


def _colour(word: str) -> int:
    try:
        return _COLOURS[word.lower()]
    except KeyError:
        raise GtpFailure(f"invalid color {word[:40]}") from None


def _parse_integer(word: str) -> int:
    if not re.fullmatch(r"\d{1,9}", word):
        raise GtpFailure(f"syntax error: {word[:40]} is not a number")
    return int(word)


def _number(word: str) -> float:
    if not re.fullmatch(r"-?\d{1,9}(\.\d{1,9})?", word):
        raise GtpFailure(f"syntax error: {word[:40]} is not a number")
    return float(word)
