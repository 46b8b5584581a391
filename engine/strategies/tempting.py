"""Plays the move whose replies are most tempting, computed in exact integers from shallow scores alone."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

from engine.decision import Candidate, Decision
from engine.errors import RecordError
from engine.human.opponent_model_search import OpponentModelSearch
from engine.params import TemptingParams, TrapParams
from engine.search.profiles import Profiler, whole_profile
from engine.search.searchers import NativeSearcher
from engine.strategies.move_context import Analysis, MoveContext
from engine.strategies.records import verify_pruned_candidates
from engine.strategies.strategy import Strategy
from engine.tempting import MIN_DEPTH, choose_tempting, contender_floor_centi, verify_tempting
from engine.trappy import best_standing, is_swindle, with_trap


@dataclass(frozen=True, kw_only=True)
class Tempting(Strategy):
    """Uses the arithmetic of `engine.tempting`; plays like trappy in positions with a forced loss."""

    settings: TemptingParams = field(default_factory=TemptingParams)

    sets_traps: ClassVar[bool] = True

    def for_position(self, expected_scale_centi: float) -> Self:
        """See `Strategy.for_position`."""
        return replace(self, settings=self.settings.for_position(expected_scale_centi))

    def analysis(self, context: MoveContext, people: OpponentModelSearch | None) -> Analysis:  # noqa: ARG002
        """See `Strategy.analysis`."""
        return Analysis(
            lambda profiler, depth: self._candidates(profiler, depth, context.params), is_costly=True
        )

    def _candidates(self, profiler: Profiler, depth: int, params: TrapParams) -> list[Candidate]:
        """Return candidates that suffice to prove that the full table would give the same choice."""
        if depth < MIN_DEPTH:
            return profiler.raw_candidates(depth)
        if isinstance(profiler.searcher, NativeSearcher):
            return profiler.searcher.tempting_candidates(
                profiler.position, depth, params, self.settings, profiler.stop
            )

        def floor(best_centi: int) -> int:
            return contender_floor_centi(best_centi, self.settings, params.decided)

        candidates = profiler.raw_candidates_above(depth, floor)
        least = floor(max(c.raw_centi for c in candidates if not c.raw_is_bound))
        if is_swindle(candidates, params):
            return profiler.pruned_candidates(depth)
        return [
            with_trap(c if c.raw_centi < least else whole_profile(profiler, c, depth), params, swindle=True)
            for c in candidates
        ]

    def decision_from(self, context: MoveContext, candidates: Sequence[Candidate], depth: int) -> Decision:
        """See `Strategy.decision_from`; the record also has the strategy's settings."""
        return replace(super().decision_from(context, candidates, depth), tempting=self.settings)

    def best_move(self, candidates: Sequence[Candidate], params: TrapParams) -> str:
        """See `Strategy.best_move`."""
        if is_swindle(candidates, params):
            return best_standing(candidates, params, swindle=True)
        return choose_tempting(candidates, self.settings, params.decided)

    def max_cost(self, decision: Decision, best: int) -> float:
        """See `Strategy.max_cost`."""
        settings = decision.tempting or self.settings
        return min(settings.budget, settings.share_percent * best // 100)

    def rank_candidates(self, profiler: Profiler, depth: int, params: TrapParams) -> list[Candidate]:
        """See `Strategy.rank_candidates`."""
        exact = super().rank_candidates(profiler, depth, params)
        if depth < MIN_DEPTH:
            return exact
        if is_swindle(exact, params):
            return profiler.pruned_candidates(depth)
        candidates = self._candidates(profiler, depth, params)
        return [
            plain if known.raw_is_bound else known for plain, known in zip(exact, candidates, strict=True)
        ]

    def verify_scores(self, decision: Decision) -> None:
        """See `Strategy.verify_scores`; uses the settings from the decision's record."""
        if decision.tempting is None:
            raise RecordError(f"the {self.name} player needs its settings, but the record has none")
        replace(self, settings=decision.tempting).verify_choice(decision)
        swindle = is_swindle(decision.candidates, decision.params)
        if decision.depth < MIN_DEPTH or swindle:
            counts_bonus = swindle and decision.depth >= MIN_DEPTH
            verify_pruned_candidates(decision, counts_bonus=counts_bonus, swindle=swindle)
        else:
            verify_tempting(decision, decision.tempting)


TEMPTING = Tempting(name="tempting")
