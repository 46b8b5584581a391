"""The trappy player, but in some decisions a draw decides whether it sets the trap."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from engine.decision import Decision, SearchMode
from engine.randomised import before_draw, verify_trial, with_draw
from engine.strategies.trappy import Trappy
from engine.strategies.turn import Turn

# The rest is for the replies to both moves: with .75, a third of them are lost.
_OWN_SHARE = 0.6


@dataclass(frozen=True, kw_only=True)
class Randomised(Trappy):
    """A micro-randomised trial (`engine.randomised`) against people; against programs the trappy player."""

    draws_decisions: ClassVar[bool] = True
    is_compared: ClassVar[bool] = False

    def decide(self, turn: Turn) -> Decision:
        """See `Strategy.decide`."""
        if turn.seed is None:
            return super().decide(turn)
        decision, use = super().decide(turn.with_share(_OWN_SHARE)), turn.use
        return with_draw(decision, use.game, turn.root, use.searcher, use.randomised, turn.seed, turn.stop)

    def verify(self, decision: Decision) -> None:
        """See `Strategy.verify`."""
        if decision.search_mode is SearchMode.TRIAL:
            super().verify(before_draw(decision))
            verify_trial(decision)
        else:
            super().verify(decision)

    def modes(self) -> Mapping[SearchMode, Callable[[Decision], None]]:
        """See `Strategy.modes`."""
        return {**super().modes(), SearchMode.TRIAL: verify_trial}


RANDOMISED = Randomised(name="randomised")
