"""The reference search: short, plain alpha-beta for any game.  The fast searches must give the same results.

All scores are centi-units from the point of view of the side to move in the searched position.  `depth` is
the number of plies from that position; at depth 0 an unfinished game scores its static evaluation.
"""

from typing import Any, Protocol

from engine.game import Game
from engine.stop import StopFlag, Stopped

INFINITY = 1_000_000
"""A bound larger than any score."""


class Searcher(Protocol):
    """A search that finds exact scores at fixed depth. Used by one thread at a time."""

    @property
    def source(self) -> str:
        """Name of this kind of search in records: ``reference`` or ``native``."""

    @property
    def nodes(self) -> int:
        """Positions visited since the searcher was created."""

    def search(self, position: Any, depth: int, alpha: int, beta: int, stop: StopFlag) -> int:
        """Score of a position after a full-width search of exactly `depth` plies.

        Returns:
            The exact score if it lies inside (alpha, beta); otherwise (fail-soft) an upper bound <= alpha or
            a lower bound >= beta.

        Raises:
            Stopped: The flag was set before or during the search.
        """


def minimax(game: Game[Any], position: Any, depth: int) -> int:
    """Plain minimax in negamax form, without a window (Gordon & Reda 2006, Figure 1).

    As for every search, the position must come from `Game.for_search`.
    """
    moves = game.legal_moves(position)
    if not moves:
        return game.result_centi(position)
    if depth == 0:
        return game.evaluate_centi(position)
    return max(-minimax(game, game.play(position, move), depth - 1) for move in moves)


class ReferenceSearcher:
    """Negamax with alpha-beta, fail-soft, for any game."""

    source = "reference"

    def __init__(self, game: Game[Any]) -> None:
        self._game = game
        self.nodes = 0

    def search(self, position: Any, depth: int, alpha: int, beta: int, stop: StopFlag) -> int:
        """See `Searcher.search`."""
        return self._search(self._game.for_search(position), depth, alpha, beta, stop)

    def _search(self, position: Any, depth: int, alpha: int, beta: int, stop: StopFlag) -> int:
        if stop.spend(1):
            raise Stopped("the search was stopped")
        self.nodes += 1
        moves = self._game.legal_moves(position)
        if not moves:
            return self._game.result_centi(position)
        if depth == 0:
            return self._game.evaluate_centi(position)
        best = -INFINITY
        for move in moves:
            child = self._game.play(position, move)
            score = -self._search(child, depth - 1, -beta, -max(alpha, best), stop)
            if score > best:
                best = score
                if best >= beta:
                    break
        return best


def exact_score(searcher: Searcher, position: Any, depth: int, stop: StopFlag) -> int:
    """The exact score of a position after a full-window search of `depth` plies."""
    return searcher.search(position, depth, -INFINITY, INFINITY, stop)


def principal_variation(
    game: Game[Any], searcher: Searcher, position: Any, depth: int, stop: StopFlag
) -> tuple[str, ...]:
    """The principal variation; of equally good moves, it contains the first in `legal_moves`.

    The scores along the line are searched again, but almost all are still in a transposition table.
    """
    line: list[str] = []
    position = game.for_search(position)
    score = exact_score(searcher, position, depth, stop)
    for rest in range(depth - 1, -1, -1):
        for move in game.legal_moves(position):
            child = game.play(position, move)
            if -searcher.search(child, rest, -score, -score + 1, stop) >= score:
                line.append(game.move_text(move))
                position, score = child, -score
                break
        else:  # the game is over
            break
    return tuple(line)
