"""A link of our own for xiangqi and the variants of chess: UCI and UCCI, spoken as lines of text.

The two protocols say the same in nearly the same words.  UCI counts xiangqi's ranks from 1 to 10, UCCI from 0
to 9, and UCCI writes options without ``name`` and ``value``.  A thread reads what the engine prints, so that
no wait is without an end; the stop flag is looked at between two lines.

(Not python-chess for its variants: Fairy-Stockfish's lines go on for a move after a race is won at Racing
Kings, and python-chess gives the whole line up.)
"""

import contextlib
import queue
import re
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO

from engine.games import ENGINE_GAMES, get_game
from engine.games.standard_chess import StandardChess
from engine.stop import StopFlag, Stopped
from engine.uci.link import POLL_S, Answer, Ask, EngineError, Line, Patience, end_group
from engine.uci.scores import split_text
from engine.uci.settings import EngineSettings

_END_S = 1.0  # an engine may take so long to end when it is asked to
_STOP_S = 5.0  # and so long to end a search
_LONGEST_LINE = 1 << 16
_MOST_WAITING = 10_000  # lines that nobody has read yet
_MOVE = re.compile(r"([a-z])(\d+)([a-z])(\d+)([a-z]?)")
_OPTION = re.compile(r"option (?:name )?(.+?) type (\w+)(.*)")
_CLEARING = ("newgame", "clearhash")  # UCCI has no ucinewgame; its options differ from engine to engine


@dataclass(frozen=True, slots=True)
class Option:
    """A setting that an engine offers."""

    name: str
    kind: str
    """``spin``, ``check``, ``combo``, ``string`` or ``button``."""
    low: int | None
    high: int | None
    choices: tuple[str, ...] = ()
    """Of a ``combo``."""

    def refuse(self, value: str) -> str | None:
        """What is wrong with a value, if anything."""
        if self.kind == "spin":
            if not re.fullmatch(r"-?\d{1,12}", value):
                return "must be a whole number"
            if (self.low is not None and int(value) < self.low) or (
                self.high is not None and int(value) > self.high
            ):
                return f"must be {self.low} to {self.high}"
        if self.choices and value not in self.choices:
            return "is not offered"
        if self.kind == "check" and value not in ("true", "false"):
            return "must be true or false"
        return None


def read_option(line: str) -> Option | None:
    """The option that a line of an engine's greeting offers, in either protocol."""
    match = _OPTION.fullmatch(line.strip())
    if match is None:
        return None
    name, kind, rest = match.groups()
    limits = {key: int(number) for key, number in re.findall(r"\b(min|max) (-?\d{1,18})\b", rest)}
    choices = tuple(re.findall(r"\bvar (.+?)(?= var |$)", rest))
    return Option(name, kind, limits.get("min"), limits.get("max"), choices)


def read_info(line: str, move: Callable[[str], str] = str) -> tuple[Line | None, int | None]:
    """The exact score, if any, and the nodes so far, if told, of an ``info`` line; nonsense has neither.

    Args:
        line: As the engine printed it.
        move: From the protocol's notation to the game's.
    """
    words = line.split()
    depth = value = nodes = None
    is_mate = is_bound = False
    variation: tuple[str, ...] = ()
    at = 1
    try:
        while at < len(words):
            word, at = words[at], at + 1
            if word == "depth":
                depth, at = int(words[at]), at + 1
            elif word == "nodes":
                nodes, at = int(words[at]), at + 1
            elif word == "score":
                if words[at] in ("cp", "mate"):
                    is_mate, at = words[at] == "mate", at + 1
                value, at = int(words[at]), at + 1
            elif word in ("lowerbound", "upperbound"):
                is_bound = True
            elif word == "pv":
                variation, at = tuple(move(text) for text in words[at:]), len(words)
            elif word == "string":
                break
    except (ValueError, IndexError):
        return None, None
    if depth is None or value is None or is_bound or not variation:
        return None, nodes
    return Line(depth, value, is_mate, variation), nodes


def shift_ranks(move: str, by: int) -> str:
    """A move with its ranks counted from another number; what is no move stays as it is."""
    match = _MOVE.fullmatch(move)
    if match is None:
        return move
    file, rank, to_file, to_rank, rest = match.groups()
    return f"{file}{int(rank) + by}{to_file}{int(to_rank) + by}{rest}"


class LineLink:
    """An engine that is spoken to in lines of text; see `engine.uci.link.Link`.

    Raises:
        EngineError: It cannot be started, does not greet in time, or lacks what is needed of it.
    """

    def __init__(self, settings: EngineSettings) -> None:
        self._is_ucci = settings.protocol == "ucci"
        self._told: queue.Queue[str | None] = queue.Queue(_MOST_WAITING)
        self._is_closed = False
        self._last_words = ""
        self._is_searching = False
        self._stopped_at = 0.0
        self._options: dict[str, Option] = {}
        self.name = settings.command[0]
        try:
            # A process group of its own: Ctrl-C is for the bot, which ends its engines itself.
            self._process = subprocess.Popen(  # noqa: S603 - the operator's own command
                settings.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
                process_group=0,
            )
        except (OSError, ValueError) as error:
            raise EngineError(f"cannot start {settings.command[0]}: {error}") from error
        assert self._process.stdin is not None and self._process.stdout is not None  # noqa: S101, PT018
        self._to: IO[str] = self._process.stdin
        self._from: IO[str] = self._process.stdout
        self._reader = threading.Thread(target=self._read, name="engine-lines", daemon=True)
        self._reader.start()
        try:
            self._greet(settings)
        except (EngineError, Stopped):
            self.close(quickly=True)
            raise

    @property
    def max_lines(self) -> int:
        """See `Link.max_lines`."""
        return self._option("MultiPV").high or 1

    def search(self, ask: Ask, patience: Patience) -> Answer:
        """See `Link.search`."""
        self._settle(patience)
        self._set("MultiPV", str(ask.lines))
        self._clear()
        self._ready(patience)
        fen, moves = split_text(ask.position)
        self._say(f"position fen {' '.join(fen)}" + self._moves(" moves", moves))
        self._say(f"go depth {ask.depth}" + self._moves(" searchmoves", ask.moves))
        self._is_searching = True
        lines, nodes = [], 0
        try:
            while (said := self._hear(patience)).split(" ", 1)[0] not in ("bestmove", "nobestmove"):
                if said.startswith("info "):
                    line, so_far = read_info(said, self._from_wire)
                    nodes = nodes if so_far is None else so_far
                    if line is not None:
                        lines.append(line)
        except Stopped:
            self._say("stop")  # what it still says is dropped before the next search
            self._stopped_at = time.monotonic()
            raise
        self._is_searching = False
        return Answer(tuple(lines), nodes)

    def close(self, *, quickly: bool = False) -> None:
        """See `Link.close`."""
        if not quickly and self._process.poll() is None:
            try:
                self._say("stop")
                self._say("quit")
                self._process.wait(_END_S)
            except (EngineError, subprocess.TimeoutExpired):
                pass
        end_group(self._process.pid)
        self._process.wait()
        self._is_closed = True
        self._reader.join(_END_S)
        for pipe in (self._to, self._from):
            try:
                if not self._reader.is_alive():  # a child of the engine's may still hold the other end
                    pipe.close()
            except OSError:  # what was not written yet can't be any more
                pass

    # --- One line at a time -----------------------------------------------------------------------------

    def _read(self) -> None:
        try:
            while line := self._from.readline(_LONGEST_LINE):
                self._tell(line.strip())
        except (OSError, ValueError):
            pass
        self._tell(None)

    def _tell(self, line: str | None) -> None:
        """Hand a line over; an engine that says more than anybody reads has to wait."""
        while not self._is_closed:
            try:
                self._told.put(line, timeout=POLL_S)
            except queue.Full:
                continue
            return

    def _say(self, line: str) -> None:
        try:
            self._to.write(line + "\n")
            self._to.flush()
        except (OSError, ValueError) as error:
            raise self._ended() from error

    def _hear(self, patience: Patience) -> str:
        """The next line that is not empty."""
        since = patience.clock()
        while True:
            # A full queue is no reason to overlook the stop flag.
            patience.check(self.name, since)
            try:
                line = self._told.get(timeout=POLL_S)
            except queue.Empty:
                continue
            if line is None:
                with contextlib.suppress(queue.Full):
                    self._told.put_nowait(None)  # for whoever asks next
                raise self._ended()
            if line:
                self._last_words = line
                return line

    def _ended(self) -> EngineError:
        try:
            status = str(self._process.wait(POLL_S))
        except subprocess.TimeoutExpired:
            status = "not known yet"
        said = f", last said: {self._last_words[:200]}" if self._last_words else ""
        return EngineError(f"{self.name} ended by itself (exit status {status}{said})")

    # --- What both protocols have -----------------------------------------------------------------------

    def _greet(self, settings: EngineSettings) -> None:
        patience = Patience(StopFlag(), settings.start_s, time.monotonic() + settings.start_s)
        try:
            self._say(settings.protocol)
            while (said := self._hear(patience)) != f"{settings.protocol}ok":
                if said.startswith("id name "):
                    self.name = said.removeprefix("id name ").strip()
                elif option := read_option(said):
                    self._options[_key(option.name)] = option
            if "multipv" not in self._options:
                raise EngineError(f"{self.name} has no option MultiPV, which trap profiles need")
            self._set_variant(settings.game)
            for name, value in settings.options:
                option = self._option(name)
                if wrong := option.refuse(value):
                    raise EngineError(f"{self.name}: option {option.name} is {value!r}, {wrong}")
                self._set(name, value)
            self._ready(patience)
        except Stopped:
            raise EngineError(
                f"{self.name} does not answer {settings.protocol!r} with '{settings.protocol}ok' "
                f"within {settings.start_s:g} s"
            ) from None

    def _set_variant(self, game_name: str) -> None:
        """Say which game it is, where the engine knows more than one."""
        game = get_game(game_name)
        variant = str(game.board_type.uci_variant) if isinstance(game, StandardChess) else game_name
        option = self._options.get("uci_variant")
        if option is None:
            if game_name in ENGINE_GAMES:
                raise EngineError(f"{self.name} does not play {variant}: it has no option UCI_Variant")
            return
        if option.refuse(variant):
            raise EngineError(f"{self.name} does not play {variant}: UCI_Variant does not offer it")
        # Fairy-Stockfish evaluates as for another game without it, also in UCCI mode.
        self._set("UCI_Variant", variant)

    def _option(self, name: str) -> Option:
        try:
            return self._options[_key(name)]
        except KeyError:
            known = ", ".join(option.name for option in self._options.values())
            raise EngineError(f"{self.name} has no option {name!r}; it has: {known}") from None

    def _set(self, name: str, value: str) -> None:
        name = self._option(name).name
        self._say(f"setoption {name} {value}" if self._is_ucci else f"setoption name {name} value {value}")

    def _clear(self) -> None:
        """Forget earlier searches."""
        if not self._is_ucci:
            self._say("ucinewgame")
            return
        clearing = [option for key, option in self._options.items() if key.replace("_", "") in _CLEARING]
        for option in clearing:
            self._say(f"setoption {option.name}")
        if not clearing:
            self._say("uccinewgame")

    def _ready(self, patience: Patience) -> None:
        self._say("isready")
        while self._hear(patience) != "readyok":
            pass

    def _settle(self, patience: Patience) -> None:
        """Wait for the end of a search that was stopped."""
        while self._is_searching:
            if time.monotonic() - self._stopped_at > _STOP_S and self._told.empty():
                raise EngineError(f"{self.name} does not end its search when told to stop")
            self._is_searching = self._hear(patience).split(" ", 1)[0] not in ("bestmove", "nobestmove")

    def _moves(self, before: str, moves: Sequence[str]) -> str:
        shift = -1 if self._is_ucci else 0
        return " ".join([before, *(shift_ranks(move, shift) for move in moves)]) if moves else ""

    def _from_wire(self, move: str) -> str:
        return shift_ranks(move, 1) if self._is_ucci else move


def _key(name: str) -> str:
    return name.lower().replace(" ", "_")
