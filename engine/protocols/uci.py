"""Client for UCI and UCCI programs; it handles the protocol and leaves the kind of search to its callers.

The two protocols are nearly the same.  UCCI writes options without ``name`` and ``value`` and counts the
ranks of xiangqi from 0; with UCI some programs count them from 1 (Fairy-Stockfish), others from 0 (Pikafish),
so the handshake finds out how a program counts.

`engine.protocols.uci_scores` uses the client to score many moves, `engine.protocols.uci_moves` to choose one.

We do not use python-chess's client: its waits have no timeout, it needs 43 ms to parse a search of 38 lines
and 9 depths (ours needs 2 ms), and in Racing Kings it rejects Fairy-Stockfish's lines that continue for a
move after a race is won.
"""

import contextlib
import math
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.game import IllegalMove
from engine.games.xiangqi import START, Xiangqi
from engine.protocols.link import InfoLine, plausible_depth, plausible_nodes
from engine.protocols.process import STOP_POLL_INTERVAL_S, EngineError, EngineProcess, WaitLimit, WaitPolicy
from engine.protocols.scores import split_position_text
from engine.stop import Stopped

_MAX_VARIATION_MOVES = 256  # moves; Stockfish searches no deeper, and a line of 64 KiB has 13,000
_MOVE = re.compile(r"([a-z])(\d{1,2})([a-z])(\d{1,2})([a-z]?)", re.IGNORECASE | re.ASCII)
_DROP = re.compile(r"[A-Z]@[A-Z]\d{1,2}", re.IGNORECASE | re.ASCII)
_OPTION = re.compile(r"option (?:name )?(.+?) type (\w+)(.*)")
_NO_MOVES = ("(none)", "0000")
_ENDS = ("bestmove", "nobestmove")
_FIRST_MOVE_S = 2.0
"""Seconds after which a program is told to stop if it has not found its first move at depth 1."""


@dataclass(frozen=True, slots=True)
class EngineOption:
    """An option that an engine offers."""

    name: str
    kind: str
    """``spin``, ``check``, ``combo``, ``string`` or ``button``."""
    low: int | None
    high: int | None
    choices: tuple[str, ...] = ()
    """Values of a ``combo``."""

    def refuse(self, value: str) -> str | None:
        """Why a value is invalid; None if it is valid."""
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


class UciProgram:
    """A running program that speaks UCI or UCCI, used by one thread at a time.

    Any call may raise an `EngineError`, or `engine.stop.Stopped` when its wait ends early.

    Args:
        process: The program.
        protocol: ``uci`` or ``ucci``.
        game: Name in `engine.games`.
        stop_timeout_s: Time within which the program must end a stopped search, in seconds.
    """

    def __init__(
        self, process: EngineProcess, protocol: str, game: str, stop_timeout_s: float = math.inf
    ) -> None:
        self.process = process
        self.protocol = protocol
        self.is_ucci = protocol == "ucci"
        self._game = game
        self._rank_shift = 1 if self.is_ucci else 0
        """Our number of a rank minus the program's."""
        self.options: dict[str, EngineOption] = {}
        """The engine's options, keyed by `option_key` of their names."""
        self._stop_s = stop_timeout_s
        self._stopped_at = 0.0
        self._is_searching = False
        self._is_chess960 = False

    def greet(self, wait: WaitPolicy) -> str:
        """Perform the handshake; return the program's own name, which may be empty."""
        name = ""
        self.process.send(self.protocol, wait)
        while (words := self.process.receive(wait).split()) != [f"{self.protocol}ok"]:
            if words[:2] == ["id", "name"]:
                name = " ".join(words[2:])
            elif option := read_option(" ".join(words)):
                self.options[option_key(option.name)] = option
        self.process.name = name or self.process.name
        return name

    def detect_first_rank(self, wait: WaitLimit) -> None:
        """Find out how the program counts xiangqi's ranks; do nothing for other games.

        Its move in the starting position shows it, where no move is legal in both ways. If it names none,
        the protocol's usual way is assumed. Call this after setting the options.
        """
        if self._game != "xiangqi":
            return
        self.wait_until_ready(wait)
        self.process.send(f"position fen {START}", wait)
        self.go("depth 1", wait)
        soon = WaitLimit(
            wait.stop, min(wait.until, wait.clock() + _FIRST_MOVE_S), late=None, clock=wait.clock
        )
        try:
            words = self.listen(lambda *_: None, soon)
        except Stopped:
            self.stop(wait)
            words = self.listen(lambda *_: None, wait)
        rules = Xiangqi()
        for shift in (0, 1):
            with contextlib.suppress(IllegalMove):
                rules.parse_move(rules.initial(), shift_ranks("".join(words[1:2]), shift))
                self._rank_shift = shift

    def option(self, name: str) -> EngineOption:
        """The option with this name.

        Raises:
            EngineError: The program does not offer it.
        """
        try:
            return self.options[option_key(name)]
        except KeyError:
            known = ", ".join(option.name for option in self.options.values())
            raise EngineError(f"{self.process.name} has no option {name!r}; it has: {known}") from None

    def set_option(self, name: str, value: str, wait: WaitPolicy) -> None:
        """Set an option.

        Raises:
            EngineError: The program does not offer the option, or does not allow this value.
        """
        option = self.option(name)
        if wrong := option.refuse(value):
            raise EngineError(f"{self.process.name}: option {option.name} is {value!r}, {wrong}")
        setting = f"{option.name} {value}" if self.is_ucci else f"name {option.name} value {value}"
        self.process.send(f"setoption {setting}", wait)

    def set_chess960(self, fen: Sequence[str], wait: WaitPolicy, *, always: bool = False) -> None:
        """Tell the program whether a position's castling rights name files (``HAha``), as in Chess960.

        Args:
            fen: The fields of its FEN.
            wait: Limits the time to wait for the program.
            always: Send the option even if its value has not changed.
        """
        is_chess960 = not set(fen[2]) <= set("KQkq-")
        if "uci_chess960" in self.options and (always or is_chess960 != self._is_chess960):
            self.set_option("UCI_Chess960", "true" if is_chess960 else "false", wait)
            self._is_chess960 = is_chess960

    def new_game(self, wait: WaitPolicy) -> None:
        """Announce a new game."""
        self.process.send("uccinewgame" if self.is_ucci else "ucinewgame", wait)

    def wait_until_ready(self, wait: WaitPolicy) -> None:
        """Wait until the program has processed all commands."""
        self.process.send("isready", wait)
        while self.process.receive(wait) != "readyok":
            pass

    def wait_for_search_end(self, wait: WaitPolicy) -> None:
        """Wait for a stopped search to end, and drop the rest of its output."""
        while self._is_searching:
            if time.monotonic() - self._stopped_at > self._stop_s and not self.process.has_unread_lines:
                raise EngineError(f"{self.process.name} does not end its search on 'stop'")
            self._is_searching = not _is_end(self.process.receive(wait))

    def set_position(self, text: str, moves: Sequence[str], wait: WaitPolicy) -> None:
        """Set a position.

        Args:
            text: The position's `Game.position_text`.
            moves: Moves played from that position.
            wait: Limits the time to wait for the program.
        """
        fen, earlier = split_position_text(text)
        self.process.send(
            f"position fen {' '.join(fen)}" + self.move_list(" moves", [*earlier, *moves]), wait
        )

    def go(self, limits: str, wait: WaitPolicy) -> None:
        """Begin a search."""
        self.process.send(f"go {limits}", wait)
        self._is_searching = True

    def stop(self, wait: WaitPolicy) -> None:
        """Send the command to stop a search; call `listen` or `wait_for_search_end` to wait for its end."""
        self._stopped_at = time.monotonic()
        self.process.send("stop", wait)

    def listen(
        self,
        take: Callable[[str, InfoLine | None, int | None], None],
        wait: WaitPolicy,
        poll_s: float = STOP_POLL_INTERVAL_S,
    ) -> list[str]:
        """Read a search's output to its end; return the words of the last line.

        Args:
            take: Called with each line about the search, parsed by `read_info`.
            wait: Limits the time to wait for the program.
            poll_s: Interval at which to check the limits, in seconds.
        """
        while not _is_end(said := self.process.receive(wait, poll_s)):
            if said.startswith("info") and said[4:5].isspace():
                take(said, *read_info(said, self.from_wire))
        self._is_searching = False
        return said.split()

    def best_of(self, words: Sequence[str]) -> str | None:
        """The move in the words of the line that ends a search; None if the program has no move."""
        has_move = words[0] == "bestmove" and len(words) > 1 and words[1] not in _NO_MOVES
        return self.from_wire(words[1]) if has_move else None

    def move_list(self, before: str, moves: Sequence[str]) -> str:
        """Return `before` followed by the moves in the protocol's notation; empty if there are no moves."""
        return " ".join([before, *(shift_ranks(move, -self._rank_shift) for move in moves)]) if moves else ""

    def from_wire(self, move: str) -> str:
        """Convert a move from the protocol's notation to the game's."""
        return shift_ranks(move, self._rank_shift)


def option_key(name: str) -> str:
    """An option's name, normalised for comparison."""
    return name.lower().replace(" ", "_")


def read_option(line: str) -> EngineOption | None:
    """Parse an option from a line of an engine's greeting, in either protocol; None for any other line."""
    match = _OPTION.fullmatch(" ".join(line.split()))
    if match is None:
        return None
    name, kind, rest = match.groups()
    limits = {key: int(number) for key, number in re.findall(r"\b(min|max) (-?\d{1,18})\b", rest)}
    choices = tuple(re.findall(r"\bvar (.+?)(?= var | default |$)", rest))
    return EngineOption(name, kind, limits.get("min"), limits.get("max"), choices)


def read_info(line: str, move: Callable[[str], str] = str) -> tuple[InfoLine | None, int | None]:
    """Parse an ``info`` line: the exact score and the number of nodes, each None if missing or malformed.

    An implausible depth or number of nodes counts as missing.

    Args:
        line: As the engine printed it.
        move: Converts a move from the protocol's notation to the game's.
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
                depth, at = plausible_depth(int(words[at])), at + 1
            elif word == "nodes":
                nodes, at = plausible_nodes(int(words[at])), at + 1
            elif word == "score":
                if words[at] in ("cp", "mate"):
                    is_mate, at = words[at] == "mate", at + 1
                value, at = int(words[at]), at + 1
            elif word in ("lowerbound", "upperbound"):
                is_bound = True
            elif word == "pv":
                variation = tuple(move(text) for text in words[at : at + _MAX_VARIATION_MOVES])
                at = len(words)
            elif word == "string":
                break
    except (ValueError, IndexError):
        return None, None
    if depth is None or value is None or is_bound or not variation:
        return None, nodes
    return InfoLine(depth, value, is_mate, variation), nodes


def shift_ranks(move: str, by: int) -> str:
    """Shift the ranks in a move, and write it in lower case; return any other text unchanged."""
    if _DROP.fullmatch(move):
        return move[0].upper() + move[1:].lower()
    match = _MOVE.fullmatch(move)
    if match is None:
        return move
    file, rank, to_file, to_rank, rest = (part.lower() for part in match.groups())
    return f"{file}{int(rank) + by}{to_file}{int(to_rank) + by}{rest}"


def _is_end(said: str) -> bool:
    """Whether a line ends a search."""
    return said.split(None, 1)[:1] in ([end] for end in _ENDS)
