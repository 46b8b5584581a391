"""Strategies whose moves do not come from our exact scores; these scores only judge the replies."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from engine.decision import Decision, SearchMode
from engine.lookup.source import LookupMove
from engine.strategies.move_context import PLAIN, MoveContext, share_of
from engine.strategies.records import verify_pick
from engine.strategies.standard import Standard

# A move's replies are judged by exact scores of this depth, deep enough to see what people see, or of the
# depth that this share of the time or nodes allows: eight plies of Othello take milliseconds, of chess a
# second.
_JUDGED_DEPTH = 8
_JUDGED_SHARE = 0.05

LOOKED_UP = (SearchMode.BOOK, SearchMode.TABLEBASE, SearchMode.EXPLORER, SearchMode.ONLINE_TABLEBASE)
"""The search modes of moves from books and tables."""


@dataclass(frozen=True, kw_only=True)
class KnownMoves(Standard):
    """Plays the moves of books and tables for the positions in them."""

    looks_up: ClassVar[bool] = True
    is_compared: ClassVar[bool] = False

    def play_known(self, context: MoveContext, known: LookupMove) -> Decision:
        """See `Strategy.play_known`."""
        move = context.use.game.move_text(known.move)
        decision = replace(
            self.judged(context),
            search_mode=known.mode,
            move=move,
            pick=known.pick,
            principal_variation=(move,),
        )
        return context.with_exact_choice(decision)

    def judged(self, context: MoveContext) -> Decision:
        """The standard strategy's choice, from a search that suffices to judge the replies."""
        most = context.own_limits()
        most = replace(share_of(most, _JUDGED_SHARE), depth=min(most.depth, _JUDGED_DEPTH))
        return self.by_scores(context, *context.deepen(PLAIN, most))

    def modes(self) -> Mapping[SearchMode, Callable[[Decision], None]]:
        """See `Strategy.modes`."""
        return {**super().modes(), **dict.fromkeys(LOOKED_UP, verify_pick)}
