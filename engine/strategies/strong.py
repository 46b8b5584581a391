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
from engine.strategies.technique import think


@dataclass(frozen=True, kw_only=True)
class Strong(KnownMoves):
    """Uses selective search, or full-width search in games that have no selective search."""

    searches_selectively: ClassVar[bool] = True

    def search(self, context: MoveContext, people: OpponentModelSearch | None) -> Decision:
        """See `Strategy.search`."""
        searcher = context.use.searcher
        if not isinstance(searcher, NativeSearcher):
            return super().search(context, people)
        nodes_before = searcher.nodes
        decision = self.standard_decision(context)
        try:
            return think(context, searcher, decision, searcher.nodes - nodes_before)
        except Stopped:
            return context.with_variation(decision)

    def verifiers_by_mode(self) -> Mapping[SearchMode, Callable[[Decision], None]]:
        """See `Strategy.verifiers_by_mode`."""
        return {**super().verifiers_by_mode(), SearchMode.STRONG: verify_unscored_choice}


STRONG = Strong(name="strong")
