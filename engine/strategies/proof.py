"""Proof: a move preferred to the best one is played only if it costs little by a deeper search, too.

The exact scores by which a strategy chooses are a few plies deep, and a preferred move is the one whose cost
they underestimate most often. So the positions after the preferred and after the best move are searched by
the selective search, which solves them near the end of the game. The preferred move stands if it costs no
more than `BUDGET_SHARE_PERCENT` of the strategy's budget (`engine.strategies.strategy.Strategy.max_cost`):
these scores have errors, too, so the full budget would be exceeded too often. Otherwise, or without a result,
the best move is played. The searches have `SHARE` of the move's time and nodes.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from engine.decision import Decision, Proof, SearchMode
from engine.errors import RecordError
from engine.expected import expected_score
from engine.figure_9 import expected_scale_centi
from engine.game import WIN_CENTI
from engine.search.searchers import NativeSearcher
from engine.stop import Stopped
from engine.strategies.move_context import MoveContext, best_raw_move, share_of

SHARE = 0.1
"""Share of a move's time and nodes that is kept for the proof."""

BUDGET_SHARE_PERCENT = 50
"""Share of the budget that a preferred move may cost by the proof."""

_NODES_WITHOUT_LIMIT = 20_000  # of each search, if only the depth is limited
_MAX_DEPTH_GAP = 2  # plies by which the search of the preferred move may be less deep

MaxCost = Callable[[Decision, int], float | None]
"""See `engine.strategies.strategy.Strategy.max_cost`."""


class _Result(NamedTuple):
    score_centi: int | None
    depth: int
    is_solved: bool = False


def with_reserve(context: MoveContext) -> MoveContext:
    """The context of the search for a move that may have to be proved: some time and nodes are kept back."""
    return context.within(share_of(context.limits, 1 - SHARE))


def proved(context: MoveContext, decision: Decision, max_cost: MaxCost) -> Decision:
    """The decision with the proof of its move, or with the best move if the proof fails.

    It is left as it is if it has a proof already, its move is the best one or was not chosen by our own exact
    scores, every move loses by force, or the game has no selective search.
    """
    if decision.proof is not None or decision.search_mode is not SearchMode.EXACT:
        return decision
    proof = proof_of(context, decision, decision.move, max_cost)
    if proof is None:
        return decision
    return replace(decision, proof=proof, move=decision.move if proof.stood else proof.best)


def proof_of(context: MoveContext, decision: Decision, move: str, max_cost: MaxCost) -> Proof | None:
    """The proof of a move that is played instead of the best one; None if no proof is needed or possible."""
    searcher, best = context.use.searcher, best_raw_move(decision.candidates)
    best_centi = next(each.raw_centi for each in decision.candidates if each.move == best)
    if move == best or best_centi <= -WIN_CENTI or not isinstance(searcher, NativeSearcher):
        return None
    nodes_before = searcher.nodes
    first, second = (_search(context, searcher, each) for each in (best, move))
    if second.depth < first.depth - _MAX_DEPTH_GAP and not second.is_solved:  # it was cut short
        second = _Result(None, 0)
    proof = Proof(
        preferred=move,
        best=best,
        preferred_centi=second.score_centi,
        best_centi=first.score_centi,
        preferred_depth=second.depth,
        best_depth=first.depth,
        nodes=searcher.nodes - nodes_before,
        budget_share_percent=BUDGET_SHARE_PERCENT,
        stood=False,
    )
    return replace(proof, stood=_stands(decision, proof, max_cost))


def cost(decision: Decision, proof: Proof) -> int | None:
    """The preferred move's cost by the proof, in hundredths of a per cent; None if a search had no result."""
    if proof.preferred_centi is None or proof.best_centi is None:
        return None
    scale_centi = expected_scale_centi(decision)
    return expected_score(proof.best_centi, scale_centi) - expected_score(proof.preferred_centi, scale_centi)


def unproved(decision: Decision) -> Decision:
    """The decision that the strategy would have made without the proof."""
    proof = decision.proof
    return decision if proof is None else replace(decision, move=proof.preferred, proof=None)


def verify_proof(decision: Decision, proof: Proof, max_cost: MaxCost) -> None:
    """Recompute the result of a proof from a decision's record.

    Raises:
        RecordError: The result does not follow from the record; the message states the discrepancy.
    """
    best = best_raw_move(decision.candidates)
    if proof.best != best or proof.preferred == best:
        raise RecordError(f"{proof.preferred} was compared with {proof.best}, but {best} is the best move")
    if all(each.move != proof.preferred for each in decision.candidates):
        raise RecordError(f"{proof.preferred} was preferred, but is not a candidate")
    if proof.stood is not _stands(decision, proof, max_cost):
        raise RecordError(
            f"{proof.preferred} {'stood' if proof.stood else 'was refused'}, but its cost of "
            f"{cost(decision, proof)} does not say so"
        )
    follows = proof.preferred if proof.stood else proof.best
    if decision.move != follows:
        raise RecordError(f"{decision.move} was played, but by the proof {follows} follows")


def _stands(decision: Decision, proof: Proof, max_cost: MaxCost) -> bool:
    given_up = cost(decision, proof)
    if given_up is None or proof.best_centi is None:
        return False
    most = max_cost(decision, expected_score(proof.best_centi, expected_scale_centi(decision)))
    return most is not None and given_up <= most * proof.budget_share_percent / 100


def _search(context: MoveContext, searcher: NativeSearcher, move: str) -> _Result:
    """Our score after a move, by half of the proof's time and nodes."""
    game, limits = context.use.game, context.search_limits(SHARE / 2, _NODES_WITHOUT_LIMIT)
    after: Any = game.play(context.root, game.parse_move(context.root, move))
    if not game.legal_moves(after):
        return _Result(-game.result_centi(after), 0, is_solved=True)
    try:
        result = searcher.think(after, game.deepest_search, limits.time_s, context.stop, nodes=limits.nodes)
    except Stopped:
        return _Result(None, 0)
    return _Result(-result.score_centi, result.depth, result.solved)
