"""Players: a position and limits in, a `Decision` out."""

import time
from typing import Any

from engine import ENGINE_VERSION
from engine.decision import Candidate, Decision
from engine.game import Game
from engine.games import get_game
from engine.limits import Limits
from engine.params import TrapParams
from engine.profiles import Profiler, is_settled, whole_profile
from engine.search import Searcher, principal_variation
from engine.stop import StopFlag, Stopped
from engine.trappy import choose, is_swindle, with_trap

PLAYER_KINDS = ("standard", "trappy")
"""``standard``: minimax by alpha-beta.  ``trappy``: trappy minimax."""

_FIRST_DEPTH = 2
# A new iteration usually costs several times all before it: started later than this, it would not finish.
_LAST_START = 0.5


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
        depth = _FIRST_DEPTH
        unhurried = StopFlag()
        candidates = self._iterate(Profiler(game, self._searcher, position, self._params, unhurried), depth)
        line = principal_variation(game, self._searcher, position, depth, unhurried)
        profiler = Profiler(game, self._searcher, position, self._params, stop)
        plies_left = game.plies_left(position)
        try:
            for deeper in range(_FIRST_DEPTH + 1, limits.depth + 1):
                late = limits.time_s is not None and time.monotonic() - began > _LAST_START * limits.time_s
                if stop.is_set() or late or is_settled(candidates, plies_left, depth):
                    break
                found = self._iterate(profiler, deeper)
                line = principal_variation(game, self._searcher, position, deeper, stop)
                candidates, depth = found, deeper
        except Stopped:
            pass  # the last whole iteration stands
        return Decision(
            game=game.name,
            position=game.position_text(position),
            player=self.kind,
            params=self._params,
            move=choose(candidates, self.kind, self._params),
            candidates=tuple(candidates),
            depth=depth,
            principal_variation=line,
            nodes=self._searcher.nodes - nodes_before,
            time_s=time.monotonic() - began,
            profile_source=self._searcher.source,
            engine_version=ENGINE_VERSION,
        )

    def _iterate(self, profiler: Profiler, depth: int) -> list[Candidate]:
        return profiler.plain(depth) if self.kind == "standard" else profiler.lazy_candidates(depth)


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
    completed = with_trap(full, decision.params, swindle or decision.player == "standard")
    return decision.with_chosen(completed)
