"""The trappy strategy, except that on some moves a random number decides whether to set the trap."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from engine.decision import Decision, SearchMode
from engine.randomised import verify_trial, with_draw, without_draw
from engine.strategies.move_context import MoveContext
from engine.strategies.trappy import Trappy

# The rest is for the replies to both moves: with .75, a third of them are lost.
_OWN_SHARE = 0.6


@dataclass(frozen=True, kw_only=True)
class Randomised(Trappy):
    """Runs a micro-randomised trial (`engine.randomised`) with people; plays like trappy against programs."""

    draws_decisions: ClassVar[bool] = True
    is_compared: ClassVar[bool] = False

    def decide(self, context: MoveContext) -> Decision:
        """See `Strategy.decide`."""
        if context.seed is None:
            return super().decide(context)
        decision, use = super().decide(context.with_share(_OWN_SHARE)), context.use
        return with_draw(
            decision, use.game, context.root, use.searcher, use.randomised, context.seed, context.stop
        )

    def verify(self, decision: Decision) -> None:
        """See `Strategy.verify`."""
        if decision.search_mode is SearchMode.TRIAL:
            super().verify(without_draw(decision))
            verify_trial(decision)
        else:
            super().verify(decision)

    def verifiers_by_mode(self) -> Mapping[SearchMode, Callable[[Decision], None]]:
        """See `Strategy.verifiers_by_mode`."""
        return {**super().verifiers_by_mode(), SearchMode.TRIAL: verify_trial}


RANDOMISED = Randomised(name="randomised")
