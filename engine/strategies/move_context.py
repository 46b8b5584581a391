"""`MoveContext`: a position in which to choose a move, with the searches that strategies use."""

import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self, TypeVar

from engine import ENGINE_VERSION
from engine.decision import Candidate, Decision, SearchMode
from engine.game import WIN_CENTI, Game
from engine.games import ENGINE_GAMES
from engine.human.opponent_model_search import Background, GameModels, OpponentModelSearch
from engine.human.shallow import ShallowModel
from engine.lookup.source import LookupMove, RootSource
from engine.opponents.pair_value import PairRatings
from engine.params import ExploitParams, RandomisedParams, TrapParams
from engine.protocols.engine_source import EngineSource
from engine.search.profiles import Profiler
from engine.search.reference import Searcher, exact_score, principal_variation
from engine.stop import StopFlag, Stopped
from engine.time_management import Limits
from engine.trappy import utility
from engine.variety import RepetitionAvoidance, draw_move

T = TypeVar("T")

_FIRST_DEPTH = 2
# With a clock, or a limit of nodes, an iteration that would not end within it should not begin.  We forecast
# its cost from the ratio between the iterations before it, within these limits; odd and even depths grow at
# different rates, so the larger of the last two ratios counts.
_MIN_GROWTH, _MAX_GROWTH = 2.5, 6.0
_MAX_VARIATION_NODES = 20_000  # two milliseconds
_MAX_NODES_WHEN_STOPPED = 5_000  # of a search that was stopped
_MAX_BOOK_DRAWS = 20
_VARIETY_SHARE = 0.5  # the rest is for a search, in case there is nothing to draw from
MIN_SEARCH_S, MAX_SEARCH_S = 0.001, 1e6
"""Limits on a search's time, in seconds."""


@dataclass(frozen=True, slots=True)
class StrongOptions:
    """Settings of the strategy ``strong``, which uses full-width search in games without selective search."""

    depth: int = 60
    """Maximum depth of the selective search in plies, 2 to 120, if there is a clock."""
    confidence_percent: int = 73
    """Required confidence of a cut, in percent: 73, 87, 95, 99 or 100 (full width)."""
    threads: int = 1
    """Number of threads of one search. With more than one, the search is not deterministic."""
    contempt_centi: int = 0
    """In games with draws by rule, a draw scores this far below zero for the side to move."""
    sources: Mapping[str, Sequence[RootSource]] = field(default_factory=dict)
    """Books and tables, keyed by game name; they are consulted in this order before a search."""


@dataclass(frozen=True, slots=True)
class Resources:
    """The resources of a strategy for all moves of a game; used by one thread at a time."""

    game: Game[Any]
    params: TrapParams
    """Parameters of the trap arithmetic."""
    searcher: Searcher
    """Searches positions for their scores."""
    strong: StrongOptions
    rng: random.Random
    """Chooses among a book's moves."""
    engine: EngineSource | None
    """Another engine for the same game, or None if none is available or the strategy needs none."""
    models: GameModels | None
    """Human-move models for the game; None to use the estimate from shallow searches."""
    randomised: RandomisedParams
    wins_plainly: bool = False
    """Whether won games are won by selective search, without traps (`engine.strategies.technique`)."""
    proves: bool = False
    """Whether a move that is preferred to the best one must be proved (`engine.strategies.proof`)."""
    exploit: ExploitParams | None = None
    """Settings of the strategy exploit; None for the defaults."""
    ratings: PairRatings | None = None
    """Our rating and the opponent's; None if one is unknown."""


class Analysis(NamedTuple):
    """An analysis of the moves by iterative deepening."""

    candidates_at: Callable[[Profiler, int], list[Candidate]]
    """Analyses every legal move to a given depth, in as much detail as the choice requires."""
    is_costly: bool
    """Whether the analysis costs more than raw values; if so, only what may be the last iteration uses it."""


RAW_ANALYSIS = Analysis(Profiler.raw_candidates, is_costly=False)
"""Computes only the raw values."""


class _Budget(NamedTuple):
    """The budget of iterative deepening: seconds by the stop flag's clock, or nodes."""

    most: float
    """Infinite if only the depth is limited."""
    spent: Callable[[], float]
    """The amount spent so far, in the budget's unit."""
    used: Callable[[], float]
    """The amount spent, excluding time in which the thread had no processor; used to forecast the next
    iteration's cost."""


class _IterationCostForecast:
    """Forecasts the cost of the next iteration from the previous ones, in the unit of a budget."""

    def __init__(self) -> None:
        self._last = 0.0
        self._growth = [_MIN_GROWTH, _MIN_GROWTH]

    def add_iteration(self, cost: float) -> None:
        if self._last > 0:
            self._growth = [self._growth[1], cost / self._last]
        self._last = cost

    def next_cost(self) -> float:
        """The forecast; 0 before the first iteration."""
        return self._last * min(max(_MIN_GROWTH, *self._growth), _MAX_GROWTH)


@dataclass(frozen=True, slots=True)
class MoveContext:
    """A position in which to choose a move, within limits."""

    use: Resources
    strategy: str
    """Name of the strategy, for the record."""
    position: Any
    """The position, with the earlier positions of its game."""
    root: Any
    """The position as the root of a search."""
    params: TrapParams
    """`Resources.params` with the game's own logistic function."""
    limits: Limits
    stop: StopFlag
    began_s: float
    """Start time of the limits, on the stop flag's clock."""
    avoidance: RepetitionAvoidance | None
    """How to avoid a line that was played before; None if there is no line to avoid."""
    background: Background
    """The game's history, and the person who will reply."""
    seed: int | None
    """64 random bits for a randomised decision; None if the decision is not randomised."""

    def with_share(self, share: float) -> Self:
        """The context with a share of its time and nodes."""
        return replace(self, limits=share_of(self.limits, share))

    def with_remaining_time(self) -> Self:
        """The context with the remaining time, after another engine gave no answer."""
        if self.use.engine is None:
            return self
        now_s, time_s, limits = self.stop.now_s(), self.limits.time_s, self.limits
        if time_s is not None and limits.engine_clock is not None:
            self.stop.set_deadline(time_s)  # what the engine used may be longer than this
        elif time_s is not None:
            limits = replace(limits, time_s=max(MIN_SEARCH_S, time_s - (now_s - self.began_s)))
        return replace(self, limits=limits, began_s=now_s)

    def within(self, limits: Limits) -> Self:
        """The context with tighter limits, counted from the same start, and a flag that is set at them."""
        stop = StopFlag(parent=self.stop)
        if limits.time_s is not None:
            stop.set_deadline(max(MIN_SEARCH_S, limits.time_s - (self.stop.now_s() - self.began_s)))
        if limits.nodes is not None:
            stop.set_node_limit(limits.nodes)
        return replace(self, limits=limits, stop=stop)

    def search_limits(self, share: float, nodes: int) -> Limits:
        """The limits of one search: a share of the time and nodes, and no more than the remaining time.

        The search takes no more nodes than an exact search of the limits' depth, roughly: a player of small
        depth is quick, whatever the clock says.

        Args:
            share: The share.
            nodes: Number of nodes if only the depth is limited.
        """
        limits = share_of(self.limits, share)
        most = 200 * 5 ** min(self.limits.depth, 20)
        if limits.time_s is not None and self.limits.time_s is not None:
            left_s = self.limits.time_s - (self.stop.now_s() - self.began_s)
            limits = replace(limits, time_s=max(MIN_SEARCH_S, min(limits.time_s, left_s)))
        elif limits.nodes is None:
            limits = replace(limits, nodes=nodes)
        return replace(limits, nodes=most if limits.nodes is None else min(limits.nodes, most))

    def decision(self, move: str, candidates: Sequence[Candidate], depth: int, **more: Any) -> Decision:
        """The record of a choice; its scores are ours unless `more` specifies another source.

        Args:
            move: The chosen move.
            candidates: Every legal move.
            depth: Plies of the search.
            more: Other fields of `Decision`.
        """
        known: dict[str, Any] = {
            "principal_variation": (move,),
            "nodes": 0,
            "profile_source": self.use.searcher.source,
        }
        return Decision(
            game=self.use.game.name,
            position=self.use.game.position_text(self.position),
            strategy=self.strategy,
            params=self.params,
            move=move,
            candidates=tuple(candidates),
            depth=depth,
            time_s=0.0,
            engine_version=ENGINE_VERSION,
            **(known | more),
        )

    # --- Moves found elsewhere --------------------------------------------------------------------------

    def look_up(self) -> LookupMove | None:
        """The move of the first book or table that has one; a book is queried repeatedly to avoid a line."""
        avoided = () if self.avoidance is None else self.avoidance.avoid
        game = self.use.game
        for source in self.use.strong.sources.get(game.name, ()):
            for _ in range(_MAX_BOOK_DRAWS):
                move = source.choose(self.root, self.use.rng)
                is_book = move is not None and move.mode == SearchMode.BOOK
                if move is None or not is_book or game.move_text(move.move) not in avoided:
                    break
            if move is not None:
                return move
        return None

    def draw_for_variety(self) -> Decision | None:
        """Choose at random among the best moves of a plain search; None if there is no move to choose.

        Always None in games that need another engine, because the core's scores are too weak for these games.
        """
        avoidance, game = self.avoidance, self.use.game
        if avoidance is None or game.name in ENGINE_GAMES:
            return None
        most = share_of(self.limits, _VARIETY_SHARE)
        reach = avoidance.reach_centi
        near = Analysis(lambda profiler, depth: profiler.raw_candidates(depth, reach), is_costly=False)
        candidates, depth = self.deepen(near, most)
        draw = avoidance.draw(candidates, self.use.rng.getrandbits(32))
        move = None if draw is None else draw_move(candidates, draw)
        if move is None:
            return None
        return self.decision(move, candidates, depth, search_mode=SearchMode.VARIETY_DRAW, variety_draw=draw)

    def ask_engine(self, query: Callable[[EngineSource, Limits], T | None]) -> T | None:
        """Request a move from the other engine; None if there is no engine or no answer in time.

        In games that need another engine, the engine gets a second try, because our own search is too weak.
        """
        engine = self.use.engine
        if engine is None:
            return None
        began_s, limits, left = self.stop.now_s(), self.limits, self.limits
        for _ in range(2 if self.use.game.name in ENGINE_GAMES else 1):
            answer = query(engine, left)
            if answer is not None:
                return answer
            if limits.time_s is not None:
                left_s = max(MIN_SEARCH_S, limits.time_s - (self.stop.now_s() - began_s))
                left = Limits(limits.depth, left_s)
        return None

    def opponent_model_search(self, *, is_calibrated: bool) -> OpponentModelSearch:
        """Return a search that uses the game's human-move models for this position."""
        game, models = self.use.game, self.use.models
        if models is None:
            models = GameModels(ShallowModel(game.name))
        return OpponentModelSearch(
            game, self.position, models, is_calibrated, self.params, self.background, self.stop
        )

    # --- Exact scores -----------------------------------------------------------------------------------

    def own_limits(self) -> Limits:
        """The limits of a search with our own exact scores."""
        limits = self.limits
        return Limits(min(limits.depth, self.use.game.deepest_search), limits.time_s, nodes=limits.nodes)

    def deepen(self, analysis: Analysis, limits: Limits) -> tuple[list[Candidate], int]:
        """Candidates and depth of the last completed iteration; at least one iteration is always completed.

        Raises:
            BadModel: A model gives no answer.
            Stopped: The search was stopped before a model had judged the moves of the first iteration.
        """
        use, stop, candidates_at = self.use, self.stop, analysis.candidates_at
        # The first iteration must complete, so it does not get the stop flag.
        first = Profiler(use.game, use.searcher, self.root, self.params, StopFlag())
        depth = reached = _FIRST_DEPTH
        candidates = latest = candidates_at(first, depth)
        profiler = Profiler(use.game, use.searcher, self.root, self.params, stop)
        budget = self._budget(limits)
        pace = _IterationCostForecast()
        try:
            while reached < limits.depth and not stop.is_set():
                is_too_long = budget.spent() + pace.next_cost() > budget.most
                if is_too_long or self._is_result_proved(latest, reached):
                    break
                start = budget.used()
                reached += 1
                # With a limit any iteration may be the last to be completed.
                if not analysis.is_costly or budget.most < math.inf or reached == limits.depth:
                    latest = candidates = candidates_at(profiler, reached)
                    depth = reached
                else:
                    latest = profiler.raw_candidates(reached)
                pace.add_iteration(budget.used() - start)
            if reached > depth:
                candidates, depth = candidates_at(profiler, reached), reached
        except Stopped:
            pass  # the last completed iteration counts
        return candidates, depth

    def _budget(self, limits: Limits) -> _Budget:
        """The budget: time since `began_s`, or nodes from now on."""
        if limits.time_s is None and limits.nodes is not None:
            before = self.use.searcher.nodes

            def nodes() -> int:
                return self.use.searcher.nodes - before

            return _Budget(limits.nodes, nodes, nodes)
        most_s = math.inf if limits.time_s is None else limits.time_s
        return _Budget(most_s, lambda: self.stop.now_s() - self.began_s, time.thread_time)

    def _is_result_proved(self, candidates: Sequence[Candidate], depth: int) -> bool:
        """Whether no deeper search can change the result: the best score is the game's true result.

        Deeper searches would repeat this result at every depth, and so dilute the shallow scores in the trap
        arithmetic. A lost game is searched to its end, because an apparent escape may be a horizon effect.
        """
        game = self.use.game
        most = game.most_plies_left(self.root)
        if depth >= most:
            return True
        best = max(c.raw_centi for c in candidates if not c.raw_is_bound)
        if most > min(2 * depth, game.deepest_search) or best <= -WIN_CENTI:
            return False
        return best == exact_score(self.use.searcher, self.root, most, self.stop)

    def with_exact_choice(self, decision: Decision) -> Decision:
        """The decision with the exact raw value of its move, which is needed to judge the replies.

        Uses the first iteration's scores if the search was stopped and the value takes too long.
        """
        brief = StopFlag()
        if self.stop.is_set():
            brief.set_node_limit(_MAX_NODES_WHEN_STOPPED)
        try:
            return decision.with_chosen(self._exact(decision, brief))
        except Stopped:
            candidates, depth = replace(self, stop=StopFlag()).deepen(RAW_ANALYSIS, Limits(_FIRST_DEPTH))
            decision = replace(decision, candidates=tuple(candidates), depth=depth)
            return decision.with_chosen(self._exact(decision, StopFlag()))

    def _exact(self, decision: Decision, stop: StopFlag) -> Candidate:
        """The chosen candidate with its exact raw value."""
        candidate, game = decision.chosen, self.use.game
        if not candidate.raw_is_bound:
            return candidate
        after = game.play(self.root, game.parse_move(self.root, candidate.move))
        raw = -exact_score(self.use.searcher, after, decision.depth - 1, stop)
        over = not game.legal_moves(after)
        value = utility(raw, decision.params)
        return Candidate(candidate.move, raw, raw_is_bound=False, adjusted_centi=value, complete=over)

    def with_variation(self, decision: Decision) -> Decision:
        """The decision with plain minimax's principal variation, if the hash table has nearly all of it."""
        brief = StopFlag()
        brief.set_node_limit(_MAX_VARIATION_NODES // 10 if self.stop.is_set() else _MAX_VARIATION_NODES)
        try:
            line = principal_variation(self.use.game, self.use.searcher, self.root, decision.depth, brief)
        except Stopped:
            line = ()
        return replace(decision, principal_variation=line or (best_raw_move(decision.candidates),))


def best_raw_move(candidates: Sequence[Candidate]) -> str:
    """The move with the highest raw value; among equals, the first in `candidates`."""
    return max((c for c in candidates if not c.raw_is_bound), key=lambda c: c.raw_centi).move


def share_of(limits: Limits, share: float) -> Limits:
    """The limits with a share of their time and nodes."""
    time_s = None if limits.time_s is None else share * limits.time_s
    nodes = None if limits.nodes is None else max(1, int(share * limits.nodes))
    return replace(limits, time_s=time_s, nodes=nodes)
