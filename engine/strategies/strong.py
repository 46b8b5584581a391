"""The best move in the time available, from books, solved endgames, tables or the selective search."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from engine.decision import Decision, DirectMove, SearchMode
from engine.human.opponent_model_search import OpponentModelSearch
from engine.search.searchers import NativeSearcher
from engine.stop import Stopped
from engine.strategies.known_moves import KnownMoves
from engine.strategies.move_context import MAX_SEARCH_S, MIN_SEARCH_S, MoveContext
from engine.strategies.records import verify_unscored_choice
from engine.time_management import Limits


@dataclass(frozen=True, kw_only=True)
class Strong(KnownMoves):
    """Uses selective search, or full-width search in games that have no selective search."""

    searches_selectively: ClassVar[bool] = True

    def search(self, context: MoveContext, people: OpponentModelSearch | None) -> Decision:
        """See `Strategy.search`."""
        searcher, options = context.use.searcher, context.use.strong
        if not isinstance(searcher, NativeSearcher):
            return super().search(context, people)
        nodes_before = searcher.nodes
        decision = self.standard_decision(context)
        limits = self._remaining_limits(context, searcher.nodes - nodes_before)
        try:
            result = searcher.think(
                context.root,
                limits.depth,
                limits.time_s,
                context.stop,
                confidence_percent=options.confidence_percent,
                threads=options.threads,
                contempt_centi=options.contempt_centi,
                nodes=limits.nodes,
            )
        except Stopped:
            return context.with_variation(decision)
        pick = DirectMove(result.score_centi, result.depth, result.confidence_percent, result.solved)
        decision = replace(
            decision,
            search_mode=SearchMode.STRONG,
            move=result.move,
            pick=pick,
            principal_variation=result.principal_variation,
        )
        decision = context.with_exact_choice(decision)
        return decision if decision.principal_variation else context.with_variation(decision)

    def _remaining_limits(self, context: MoveContext, judged_nodes: int) -> Limits:
        """The limits that remain for the selective search after the moves have been judged.

        With only a depth limit, the search is as deep as in other strategies; otherwise, it is as deep as its
        limits allow.
        """
        limits, rest = context.limits, context.limits
        if limits.time_s is not None or limits.nodes is not None:
            deepest = min(max(limits.depth, context.use.strong.depth), context.use.game.deepest_search)
            rest = replace(rest, depth=deepest)
        if limits.time_s is not None:
            # If it picks another move, that move needs an exact value: part of the time all of them took.
            left_s = limits.time_s - 1.5 * (context.stop.now_s() - context.began_s)
            rest = replace(rest, time_s=min(max(MIN_SEARCH_S, left_s), MAX_SEARCH_S))
        if limits.nodes is not None:
            rest = replace(rest, nodes=max(1, limits.nodes - judged_nodes))
        return rest

    def verifiers_by_mode(self) -> Mapping[SearchMode, Callable[[Decision], None]]:
        """See `Strategy.verifiers_by_mode`."""
        return {**super().verifiers_by_mode(), SearchMode.STRONG: verify_unscored_choice}


STRONG = Strong(name="strong")
