"""`Player`: a position and limits in, a `Decision` out."""

import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

from engine import ENGINE_VERSION, is_same_search
from engine.choice import choose
from engine.decision import ENGINE_MOVE, Candidate, Decision, Pick
from engine.errors import EngineMismatch, RecordError
from engine.game import WIN_CENTI, Game
from engine.games import ENGINE_GAMES, get_game
from engine.human.model import BadModel
from engine.human.opponent_model_search import Background, Models, OpponentModelSearch
from engine.human.shallow import ShallowModel
from engine.lookup.source import LookupMove, RootSource
from engine.params import RandomisedParams, TemptingParams, TrapParams
from engine.player_kinds import ENGINE_GAME_KINDS, PLAYER_KINDS, STANDARD, Choosing, kind_named
from engine.protocols.engine_source import EngineAnalysis, EngineMove, EngineSource
from engine.randomised import with_draw
from engine.search.profiles import LazySource, Profiler, whole_profile
from engine.search.reference import Searcher, exact_score, principal_variation
from engine.search.result import SearchResult
from engine.search.tempting_profiles import TemptingSource, tempting_candidates
from engine.stop import StopFlag, Stopped
from engine.tempting import LEAST_DEPTH
from engine.time_management import Limits
from engine.trappy import is_swindle, with_trap, worth
from engine.variety import RepetitionAvoidance, draw_move


def kinds_for(game_name: str) -> tuple[str, ...]:
    """Names of the players that can play a game."""
    return ENGINE_GAME_KINDS if game_name in ENGINE_GAMES else tuple(PLAYER_KINDS)


LONGEST_COMPLETION_S = 600.0
"""For completing one profile (`complete`), in seconds: far longer than any search of a game.  With few pieces
left, a search reaches any depth by its table, and a profile of that depth may take for ever."""
_FIRST_DEPTH = 2
# With a clock, or a limit of nodes, an iteration that would not end within it should not begin.  We forecast
# its cost from the ratio between the iterations before it, within these limits; odd and even depths grow at
# different rates, so the larger of the last two ratios counts.
_LEAST_GROWTH, _MOST_GROWTH = 2.5, 6.0
_LINE_NODES = 20_000  # two milliseconds
_LAST_NODES = 5_000  # of a search that was stopped
_DRAWS_FROM_A_BOOK = 20
_LOT_SHARE = 0.5  # the rest is for a search, in case there is nothing to draw from
# Where decisions are drawn, the rest is for the replies to both moves: with .75, a third of them are lost.
_OWN_SHARE = 0.6
# A strong move's replies are judged by exact scores of this depth, deep enough to see what people see, or of
# the depth that this share of the time or nodes allows: eight plies of Othello take milliseconds, of chess a
# second.
_JUDGED_DEPTH = 8
_JUDGED_SHARE = 0.05
_LEAST_S, _MOST_S = 0.001, 1e6  # limits on the time of a strong search
_LEAST_MODEL_S = 0.05  # with less time no model is queried: a network cannot be stopped while it runs
_NO_TIME = "there was no time to ask it"


@runtime_checkable
class SelectiveSearcher(Protocol):
    """A searcher that also has a selective search for play."""

    def think(
        self,
        position: Any,
        depth: int,
        time_s: float | None,
        stop: StopFlag,
        *,
        confidence_percent: int,
        threads: int,
        contempt_centi: int = 0,
        nodes: int | None = None,
    ) -> SearchResult:
        """The best move that the limits allow; see `engine.search.searchers.NativeOthelloSearcher.think`."""


@dataclass(frozen=True, slots=True)
class StrongOptions:
    """Settings of the strong player; a game without a selective search is played by full width."""

    depth: int = 60
    """Deepest selective search in plies, 2 to 120, when there is a clock."""
    confidence_percent: int = 73
    """Confidence that a cut needs: 73, 87, 95, 99 or 100 (full width)."""
    threads: int = 1
    """Threads of one search.  With more than one, its result is not deterministic."""
    contempt_centi: int = 0
    """How far below zero a draw scores for the side to move, in games with draws by rule."""
    sources: Mapping[str, Sequence[RootSource]] = field(default_factory=dict)
    """By game name: books and tables to consult before a search, in this order."""


@dataclass(frozen=True, slots=True)
class _Budget:
    """What iterative deepening may spend: seconds by the stop flag's clock, or nodes."""

    most: float
    """Infinite: only the depth is limited."""
    spent: Callable[[], float]
    """How much has been spent, in the same unit."""
    used: Callable[[], float]
    """The same without the time for which the thread had no processor: to forecast the next iteration's."""

    @property
    def is_limited(self) -> bool:
        return self.most < math.inf


class _Pace:
    """Forecasts the cost of the next iteration from those before it, in the unit of a budget."""

    def __init__(self) -> None:
        self._last = 0.0
        self._growth = [_LEAST_GROWTH, _LEAST_GROWTH]

    def took(self, cost: float) -> None:
        if self._last > 0:
            self._growth = [self._growth[1], cost / self._last]
        self._last = cost

    def next(self) -> float:
        """The forecast; 0 before the first iteration."""
        return self._last * min(max(_LEAST_GROWTH, *self._growth), _MOST_GROWTH)


class Player:
    """One of the players of `engine.player_kinds`; used by one thread at a time, like its searcher."""

    def __init__(
        self,
        kind: str,
        game: Game[Any],
        params: TrapParams,
        searcher: Searcher,
        strong: StrongOptions | None = None,
        rng: random.Random | None = None,
        source: EngineSource | None = None,
        models: Models | None = None,
        tempting: TemptingParams | None = None,
        randomised: RandomisedParams | None = None,
    ) -> None:
        """
        Args:
            kind: Name of one of `PLAYER_KINDS`.
            game: The game to play.
            params: Of the trap arithmetic.
            searcher: Finds the scores.
            strong: Settings of the strong player; None: the defaults.
            rng: Chooses among a book's moves; None: seeded by the operating system.
            source: The other engine, for the same game, of players that need one.
            models: The human-move models of players that use one; None: the estimate from shallow searches.
            tempting: Settings of the tempting player; None: the defaults.
            randomised: Settings of the player that draws moves by lot; None: the defaults.

        Raises:
            ValueError: No player of that kind.
        """
        self.kind = kind_named(kind)
        self._game = game
        self._params = params
        self._searcher = searcher
        self._strong = strong or StrongOptions()
        self._rng = rng or random.Random()  # noqa: S311 - which opening is played is no secret
        self._source = source if self.kind.asks_engine else None
        self._models = models
        self._randomised = randomised or RandomisedParams()
        self._tempting = None
        if self.kind.choosing is Choosing.TEMPTING:
            self._tempting = tempting or TemptingParams()
        if models is None and self.kind.models_opponent:
            self._models = Models(ShallowModel(game.name))

    def choose(
        self,
        position: Any,
        limits: Limits,
        stop: StopFlag,
        avoidance: RepetitionAvoidance | None = None,
        background: Background | None = None,
        seed: int | None = None,
    ) -> Decision:
        """Search by iterative deepening and choose a move.

        A stopped search falls back on the deepest completed iteration (for the trappy player: completed with
        its analysis).  The first one, two plies, always completes, so there is always a decision.

        Args:
            position: An unfinished game.
            limits: When to end.  Its time and nodes become limits of the flag, whose clock measures the time.
            stop: Ends the search early; a flag for this call alone.
            avoidance: Draw the move at random if several are nearly as good; None: choose as usual.
            background: What led to the position, and who will reply; None: unknown.  Only players with an
                opponent model use it.
            seed: 64 random bits, with which a player that draws decisions may draw this one; None: it does
                not, because the opponent is a program.  The search for the other move takes what is left of
                the limits.

        Raises:
            ValueError: The game is over.
        """
        game = self._game
        if not game.legal_moves(position):
            raise ValueError(f"the game is over: {game.position_text(position)}")
        asked_at, began = time.monotonic(), stop.now_s()
        nodes_before = self._searcher.nodes
        if self._source is None and limits.engine_clock is not None:
            limits = replace(limits, engine_clock=None)
        if limits.longest_s is not None:
            stop.set_deadline(limits.longest_s)
        if limits.nodes is not None:
            stop.set_node_limit(limits.nodes)
        root = game.for_search(position)
        params = self._params.for_position(game.expected_scale_centi(root))
        found_at_root = self._ask_sources(root, avoidance) if self.kind.looks_up else None
        # A draw uses the core's scores, which are too weak to play by in games that need another engine.
        if avoidance is not None and found_at_root is None and game.name not in ENGINE_GAMES:
            decision = self._drawn(avoidance, position, params, limits, stop, began)
            if decision is not None:
                nodes, time_s = self._searcher.nodes - nodes_before, time.monotonic() - asked_at
                return replace(decision, nodes=nodes, time_s=time_s)
        may_draw = seed is not None and self.kind.draws_decisions
        limits = _share(limits, _OWN_SHARE) if may_draw else limits
        om_search = self._om_search(position, params, background, stop)
        has_time = not stop.is_set() and (limits.time_s is None or limits.time_s >= _LEAST_MODEL_S)
        usable, trouble = (om_search, "") if has_time else (None, _NO_TIME)
        try:
            decision = self._searched(position, params, limits, stop, began, found_at_root, usable)
        except BadModel as error:
            if om_search is None:
                raise
            trouble = om_search.failed(error)  # now choose as the standard player does
            decision = self._searched(position, params, limits, stop, began, found_at_root, None)
        except Stopped:  # before the model had judged the moves of the first iteration
            trouble = _NO_TIME
            decision = self._searched(position, params, limits, stop, began, found_at_root, None)
        if om_search is not None:
            model, reckoning = om_search.model(decision.candidates), om_search.reckoning(trouble)
            decision = replace(decision, model=model, reckoning=reckoning)
        if seed is not None and may_draw:
            decision = with_draw(decision, game, root, self._searcher, self._randomised, seed, stop)
        nodes = decision.nodes or self._searcher.nodes - nodes_before
        return replace(decision, nodes=nodes, time_s=time.monotonic() - asked_at)

    def _om_search(
        self, position: Any, params: TrapParams, background: Background | None, stop: StopFlag
    ) -> OpponentModelSearch | None:
        """The opponent-model search for this position; None: this player uses no model."""
        if self._models is None or not self.kind.models_opponent:
            return None
        background = background or Background()
        is_calibrated = self.kind.is_calibrated
        return OpponentModelSearch(
            self._game, position, self._models, is_calibrated, params, background, stop
        )

    def _searched(
        self,
        position: Any,
        params: TrapParams,
        limits: Limits,
        stop: StopFlag,
        began: float,
        found_at_root: LookupMove | None,
        om_search: OpponentModelSearch | None,
    ) -> Decision:
        """The decision by search; its time is not filled in, nor, for our own searches, the nodes.

        Raises:
            BadModel: A model gives no answer.
            Stopped: Before a model had judged the moves of the first iteration.
        """
        game = self._game
        root = game.for_search(position)
        nodes_before = self._searcher.nodes
        searching_since, left_s = began, limits.time_s
        engine_move: EngineMove | None = None
        if self._source is not None and found_at_root is None:
            answered = self._ask_engine(position, params, limits, stop, om_search)
            if isinstance(answered, Decision):
                return answered
            engine_move, searching_since = answered, stop.now_s()
            if limits.engine_clock is not None and limits.time_s is not None:
                stop.set_deadline(limits.time_s)  # what the engine used may be longer than this
            elif limits.time_s is not None:
                left_s = max(_LEAST_S, limits.time_s - (searching_since - began))
        if engine_move is not None:
            number = game.parse_move(position, engine_move.move)
            found_at_root = LookupMove(number, ENGINE_MOVE, engine_move.pick)
        selective = self.kind.searches_selectively and isinstance(self._searcher, SelectiveSearcher)
        most = Limits(min(limits.depth, game.deepest_search), left_s, nodes=limits.nodes)
        if selective or found_at_root is not None:
            most = replace(_share(most, _JUDGED_SHARE), depth=min(most.depth, _JUDGED_DEPTH))
        candidates, depth = self._deepen(root, params, most, stop, searching_since, om_search=om_search)
        judged_s = stop.now_s() - searching_since
        tempting = self._tempting_for(root)
        decision = Decision(
            game=game.name,
            position=game.position_text(position),
            player=self.kind.name,
            params=params,
            move=choose(candidates, self.kind, params, tempting),
            candidates=tuple(candidates),
            depth=depth,
            principal_variation=(),
            nodes=0,
            time_s=0.0,
            profile_source=self._searcher.source,
            engine_version=ENGINE_VERSION,
            tempting=tempting,
        )
        if self.kind.searches_selectively or found_at_root is not None:
            # By depth alone it searches as deep as the other players, otherwise as deep as its limits allow.
            rest = limits
            if limits.time_s is not None or limits.nodes is not None:
                rest = replace(limits, depth=min(max(limits.depth, self._strong.depth), game.deepest_search))
            if limits.time_s is not None:
                # If it picks another move, that move needs an exact value: part of the time all of them took.
                left_s = limits.time_s - (stop.now_s() - began) - judged_s / 2
                rest = replace(rest, time_s=min(max(_LEAST_S, left_s), _MOST_S))
            if limits.nodes is not None:
                rest = replace(rest, nodes=max(1, limits.nodes - (self._searcher.nodes - nodes_before)))
            decision = self._picked(decision, found_at_root, root, rest, stop)
        if engine_move is not None:
            decision = replace(decision, source=engine_move.info)
        line = decision.principal_variation or self._line(root, depth, hurried=stop.is_set())
        return replace(decision, principal_variation=line or (choose(candidates, STANDARD, params),))

    def _ask_engine(
        self,
        position: Any,
        params: TrapParams,
        limits: Limits,
        stop: StopFlag,
        om_search: OpponentModelSearch | None,
    ) -> Decision | EngineMove | None:
        """The decision on the other engine's scores; only its move, if it did not judge it; None: nothing.

        Raises:
            BadModel: A model gives no answer.
        """
        assert self._source is not None  # noqa: S101 - for the type checker
        began, left = stop.now_s(), limits
        # In games that need another engine it gets a second try, which is better than our own search.
        for _ in range(2 if self._game.name in ENGINE_GAMES else 1):
            if self.kind.plays_engine_moves:
                played = self._source.play(position, left, stop)
                if played is not None:
                    judged = played.replies is not None
                    return self._by_engine_move(played, position, params) if judged else played
            else:
                found = self._source.analyse(position, params, left, stop, om_search)
                if found is not None:
                    return self._by_engine(found, position, params)
            if limits.time_s is not None:
                left_s = max(_LEAST_S, limits.time_s - (stop.now_s() - began))
                left = Limits(limits.depth, left_s)
        return None

    def _by_engine_move(self, found: EngineMove, position: Any, params: TrapParams) -> Decision:
        """The decision for an engine's own move, with the engine's profiles of the replies."""
        game, replies = self._game, found.replies or ()
        # The engine's search says that no other move is better.
        bound = found.info.floor_centi
        candidates = tuple(
            with_trap(
                Candidate(move, found.raw_centi, False, 0.0, replies=replies, complete=True)
                if move == found.move
                else Candidate(move, bound, raw_is_bound=True, adjusted_centi=0.0),
                params,
                swindle=True,
            )
            for move in map(game.move_text, game.legal_moves(position))
        )
        return Decision(
            game=game.name,
            position=game.position_text(position),
            player=self.kind.name,
            params=params,
            move=found.move,
            candidates=candidates,
            depth=found.depth,
            principal_variation=found.variation or (found.move,),
            nodes=found.info.nodes,
            time_s=0.0,
            profile_source=found.info.name,
            engine_version=ENGINE_VERSION,
            search_mode=ENGINE_MOVE,
            pick=found.pick,
            source=found.info,
        )

    def _by_engine(self, found: EngineAnalysis, position: Any, params: TrapParams) -> Decision:
        """The decision on another engine's scores, with the chosen move's profile already whole."""
        candidates = found.candidates
        if self.kind.choosing is not Choosing.ADJUSTED:
            candidates = tuple(with_trap(c, params, swindle=True) for c in candidates)
        move = choose(candidates, self.kind, params)
        return Decision(
            game=self._game.name,
            position=self._game.position_text(position),
            player=self.kind.name,
            params=params,
            move=move,
            candidates=candidates,
            depth=found.depth,
            principal_variation=found.variation or (move,),
            nodes=found.info.nodes,
            time_s=0.0,
            profile_source=found.info.name,
            engine_version=ENGINE_VERSION,
            search_mode="engine",
            source=found.info,
        )

    def _deepen(
        self,
        position: Any,
        params: TrapParams,
        limits: Limits,
        stop: StopFlag,
        began: float,
        within_centi: int | None = None,
        om_search: OpponentModelSearch | None = None,
    ) -> tuple[list[Candidate], int]:
        """Candidates of the last completed iteration, and its depth.

        Players that analyse replies do so in iterations that may be the last.

        Args:
            began: When it began to spend its time, by the flag's clock.
            within_centi: Plain candidates for any player, exact if at most this far below the best; None: the
                candidates that the player needs.
            om_search: Values the moves, for a player with an opponent model.

        Raises:
            BadModel: A model gives no answer.
        """
        choosing = self.kind.choosing if within_centi is None else Choosing.RAW
        tempting = self._tempting_for(position)
        analyses = om_search is not None or choosing in (Choosing.ADJUSTED, Choosing.TEMPTING)

        def found_at(profiler: Profiler, depth: int, stop: StopFlag) -> list[Candidate]:
            if om_search is not None:
                return om_search.from_profiler(profiler, depth)
            if not analyses:
                return profiler.plain(depth, within_centi or 0)
            if tempting is not None:
                if depth >= LEAST_DEPTH and isinstance(self._searcher, TemptingSource):
                    return self._searcher.tempting_candidates(position, depth, params, tempting, stop)
                return tempting_candidates(profiler, depth, params, tempting)
            if isinstance(self._searcher, LazySource):
                return self._searcher.trappy_candidates(position, depth, params, stop)
            return profiler.pruned_candidates(depth)

        game = self._game
        # The first iteration must complete, so it does not get the stop flag.
        first = Profiler(game, self._searcher, position, params, StopFlag())
        depth = reached = _FIRST_DEPTH
        candidates = latest = found_at(first, depth, StopFlag())
        profiler = Profiler(game, self._searcher, position, params, stop)
        budget = self._budget(limits, stop, began)
        pace = _Pace()
        try:
            while reached < limits.depth and not stop.is_set():
                is_too_long = budget.spent() + pace.next() > budget.most
                if is_too_long or self._is_settled(position, latest, reached, stop):
                    break
                start = budget.used()
                reached += 1
                # With a limit any iteration may be the last to be completed.
                if not analyses or budget.is_limited or reached == limits.depth:
                    latest = candidates = found_at(profiler, reached, stop)
                    depth = reached
                else:
                    latest = profiler.plain(reached)
                pace.took(budget.used() - start)
            if reached > depth:
                candidates, depth = found_at(profiler, reached, stop), reached
        except Stopped:
            pass  # the last completed iteration counts
        return candidates, depth

    def _tempting_for(self, root: Any) -> TemptingParams | None:
        """The tempting player's settings for a position to search; None: this is another player."""
        if self._tempting is None:
            return None
        return self._tempting.for_position(self._game.expected_scale_centi(root))

    def _budget(self, limits: Limits, stop: StopFlag, began: float) -> _Budget:
        """The budget of time since `began`, or of nodes from now on."""
        if limits.time_s is None and limits.nodes is not None:
            before = self._searcher.nodes

            def nodes() -> int:
                return self._searcher.nodes - before

            return _Budget(limits.nodes, nodes, nodes)
        most_s = math.inf if limits.time_s is None else limits.time_s
        return _Budget(most_s, lambda: stop.now_s() - began, time.thread_time)

    def _ask_sources(self, position: Any, avoidance: RepetitionAvoidance | None) -> LookupMove | None:
        """The move of a book or table that has the position; for a detour, a book gets several draws."""
        avoided = () if avoidance is None else avoidance.avoid
        for source in self._strong.sources.get(self._game.name, ()):
            for _ in range(_DRAWS_FROM_A_BOOK):
                found = source.choose(position, self._rng)
                if found is None or found.mode != "book" or self._game.move_text(found.move) not in avoided:
                    break
            if found is not None:
                return found
        return None

    def _drawn(
        self,
        avoidance: RepetitionAvoidance,
        position: Any,
        params: TrapParams,
        limits: Limits,
        stop: StopFlag,
        began: float,
    ) -> Decision | None:
        """A random draw among the best moves of a plain search; None: there is nothing to draw from."""
        game = self._game
        most = replace(_share(limits, _LOT_SHARE), depth=min(limits.depth, game.deepest_search))
        root = game.for_search(position)
        candidates, depth = self._deepen(root, params, most, stop, began, avoidance.reach_centi)
        lot = avoidance.lot(candidates, self._rng.getrandbits(32))
        move = None if lot is None else draw_move(candidates, lot)
        if move is None:
            return None
        return Decision(
            game=game.name,
            position=game.position_text(position),
            player=self.kind.name,
            params=params,
            move=move,
            candidates=tuple(candidates),
            depth=depth,
            principal_variation=(move,),
            nodes=0,
            time_s=0.0,
            profile_source=self._searcher.source,
            engine_version=ENGINE_VERSION,
            search_mode="lot",
            lot=lot,
        )

    def _picked(
        self, decision: Decision, found: LookupMove | None, position: Any, limits: Limits, stop: StopFlag
    ) -> Decision:
        """The decision with a source's move, or with that of the strong search if it finds one in time."""
        if found is not None:
            move = self._game.move_text(found.move)
            decision = replace(
                decision, search_mode=found.mode, move=move, pick=found.pick, principal_variation=(move,)
            )
        elif not isinstance(self._searcher, SelectiveSearcher):
            return decision
        else:
            try:
                result = self._searcher.think(
                    position,
                    limits.depth,
                    limits.time_s,
                    stop,
                    confidence_percent=self._strong.confidence_percent,
                    threads=self._strong.threads,
                    contempt_centi=self._strong.contempt_centi,
                    nodes=limits.nodes,
                )
            except Stopped:
                return decision
            pick = Pick(
                result.score_centi,
                result.depth,
                result.confidence_percent,
                result.solved,
            )
            line = result.principal_variation
            decision = replace(
                decision, search_mode="strong", move=result.move, pick=pick, principal_variation=line
            )
        return self._with_exact_choice(decision, position, stop)

    def _with_exact_choice(self, decision: Decision, position: Any, stop: StopFlag) -> Decision:
        """The decision with the exact raw value of its move, which judging the replies requires.

        If the search was stopped and the value takes long, the replies are judged by the first iteration.
        """
        brief = StopFlag()
        if stop.is_set():
            brief.set_node_limit(_LAST_NODES)
        try:
            return decision.with_chosen(self._exact(decision.chosen, position, decision, brief))
        except Stopped:
            first = Limits(_FIRST_DEPTH)
            candidates, depth = self._deepen(position, decision.params, first, StopFlag(), 0.0)
            decision = replace(decision, candidates=tuple(candidates), depth=depth)
            return decision.with_chosen(self._exact(decision.chosen, position, decision, StopFlag()))

    def _exact(self, candidate: Candidate, position: Any, decision: Decision, stop: StopFlag) -> Candidate:
        """The candidate with its exact raw value."""
        if not candidate.raw_is_bound:
            return candidate
        after = self._game.play(position, self._game.parse_move(position, candidate.move))
        raw = -exact_score(self._searcher, after, decision.depth - 1, stop)
        over = not self._game.legal_moves(after)
        value = worth(raw, decision.params)
        return Candidate(candidate.move, raw, raw_is_bound=False, adjusted_centi=value, complete=over)

    def _is_settled(self, position: Any, candidates: list[Candidate], depth: int, stop: StopFlag) -> bool:
        """Whether no deeper search can change the result: the best score is the game's true result.

        Deeper searches would repeat it at every depth, and so dilute the shallow scores in the trap
        arithmetic.  A lost game is searched to its very end: an escape may be a horizon effect.
        """
        most = self._game.most_plies_left(position)
        if depth >= most:
            return True
        best = max(c.raw_centi for c in candidates if not c.raw_is_bound)
        if most > min(2 * depth, self._game.deepest_search) or best <= -WIN_CENTI:
            return False
        return best == exact_score(self._searcher, position, most, stop)

    def _line(self, position: Any, depth: int, hurried: bool) -> tuple[str, ...]:
        """The principal variation, if nearly all of it is still in the transposition table."""
        brief = StopFlag()
        brief.set_node_limit(_LINE_NODES // 10 if hurried else _LINE_NODES)
        try:
            return principal_variation(self._game, self._searcher, position, depth, brief)
        except Stopped:
            return ()


def _share(limits: Limits, share: float) -> Limits:
    """The limits with that share of their time and nodes."""
    time_s = None if limits.time_s is None else share * limits.time_s
    nodes = None if limits.nodes is None else max(1, int(share * limits.nodes))
    return replace(limits, time_s=time_s, nodes=nodes)


def complete(decision: Decision, searcher: Searcher, stop: StopFlag) -> Decision:
    """Complete the profile of a decision's chosen move, by the record's own parameters.

    The choice does not need it, but judging the reply does; so it can run on the opponent's time.  Scores are
    exact, so a later run in another process gives the same result.

    Raises:
        Stopped: The flag was set first.
        EngineMismatch: The engine version that made the decision has another search; one profile must not mix
            the scores of two.
        RecordError: The record contradicts the search's result.
    """
    if decision.is_complete:
        return decision
    if not is_same_search(decision.engine_version):
        raise EngineMismatch(decision.engine_version)
    game = get_game(decision.game)
    position = game.parse_position(decision.position)
    profiler = Profiler(game, searcher, position, decision.params, stop)
    if decision.move not in map(game.move_text, profiler.moves):
        raise RecordError(f"{decision.move} was recorded, but is not a legal move")
    full = whole_profile(profiler, game, decision.chosen, decision.depth)
    worst = min((reply.final_centi for reply in full.replies), default=full.raw_centi)
    if worst != full.raw_centi:
        raise RecordError(
            f"{decision.move} was recorded at {full.raw_centi}, but engine {ENGINE_VERSION}, "
            f"whose search is the same, finds {worst}"
        )
    swindle = is_swindle(decision.candidates, decision.params)
    is_trappy = decision.kind.choosing is Choosing.ADJUSTED
    completed = with_trap(full, decision.params, swindle or not is_trappy)
    return decision.with_chosen(completed)
