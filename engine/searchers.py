"""Which search serves which game: the C++ core where it knows the game, else the reference."""

from functools import cache

from engine._native import OthelloEvaluation, OthelloSearch
from engine.decision import Candidate, ReplyProfile
from engine.games import get_game
from engine.games.othello import Othello, OthelloPosition
from engine.games.othello_evaluation import weight_bytes
from engine.params import Assessment, Decided, TrapParams
from engine.search import ReferenceSearcher, Searcher
from engine.stop import StopFlag
from engine.trappy import is_swindle, with_trap

_ASSESSMENTS = {Assessment.MEDIAN: 0, Assessment.BEST: 1, Assessment.LAST: 2}  # as in native/core.hpp


@cache
def othello_evaluation() -> OthelloEvaluation:
    """The learned evaluation as the core reads it: one for all searches of the process."""
    return OthelloEvaluation(weight_bytes())


class NativeOthelloSearcher:
    """The C++ core's search behind the common interface."""

    source = "native"

    def __init__(self, table_mb: int) -> None:
        self._core = OthelloSearch(table_mb, othello_evaluation())
        self._game = Othello()

    @property
    def nodes(self) -> int:
        """See `Searcher.nodes`."""
        return self._core.nodes

    def search(self, position: OthelloPosition, depth: int, alpha: int, beta: int, stop: StopFlag) -> int:
        """See `Searcher.search`."""
        return self._core.search(position.mover, position.waiter, depth, alpha, beta, stop)

    def trappy_candidates(
        self, position: OthelloPosition, depth: int, params: TrapParams, stop: StopFlag
    ) -> list[Candidate]:
        """See `engine.profiles.LazySource.trappy_candidates`."""
        swindle = params.decided is Decided.SWINDLE
        found = self._core.trappy_candidates(
            position.mover,
            position.waiter,
            depth,
            _ASSESSMENTS[params.assessment],
            params.margin_centi,
            swindle,
            stop,
        )
        text = self._game.move_text
        candidates = [
            Candidate(
                move=text(move),
                raw_centi=raw,
                raw_is_bound=is_bound,
                adjusted_centi=raw,
                replies=tuple(
                    ReplyProfile(text(reply), scores)
                    if scores
                    else ReplyProfile(text(reply), (), final_bound, shallow_bound)
                    for reply, scores, final_bound, shallow_bound in replies
                ),
                complete=complete,
            )
            for move, raw, is_bound, complete, replies in found
        ]
        lost = is_swindle(candidates, params)
        return [with_trap(candidate, params, lost) for candidate in candidates]


def make_searcher(game_name: str, table_mb: int) -> Searcher:
    """The fastest exact searcher for a game, with a transposition table of that many MB where it has one.

    Raises:
        KeyError: No such game.
    """
    if game_name == "othello":
        return NativeOthelloSearcher(table_mb)
    return ReferenceSearcher(get_game(game_name))
