"""The best move in the time available, from books, solved endgames, tables or the selective search."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from engine.decision import Decision, SearchMode
from engine.human.opponent_model_search import OpponentModelSearch
from engine.search.searchers import NativeSearcher
from engine.stop import Stopped
from engine.strategies.known_moves import KnownMoves
from engine.strategies.move_context import MoveContext
from engine.strategies.records import verify_unscored_choice
from engine.strategies.technique import judged_move, think, without_repetition


@dataclass(frozen=True, kw_only=True)
class Strong(KnownMoves):
    """Uses selective search, or full-width search in games that have no selective search."""

    searches_selectively: ClassVar[bool] = True
    wins_plainly: ClassVar[bool] = False

    def search(self, context: MoveContext, people: OpponentModelSearch | None) -> Decision:
        """See `Strategy.search`."""
        searcher = context.use.searcher
        if not isinstance(searcher, NativeSearcher):
            return super().search(context, people)
        nodes_before = searcher.nodes
        decision = judged_move(context)
        try:
            nodes = searcher.nodes - nodes_before
            decision = think(context, searcher, decision, nodes, context.use.strong.depth)
        except Stopped:
            return context.with_variation(decision)
        return without_repetition(context, decision) if context.use.wins_plainly else decision

    def verifiers_by_mode(self) -> Mapping[SearchMode, Callable[[Decision], None]]:
        """See `Strategy.verifiers_by_mode`."""
        return {**super().verifiers_by_mode(), SearchMode.STRONG: verify_unscored_choice}


STRONG = Strong(name="strong")
