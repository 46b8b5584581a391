"""Players: a position and limits in, a `Decision` out."""

import time
from typing import Any

from engine import ENGINE_VERSION
from engine.decision import Candidate, Decision
from engine.game import WIN_CENTI, Game
from engine.games import get_game
from engine.limits import Limits
from engine.params import TrapParams
from engine.profiles import LazySource, Profiler, whole_profile
from engine.search import Searcher, exact_score, principal_variation
from engine.stop import StopFlag, Stopped
from engine.trappy import choose, is_swindle, with_trap

PLAYER_KINDS = ("standard", "trappy")
"""``standard``: minimax by alpha-beta.  ``trappy``: trappy minimax."""

_FIRST_DEPTH = 2
# A new iteration usually costs several times all before it: started later than this part of the time, it
# would not finish.
_LAST_START = 0.35
# Trap analysis costs about as much as all plain iterations up to its depth, so only the last one gets it, and
# now and then one before, lest a search that is stopped had nothing to show.
_ANALYSE_EVERY = 3
_LINE_NODES = 100_000


class Player:
    """One of the players of `PLAYER_KINDS`; for one thread at a time, like its searcher."""

    def __init__(self, kind: str, game: Game[Any], params: TrapParams, searcher: Searcher) -> None:
        """
        Raises:
            ValueError: No player of that kind.
        """
        if kind not in PLAYER_KINDS:
            raise ValueError(f"no player named {kind!r}; known: {', '.join(PLAYER_KINDS)}")
        self.kind = kind
        self._game = game
        self._params = params
        self._searcher = searcher

    def choose(self, position: Any, limits: Limits, stop: StopFlag) -> Decision:
        """Search by iterative deepening and choose a move.

        A search that is stopped falls back on the deepest iteration that was finished; the first one, two
        plies, is always finished, so there is always a decision.

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
        depth = reached = _FIRST_DEPTH
        unhurried = StopFlag()
        candidates = latest = self._candidates(
            Profiler(game, self._searcher, position, self._params, unhurried), position, depth, unhurried
        )
        profiler = Profiler(game, self._searcher, position, self._params, stop)
        try:
            while reached < limits.depth and not stop.is_set():
                late = limits.time_s is not None and time.monotonic() - began > _LAST_START * limits.time_s
                if late or self._is_settled(position, latest, reached, stop):
                    break
                if self.kind == "standard" or (limits.depth - reached - 1) % _ANALYSE_EVERY == 0:
                    latest = self._candidates(profiler, position, reached + 1, stop)
                    candidates, depth = latest, reached + 1
                else:
                    latest = profiler.plain(reached + 1)
                reached += 1
            if reached > depth:
                candidates, depth = self._candidates(profiler, position, reached, stop), reached
        except Stopped:
            pass  # the last whole iteration stands
        line = self._line(position, depth)
        return Decision(
            game=game.name,
            position=game.position_text(position),
            player=self.kind,
            params=self._params,
            move=choose(candidates, self.kind, self._params),
            candidates=tuple(candidates),
            depth=depth,
            principal_variation=line or (choose(candidates, "standard", self._params),),
            nodes=self._searcher.nodes - nodes_before,
            time_s=time.monotonic() - began,
            profile_source=self._searcher.source,
            engine_version=ENGINE_VERSION,
        )

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
        if self.kind == "standard":
            return profiler.plain(depth)
        if isinstance(self._searcher, LazySource):
            return self._searcher.trappy_candidates(position, depth, self._params, stop)
        return profiler.naive_candidates(depth)

    def _line(self, position: Any, depth: int) -> tuple[str, ...]:
        """The principal variation, if the table still knows nearly all of it."""
        brief = StopFlag()
        brief.set_node_limit(_LINE_NODES)
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
