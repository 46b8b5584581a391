"""Trappy minimax: the raw value plus a bonus for the best trap."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from engine.decision import Candidate, Decision
from engine.human.opponent_model_search import OpponentModelSearch
from engine.params import TrapParams
from engine.search.profiles import Profiler
from engine.search.searchers import NativeSearcher
from engine.strategies.move_context import Analysis, MoveContext
from engine.strategies.strategy import Strategy
from engine.trappy import best_standing, is_swindle


@dataclass(frozen=True, kw_only=True)
class Trappy(Strategy):
    """Plays the move that `engine.trappy` ranks highest; ties go to the higher raw value, then to the
    first move."""

    sets_traps: ClassVar[bool] = True
    counts_bonus: ClassVar[bool] = True
    is_compared: ClassVar[bool] = True

    def analysis(self, context: MoveContext, people: OpponentModelSearch | None) -> Analysis:  # noqa: ARG002
        """See `Strategy.analysis`."""
        return Analysis(lambda profiler, depth: _candidates(profiler, depth, context.params), is_costly=True)

    def best_move(self, candidates: Sequence[Candidate], params: TrapParams) -> str:
        """See `Strategy.best_move`."""
        return best_standing(candidates, params, is_swindle(candidates, params))

    def max_cost(self, decision: Decision, best: int) -> float:
        """See `Strategy.max_cost`; the paper's scale, whose bonus has no such limit, gets the same one."""
        params = decision.params
        return min(params.risk_budget, params.risk_share_percent / 100 * best)

    def rank_candidates(self, profiler: Profiler, depth: int, params: TrapParams) -> list[Candidate]:
        """See `Strategy.rank_candidates`."""
        if depth < 2:
            return super().rank_candidates(profiler, depth, params)
        return profiler.pruned_candidates(depth)


def _candidates(profiler: Profiler, depth: int, params: TrapParams) -> list[Candidate]:
    if isinstance(profiler.searcher, NativeSearcher):
        return profiler.searcher.trappy_candidates(profiler.position, depth, params, profiler.stop)
    return profiler.pruned_candidates(depth)


TRAPPY = Trappy(name="trappy")
