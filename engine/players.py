"""Players: a position and limits in, a `Decision` out."""

import random
import time
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

from engine import ENGINE_VERSION
from engine.book import Book
from engine.decision import Candidate, Decision, Pick
from engine.game import WIN_CENTI, Game
from engine.games import get_game
from engine.limits import Limits
from engine.params import TrapParams
from engine.profiles import LazySource, Profiler, whole_profile
from engine.search import Searcher, exact_score, principal_variation
from engine.stop import StopFlag, Stopped
from engine.thought import Thought
from engine.trappy import choose, is_swindle, with_trap

PLAYER_KINDS = ("standard", "trappy", "strong")
"""``standard``: minimax by alpha-beta.  ``trappy``: trappy minimax.  ``strong``: the best move that the time
allows, by selective search, with endings solved and openings from a book if there is one."""

COMPARED_KINDS = ("standard", "trappy")
"""The players of the papers, which differ in nothing but the traps."""

_FIRST_DEPTH = 2
# A new iteration usually costs several times all before it: started later than this part of the time, it
# would not finish.
_LAST_START = 0.35
# Trap analysis costs about as much as all plain iterations up to its depth, so only the last one gets it, and
# now and then one before, lest a search that is stopped had nothing to show.
_ANALYSE_EVERY = 3
_LINE_NODES = 20_000  # two milliseconds
# A strong move's replies are judged by exact scores of this depth: deep enough to see what people see, and
# found in a few milliseconds.
_JUDGED_DEPTH = 8
_LEAST_S, _MOST_S = 0.001, 1e6  # what a strong search may be given


@runtime_checkable
class Thinker(Protocol):
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
    ) -> Thought:
        """The best move that the limits allow; see `engine.searchers.NativeOthelloSearcher.think`."""


@dataclass(frozen=True, slots=True)
class StrongOptions:
    """Settings of the strong player; a game without a selective search is played by full width."""

    depth: int = 60
    """Deepest selective search in plies, 2 to 120, when there is a clock."""
    confidence_percent: int = 73
    """How sure a cut must be: 73, 87, 95, 99 or 100 (full width)."""
    threads: int = 1
    """Threads of one search.  With more than one, equal searches may differ."""
    book: Book | None = None
    """Opening book of Othello."""


class Player:
    """One of the players of `PLAYER_KINDS`; for one thread at a time, like its searcher."""

    def __init__(
        self,
        kind: str,
        game: Game[Any],
        params: TrapParams,
        searcher: Searcher,
        strong: StrongOptions | None = None,
        rng: random.Random | None = None,
    ) -> None:
        """
        Args:
            kind: One of `PLAYER_KINDS`.
            game: The game to play.
            params: Of the trap arithmetic.
            searcher: Finds the scores.
            strong: Settings of the strong player; None: as they come.
            rng: Chooses among a book's moves; None: seeded by the operating system.

        Raises:
            ValueError: No player of that kind.
        """
        if kind not in PLAYER_KINDS:
            raise ValueError(f"no player named {kind!r}; known: {', '.join(PLAYER_KINDS)}")
        self.kind = kind
        self._game = game
        self._params = params
        self._searcher = searcher
        self._strong = strong or StrongOptions()
        self._rng = rng or random.Random()  # noqa: S311 - which opening is played is no secret

    def choose(self, position: Any, limits: Limits, stop: StopFlag) -> Decision:
        """Search by iterative deepening and choose a move.

        A search that is stopped falls back on the deepest iteration that was finished (of the trappy player:
        finished with its analysis); the first one, two plies, is always finished, so there is always a
        decision.

        Args:
            position: The game goes on in it.
            limits: When to end.  Its time becomes the flag's deadline.
            stop: Ends the search early; a flag of this call alone.

        Raises:
            ValueError: The game is over.
        """
        game = self._game
        if not game.legal_moves(position):
            raise ValueError(f"the game is over: {game.position_text(position)}")
        began = time.monotonic()
        nodes_before = self._searcher.nodes
        if limits.time_s is not None:
            stop.set_deadline(limits.time_s)
        selective = self.kind == "strong" and isinstance(self._searcher, Thinker)
        most = min(limits.depth, game.deepest_search, _JUDGED_DEPTH if selective else limits.depth)
        root = game.for_search(position)
        candidates, depth = self._deepen(root, Limits(most, limits.time_s), stop, began)
        decision = Decision(
            game=game.name,
            position=game.position_text(position),
            player=self.kind,
            params=self._params,
            move=choose(candidates, self.kind, self._params),
            candidates=tuple(candidates),
            depth=depth,
            principal_variation=(),
            nodes=0,
            time_s=0.0,
            profile_source=self._searcher.source,
            engine_version=ENGINE_VERSION,
        )
        if selective:
            # Without a clock it thinks as deep as the others, else as deep as it can.
            rest = limits
            if limits.time_s is not None:
                left_s = min(max(_LEAST_S, limits.time_s - (time.monotonic() - began)), _MOST_S)
                rest = Limits(max(limits.depth, self._strong.depth), left_s)
            decision = self._picked(decision, root, rest, stop)
        line = decision.principal_variation or self._line(root, depth, hurried=stop.is_set())
        return replace(
            decision,
            principal_variation=line or (choose(candidates, "standard", self._params),),
            nodes=self._searcher.nodes - nodes_before,
            time_s=time.monotonic() - began,
        )

    def _deepen(
        self, position: Any, limits: Limits, stop: StopFlag, began: float
    ) -> tuple[list[Candidate], int]:
        """Candidates of the last iteration that was finished, and its depth.

        The trappy player deepens by plain search, and analyses where it may have to end.
        """
        game, params = self._game, self._params
        first = Profiler(game, self._searcher, position, params, StopFlag())  # in any case, so never stopped
        depth = reached = _FIRST_DEPTH
        candidates = latest = self._candidates(first, position, depth, StopFlag())
        profiler = Profiler(game, self._searcher, position, params, stop)
        every = _ANALYSE_EVERY if limits.time_s is not None else limits.depth
        try:
            while reached < limits.depth and not stop.is_set():
                late = limits.time_s is not None and time.monotonic() - began > _LAST_START * limits.time_s
                if late or self._is_settled(position, latest, reached, stop):
                    break
                if self.kind != "trappy" or (limits.depth - reached - 1) % every == 0:
                    latest = self._candidates(profiler, position, reached + 1, stop)
                    candidates, depth = latest, reached + 1
                else:
                    latest = profiler.plain(reached + 1)
                reached += 1
            if reached > depth:
                candidates, depth = self._candidates(profiler, position, reached, stop), reached
        except Stopped:
            pass  # the last whole iteration stands
        return candidates, depth

    def _picked(self, decision: Decision, position: Any, limits: Limits, stop: StopFlag) -> Decision:
        """The decision with the move of the book or of the strong search, if either has one in time."""
        book = self._strong.book if self._game.name == "othello" else None
        found = None if book is None else book.choose(position, self._rng)
        if found is not None:
            move = self._game.move_text(found.move)
            pick = Pick(found.score_centi, found.depth, 0, False)
            decision = replace(
                decision, search_mode="book", move=move, pick=pick, principal_variation=(move,)
            )
        else:
            assert isinstance(self._searcher, Thinker)  # noqa: S101 - for the type checker; `choose` asked
            try:
                thought = self._searcher.think(
                    position,
                    limits.depth,
                    limits.time_s,
                    stop,
                    confidence_percent=self._strong.confidence_percent,
                    threads=self._strong.threads,
                )
            except Stopped:
                return decision
            pick = Pick(thought.score_centi, thought.depth, thought.confidence_percent, thought.solved)
            line = thought.principal_variation
            decision = replace(
                decision, search_mode="strong", move=thought.move, pick=pick, principal_variation=line
            )
        return decision.with_chosen(self._exact(decision.chosen, position, decision.depth))

    def _exact(self, candidate: Candidate, position: Any, depth: int) -> Candidate:
        """The candidate with its exact raw value, by which its replies are judged."""
        if not candidate.raw_is_bound:
            return candidate
        after = self._game.play(position, self._game.parse_move(position, candidate.move))
        raw = -exact_score(self._searcher, after, depth - 1, StopFlag())
        over = not self._game.legal_moves(after)
        return Candidate(candidate.move, raw, raw_is_bound=False, adjusted_centi=raw, complete=over)

    def _is_settled(self, position: Any, candidates: list[Candidate], depth: int, stop: StopFlag) -> bool:
        """Whether a deeper search could tell nothing new: the best score is the game's true result.

        Deeper searches would repeat it at every depth, and so take the shallow scores' weight in the trap
        arithmetic.  A lost game is searched to its very end, lest an escape be one on the horizon only.
        """
        most = self._game.most_plies_left(position)
        if depth >= most:
            return True
        best = max(c.raw_centi for c in candidates if not c.raw_is_bound)
        if most > 2 * depth or best <= -WIN_CENTI:
            return False
        return best == exact_score(self._searcher, position, most, stop)

    def _candidates(self, profiler: Profiler, position: Any, depth: int, stop: StopFlag) -> list[Candidate]:
        """Candidates at a depth, as far as this kind of player needs them."""
        if self.kind != "trappy":
            return profiler.plain(depth)
        if isinstance(self._searcher, LazySource):
            return self._searcher.trappy_candidates(position, depth, self._params, stop)
        return profiler.pruned_candidates(depth)

    def _line(self, position: Any, depth: int, hurried: bool) -> tuple[str, ...]:
        """The principal variation, if the table still knows nearly all of it."""
        brief = StopFlag()
        brief.set_node_limit(_LINE_NODES // 10 if hurried else _LINE_NODES)
        try:
            return principal_variation(self._game, self._searcher, position, depth, brief)
        except Stopped:
            return ()


def complete(decision: Decision, searcher: Searcher, stop: StopFlag) -> Decision:
    """The decision with its chosen move's whole profile, worked out from the record's own parameters.

    Not needed for the choice, but for judging the reply, so it is done on the opponent's time.  Scores are
    exact, so it may be done later, by another process, and gives the same.

    Raises:
        Stopped: The flag was set first.
        ValueError: The record contradicts what the search finds: it is from another engine version.
    """
    if decision.is_complete:
        return decision
    game = get_game(decision.game)
    position = game.parse_position(decision.position)
    profiler = Profiler(game, searcher, position, decision.params, stop)
    full = whole_profile(profiler, game, decision.chosen, decision.depth)
    worst = min((reply.final_centi for reply in full.replies), default=full.raw_centi)
    if worst != full.raw_centi:
        raise ValueError(
            f"{decision.move} was recorded at {full.raw_centi}, engine {ENGINE_VERSION} finds {worst}: "
            f"the decision was made by engine {decision.engine_version}"
        )
    swindle = is_swindle(decision.candidates, decision.params)
    completed = with_trap(full, decision.params, swindle or decision.player != "trappy")
    return decision.with_chosen(completed)
