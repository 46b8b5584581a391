"""Alpha-beta minimax, at full strength or at a lower level."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from engine.decision import Candidate
from engine.human.opponent_model_search import OpponentModelSearch
from engine.params import TrapParams
from engine.strategies.move_context import RAW_ANALYSIS, Analysis, MoveContext, best_raw_move
from engine.strategies.strategy import Strategy


@dataclass(frozen=True, kw_only=True)
class Standard(Strategy):
    """Plays the move with the highest raw value; among equal moves, the first."""

    is_compared: ClassVar[bool] = True

    def analysis(self, context: MoveContext, people: OpponentModelSearch | None) -> Analysis:  # noqa: ARG002
        """See `Strategy.analysis`."""
        return RAW_ANALYSIS

    def best_move(self, candidates: Sequence[Candidate], params: TrapParams) -> str:  # noqa: ARG002
        """See `Strategy.best_move`."""
        return best_raw_move(candidates)


STANDARD = Standard(name="standard")
