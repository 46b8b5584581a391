"""Which search serves which game: the C++ core where it knows the game, else the reference."""

from engine._native import OthelloSearch
from engine.games import get_game
from engine.games.othello import EVALUATION_WEIGHTS, OthelloPosition
from engine.search import ReferenceSearcher, Searcher
from engine.stop import StopFlag


class NativeOthelloSearcher:
    """The C++ core's search behind the common interface."""

    source = "native"

    def __init__(self, table_mb: int) -> None:
        self._core = OthelloSearch(table_mb, EVALUATION_WEIGHTS)

    @property
    def nodes(self) -> int:
        """See `Searcher.nodes`."""
        return self._core.nodes

    def search(self, position: OthelloPosition, depth: int, alpha: int, beta: int, stop: StopFlag) -> int:
        """See `Searcher.search`."""
        return self._core.search(position.mover, position.waiter, depth, alpha, beta, stop)


def make_searcher(game_name: str, table_mb: int) -> Searcher:
    """The fastest exact searcher for a game, with a transposition table of that many MB where it has one.

    Raises:
        KeyError: No such game.
    """
    if game_name == "othello":
        return NativeOthelloSearcher(table_mb)
    return ReferenceSearcher(get_game(game_name))
