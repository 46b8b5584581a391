"""Lets our engine run under a GUI that speaks UCI (chess and xiangqi) or UCCI (xiangqi).

The two protocols are nearly identical, but UCCI writes options without ``name`` and ``value`` and scores
without ``cp``, and gives clocks as ``time``, ``increment`` and ``opptime``, in seconds unless the option
``usemillisec`` is on.

UCCI counts the ranks of xiangqi from 0; GUIs that speak UCI count them from 0 or from 1. The moves that a GUI
sends show how it counts; if we move first, the option ``First Rank`` has to say it.

The thread that reads commands answers ``stop`` immediately with the move from the last completed depth.
"""

import logging
import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import chess

from bot.protocols.console import Console, ConsoleSearch
from bot.protocols.search_driver import (
    MOVE_OVERHEAD_S,
    FrontEndSettings,
    MoveLine,
    SearchDriver,
    SearchReport,
)
from engine import VERSION
from engine.decision import Person
from engine.errors import BadSettings
from engine.game import WIN_CENTI, BadPosition, IllegalMove, continued_position, positions, replay
from engine.human.opponent_model_search import Background
from engine.opponents.trust import UNKNOWN
from engine.params import Assessment, DecidedScores, Scale
from engine.protocols.uci import shift_ranks
from engine.strategies.registry import own_strategies, strategy_named
from engine.time_management import MIN_TIME_S, Limits

logger = logging.getLogger(__name__)

_UCI_NUMBERS = ("wtime", "btime", "winc", "binc", "movestogo", "depth", "nodes", "mate", "movetime")
_UCCI_NUMBERS = ("time", "increment", "opptime", "oppmovestogo", "oppincrement")
_NUMBERS = frozenset((*_UCI_NUMBERS, *_UCCI_NUMBERS))
_FLAGS = frozenset(("infinite", "ponder", "searchmoves", "draw"))
_MIN_DECIDED_CENTI = 30_000
"""Score reported for a decided game if its distance to the end is unknown or cannot be expressed."""
_MAX_LINES = 500
_MAX_CLOCK_MS = 10**12
_EMPTY_VALUE = "<empty>"
_AUTO = "auto"


@dataclass(frozen=True, slots=True)
class GoCommand:
    """A parsed ``go`` command."""

    numbers: dict[str, int] = field(default_factory=dict)
    """Numeric arguments, keyed by name, in the protocol's units."""
    moves: tuple[str, ...] = ()
    """Restrict the search to these moves; empty for all."""
    is_infinite: bool = False
    is_ponder: bool = False


def read_go(words: Sequence[str]) -> GoCommand:
    """Parse the words after ``go``, ignoring malformed words."""
    numbers: dict[str, int] = {}
    moves: list[str] = []
    key = ""
    for word in words:
        if word in _NUMBERS or word in _FLAGS:
            key = word
        elif key in _NUMBERS and key not in numbers and re.fullmatch(r"-?\d{1,15}", word):
            numbers[key] = min(int(word), _MAX_CLOCK_MS)
        elif key == "searchmoves":
            moves.append(word)
    return GoCommand(numbers, tuple(moves), "infinite" in words, "ponder" in words)


@dataclass(frozen=True, slots=True)
class OfferedOption:
    """An option that we offer."""

    name: str
    kind: str
    default: str
    choices: tuple[str, ...] = ()
    low: int = 0
    high: int = 0

    @property
    def text(self) -> str:
        """The part of the option's declaration that follows its name in the greeting."""
        limits = f" min {self.low} max {self.high}" if self.kind == "spin" else ""
        default = f" default {self.default}" if self.kind != "button" else ""
        return f"type {self.kind}{default}{limits}" + "".join(f" var {choice}" for choice in self.choices)

    def refuse(self, value: str) -> str | None:
        """The reason why a value is invalid, or None if it is valid."""
        if self.kind == "spin" and not (
            re.fullmatch(r"-?\d{1,9}", value) and self.low <= int(value) <= self.high
        ):
            return f"must be {self.low} to {self.high}"
        if self.kind == "check" and value.lower() not in ("true", "false"):
            return "must be true or false"
        if self.kind == "combo" and value not in self.choices:
            return f"must be one of {', '.join(self.choices)}"
        return None


class UciSearch(ConsoleSearch):
    """A search and its latest result."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self.latest: SearchReport | None = None
        self.released = threading.Event()
        """Set when the search may report its move: immediately, unless it is pondering or infinite."""
        self.on_hit: Callable[[], None] | None = None
        """Extra action to perform on ``ponderhit``."""


class Uci:
    """The UCI and UCCI front end.

    Args:
        console: Source of the commands.
        driver: The search driver, for chess or xiangqi.
        protocol: ``uci`` or ``ucci``.
    """

    def __init__(self, console: Console, driver: SearchDriver, protocol: str = "uci") -> None:
        self._console = console
        self._driver = driver
        driver.on_notice = self._report_error
        self._game = driver.game
        self._protocol = protocol
        self._is_ucci = protocol == "ucci"
        self._rank_shift = 1 if self._is_ucci else 0
        """Our number of a rank of xiangqi minus the GUI's."""
        self._settings = driver.settings
        self._own_params = driver.settings.params
        self._options = {_key(option.name): option for option in self._option_list()}
        self._values = {key: option.default for key, option in self._options.items()}
        self._start: str | None = None
        """Text of the starting position; None forces the position to be parsed again."""
        self._moves: tuple[str, ...] = ()
        self._begun: Any = self._game.initial()
        """Starting position of the current game."""
        self._position: Any = self._begun
        """The current position, or None if the last ``position`` command could not be parsed."""
        self._banned: frozenset[str] = frozenset()
        self._search: UciSearch | None = None

    def run(self) -> None:
        """Execute commands until ``quit`` or the end of the input."""
        with ThreadPoolExecutor(1) as worker:
            try:
                for line in self._console.lines():
                    words = line.split()
                    if words and words[0] == "quit":
                        break
                    if words:
                        self._execute(words, worker)
            finally:
                self._stop()
        if self._is_ucci:
            self._console.say("bye")

    def _execute(self, words: list[str], worker: Executor) -> None:
        match words[0]:
            case self._protocol:
                self._greet()
            case "isready":
                self._console.say("readyok")
            case "ucinewgame" | "uccinewgame":
                worker.submit(self._driver.forget)
            case "setoption":
                self._set_option(words[1:], worker)
            case "position":
                self._set_position(words[1:])
            case "banmoves":
                self._banned = frozenset(self._read_move(word) for word in words[1:])
            case "go":
                self._go(read_go(words[1:]), worker)
            case "stop":
                self._stop()
            case "ponderhit":
                self._ponder_hit()

    # --- Greeting and options ---------------------------------------------------------------------------

    def _option_list(self) -> list[OfferedOption]:
        settings, game = self._settings, self._game.name
        params, strong = settings.params, settings.strong

        def combo(name: str, default: str, choices: Sequence[str]) -> OfferedOption:
            return OfferedOption(name, "combo", default, tuple(choices))

        def spin(name: str, default: int, low: int, high: int) -> OfferedOption:
            return OfferedOption(name, "spin", str(default), (), low, high)

        options = [
            spin("Hash", settings.table_mb, 1, 65_536),
            OfferedOption("Clear Hash", "button", ""),
            spin("Threads", strong.threads, 1, 64),
            spin("MultiPV", 1, 1, _MAX_LINES),
            OfferedOption("Ponder", "check", "false"),
            spin("Move Overhead", round(1000 * MOVE_OVERHEAD_S), 0, 60_000),
            combo("Player", settings.strategy.name, own_strategies()),
            spin("Contempt", strong.contempt_centi, 0, 1000),
            combo("Assessment", params.assessment, tuple(Assessment)),
            spin("Margin", params.margin_centi, 0, 10_000),
            combo("Decided", params.decided, tuple(DecidedScores)),
            combo("Scale", params.scale, tuple(Scale)),
            spin("Risk", max(1, round(params.risk_percent)), 1, 100),
            spin("Risk Share", max(1, round(params.risk_share_percent)), 1, 100),
        ]
        if not self._is_ucci:
            options.append(OfferedOption("UCI_Opponent", "string", _EMPTY_VALUE))
        if game == "chess":
            options.append(OfferedOption("UCI_Chess960", "check", "false"))
        else:
            options.append(combo("UCI_Variant", game, (game,)))
            options.append(combo("First Rank", _AUTO, (_AUTO, "0", "1")))
        if self._is_ucci:
            options = [replace(option, name=option.name.replace(" ", "")) for option in options]
            options.append(OfferedOption("usemillisec", "check", "false"))
        return options

    def _greet(self) -> None:
        name = "" if self._is_ucci else "name "
        self._console.say(
            f"id name Desdemona {VERSION}",
            "id author the Desdemona project",
            *(f"option {name}{option.name} {option.text}" for option in self._options.values()),
            f"{self._protocol}ok",
        )

    def _set_option(self, words: list[str], worker: Executor) -> None:
        name, value = self._read_option(words)
        option = self._options.get(_key(name))
        if option is None:
            self._report_error(f"no option {name!r}")
            return
        if option.kind == "button":
            worker.submit(self._driver.forget)
            return
        if wrong := option.refuse(value):
            self._report_error(f"option {option.name} is {value!r}, {wrong}")
            return
        values = {**self._values, _key(option.name): value}
        try:
            self._settings = self._settings_with(values)
        except BadSettings as error:  # two options are incompatible
            self._report_error(f"option {option.name}: {error}")
            return
        self._values = values
        if option.name.replace(" ", "") == "FirstRank":
            self._rank_shift = (1 if self._is_ucci else 0) if value == _AUTO else 1 - int(value)
        self._start = None  # the option may change how positions are parsed

    def _read_option(self, words: list[str]) -> tuple[str, str]:
        if self._is_ucci:
            return (words or [""])[0], " ".join(words[1:])
        at = words.index("value") if "value" in words else len(words)
        names = words[:at]
        return " ".join(names[1:] if names[:1] == ["name"] else names), " ".join(words[at + 1 :])

    def _settings_with(self, values: dict[str, str]) -> FrontEndSettings:
        """The settings that correspond to the option values.

        Raises:
            BadSettings: Two of the options are incompatible.
        """
        settings = self._settings
        own = self._own_params

        def percent(option: str, ours: float) -> float:
            # The option is an integer, our setting need not be.
            return ours if values[option] == self._options[option].default else float(values[option])

        params = replace(
            settings.params,
            assessment=Assessment(values["assessment"]),
            margin_centi=int(values["margin"]),
            decided=DecidedScores(values["decided"]),
            scale=Scale(values["scale"]),
            risk_percent=percent("risk", own.risk_percent),
            risk_share_percent=percent("riskshare", own.risk_share_percent),
        )
        strong = replace(
            settings.strong, threads=int(values["threads"]), contempt_centi=int(values["contempt"])
        )
        strategy, table_mb = strategy_named(values["player"]), int(values["hash"])
        return replace(settings, strategy=strategy, params=params, strong=strong, table_mb=table_mb)

    def _is_on(self, option: str) -> bool:
        return self._values.get(option, "false").lower() == "true"

    # --- The position -----------------------------------------------------------------------------------

    def _set_position(self, words: list[str]) -> None:
        at = words.index("moves") if "moves" in words else len(words)
        start = " ".join(words[:at]).removeprefix("fen ")
        self._banned = frozenset()
        shifts = [self._rank_shift]
        if self._values.get("firstrank") == _AUTO and words[at + 1 :]:
            shifts.append(1 - self._rank_shift)  # if the moves are illegal, the GUI may count ranks otherwise
        failures = []
        for shift in shifts:
            try:
                self._play(start, tuple(shift_ranks(word, shift) for word in words[at + 1 :]))
            except (BadPosition, IllegalMove) as error:
                failures.append(str(error))
            else:
                self._rank_shift = shift
                return
        self._position = None
        self._report_error(failures[0])

    def _play(self, start: str, moves: tuple[str, ...]) -> None:
        """Set up the position after some moves.

        Raises:
            BadPosition, IllegalMove: There is no such position.
        """
        goes_on = self._position is not None and start == self._start
        if goes_on and moves[: len(self._moves)] == self._moves:  # the same game
            self._position = replay(self._game, moves[len(self._moves) :], self._position)
        else:
            self._begun = self._read_start(start)
            self._position = replay(self._game, moves, self._begun)
        self._start, self._moves = start, moves

    def _read_start(self, text: str) -> Any:
        if self._is_ucci:
            text = text.replace(" r ", " w ", 1)  # red
        if self._is_on("uci_chess960") and text != "startpos":
            # With Shredder-FEN rights, castling is always written as the king capturing its rook.
            try:
                text = chess.Board(text, chess960=True).fen(shredder=True)
            except ValueError as error:
                raise BadPosition(str(error)) from None
        elif self._is_on("uci_chess960"):
            text = chess.Board(chess960=True).fen(shredder=True)
        return self._game.parse_position(text)

    # --- Searches ---------------------------------------------------------------------------------------

    def _go(self, go: GoCommand, worker: Executor) -> None:
        self._stop()
        search = self._search = UciSearch(self._console)
        if self._position is None:
            why = "info string no position to search: the last one was rejected"
            worker.submit(lambda: search.say_last(why, self._no_move_text()))  # after the previous search
            return
        position = continued_position(self._game, self._position)
        legal = {self._game.move_text(move): move for move in self._game.legal_moves(position)}
        if not legal:
            in_check = self._game.result_centi(position) != 0
            score = "mate 0" if in_check else "cp 0"
            info = [] if self._is_ucci else [f"info depth 0 score {score}"]
            worker.submit(lambda: search.say_last(*info, self._no_move_text()))
            return
        wanted = self._moves_to_search(go, position, legal)
        if not (go.is_infinite or go.is_ponder):
            search.released.set()
        settings, lines = self._settings, int(self._values["multipv"])
        limits = self._limits(go, position)

        def hit() -> None:
            if limits is not None and limits.time_s is not None:
                search.stop.set_deadline(limits.time_s)

        search.on_hit = hit if go.is_ponder else None
        begun, moves, person = self._begun, self._moves, self._person(go, position)
        trust = 0.0 if self._opponent_words()[2:3] == ["computer"] else UNKNOWN

        def job() -> None:
            self._driver.settings = settings
            try:
                if settings.strategy.models_opponent:
                    *before, _ = positions(self._game, moves, begun)
                    self._driver.background = Background(tuple(before), person, trust=trust)
                self._think(search, position, go, limits, lines, wanted)
            except (
                Exception
            ) as error:  # of the smaller search, too: a move that nothing looked at is not played
                logger.exception("a search failed")
                self._report_error(f"{type(error).__name__}: {error}")
                search.released.wait()
                best = None if search.latest is None else self._best(search.latest)
                search.say_last(best or self._no_move_text())

        worker.submit(job)

    def _moves_to_search(self, go: GoCommand, position: Any, legal: dict[str, int]) -> tuple[int, ...]:
        """The moves to search; empty for all."""
        wanted = set(legal.values())
        if go.moves:
            moves = set()
            for text in go.moves:
                try:
                    moves.add(self._game.parse_move(position, self._read_move(text)))
                except IllegalMove:
                    self._report_error(f"searchmoves: {text} is not legal")
            wanted = moves or wanted
        wanted = {move for move in wanted if self._game.move_text(move) not in self._banned} or wanted
        return () if len(wanted) == len(legal) else tuple(sorted(wanted))

    def _limits(self, go: GoCommand, position: Any) -> Limits | None:
        """The limits of depth and time; None if there is no time limit."""
        numbers, settings = go.numbers, self._settings
        depth = self._driver.clamp_depth(numbers.get("depth", settings.default_depth))
        overhead_s = int(self._values["moveoverhead"]) / 1000
        if "movetime" in numbers:
            return Limits(depth, max(MIN_TIME_S, numbers["movetime"] / 1000 - overhead_s))
        side = self._game.side_to_move(position)
        if self._is_ucci:
            left, more, unit_s = "time", "increment", 0.001 if self._is_on("usemillisec") else 1.0
        else:
            left, more, unit_s = ("wtime", "btime")[side], ("winc", "binc")[side], 0.001
        if left in numbers:
            to_go = numbers.get("movestogo", 0)
            remaining_s, increment_s = unit_s * numbers[left], unit_s * max(0, numbers.get(more, 0))
            if to_go == 1:  # all of the time is for this move
                return Limits(depth, max(MIN_TIME_S, remaining_s - overhead_s))
            return self._driver.clock_limits(
                position, remaining_s, increment_s, depth, overhead_s, to_go if to_go > 0 else None
            )
        if go.is_infinite or go.is_ponder or numbers.keys() & {"depth", "nodes", "mate"}:
            return None
        return Limits(depth, settings.move_s)

    def _person(self, go: GoCommand, position: Any) -> Person:
        """The opponent, with the rating and clock from the GUI."""
        side = self._game.side_to_move(position)
        if self._is_ucci:
            left, unit_s = "opptime", 0.001 if self._is_on("usemillisec") else 1.0
        else:
            left, unit_s = ("btime", "wtime")[side], 0.001
        words = self._opponent_words()
        rating = int(words[1]) if len(words) > 1 and re.fullmatch(r"\d{1,4}", words[1]) else None
        return Person(rating, unit_s * max(0, go.numbers[left]) if left in go.numbers else None)

    def _opponent_words(self) -> list[str]:
        """Title, rating, "computer" or "human", name; "none" where there is no title or rating."""
        return self._values.get("uci_opponent", "").split()

    def _think(
        self,
        search: UciSearch,
        position: Any,
        go: GoCommand,
        limits: Limits | None,
        lines: int,
        moves: tuple[int, ...],
    ) -> None:
        driver, numbers = self._driver, go.numbers
        if "nodes" in numbers:
            search.stop.set_node_limit(max(1, numbers["nodes"]))
        is_plain = lines == 1 and not moves and "nodes" not in numbers and "mate" not in numbers
        if limits is not None and is_plain and search.released.is_set() and search.on_hit is None:
            report = driver.decide(position, limits, search.stop)
            self._report(search, report, position, lines)
        elif known := self._known(go, position, moves):
            report = known
            self._report(search, report, position, lines)
        else:
            if limits is not None and limits.time_s is not None and search.released.is_set():
                search.stop.set_deadline(limits.time_s)
            deepest = self._game.deepest_search
            if "depth" in numbers:
                deepest = numbers["depth"]
            elif "mate" in numbers:
                deepest = 2 * numbers["mate"] - 1
            found = None
            for found in driver.deepen(position, driver.clamp_depth(deepest), search.stop, lines, moves):
                with self._console.lock:
                    search.latest = found
                    self._report(search, found, position, lines)
                mate = self._mate_in(found.chosen, position)
                if "mate" in numbers and mate is not None and 0 < mate <= numbers["mate"]:
                    break
            assert found is not None, "deepen() always yields a report"  # noqa: S101
            report = found
            search.released.wait()
        search.say_last(self._best(report))

    def _known(self, go: GoCommand, position: Any, moves: tuple[int, ...]) -> SearchReport | None:
        """A report from a book or tablebase; None if neither has a move or the GUI wants an analysis."""
        is_analysis = go.is_infinite or go.is_ponder or moves or "mate" in go.numbers
        return None if is_analysis else self._driver.find_known_move(position)

    def _stop(self) -> None:
        """End any current search and report its move; a move already found is reported immediately."""
        search = self._search
        if search is None:
            return
        with self._console.lock:
            if search.latest is not None:
                search.say_last(self._best(search.latest))
        search.stop.set()
        search.released.set()

    def _ponder_hit(self) -> None:
        search = self._search
        if search is None or search.released.is_set():
            return
        if search.on_hit is not None:
            search.on_hit()
        search.released.set()

    # --- Output -----------------------------------------------------------------------------------------

    def _report(self, search: UciSearch, report: SearchReport, position: Any, lines: int) -> None:
        milliseconds = round(1000 * report.time_s)
        rate = round(report.nodes / report.time_s) if report.time_s > 0 else 0
        effort = f"nodes {report.nodes} time {milliseconds} nps {rate}"
        output = []
        for number, line in enumerate(report.lines, start=1):
            variation = " ".join(map(self._format_move, line.variation))
            number_text = f" multipv {number}" if lines > 1 else ""
            if line.score_centi is not None:
                score = self._score(line, position)
                output.append(
                    f"info depth {max(1, line.depth)}{number_text} score {score} {effort} pv {variation}"
                )
            if line.trap is not None:
                output.append(
                    f"info string {self._format_move(line.move)}: best trap {self._format_move(line.trap)}, "
                    f"quality {line.quality_centi / 100:.2f}"
                )
        search.say(*output)

    def _score(self, line: MoveLine, position: Any) -> str:
        score = line.score_centi or 0
        mate = self._mate_in(line, position)
        if self._is_ucci:
            if mate is not None:
                return str(_MIN_DECIDED_CENTI - mate if score > 0 else -_MIN_DECIDED_CENTI - mate)
            return str(max(-_MIN_DECIDED_CENTI, min(_MIN_DECIDED_CENTI, score)))
        if mate is not None:
            return f"mate {mate}"
        return f"cp {max(-_MIN_DECIDED_CENTI, min(_MIN_DECIDED_CENTI, score))}"

    def _mate_in(self, line: MoveLine, position: Any) -> int | None:
        """Moves to mate, negative when we are mated; None if there is no mate or its distance is unknown."""
        if line.score_centi is None or abs(line.score_centi) < WIN_CENTI:
            return None
        match = re.fullmatch(r"#(-?\d+)", self._game.score_text(line.score_centi, position))
        return int(match[1]) if match else None

    def _best(self, report: SearchReport) -> str:
        variation = report.chosen.variation
        expected = f" ponder {self._format_move(variation[1])}" if len(variation) > 1 else ""
        return f"bestmove {self._format_move(report.move)}{expected}"

    def _no_move_text(self) -> str:
        return "nobestmove" if self._is_ucci else "bestmove (none)"

    def _report_error(self, text: str) -> None:
        self._console.say(f"info string {' '.join(text.split())[:500]}")

    def _format_move(self, move: str) -> str:
        return shift_ranks(move, -self._rank_shift)

    def _read_move(self, move: str) -> str:
        return shift_ranks(move, self._rank_shift)


def _key(name: str) -> str:
    return name.lower().replace(" ", "")
