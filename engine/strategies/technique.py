"""Won games: strategies but weakened ones may stop setting traps, and win by selective search.

A game counts as won from `WON` of expected score, and against a bare king from `WON_AGAINST_KING`: a lead of
a rook is little in other positions. The winner repeats no position while another move keeps the win. The
records are like those of the strategy `strong`, whose mode says that no trap was intended.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from engine.decision import Candidate, Decision, DirectMove, SearchMode
from engine.errors import RecordError
from engine.expected import PER_PERCENT, expected_score
from engine.game import Game
from engine.games import get_rules
from engine.params import DecidedScores
from engine.search.reference import exact_score
from engine.search.searchers import NativeSearcher
from engine.stop import StopFlag, Stopped
from engine.strategies.move_context import (
    MAX_SEARCH_S,
    MIN_SEARCH_S,
    RAW_ANALYSIS,
    MoveContext,
    best_raw_move,
    share_of,
)
from engine.strategies.records import verify_unscored_choice
from engine.time_management import Limits

WON, WON_AGAINST_KING = 95 * PER_PERCENT, 55 * PER_PERCENT

# The moves are judged by exact scores of this depth, or of the depth that this share of the limits allows.
_SHARE, _DEPTH = 0.05, 8
_MAX_NODES_TO_VARY = 300_000  # of the search for a move that repeats nothing: a tenth of a second


def is_won(game: Game[Any], position: Any, score_centi: int) -> bool:
    """Whether a score for the side to move counts as won."""
    pieces = "".join(game.board_rows(position))
    is_king_bare = 1 in (sum(map(str.isupper, pieces)), sum(map(str.islower, pieces)))
    least = WON_AGAINST_KING if is_king_bare else WON
    return expected_score(score_centi, game.expected_scale_centi(position)) >= least


def decide_won_game(context: MoveContext) -> Decision | None:
    """The selective search's move if the game is won; None if it is not, or there is no such search."""
    game, searcher = context.use.game, context.use.searcher
    is_treated_alike = context.params.decided is DecidedScores.PAPER
    if not context.use.wins_plainly or is_treated_alike or not isinstance(searcher, NativeSearcher):
        return None
    if not is_won(game, context.root, game.evaluate_centi(context.root)):
        return None
    most, before = context.own_limits(), searcher.nodes
    short = replace(share_of(most, _SHARE), depth=min(most.depth, _DEPTH))
    candidates, depth = context.deepen(RAW_ANALYSIS, short)
    if not is_won(game, context.root, _best_centi(candidates)):
        return None
    decision = context.decision(best_raw_move(candidates), candidates, depth)
    try:
        decision = think(context, searcher, decision, searcher.nodes - before, context.limits.depth)
    except Stopped:
        return None
    if not is_won(game, context.root, _best_centi(decision.candidates)):
        return None  # a stopped search left only the scores of the first iteration
    return without_repetition(context, decision)


def think(
    context: MoveContext, searcher: NativeSearcher, decision: Decision, judged_nodes: int, deepest: int
) -> Decision:
    """The decision with the move of the selective search.

    Args:
        context: The position and the limits.
        searcher: Searches the position.
        decision: The moves with exact scores.
        judged_nodes: Nodes spent on these scores.
        deepest: Maximum depth in plies if the time or the nodes are limited.

    Raises:
        Stopped: The search was stopped before it had any result.
    """
    options, limits = context.use.strong, _remaining_limits(context, judged_nodes, deepest)
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
    decision = replace(
        decision,
        search_mode=SearchMode.STRONG,
        move=result.move,
        pick=DirectMove(result.score_centi, result.depth, result.confidence_percent, result.solved),
        principal_variation=result.principal_variation,
    )
    decision = context.with_exact_choice(decision)
    return decision if decision.principal_variation else context.with_variation(decision)


def _remaining_limits(context: MoveContext, judged_nodes: int, deepest: int) -> Limits:
    """The limits that remain for the selective search after the moves have been judged.

    With only a depth limit, the search is as deep as in other strategies; otherwise, it is as deep as its
    limits allow.
    """
    limits, rest = context.limits, context.limits
    if limits.time_s is not None or limits.nodes is not None:
        deepest = min(max(limits.depth, deepest), context.use.game.deepest_search)
        rest = replace(rest, depth=deepest)
    if limits.time_s is not None:
        # If it picks another move, that move needs an exact value: part of the time all of them took.
        left_s = limits.time_s - 1.5 * (context.stop.now_s() - context.began_s)
        rest = replace(rest, time_s=min(max(MIN_SEARCH_S, left_s), MAX_SEARCH_S))
    if limits.nodes is not None:
        rest = replace(rest, nodes=max(1, limits.nodes - judged_nodes))
    return rest


def without_repetition(context: MoveContext, decision: Decision) -> Decision:
    """The decision, or one with the best move that repeats no position, if that keeps a won game won."""
    game, position, root = context.use.game, context.position, context.root

    def after(move: str, start: Any) -> Any:
        return game.play(start, game.parse_move(start, move))

    if not is_won(game, root, decision.chosen.raw_centi) or not game.is_repeated(
        after(decision.move, position)
    ):
        return decision
    brief = StopFlag()
    brief.set_node_limit(_MAX_NODES_TO_VARY)
    try:
        scores = {
            c.move: -exact_score(context.use.searcher, after(c.move, root), decision.depth - 1, brief)
            for c in decision.candidates
            if not game.is_repeated(after(c.move, position))
        }
    except Stopped:
        return decision
    move = max(scores, key=scores.__getitem__, default=decision.move)
    if move == decision.move or not is_won(game, root, scores[move]):
        return decision
    pick = DirectMove(scores[move], decision.depth, 100, solved=False)
    decision = replace(
        decision, search_mode=SearchMode.STRONG, move=move, pick=pick, principal_variation=(move,)
    )
    return context.with_exact_choice(decision)


def verify_won_game(decision: Decision) -> None:
    """Check a move that the selective search chose in a won game.

    Raises:
        RecordError: The record lacks the search's result, or the game was not won.
    """
    verify_unscored_choice(decision)
    game = get_rules(decision.game)
    best_centi = _best_centi(decision.candidates)
    if not is_won(game, game.for_search(game.parse_position(decision.position)), best_centi):
        raise RecordError(f"{decision.move}: chosen by selective search, but {best_centi} is not a won game")


def _best_centi(candidates: Sequence[Candidate]) -> int:
    return max(c.raw_centi for c in candidates if not c.raw_is_bound)
