"""NBoard version 2: lets our engine run under NBoard, Novello or a match runner that speaks this protocol.

The GUI owns the game: it reports every change, and ``go`` only requests a move without making it. After a
change it sends ``ping n`` and attributes all output before ``pong n`` to the old position, so we must not
write anything about that position after the pong.

As an extension, the text at the end of a thinking line names the move's best trap. In ``trap d6 2.31``, d6 is
the reply that looks better to the opponent than it is, and 2.31 is the trap's quality in discs (in per cent
on the expected scale).
"""

import logging
import re
import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from bot.protocols.console import Console, ConsoleSearch
from bot.protocols.search_driver import MOVE_OVERHEAD_S, MoveLine, SearchDriver, SearchReport, winning_margin
from engine.decision import Person
from engine.formats.clock import BadClock, GgfClock
from engine.formats.ggf import BadGgf, GgfGame, parse, parse_move, replay
from engine.game import IllegalMove, positions
from engine.human.opponent_model_search import Background
from engine.stop import Stopped
from engine.time_management import Limits

logger = logging.getLogger(__name__)

NAME = "Desdemona"

_SOLVES_BEYOND = 8
"""Endings at most this many plies longer than the requested depth are solved. Solving evaluates no positions,
so it takes about as long as a search to the requested depth."""
_SOLVED_WITHOUT_A_CLOCK = 24
"""Maximum number of empty squares to solve without a time limit; solving more could take minutes."""
_MAX_ANALYSIS_SOLVE_PLIES = 20
"""Maximum number of empty squares to solve during game analysis, which covers many positions."""


def read_clock(text: str) -> GgfClock | None:
    """Parse the clock of a game; return None if it is missing, malformed or negative."""
    try:
        clock = GgfClock.parse(text)
    except BadClock:
        return None
    return clock if text.strip() and min(clock.initial_s, clock.increment_s) >= 0 else None


class NBoard:
    """The NBoard front end.

    Args:
        console: Source of the commands.
        driver: The search driver, for Othello.
    """

    def __init__(self, console: Console, driver: SearchDriver) -> None:
        self._console = console
        self._driver = driver
        driver.on_notice = lambda text: console.say(f"status {text}")
        self._game = driver.game
        self._record: GgfGame | None = GgfGame(black="", white="")
        """The game with its moves, or None if the last game could not be parsed."""
        self._position: Any = self._game.initial()
        self._depth: int | None = None
        self._task: ConsoleSearch | None = None

    def run(self) -> None:
        """Execute commands until ``quit`` or the end of the input."""
        with ThreadPoolExecutor(1) as worker:
            try:
                for line in self._console.lines():
                    word, _, rest = line.partition(" ")
                    if word == "quit":
                        break
                    self._execute(word, rest.strip(), worker)
            finally:
                self._drop()

    def _execute(self, word: str, rest: str, worker: Executor) -> None:
        match word:
            case "nboard":
                self._console.say(f"set myname {NAME}")
            case "set":
                self._set(*rest.partition(" ")[::2])
            case "move":
                self._move(rest)
            case "ping":
                # Discard the old search's output, although the search may still be running.
                self._drop()
                self._console.say(f"pong {rest}")
            case "go":
                self._begin(worker, self._go)
            case "hint":
                count = int(rest) if re.fullmatch(r"\d{1,3}", rest) else 1
                self._begin(worker, lambda task, *about: self._hint(task, max(1, count), *about))
            case "analyze":
                self._begin(worker, self._analyze)
            case "learn":
                # We have no book to add the game to, but the GUI waits for the answer.
                self._console.say("learned")
            case _ if re.fullmatch(r"([a-h][1-8]|pa)(/.*)?", word, re.IGNORECASE) and not rest:
                self._move(word)  # version 1

    def _set(self, key: str, value: str) -> None:
        match key:
            case "depth" if re.fullmatch(r"\d{1,3}", value.strip()):
                self._depth = max(1, int(value))
                self._console.say(f"set myname {NAME}{self._depth}")
            case "game":
                self._drop()
                try:
                    self._record = parse(value)
                    self._position = replay(self._record)
                except BadGgf as error:
                    self._record = None
                    self._console.say(f"status Cannot read the game: {error}")
            # ``contempt`` concerns draws in a book; ours ignores them.

    def _move(self, text: str) -> None:
        self._drop()
        if self._record is None:
            return
        game = self._game
        try:
            move = parse_move(text)
            self._position = game.play(self._position, game.parse_move(self._position, move.move))
        except (BadGgf, IllegalMove) as error:
            self._console.say(f"status {error}")
            return
        self._record = replace(self._record, moves=(*self._record.moves, move))

    # --- Searches ---------------------------------------------------------------------------------------

    def _drop(self) -> None:
        if self._task is not None:
            self._task.drop()
            self._task = None

    def _begin(
        self, worker: Executor, search: Callable[[ConsoleSearch, GgfGame, Any, int | None], None]
    ) -> None:
        """Cancel the running search, if any, and start another."""
        self._drop()
        if self._record is None:
            self._console.say("status There is no game to think about")
            return
        task = self._task = ConsoleSearch(self._console)
        record, position, depth = self._record, self._position, self._depth

        def job() -> None:
            try:
                self._driver.background = self._background(record, position.side)
                search(task, record, position, depth)
            except Exception as error:  # show the user that no result will come
                logger.exception("a search failed")
                task.say_last(f"status The search failed: {type(error).__name__}")

        worker.submit(job)

    def _go(self, task: ConsoleSearch, record: GgfGame, position: Any, depth: int | None) -> None:
        began = time.monotonic()
        legal = self._game.legal_moves(position)
        if not legal:
            task.say("status The game is over")
            return
        if len(legal) == 1 and self._game.move_text(legal[0]) == "pass":
            task.say("=== PA//0.00")
            return
        task.say("status Thinking")
        limits = self._limits(record, position, depth)
        report = self._driver.decide(position, limits, task.stop)
        chosen = report.chosen
        value = "" if chosen.score_centi is None else discs(chosen.score_centi)
        lines = [] if chosen.score_centi is None else [self._line(chosen)]
        move = square(report.move)
        time_s = time.monotonic() - began
        task.say_last(*lines, nodestats(report), "status", f"=== {move}/{value}/{time_s:.2f}")

    def _limits(self, record: GgfGame, position: Any, depth: int | None) -> Limits:
        driver, side = self._driver, position.side
        clock = read_clock((record.black_clock, record.white_clock)[side])
        if depth is not None and self._is_near_the_end(position, depth, clock is not None):
            depth = self._game.most_plies_left(position)
        deepest = self._deepest(depth)
        if clock is None:
            return Limits(deepest, driver.settings.move_s if depth is None else None)
        first = self._game.parse_position(record.start).side
        ours = record.moves[first ^ side :: 2]
        left_s = clock.left_s(sum(move.time_s or 0.0 for move in ours), len(ours))
        return driver.clock_limits(position, left_s, clock.increment_s, deepest, MOVE_OVERHEAD_S)

    def _deepest(self, depth: int | None) -> int:
        return self._driver.clamp_depth(self._driver.default_depth if depth is None else depth)

    def _is_near_the_end(self, position: Any, depth: int, has_clock: bool) -> bool:
        """Whether strategy strong should try to solve the ending; a clock can still interrupt the attempt."""
        left = self._game.plies_left(position)
        most = depth + _SOLVES_BEYOND if has_clock else min(depth + _SOLVES_BEYOND, _SOLVED_WITHOUT_A_CLOCK)
        return self._driver.settings.strategy.searches_selectively and left <= most

    def _hint(
        self, task: ConsoleSearch, count: int, _record: GgfGame, position: Any, depth: int | None
    ) -> None:
        driver, game = self._driver, self._game
        legal = game.legal_moves(position)
        if not legal:
            task.say("status The game is over")
            return
        task.say("status Analyzing")
        deepest = self._deepest(depth)
        # At least two lines, even for one move: only that mode reports traps.
        report = None
        for report in driver.deepen(position, deepest, task.stop, max(2, count)):
            lines = report.lines[:count]
            task.say(*(self._line(line) for line in reversed(lines)), nodestats(report))
        is_open = report is not None and any(line.percent != 100 for line in report.lines)
        if report is not None and is_open and game.plies_left(position) <= deepest + _SOLVES_BEYOND:
            self._solve(task, report.lines[:count], position)
        task.say_last("status")

    def _solve(self, task: ConsoleSearch, reported: tuple[MoveLine, ...], position: Any) -> None:
        """Report exact scores of the reported moves, and of other moves better than the worst of those."""
        traps = {line.move: line for line in reported}
        legal = map(self._game.move_text, self._game.legal_moves(position))
        order = [*traps, *(move for move in legal if move not in traps)]
        scores: list[int] = []
        for line in self._driver.solve(position, order, task.stop):
            score, known = line.score_centi or 0, traps.get(line.move)
            if known is not None:
                scores.append(score)
                task.say(self._line(replace(line, trap=known.trap, quality_centi=known.quality_centi)))
            elif score > min(scores):
                task.say(self._line(line))

    def _analyze(self, task: ConsoleSearch, record: GgfGame, _position: Any, depth: int | None) -> None:
        """Report every position's score from black's point of view, starting with the last position."""
        driver, game = self._driver, self._game
        deepest = self._deepest(depth)
        task.say("status Analyzing the game")
        for count, position in reversed(list(enumerate(self._positions(record)))):
            solve = game.plies_left(position) <= min(deepest + _SOLVES_BEYOND, _MAX_ANALYSIS_SOLVE_PLIES)
            try:
                score = driver.score(position, deepest, task.stop, solve)
            except Stopped:
                return
            task.say(f"analysis {count} {discs(score if position.side == 0 else -score)}")
        task.say_last("status")

    def _positions(self, record: GgfGame) -> list[Any]:
        """Return all positions of a game, from the start."""
        moves = [move.move for move in record.moves]
        return list(positions(self._game, moves, self._game.parse_position(record.start)))

    def _background(self, record: GgfGame, side: int) -> Background:
        """Return the moves that led to the current position, and the opponent's identity."""
        rating = (record.white_rating, record.black_rating)[side]
        return Background(
            tuple(self._positions(record)[:-1]), Person(None if rating is None else round(rating))
        )

    def _line(self, line: MoveLine) -> str:
        depth = str(line.depth) if line.percent is None else f"{line.percent}%"
        variation = "".join(map(square, line.variation))
        value = "+0.00" if line.score_centi is None else discs(line.score_centi)
        text = f" trap {line.trap} {line.quality_centi / 100:.2f}" if line.trap is not None else ""
        if line.depth == 0:
            return f"book {variation} {value} 0 {depth}{text}"
        return f"search {variation} {value} 0 {depth}{text}"


def square(move: str) -> str:
    """Format a move in the protocol's notation."""
    return "PA" if move == "pass" else move.upper()


def discs(score_centi: int) -> str:
    """Format a score in discs."""
    margin = winning_margin(score_centi)
    return f"{score_centi / 100 if margin is None else margin:+.2f}"


def nodestats(report: SearchReport) -> str:
    """Format a search's current nodes and time as a line of the protocol."""
    return f"nodestats {report.nodes} {report.time_s:.2f}"
