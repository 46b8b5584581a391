"""Literal versions of the searches on Charles Rich's slides: minimax, alpha-beta, material, quiescence.

They are deliberately plain and slow; their counters are compared with those of the program's own searches.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import chess

from engine.game import Game, Move
from engine.search.reference import INFINITY

PIECES = {
    chess.PAWN: 1,
    chess.KNIGHT: 3,
    chess.BISHOP: 3,
    chess.ROOK: 5,
    chess.QUEEN: 9,
    chess.KING: 0,
}
"""The slides' material values, in pawns."""

Evaluate = Callable[[Any], int]
Order = Callable[[Any, Sequence[Move], int], Sequence[Move]]
"""Orders the moves of a position, given the remaining depth."""


@dataclass(slots=True)
class Count:
    """Counters of a search."""

    nodes: int = 0
    cuts: int = 0
    """Number of positions at which moves were pruned."""


def tree_minimax(tree: Any, is_max: bool) -> int:
    """The minimax value of a tree of scores, from Max's point of view."""
    if isinstance(tree, int):
        return tree
    return (max if is_max else min)(tree_minimax(each, not is_max) for each in tree)


def tree_alpha_beta(
    tree: Any, is_max: bool, seen: list[int], alpha: int = -INFINITY, beta: int = INFINITY
) -> int:
    """Compute the same value as `tree_minimax`, with pruning; append the examined scores to `seen`."""
    if isinstance(tree, int):
        seen.append(tree)
        return tree
    best = -INFINITY if is_max else INFINITY
    for each in tree:
        value = tree_alpha_beta(each, not is_max, seen, alpha, beta)
        best = max(best, value) if is_max else min(best, value)
        alpha, beta = (max(alpha, best), beta) if is_max else (alpha, min(beta, best))
        if alpha >= beta:
            break
    return best


def search(
    game: Game[Any],
    position: Any,
    depth: int,
    evaluate: Evaluate,
    count: Count,
    *,
    prunes: bool = True,
    order: Order | None = None,
    is_quiet: bool = False,
    alpha: int = -INFINITY,
    beta: int = INFINITY,
) -> int:
    """Alpha-beta search (ABNegaMax on the slides); without pruning it is plain negamax.

    Args:
        evaluate: The static evaluation, for the side to move.
        is_quiet: Whether to extend leaves by a quiescence search of captures (chess).
    """
    count.nodes += 1
    moves = game.legal_moves(position)
    if not moves:
        return game.result_centi(position)
    if depth == 0:
        return captures(game, position, evaluate, count, alpha, beta) if is_quiet else evaluate(position)
    best = -INFINITY
    for at, move in enumerate(moves if order is None else order(position, moves, depth), start=1):
        window = (-beta, -max(alpha, best)) if prunes else (-INFINITY, INFINITY)
        score = -search(
            game,
            game.play(position, move),
            depth - 1,
            evaluate,
            count,
            prunes=prunes,
            order=order,
            is_quiet=is_quiet,
            alpha=window[0],
            beta=window[1],
        )
        best = max(best, score)
        if prunes and best >= beta:
            count.cuts += at < len(moves)
            break
    return best


def captures(game: Game[Any], position: Any, evaluate: Evaluate, count: Count, alpha: int, beta: int) -> int:
    """Search captures only; the side to move may also stand pat."""
    best = evaluate(position)
    for move in game.legal_moves(position):
        if best >= beta:
            break
        after = game.play(position, move)
        if len(after.board.piece_map()) == len(position.board.piece_map()):
            continue
        count.nodes += 1
        best = max(best, -captures(game, after, evaluate, count, -beta, -max(alpha, best)))
    return best


def material_centi(position: Any) -> int:
    """The slides' chess evaluation, for the side to move, in hundredths of a pawn."""
    board = position.board
    return 100 * sum(
        (1 if piece.color == board.turn else -1) * PIECES[piece.piece_type]
        for piece in board.piece_map().values()
    )


def best_moves(
    game: Game[Any], position: Any, depth: int, evaluate: Evaluate, *, is_quiet: bool = False
) -> tuple[list[str], int]:
    """The moves that a search considers best, and their score."""
    position = game.for_search(position)
    scores = {
        game.move_text(move): -search(
            game, game.play(position, move), depth - 1, evaluate, Count(), is_quiet=is_quiet
        )
        for move in game.legal_moves(position)
    }
    best = max(scores.values())
    return [move for move, score in scores.items() if score == best], best
