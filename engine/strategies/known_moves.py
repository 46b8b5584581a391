"""Strategies that choose moves without our exact scores, which serve only to judge the replies."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from engine.decision import Decision, SearchMode
from engine.lookup.source import LookupMove
from engine.strategies.move_context import RAW_ANALYSIS, MoveContext, share_of
from engine.strategies.records import verify_unscored_choice
from engine.strategies.standard import Standard

# A move's replies are judged by exact scores of this depth, deep enough to see what people see, or of the
# depth that this share of the time or nodes allows: eight plies of Othello take milliseconds, of chess a
# second.
_REPLY_SEARCH_DEPTH = 8
_REPLY_SEARCH_SHARE = 0.05

LOOKUP_MODES = (SearchMode.BOOK, SearchMode.TABLEBASE, SearchMode.EXPLORER, SearchMode.ONLINE_TABLEBASE)
"""The modes recorded for moves from opening books and tablebases."""


@dataclass(frozen=True, kw_only=True)
class KnownMoves(Standard):
    """Plays a book or tablebase move in every position that a book or tablebase covers."""

    looks_up: ClassVar[bool] = True
    is_compared: ClassVar[bool] = False

    def decide_from_lookup(self, context: MoveContext, known: LookupMove) -> Decision:
        """See `Strategy.decide_from_lookup`."""
        move = context.use.game.move_text(known.move)
        decision = replace(
            self.standard_decision(context),
            search_mode=known.mode,
            move=move,
            pick=known.pick,
            principal_variation=(move,),
        )
        return context.with_exact_choice(decision)

    def standard_decision(self, context: MoveContext) -> Decision:
        """The standard strategy's choice, from a search just deep enough to judge the replies."""
        most = context.own_limits()
        most = replace(share_of(most, _REPLY_SEARCH_SHARE), depth=min(most.depth, _REPLY_SEARCH_DEPTH))
        return self.decision_from(context, *context.deepen(RAW_ANALYSIS, most))

    def verifiers_by_mode(self) -> Mapping[SearchMode, Callable[[Decision], None]]:
        """See `Strategy.verifiers_by_mode`."""
        return {**super().verifiers_by_mode(), **dict.fromkeys(LOOKUP_MODES, verify_unscored_choice)}
