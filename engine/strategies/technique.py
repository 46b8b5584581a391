"""Won games and solved endings: strategies but weakened ones may stop setting traps, and keep the result.

A game counts as won from `WON` of expected score, and against a bare king from `WON_AGAINST_KING`: a lead of
a rook is little in other positions. It is won by the tables and books, or else by selective search, and the
winner repeats no position while another move keeps the win. Where only the exact scores of the choice find it
won, no trap is preferred to the best move. Near the end of the game, a move that gives up a solved win or
draw is not played. The records are like those of the strategy `strong`, whose modes say that no trap was
intended.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from engine.decision import Candidate, Decision, DirectMove, RootSearch, SearchMode
from engine.errors import RecordError
from engine.expected import PER_PERCENT, expected_score
from engine.game import WIN_CENTI, Game
from engine.games import get_rules
from engine.lookup.source import LookupMove
from engine.params import DecidedScores
from engine.search.reference import exact_score
from engine.search.result import SearchResult
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

# The replies are judged by exact scores of these depths, or of those that this share of the limits allows.
# All strategies that search selectively have the same: otherwise a report's scores would tell which one
# played, and comparisons of traps and errors would compare depths.
_SHARE, _DEPTHS, _OTHER_DEPTH = 0.05, {"othello": 6}, 4
_MAX_NODES_TO_VARY = 300_000  # of the search for a move that repeats nothing: a tenth of a second

# Games that end within this many plies may be solved in these shares of the limits, first before the choice
# of a move and then after it; if only the depth is limited, in these numbers of nodes.
_MAX_PLIES_TO_SOLVE = 40  # twenty empty squares of Othello, since passes are plies
_SOLVING_SHARE, _CHECK_SHARE = 0.4, 0.1
_SOLVING_NODES, _CHECK_NODES = 3_000_000, 1_000_000

LOOKUP_MODES = (SearchMode.BOOK, SearchMode.TABLEBASE, SearchMode.EXPLORER, SearchMode.ONLINE_TABLEBASE)
"""The modes recorded for moves from opening books and tablebases."""


def may_be_solved(game: Game[Any], position: Any) -> bool:
    """Whether the game is so near its end that a search may solve it."""
    return game.most_plies_left(position) <= _MAX_PLIES_TO_SOLVE


def is_won(game: Game[Any], position: Any, score_centi: int) -> bool:
    """Whether a score for the side to move counts as won."""
    pieces = "".join(game.board_rows(position))
    is_king_bare = min(sum(map(str.isupper, pieces)), sum(map(str.islower, pieces))) == 1
    least = WON_AGAINST_KING if is_king_bare else WON
    return expected_score(score_centi, game.expected_scale_centi(position)) >= least


def with_technique(context: MoveContext, decide: Callable[[MoveContext], Decision]) -> Decision:
    """A strategy's decision, or another one if the game is won or the strategy's move gives up its result.

    Args:
        context: The position and the limits.
        decide: Chooses the strategy's move.
    """
    searcher, is_treated_alike = context.use.searcher, context.params.decided is DecidedScores.PAPER
    if not context.use.wins_plainly or is_treated_alike or not isinstance(searcher, NativeSearcher):
        return decide(context)
    return (
        _decide_known_win(context)
        or _decide_won_game(context, searcher)
        or without_trap_when_won(context, _keep_result(context, searcher, decide))
    )


def judged_move(context: MoveContext, move: str | None = None, **more: Any) -> Decision:
    """The record of a move that is not chosen by exact scores, which serve only to judge the replies.

    Args:
        context: The position and the limits.
        move: The move; None for the one with the highest raw value.
        more: See `MoveContext.decision`.
    """
    most = context.own_limits()
    deepest = _DEPTHS.get(context.use.game.name, _OTHER_DEPTH)
    short = replace(share_of(most, _SHARE), depth=min(most.depth, deepest))
    candidates, depth = context.deepen(RAW_ANALYSIS, short)
    return context.decision(move or best_raw_move(candidates), candidates, depth, **more)


def decide_from_lookup(context: MoveContext, known: LookupMove) -> Decision:
    """The record of a move from a book or table."""
    move = context.use.game.move_text(known.move)
    decision = judged_move(
        context, move, search_mode=known.mode, pick=known.pick, principal_variation=(move,)
    )
    return context.with_exact_choice(decision)


def _decide_known_win(context: MoveContext) -> Decision | None:
    """The move of a table or book that has the position as won; None if there is none."""
    known = context.look_up()
    if known is None or known.pick.score_centi is None:
        return None
    if not is_won(context.use.game, context.root, known.pick.score_centi):
        return None
    return decide_from_lookup(context, known)


def _decide_won_game(context: MoveContext, searcher: NativeSearcher) -> Decision | None:
    """The selective search's move if the game is won; None if it is not."""
    game = context.use.game
    if not is_won(game, context.root, game.evaluate_centi(context.root)):
        return None
    before = searcher.nodes
    decision = judged_move(context)
    if not is_won(game, context.root, _best_centi(decision.candidates)):
        return None
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
        root=RootSearch(
            result.principal_variation or (result.move,), result.score_centi, result.depth, result.nodes
        ),
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


def _keep_result(
    context: MoveContext, searcher: NativeSearcher, decide: Callable[[MoveContext], Decision]
) -> Decision:
    """The strategy's decision, or the solver's move if that of the strategy may give up a solved win or draw.

    The move of a random draw is always played.
    """
    game = context.use.game
    if not may_be_solved(game, context.root):
        return decide(context)
    before = searcher.nodes
    solved = _solve(context, searcher, context.root, _SOLVING_SHARE, _SOLVING_NODES)
    rest = share_of(context.limits, 1 - _CHECK_SHARE)
    if rest.nodes is not None:
        rest = replace(rest, nodes=max(1, rest.nodes - (searcher.nodes - before)))
    decision = decide(context.within(rest))
    if solved is None or decision.search_mode is SearchMode.TRIAL:
        return decision
    if solved.score_centi < 0 or decision.move == solved.move:
        return decision
    after = game.play(context.root, game.parse_move(context.root, decision.move))
    if not game.legal_moves(after):
        value_centi = -game.result_centi(after)
    else:
        reply = _solve(context, searcher, after, _CHECK_SHARE, _CHECK_NODES)
        value_centi = -WIN_CENTI if reply is None else -reply.score_centi
    if value_centi > 0 or value_centi == solved.score_centi:
        return decision
    pick = DirectMove(solved.score_centi, solved.depth, solved.confidence_percent, solved=True)
    return context.with_exact_choice(_direct(context, decision, solved.move, pick))


def _solve(
    context: MoveContext, searcher: NativeSearcher, position: Any, share: float, most_nodes: int
) -> SearchResult | None:
    """The solution of an unfinished game; None if it is not found in this share of the limits.

    Args:
        context: The limits.
        searcher: The solver.
        position: The game's position.
        share: Share of the time and nodes.
        most_nodes: Number of nodes if only the depth is limited.
    """
    limits = context.search_limits(share, most_nodes)
    try:
        result = searcher.think(
            position, context.use.game.deepest_search, limits.time_s, context.stop, nodes=limits.nodes
        )
    except Stopped:
        return None
    return result if result.solved else None


def without_trap_when_won(context: MoveContext, decision: Decision) -> Decision:
    """The decision, or the best move if the exact scores say that it wins and another move is preferred."""
    candidates = decision.candidates
    if decision.search_mode is not SearchMode.EXACT:
        return decision
    best_centi = _best_centi(candidates)
    if decision.chosen.raw_centi == best_centi or not is_won(context.use.game, context.root, best_centi):
        return decision
    pick = DirectMove(best_centi, decision.depth, 100, solved=False)
    return context.with_variation(_direct(context, decision, best_raw_move(candidates), pick))


def _direct(context: MoveContext, decision: Decision, move: str, pick: DirectMove) -> Decision:
    """The record of another move than the decision's, with the scores of the decision."""
    return context.decision(
        move, decision.candidates, decision.depth, search_mode=SearchMode.STRONG, pick=pick
    )


def verify_won_game(decision: Decision) -> None:
    """Check a move that was played because the game was won or solved.

    Raises:
        RecordError: The record lacks the search's result, or the game was neither won nor solved.
    """
    verify_unscored_choice(decision)
    game = get_rules(decision.game)
    root, pick = game.for_search(game.parse_position(decision.position)), decision.pick
    is_near_end = game.most_plies_left(root) <= _MAX_PLIES_TO_SOLVE
    if is_near_end and pick is not None and pick.solved and (pick.score_centi or 0) >= 0:
        return
    best_centi = _best_centi(decision.candidates)
    if not is_won(game, root, best_centi):
        raise RecordError(f"{decision.move}: chosen by selective search, but {best_centi} is not a won game")


def verify_known_win(decision: Decision) -> None:
    """Check a move from a table or book in a won game.

    Raises:
        RecordError: The record lacks the source's score, or the game was not won.
    """
    verify_unscored_choice(decision)
    game = get_rules(decision.game)
    root = game.for_search(game.parse_position(decision.position))
    score_centi = None if decision.pick is None else decision.pick.score_centi
    if score_centi is None or not is_won(game, root, score_centi):
        raise RecordError(f"{decision.move}: chosen by {decision.search_mode.value}, but not in a won game")


def _best_centi(candidates: Sequence[Candidate]) -> int:
    return max(c.raw_centi for c in candidates if not c.raw_is_bound)
