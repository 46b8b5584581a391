"""Measurements on the selective search: moves nearly as good as the best, and what many positions are worth.

Both use the hash table that the search of the root has filled, and end at any moment with what is complete.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from engine.game import WIN_CENTI, Game
from engine.search.reference import INFINITY
from engine.search.searchers import NativeSearcher
from engine.stop import StopFlag, Stopped

MAX_CONTENDERS = 6
_FOUND_BELOW, _SCORED_BELOW = 8, 4  # contenders are found and scored by searches so much less deep
_RAISES = 3  # of the floor, if too many moves are found
_CONFIRMED_BELOW = (2, 1)  # and have to reach the floor by deeper ones, if there is time
_BISECTIONS = 3  # of the range between the floor and the best score
_WIDTH_CENTI = 60  # of the first window around a score that is expected


class NearlyBest(NamedTuple):
    """A move nearly as good as the best."""

    move: str
    score_centi: int
    """Our score after the move, by a search of the same depth for all contenders; of moves that are not the
    best, a lower bound within an eighth of the range between the floor and the best score."""


class PositionScores(NamedTuple):
    """Scores of several positions, all by searches of the same depth."""

    scores_centi: tuple[int, ...]
    """For the side to move."""
    depth: int


def contenders_within(
    game: Game[Any],
    searcher: NativeSearcher,
    root: Any,
    best: str,
    best_centi: int,
    floor_centi: int,
    depth: int,
    stop: StopFlag,
) -> tuple[list[NearlyBest], int]:
    """The best move, and at most five others that are worth the floor by the selective search.

    Args:
        game: The rules.
        searcher: Has just searched the root to this depth.
        root: The position before the move, as the root of a search.
        best: The best move by that search.
        best_centi: Its score.
        floor_centi: The least score of a contender, for the side to move.
        depth: Depth of that search in plies, at least 2.
        stop: Ends the search early.

    Returns:
        The contenders, the best move first and the others in the game's order, and the depth of their scores
        in plies, counted from the root. Moves that end the game are no contenders.

    Raises:
        Stopped: The flag was set before all contenders had their scores.
    """
    positions = {game.move_text(move): game.play(root, move) for move in game.legal_moves(root)}
    after = {text: position for text, position in positions.items() if game.legal_moves(position)}
    if best not in after:
        return [], 0

    def is_within(move: str, plies: int, floor: int) -> bool:
        return searcher.probe(after[move], plies, -floor, 1 - floor, stop) <= -floor

    plies = max(1, depth - _FOUND_BELOW - 1)
    found = [move for move in after if move != best and is_within(move, plies, floor_centi)]
    floor = floor_centi
    for _ in range(_RAISES):
        if len(found) < 2 * MAX_CONTENDERS:
            break
        floor = (floor + best_centi + 1) // 2
        found = [move for move in found if is_within(move, plies, floor)]
    plies = max(1, depth - _SCORED_BELOW - 1)
    found = [move for move in found if is_within(move, plies, floor_centi)]
    best_centi = -score_near(searcher, after[best], plies, -best_centi, stop)
    lows = dict.fromkeys(found, floor_centi)
    highs = dict.fromkeys(found, max(floor_centi, best_centi))
    for _ in range(_BISECTIONS):
        for move in found:
            if lows[move] < highs[move]:
                middle = (lows[move] + highs[move] + 1) // 2
                if is_within(move, plies, middle):
                    lows[move] = middle
                else:
                    highs[move] = middle - 1
    nearest = sorted(found, key=lambda move: -lows[move])[: MAX_CONTENDERS - 1]
    try:
        for below in _CONFIRMED_BELOW:
            nearest = [move for move in nearest if is_within(move, max(1, depth - below - 1), floor_centi)]
    except Stopped:
        pass  # the scores that they have count
    others = [NearlyBest(move, lows[move]) for move in found if move in nearest]
    return [NearlyBest(best, best_centi), *others], plies + 1


def scores_of(
    game: Game[Any],
    searcher: NativeSearcher,
    positions: Sequence[Any],
    depth: int,
    stop: StopFlag,
) -> PositionScores:
    """Scores of positions by the selective search, to the greatest depth that all of them reach.

    Arguments and errors are those of `scores_by_depth`.
    """
    scores = scores_by_depth(game, searcher, positions, depth, stop)
    return PositionScores(scores[-1], len(scores))


def scores_by_depth(
    game: Game[Any],
    searcher: NativeSearcher,
    positions: Sequence[Any],
    depth: int,
    stop: StopFlag,
) -> list[tuple[int, ...]]:
    """Scores of positions by selective searches of 1, 2, .. plies, as deep as all positions are reached.

    Args:
        game: The rules.
        searcher: The search. Scores of few plies are those of deeper searches wherever its hash table has
            them.
        positions: The positions; a finished game has its result.
        depth: The greatest depth in plies.
        stop: Ends the search; only complete depths count.

    Returns:
        The scores of all positions by each depth, for the side to move.

    Raises:
        Stopped: The flag was set before the first depth was complete.
    """
    results = [_result_centi(game, each, stop) for each in positions]
    complete: list[tuple[int, ...]] = []
    guesses: list[int | None] = [None] * len(positions)
    for plies in range(1, depth + 1):
        try:
            scores = tuple(
                score_near(searcher, position, plies, guess, stop) if result is None else result
                for position, guess, result in zip(positions, guesses, results, strict=True)
            )
        except Stopped:
            break
        guesses = list(complete[-1] if complete else scores)
        complete.append(scores)
    if not complete:
        raise Stopped("the search was stopped before the first depth was complete")
    return complete


def _result_centi(game: Game[Any], position: Any, stop: StopFlag) -> int | None:
    """The result of a finished game; None if the game goes on. The rules take as long as a short search."""
    if stop.is_set():
        raise Stopped("the search was stopped before the first depth was complete")
    return None if game.legal_moves(position) else game.result_centi(position)


def score_near(searcher: NativeSearcher, position: Any, plies: int, guess: int | None, stop: StopFlag) -> int:
    """The score of a position, for the side to move, by one iteration; a guess near it saves time.

    Raises:
        Stopped: The flag was set before the iteration was complete.
    """
    low, high, width = -INFINITY, INFINITY, _WIDTH_CENTI
    if guess is not None and abs(guess) < WIN_CENTI:
        low, high = guess - width, guess + width
    while True:
        score = searcher.probe(position, plies, low, high, stop)
        if low < score < high or (low, high) == (-INFINITY, INFINITY):
            return score
        width *= 4
        if score <= low:
            low = max(-INFINITY, score - width)
        else:
            high = min(INFINITY, score + width)
