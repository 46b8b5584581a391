"""The move whose replies tempt most by shallow scores, in exact integers and without a model of people."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

from engine.decision import Candidate, Decision
from engine.errors import RecordError
from engine.human.opponent_model_search import OpponentModelSearch
from engine.params import TemptingParams, TrapParams
from engine.search.profiles import Profiler
from engine.search.tempting_search import TemptingSource, tempting_candidates, with_tempting_bounds
from engine.stop import StopFlag
from engine.strategies.move_context import Analysis, MoveContext
from engine.strategies.records import verify_left_out
from engine.strategies.strategy import Strategy
from engine.tempting_player import LEAST_DEPTH, choose_tempting, verify_tempting
from engine.trappy import best_standing, is_swindle


@dataclass(frozen=True, kw_only=True)
class Tempting(Strategy):
    """Plays by the arithmetic of `engine.tempting_player`; positions lost by force as the trappy player."""

    settings: TemptingParams = field(default_factory=TemptingParams)

    sets_traps: ClassVar[bool] = True

    def for_position(self, expected_scale_centi: float) -> Self:
        """See `Strategy.for_position`."""
        return replace(self, settings=self.settings.for_position(expected_scale_centi))

    def analysis(self, context: MoveContext, people: OpponentModelSearch | None) -> Analysis:  # noqa: ARG002
        """See `Strategy.analysis`."""
        searcher = context.use.searcher

        def candidates_at(profiler: Profiler, depth: int, stop: StopFlag) -> list[Candidate]:
            if depth >= LEAST_DEPTH and isinstance(searcher, TemptingSource):
                return searcher.tempting_candidates(context.root, depth, context.params, self.settings, stop)
            return tempting_candidates(profiler, depth, context.params, self.settings)

        return Analysis(candidates_at, is_costly=True)

    def by_scores(self, context: MoveContext, candidates: Sequence[Candidate], depth: int) -> Decision:
        """See `Strategy.by_scores`: the record has the player's settings."""
        return replace(super().by_scores(context, candidates, depth), tempting=self.settings)

    def best_move(self, candidates: Sequence[Candidate], params: TrapParams) -> str:
        """See `Strategy.best_move`."""
        if is_swindle(candidates, params):
            return best_standing(candidates, params, swindle=True)
        return choose_tempting(candidates, self.settings, params.decided)

    def ranked(self, profiler: Profiler, depth: int, params: TrapParams) -> list[Candidate]:
        """See `Strategy.ranked`."""
        candidates = super().ranked(profiler, depth, params)
        if depth < LEAST_DEPTH:
            return candidates
        if is_swindle(candidates, params):
            return profiler.pruned_candidates(depth)
        return with_tempting_bounds(candidates, profiler, depth, params, self.settings)

    def verify_scores(self, decision: Decision) -> None:
        """See `Strategy.verify_scores`: by the settings of the record."""
        if decision.tempting is None:
            raise RecordError(f"the {self.name} player needs its settings, but the record has none")
        replace(self, settings=decision.tempting).verify_choice(decision)
        swindle = is_swindle(decision.candidates, decision.params)
        if decision.depth < LEAST_DEPTH or swindle:
            counts_bonus = swindle and decision.depth >= LEAST_DEPTH
            verify_left_out(decision, counts_bonus=counts_bonus, swindle=swindle)
        else:
            verify_tempting(decision, decision.tempting)


TEMPTING = Tempting(name="tempting")
