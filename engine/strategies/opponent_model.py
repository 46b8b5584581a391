"""Plays the move with the highest expected value over the replies that a human-move model predicts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from engine.decision import Candidate, Decision
from engine.human.model import BadModel
from engine.human.opponent_model_search import OpponentModelSearch
from engine.human.opponent_value import choose_by_value, is_chosen_by_value, verify_values
from engine.params import OpponentParams, TrapParams
from engine.stop import Stopped
from engine.strategies.move_context import RAW_ANALYSIS, Analysis, MoveContext
from engine.strategies.strategy import Strategy

_MIN_MODEL_S = 0.05  # with less time no model is queried: a network cannot be stopped while it runs
_NO_TIME = "there was no time to query the model"


@dataclass(frozen=True, kw_only=True)
class OpponentModel(Strategy):
    """Values moves with `engine.human.opponent_value`; plays like standard while the model is unavailable.

    Of what is known of the person, the probabilities here get only the memory: their own replies in the same
    position. That is the larger part, and it holds for any model of people. The tilt needs the costs of all
    replies, of which only the likely ones are searched, and tilt and vector were learned as corrections of
    the game's calibrated model. A remembered reply that becomes likely is searched.
    """

    sets_traps: ClassVar[bool] = True
    models_opponent: ClassVar[bool] = True

    def decide(self, context: MoveContext) -> Decision:
        """See `Strategy.decide`."""
        people = context.opponent_model_search(is_calibrated=self.is_calibrated)
        time_s, trouble = context.limits.time_s, ""
        if context.stop.is_set() or (time_s is not None and time_s < _MIN_MODEL_S):
            decision, trouble = self.search(context, None), _NO_TIME
        else:
            try:
                decision = self.search(context, people)
            except BadModel as error:
                trouble = people.record_failure(error)
                decision = self.search(context, None)
            except Stopped:  # before the model had judged the moves of the first iteration
                decision, trouble = self.search(context, None), _NO_TIME
        model, use = people.model(decision.candidates), people.model_use(decision, trouble)
        return replace(decision, model=model, model_use=use)

    def analysis(self, context: MoveContext, people: OpponentModelSearch | None) -> Analysis:  # noqa: ARG002
        """See `Strategy.analysis`."""
        if people is None:
            return RAW_ANALYSIS
        return Analysis(people.from_profiler, is_costly=True)

    def best_move(self, candidates: Sequence[Candidate], params: TrapParams) -> str:  # noqa: ARG002
        """See `Strategy.best_move`."""
        return choose_by_value(candidates)

    def max_cost(self, decision: Decision, best: int) -> float:
        """See `Strategy.max_cost`."""
        params = OpponentParams() if decision.model_use is None else decision.model_use.value
        return min(params.risk_budget, params.share_percent / 100 * best)

    def verify_choice(self, decision: Decision) -> None:
        """See `Strategy.verify_choice`."""
        verify_values(decision)
        super().verify_choice(decision)

    def verify_scores(self, decision: Decision) -> None:
        """See `Strategy.verify_scores`; also verifies expected values, if the record has any."""
        if is_chosen_by_value(decision):
            self.verify_choice(decision)
        else:
            super().verify_scores(decision)


OPPONENT_MODEL = OpponentModel(name="opponent_model")
