"""Our own link for xiangqi and chess variants: UCI and UCCI as lines of text.

The two protocols are nearly the same.  UCI counts xiangqi's ranks from 1 to 10, UCCI from 0 to 9, and UCCI
writes options without ``name`` and ``value``.

(We do not use python-chess for its variants: in Racing Kings, Fairy-Stockfish's lines continue for a move
after a race is won, and python-chess then rejects the whole line.)
"""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from engine.games import ENGINE_GAMES, get_game
from engine.games.standard_chess import StandardChess
from engine.process import EngineError, EngineProcess
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
from engine.uci.scores import split_text
from engine.uci.settings import EngineSettings

_STOP_S = 5.0  # for an engine to end a search
_LONGEST_VARIATION = 256  # moves; Stockfish searches no deeper, and a line of 64 KiB has 13,000
_MOVE = re.compile(r"([a-z])(\d{1,2})([a-z])(\d{1,2})([a-z]?)")
_OPTION = re.compile(r"option (?:name )?(.+?) type (\w+)(.*)")
_NO_MOVES = ("(none)", "0000")
_CLEARING = ("newgame", "clearhash")  # UCCI has no ucinewgame; its options differ from engine to engine


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
        """Why a value is invalid; None: it is valid."""
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


def read_option(line: str) -> EngineOption | None:
    """Parse an option from a line of an engine's greeting, in either protocol; None: another line."""
    match = _OPTION.fullmatch(line.strip())
    if match is None:
        return None
    name, kind, rest = match.groups()
    limits = {key: int(number) for key, number in re.findall(r"\b(min|max) (-?\d{1,18})\b", rest)}
    choices = tuple(re.findall(r"\bvar (.+?)(?= var |$)", rest))
    return EngineOption(name, kind, limits.get("min"), limits.get("max"), choices)


def read_info(line: str, move: Callable[[str], str] = str) -> tuple[InfoLine | None, int | None]:
    """Parse an ``info`` line: the exact score and the nodes so far, each None if missing or malformed.

    A depth or a number of nodes that cannot be true counts as missing.

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
                variation = tuple(move(text) for text in words[at : at + _LONGEST_VARIATION])
                at = len(words)
            elif word == "string":
                break
    except (ValueError, IndexError):
        return None, None
    if depth is None or value is None or is_bound or not variation:
        return None, nodes
    return InfoLine(depth, value, is_mate, variation), nodes


def shift_ranks(move: str, by: int) -> str:
    """A move with its ranks shifted; a text that is not a move is returned unchanged."""
    match = _MOVE.fullmatch(move)
    if match is None:
        return move
    file, rank, to_file, to_rank, rest = match.groups()
    return f"{file}{int(rank) + by}{to_file}{int(to_rank) + by}{rest}"


class LineLink:
    """An engine over lines of text; see `engine.uci.link.Link`.

    Raises:
        EngineError: It does not start, does not greet in time, or lacks a feature that we need.
    """

    def __init__(self, settings: EngineSettings) -> None:
        self._is_ucci = settings.protocol == "ucci"
        self._is_searching = False
        self._stopped_at = 0.0
        self._options: dict[str, EngineOption] = {}
        self._process = EngineProcess(settings.command)
        try:
            self._greet(settings)
        except (EngineError, Stopped):
            self.close(quickly=True)
            raise

    @property
    def name(self) -> str:
        """See `Link.name`."""
        return self._process.name

    def processor_time_s(self) -> float | None:
        """See `Link.processor_time_s`."""
        return self._process.processor_time_s()

    @property
    def max_lines(self) -> int:
        """See `Link.max_lines`."""
        return self._option("MultiPV").high or 1

    def search(self, ask: SearchRequest | BestMoveRequest, patience: Patience) -> EngineOutput:
        """See `Link.search`."""
        self._settle(patience)
        self._set("MultiPV", "1" if isinstance(ask, BestMoveRequest) else str(ask.lines), patience)
        self._clear(patience)
        self._ready(patience)
        fen, moves = split_text(ask.position)
        self._process.say(f"position fen {' '.join(fen)}" + self._moves(" moves", moves), patience)
        if isinstance(ask, BestMoveRequest):
            is_second = (fen[1] == "b") != (len(moves) % 2 == 1)
            self._process.say(_go_for_move(ask, is_second=is_second), patience)
        else:
            self._process.say(f"go depth {ask.depth}" + self._moves(" searchmoves", ask.moves), patience)
        self._is_searching = True
        heard = _Heard()
        try:
            self._listen(heard, patience)
        except Stopped:
            # `_settle` drops the rest of its output before the next search.
            self._process.say("stop", Patience(StopFlag(), _STOP_S))
            self._stopped_at = time.monotonic()
            if isinstance(ask, SearchRequest):
                raise
            self._hear_best(heard)
        self._is_searching = False
        return EngineOutput(tuple(heard.lines), heard.nodes, heard.best)

    def _listen(self, heard: "_Heard", patience: Patience) -> None:
        """Collect a search's output to its end."""
        while not _is_end(said := self._process.hear(patience)):
            if said.startswith("info "):
                line, so_far = read_info(said, self._from_wire)
                heard.nodes = heard.nodes if so_far is None else so_far
                if line is not None:
                    heard.lines.append(line)
        words = said.split()
        if len(words) > 1 and words[1] not in _NO_MOVES:
            heard.best = self._from_wire(words[1])

    def _hear_best(self, heard: "_Heard") -> None:
        """Collect the rest of a stopped search's output.

        Raises:
            EngineError: The search does not end.
        """
        try:
            self._listen(heard, Patience(StopFlag(), ANSWER_S, time.monotonic() + ANSWER_S))
        except Stopped as error:
            raise EngineError(f"{self.name} names no move on 'stop'") from error

    def close(self, *, quickly: bool = False) -> None:
        """See `Link.close`."""
        self._process.close(None if quickly else "stop\nquit")

    # --- Commands of both protocols ---------------------------------------------------------------------

    def _greet(self, settings: EngineSettings) -> None:
        patience = Patience(StopFlag(), settings.start_s, time.monotonic() + settings.start_s)
        try:
            self._process.say(settings.protocol, patience)
            while (said := self._process.hear(patience)) != f"{settings.protocol}ok":
                if said.startswith("id name "):
                    self._process.name = said.removeprefix("id name ").strip()
                elif option := read_option(said):
                    self._options[_key(option.name)] = option
            if "multipv" not in self._options:
                raise EngineError(f"{self.name} has no option MultiPV, which trap profiles need")
            self._set_variant(settings.game, patience)
            for name, value in settings.options:
                option = self._option(name)
                if wrong := option.refuse(value):
                    raise EngineError(f"{self.name}: option {option.name} is {value!r}, {wrong}")
                self._set(name, value, patience)
            self._ready(patience)
        except Stopped:
            raise EngineError(
                f"{self.name} does not answer {settings.protocol!r} with '{settings.protocol}ok' "
                f"within {settings.start_s:g} s"
            ) from None

    def _set_variant(self, game_name: str, patience: Patience) -> None:
        """Select the game, if the engine plays more than one."""
        game = get_game(game_name)
        variant = str(game.board_type.uci_variant) if isinstance(game, StandardChess) else game_name
        option = self._options.get("uci_variant")
        if option is None:
            if game_name in ENGINE_GAMES:
                raise EngineError(f"{self.name} does not play {variant}: it has no option UCI_Variant")
            return
        if option.refuse(variant):
            raise EngineError(f"{self.name} does not play {variant}: UCI_Variant does not offer it")
        # Without it Fairy-Stockfish evaluates as for another game, even in UCCI mode.
        self._set("UCI_Variant", variant, patience)

    def _option(self, name: str) -> EngineOption:
        try:
            return self._options[_key(name)]
        except KeyError:
            known = ", ".join(option.name for option in self._options.values())
            raise EngineError(f"{self.name} has no option {name!r}; it has: {known}") from None

    def _set(self, name: str, value: str, patience: Patience) -> None:
        name = self._option(name).name
        setting = f"{name} {value}" if self._is_ucci else f"name {name} value {value}"
        self._process.say(f"setoption {setting}", patience)

    def _clear(self, patience: Patience) -> None:
        """Clear the results of earlier searches."""
        if not self._is_ucci:
            self._process.say("ucinewgame", patience)
            return
        clearing = [option for key, option in self._options.items() if key.replace("_", "") in _CLEARING]
        for option in clearing:
            self._process.say(f"setoption {option.name}", patience)
        if not clearing:
            self._process.say("uccinewgame", patience)

    def _ready(self, patience: Patience) -> None:
        self._process.say("isready", patience)
        while self._process.hear(patience) != "readyok":
            pass

    def _settle(self, patience: Patience) -> None:
        """Wait for a stopped search to end."""
        while self._is_searching:
            if time.monotonic() - self._stopped_at > _STOP_S and not self._process.has_said:
                raise EngineError(f"{self.name} does not end its search on 'stop'")
            self._is_searching = not _is_end(self._process.hear(patience))

    def _moves(self, before: str, moves: Sequence[str]) -> str:
        shift = -1 if self._is_ucci else 0
        return " ".join([before, *(shift_ranks(move, shift) for move in moves)]) if moves else ""

    def _from_wire(self, move: str) -> str:
        return shift_ranks(move, 1) if self._is_ucci else move


@dataclass(slots=True)
class _Heard:
    """What an engine has said during a search."""

    lines: list[InfoLine] = field(default_factory=list)
    nodes: int = 0
    best: str | None = None


def _go_for_move(ask: BestMoveRequest, *, is_second: bool) -> str:
    words = ["go"]
    if ask.depth is not None:
        words.append(f"depth {ask.depth}")
    if ask.nodes is not None:
        words.append(f"nodes {ask.nodes}")
    if ask.clock is not None:
        ours, theirs, increment = (
            max(0, round(1000 * seconds))
            for seconds in (ask.clock.remaining_s, ask.clock.their_remaining_s, ask.clock.increment_s)
        )
        first, second = (theirs, ours) if is_second else (ours, theirs)
        words.append(f"wtime {first} btime {second} winc {increment} binc {increment}")
    return " ".join(words) if len(words) > 1 else "go infinite"


def _is_end(said: str) -> bool:
    """Whether a line ends a search."""
    return said.split(" ", 1)[0] in ("bestmove", "nobestmove")


def _key(name: str) -> str:
    return name.lower().replace(" ", "_")
