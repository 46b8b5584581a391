"""Runs our strategies for the protocols: chooses one move within limits, or analyses depth by depth.

With a clock, it chooses moves as the bot does on a server (`engine.move_chooser.MoveChooser`). Only
``strong`` differs: here it need not judge the opponent's replies, so it spends all its time on the search.
Depth by depth, ``exploit`` and ``trappy_strong`` search like ``strong``.
"""

import logging
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from bot.protocols.weighed_moves import WeighedMoves
from engine.decision import Candidate, Decision
from engine.game import WIN_CENTI, Game, Move, margin_centi
from engine.human.model import BadModel
from engine.human.opponent_model_search import Background, GameModels, OpponentModelSearch
from engine.human.registry import ModelRegistry
from engine.move_chooser import MoveChooser, fallback_decision
from engine.params import TrapParams
from engine.search.profiles import Profiler, whole_profile
from engine.search.reference import Searcher, exact_score, principal_variation
from engine.search.searchers import NativeOthelloSearcher, NativeSearcher, make_searcher
from engine.stop import StopFlag, Stopped
from engine.strategies.move_context import StrongOptions
from engine.strategies.strategy import Strategy
from engine.time_management import MIN_TIME_S, Limits, limits_from_clock
from engine.trappy import with_trap

logger = logging.getLogger(__name__)

MOVE_OVERHEAD_S = 0.05
"""Default allowance, in seconds, for time lost per move, for instance in the pipe or on a busy machine."""

_MAX_SEARCH_S = 86_400.0  # no limit of our own: the clock decides how long a move may take
_MAX_LINE_NODES = 20_000  # for the rest of a variation: two milliseconds
_MAX_TRAP_DEPTH = 8  # depth of the strong player's trap analysis: about as far as people see


@dataclass(frozen=True, slots=True)
class FrontEndSettings:
    """Settings of a front end."""

    strategy: Strategy
    """One of `engine.strategies.registry.own_strategies`."""
    params: TrapParams = field(default_factory=TrapParams)
    strong: StrongOptions = field(default_factory=StrongOptions)
    models: ModelRegistry = field(default_factory=ModelRegistry)
    """Human-move models for the strategies that use them."""
    table_mb: int = 64
    """Size of the transposition table in MiB."""
    depth: int | None = None
    """Default search depth in plies; None for the strategy's own depth."""
    full_depth: int = 10
    """Default search depth in plies for all strategies except ``strong``; `depth` overrides it."""
    move_s: float = 2.0
    """Default time per move in seconds, used if the GUI sets neither time nor depth."""

    @property
    def default_depth(self) -> int:
        """The depth in plies when the GUI sets none."""
        if self.depth is not None:
            return self.depth
        return self.strong.depth if self.strategy.searches_selectively else self.full_depth


@dataclass(frozen=True, slots=True)
class MoveLine:
    """One move with its evaluation."""

    move: str
    score_centi: int | None
    """Score from the mover's point of view; None for a move from a book without scores."""
    depth: int
    """Depth in plies; 0 for a move from a book or a tablebase."""
    variation: tuple[str, ...]
    """The principal variation; its first move is `move`."""
    percent: int | None = None
    """Confidence, in per cent, in a search to the game's end (100 = exact); None for other searches."""
    trap: str | None = None
    """The reply that falls into the best trap; None if no trap was found or sought."""
    quality_centi: float = 0.0
    """Quality of the trap, in the unit of the configured scale."""


@dataclass(frozen=True, slots=True)
class SearchReport:
    """A snapshot of a search."""

    lines: tuple[MoveLine, ...]
    """The lines, best first; there is at least one."""
    move: str
    """The strategy's chosen move."""
    nodes: int
    """Number of positions visited since the search started."""
    time_s: float
    """Seconds since the search started."""

    @property
    def chosen(self) -> MoveLine:
        """The line of the chosen move."""
        return next((line for line in self.lines if line.move == self.move), self.lines[0])


class SearchDriver:
    """Runs searches; only one thread at a time may use it.

    Args:
        game: The game.
        settings: The settings; may be replaced between searches.

    A search that fails with an exception is answered by a smaller one, and reported to `on_notice`.
    """

    def __init__(self, game: Game[Any], settings: FrontEndSettings) -> None:
        self.game = game
        self.settings = settings
        self._rng = random.Random()  # noqa: S311 - the choice of an opening is no secret
        self._searcher: Searcher | None = None
        self._table_mb = 0
        self._models: tuple[ModelRegistry, GameModels] | None = None
        self.background = Background()
        """The earlier positions, the opponent, and the trust at the game's start, for strategies that use a
        human-move model."""
        self._weighed = WeighedMoves(game)
        self.on_notice: Callable[[str], None] = lambda _: None
        """Called with messages for the user, each once."""
        self._notices: set[str] = set()

    def forget(self) -> None:
        """Clear the transposition table, and what is known of the opponent, for a new game."""
        self._searcher, self._weighed = None, WeighedMoves(self.game)

    @property
    def searcher(self) -> Searcher:
        """The searcher with its transposition table, created on first use."""
        if self._searcher is None or self._table_mb != self.settings.table_mb:
            self._searcher = None  # free the old table before allocating the new one
            self._searcher = make_searcher(self.game.name, self.settings.table_mb, self._notify)
            self._table_mb = self.settings.table_mb
        return self._searcher

    @property
    def _is_selective(self) -> bool:
        return self.settings.strategy.searches_selectively and isinstance(self.searcher, NativeSearcher)

    @property
    def default_depth(self) -> int:
        """The depth to use when the GUI sets none."""
        return self.clamp_depth(self.settings.default_depth)

    def default_limits(self) -> Limits:
        """The limits to use when the GUI sets neither time nor depth."""
        return Limits(self.default_depth, self.settings.move_s)

    def clock_limits(
        self,
        position: Any,
        remaining_s: float,
        increment_s: float,
        depth: int,
        overhead_s: float,
        moves_to_go: int | None = None,
    ) -> Limits:
        """The limits for a move played on a clock.

        Args:
            position: Must not be final.
            remaining_s: Time left on our clock in seconds; negative values count as 0.
            increment_s: Increment per move in seconds.
            depth: Maximum depth in plies.
            overhead_s: Seconds lost per move.
            moves_to_go: Moves until the next time control; None if the clock covers the whole game.
        """
        plies, most = self.game.plies_left(position), self.game.most_plies_left(position)
        if moves_to_go is not None:
            plies = most = max(1, min(plies, 2 * moves_to_go))
        return limits_from_clock(
            max(0.0, remaining_s),
            increment_s,
            plies,
            most,
            max_depth=depth,
            max_time_s=_MAX_SEARCH_S,
            overhead_s=overhead_s,
            lag_s=overhead_s,
        )

    def clamp_depth(self, depth: int) -> int:
        """The depth, limited to what the searchers support."""
        return max(2, min(depth, self.game.deepest_search))

    # --- One move ---------------------------------------------------------------------------------------

    def decide(self, position: Any, limits: Limits, stop: StopFlag) -> SearchReport:
        """Choose a move; always return one, even if stopped immediately or if the search fails.

        Args:
            position: Must not be final.
            limits: Limits of the search; the time limit becomes the deadline of `stop`.
            stop: Ends the search early.
        """
        try:
            return self._decide(position, limits, stop)
        except Exception as error:
            return self._fallback(position, limits, stop, (), error)

    def _decide(self, position: Any, limits: Limits, stop: StopFlag) -> SearchReport:
        strategy, background, began = self.settings.strategy, self.background, time.monotonic()
        if self._is_selective and not strategy.sets_traps:
            report = self.find_known_move(position) or self._strong(position, limits, stop)
            if report is not None:
                return report
        game = (*background.before, position)
        if strategy.weighs_errors:
            facts = self._weighed.facts(background.trust, game)
            background = replace(background, trust=facts.trust, spent=facts.spent)
        decision = self._player().choose(position, limits, stop, background=background)
        self._weighed.add(game, decision)
        return self._report(decision, began)

    def _fallback(
        self, position: Any, limits: Limits, stop: StopFlag, moves: Sequence[Move], error: Exception
    ) -> SearchReport:
        """The move of a smaller search, after an error."""
        began = time.monotonic()
        self._notify_failure(error)
        game = RestrictedGame(self.game, self.game.for_search(position), moves) if moves else self.game
        decision = fallback_decision(cast(Game[Any], game), position, self.settings.params, limits, stop)
        return self._report(decision, began)

    def _notify_failure(self, error: Exception) -> None:
        self._notify(f"the search failed ({type(error).__name__}: {error}); a smaller one replaces it", error)

    def _notify(self, text: str, error: Exception | None = None) -> None:
        if text not in self._notices:
            self._notices.add(text)
            logger.warning("%s", text, exc_info=error)
            self.on_notice(text)

    def _player(self) -> MoveChooser:
        settings = self.settings
        return MoveChooser(
            settings.strategy,
            self.game,
            settings.params,
            self.searcher,
            settings.strong,
            self._rng,
            models=self._people() if settings.strategy.models_opponent else None,
        )

    def _people(self) -> GameModels:
        """The human-move models, opened on first use."""
        registry = self.settings.models
        if self._models is None or self._models[0] is not registry:
            self._models = registry, registry.models(self.game.name)
        return self._models[1]

    def _report(self, decision: Decision, began: float, nodes: int | None = None) -> SearchReport:
        chosen, line = decision.chosen, decision.principal_variation
        score = chosen.raw_centi if decision.pick is None else decision.pick.score_centi
        found = MoveLine(
            decision.move,
            score,
            decision.depth,
            line if line[:1] == (decision.move,) else (decision.move,),
            trap=chosen.trap,
            quality_centi=chosen.quality_centi,
        )
        nodes = decision.nodes if nodes is None else nodes
        return SearchReport((found,), decision.move, nodes, time.monotonic() - began)

    def find_known_move(self, position: Any) -> SearchReport | None:
        """The move from a book or tablebase for ``strong``; None if there is none, or for any other
        strategy."""
        if not self.settings.strategy.searches_selectively:
            return None
        began = time.monotonic()
        root = self.game.for_search(position)
        for source in self.settings.strong.sources.get(self.game.name, ()):
            try:
                found = source.choose(root, self._rng)
            except Exception as error:
                self._notify(f"a book or tablebase failed ({type(error).__name__}: {error})", error)
                continue
            if found is not None:
                move = self.game.move_text(found.move)
                line = MoveLine(move, found.pick.score_centi, 0, (move,), 100 if found.pick.solved else None)
                return SearchReport((line,), move, 0, time.monotonic() - began)
        return None

    def _strong(self, position: Any, limits: Limits, stop: StopFlag) -> SearchReport | None:
        """The move that ``strong`` finds by search; None if the search was stopped too early."""
        began = time.monotonic()
        root = self.game.for_search(position)
        if limits.time_s is not None:
            stop.set_deadline(limits.time_s)
        result = self._think(root, limits.depth, limits.time_s, stop)
        if result is None:
            return None
        line, nodes = result
        return SearchReport((line,), line.move, nodes, time.monotonic() - began)

    def _think(
        self, root: Any, depth: int, time_s: float | None, stop: StopFlag
    ) -> tuple[MoveLine, int] | None:
        """The line and node count of a selective search; None if it was stopped too early."""
        searcher, strong = self.searcher, self.settings.strong
        if not isinstance(searcher, NativeSearcher):
            return None
        try:
            result = searcher.think(
                root,
                min(depth, self.game.deepest_search),
                None if time_s is None else max(MIN_TIME_S / 10, time_s),
                stop,
                confidence_percent=strong.confidence_percent,
                threads=strong.threads,
                contempt_centi=strong.contempt_centi,
            )
        except Stopped:
            return None
        percent = 100 if result.solved else None
        is_solver = isinstance(self.searcher, NativeOthelloSearcher)
        reaches_end = is_solver and result.depth >= self.game.plies_left(root)
        if percent is None and reaches_end and result.confidence_percent:
            percent = result.confidence_percent
        line = MoveLine(
            result.move,
            result.score_centi,
            result.depth,
            result.principal_variation,
            percent,
        )
        return line, result.nodes

    # --- Ever deeper ------------------------------------------------------------------------------------

    def deepen(
        self, position: Any, depth: int, stop: StopFlag, lines: int = 1, moves: Sequence[Move] = ()
    ) -> Iterator[SearchReport]:
        """Yield a report after each depth, and at least one even if stopped immediately.

        Args:
            position: Must not be final.
            depth: Depth at which the search ends.
            stop: Ends the searches.
            lines: Number of best moves to report, with their traps.
            moves: Restrict the search to these moves; empty for all.
        """
        report = None
        try:
            for report in self._deepen(position, depth, stop, lines, moves):
                yield report
        except Exception as error:
            if report is None:
                yield self._fallback(position, Limits(depth), StopFlag(), moves, error)
            else:  # the depths before it count
                self._notify_failure(error)

    def _deepen(
        self, position: Any, depth: int, stop: StopFlag, lines: int, moves: Sequence[Move]
    ) -> Iterator[SearchReport]:
        if lines == 1 and not moves:
            yield from (self._deepen_strong if self._is_selective else self._deepen_player)(
                position, depth, stop
            )
        else:
            yield from self._deepen_lines(position, depth, stop, lines, moves)

    def _deepen_player(self, position: Any, depth: int, stop: StopFlag) -> Iterator[SearchReport]:
        began, before = time.monotonic(), self.searcher.nodes
        for d in range(2, max(2, depth) + 1):
            decision = self._player().choose(position, Limits(d), stop, background=self.background)
            if d > 2 and stop.is_set():
                return
            yield self._report(decision, began, self.searcher.nodes - before)
            if decision.depth < d:  # the true result is known
                return

    def _deepen_strong(self, position: Any, depth: int, stop: StopFlag) -> Iterator[SearchReport]:
        began, nodes = time.monotonic(), 0
        root = self.game.for_search(position)
        for d in range(1, depth + 1):
            result = self._think(root, d, None, StopFlag() if d == 1 else stop)
            if result is None or (d > 1 and stop.is_set()):
                return
            line, more = result
            nodes += more
            yield SearchReport((line,), line.move, nodes, time.monotonic() - began)
            if line.percent == 100:
                return

    def _deepen_lines(
        self, position: Any, depth: int, stop: StopFlag, lines: int, moves: Sequence[Move]
    ) -> Iterator[SearchReport]:
        began, before = time.monotonic(), self.searcher.nodes
        game: Any = RestrictedGame(self.game, self.game.for_search(position), moves) if moves else self.game
        params = self.settings.params.for_position(self.game.expected_scale_centi(position))
        om_search = None
        if self.settings.strategy.models_opponent:
            is_calibrated = self.settings.strategy.is_calibrated
            om_search = OpponentModelSearch(
                self.game, position, self._people(), is_calibrated, params, self.background, stop
            )
        first = Profiler(game, self.searcher, position, params, StopFlag())  # never stopped
        profiler = Profiler(game, self.searcher, position, params, stop)
        try:
            for d in range(1, depth + 1):
                using = first if d == 1 else profiler
                ranked, move = self._ranked(using, position, d, params, stop, om_search)
                shown = tuple(self._with_trap(profiler, line, position, d, params) for line in ranked[:lines])
                if not any(line.move == move for line in shown):
                    shown = (*shown[:-1], next(line for line in ranked if line.move == move))
                yield SearchReport(shown, move, self.searcher.nodes - before, time.monotonic() - began)
                if d >= self.game.most_plies_left(position) or all(line.percent == 100 for line in ranked):
                    return
        except Stopped:
            return

    def _ranked(
        self,
        profiler: Profiler,
        position: Any,
        depth: int,
        params: TrapParams,
        stop: StopFlag,
        om_search: OpponentModelSearch | None,
    ) -> tuple[list[MoveLine], str]:
        """The lines of all moves, best first, and the strategy's chosen move."""
        strategy, game = self.settings.strategy, self.game
        root = game.for_search(position)
        if strategy.searches_selectively and depth > 1:
            found = []
            for move in profiler.moves:
                text, after = game.move_text(move), game.play(root, move)
                if not game.legal_moves(after):
                    found.append(MoveLine(text, -game.result_centi(after), depth, (text,), 100))
                    continue
                result = self._think(after, depth - 1, None, stop)
                if result is None or stop.is_set():
                    raise Stopped
                line = result[0]
                score = -(line.score_centi or 0)
                found.append(MoveLine(text, score, depth, (text, *line.variation), line.percent))
            found.sort(key=lambda line: -(line.score_centi or 0))
            return found, found[0].move
        strategy = strategy.for_position(game.expected_scale_centi(root))
        candidates = strategy.rank_candidates(profiler, depth, params)
        if om_search is not None and depth > 1:
            try:
                candidates = om_search.with_values(candidates, profiler, depth)
            except BadModel as error:
                om_search.record_failure(error)
        ranked = sorted(candidates, key=lambda candidate: -candidate.raw_centi)  # stable
        is_whole = depth >= game.most_plies_left(position)
        lines = [
            MoveLine(
                c.move, c.raw_centi, depth, (c.move,), 100 if is_whole else None, c.trap, c.quality_centi
            )
            for c in ranked
        ]
        return lines, strategy.best_move(candidates, params)

    def _with_trap(
        self, profiler: Profiler, line: MoveLine, position: Any, depth: int, params: TrapParams
    ) -> MoveLine:
        """Complete a line with its best trap and the rest of its principal variation."""
        game, score = self.game, line.score_centi or 0
        seen = min(depth, _MAX_TRAP_DEPTH) if self.settings.strategy.searches_selectively else depth
        if seen >= 2:
            bare = Candidate(line.move, score, raw_is_bound=False, adjusted_centi=0.0)
            whole = whole_profile(profiler, bare, seen)
            if seen != depth:  # compare a trap with the exact score at its own depth
                exact = min((reply.final_centi for reply in whole.replies), default=score)
                whole = replace(whole, raw_centi=exact)
            candidate = with_trap(whole, params)
            line = replace(line, trap=candidate.trap, quality_centi=candidate.quality_centi)
        if len(line.variation) > 1:
            return line
        brief = StopFlag()
        brief.set_node_limit(_MAX_LINE_NODES)
        after = game.play(game.for_search(position), game.parse_move(position, line.move))
        try:
            rest = principal_variation(game, self.searcher, after, depth - 1, brief)
        except Stopped:
            rest = ()
        return replace(line, variation=(line.move, *rest))

    # --- To the end -------------------------------------------------------------------------------------

    def solve(self, position: Any, moves: Sequence[str], stop: StopFlag) -> Iterator[MoveLine]:
        """Yield the exact results of moves one by one until stopped."""
        game, searcher = self.game, self.searcher
        if not isinstance(searcher, NativeOthelloSearcher):
            return
        for text in moves:
            after = game.play(position, game.parse_move(position, text))
            depth = game.plies_left(position)
            reply: tuple[str, ...] = ()
            if game.legal_moves(after):
                try:
                    best, score = searcher.solve(game.for_search(after), stop)
                except Stopped:
                    return
                reply = (best,)
            else:
                score = game.result_centi(after)
            yield MoveLine(text, -score, depth, (text, *reply), 100)

    def score(self, position: Any, depth: int, stop: StopFlag, solve: bool) -> int:
        """The score of a position for the side to move; the position may be final.

        Raises:
            Stopped: The flag was set before the search finished.
        """
        game, searcher = self.game, self.searcher
        if not game.legal_moves(position):
            return game.result_centi(position)
        root = game.for_search(position)
        if solve and isinstance(searcher, NativeOthelloSearcher):
            return searcher.solve(root, stop)[1]
        if self.settings.strategy.searches_selectively:
            result = self._think(root, depth, None, stop)
            if result is None or stop.is_set():
                raise Stopped
            return result[0].score_centi or 0
        return exact_score(searcher, root, depth, stop)


class RestrictedGame:
    """A game in which the legal moves of one position are restricted."""

    def __init__(self, game: Game[Any], root: Any, moves: Sequence[Move]) -> None:
        self._game = game
        self._root = root
        self._moves = moves

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)

    def legal_moves(self, position: Any) -> tuple[Move, ...]:
        """See `Game.legal_moves`."""
        legal = self._game.legal_moves(position)
        return tuple(m for m in legal if m in self._moves) if position == self._root else legal


def winning_margin(score_centi: int) -> float | None:
    """Winning margin in discs, negative for a loss; None unless the score is that of a decided game."""
    if abs(score_centi) < WIN_CENTI:
        return None
    return margin_centi(score_centi) / 100
