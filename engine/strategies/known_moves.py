"""Strategies that choose moves without our exact scores, which serve only to judge the replies."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from engine.decision import Decision, SearchMode
from engine.lookup.source import LookupMove
from engine.strategies.move_context import MoveContext
from engine.strategies.records import verify_unscored_choice
from engine.strategies.standard import Standard
from engine.strategies.technique import LOOKUP_MODES, decide_from_lookup


@dataclass(frozen=True, kw_only=True)
class KnownMoves(Standard):
    """Plays a book or tablebase move in every position that a book or tablebase covers."""

    looks_up: ClassVar[bool] = True
    is_compared: ClassVar[bool] = False

    def decide_from_lookup(self, context: MoveContext, known: LookupMove) -> Decision:
        """See `Strategy.decide_from_lookup`."""
        return decide_from_lookup(context, known)

    def verifiers_by_mode(self) -> Mapping[SearchMode, Callable[[Decision], None]]:
        """See `Strategy.verifiers_by_mode`."""
        return {**super().verifiers_by_mode(), **dict.fromkeys(LOOKUP_MODES, verify_unscored_choice)}
