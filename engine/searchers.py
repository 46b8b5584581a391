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
from engine.thought import Thought
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

    def think(
        self,
        position: OthelloPosition,
        depth: int,
        time_s: float | None,
        stop: StopFlag,
        *,
        confidence_percent: int = 73,
        threads: int = 1,
    ) -> Thought:
        """The best move that the limits allow, by selective search: for strong play, not for trap analysis.

        Args:
            position: The game goes on in it.
            depth: Plies at most, 1 to 120.  With all the empty squares or more the ending is solved when
                there is time, and always when there is no clock.
            time_s: Seconds at most; None: no clock.  Nothing is begun that would hardly end in time.
            stop: Ends the search early; it then answers with what it has.
            confidence_percent: 73, 87, 95 or 99: how sure a forecast must be to replace a search.  100: full
                width, as `search`.
            threads: Of more than one, the result depends on chance.

        Raises:
            Stopped: The flag is set too early for any answer.
            ValueError: The game is over, or a limit is out of range.
        """
        if time_s is not None and time_s <= 0:
            raise ValueError(f"time_s is {time_s}, must be above 0")
        move, score, depth, confidence, solved, line, nodes = self._core.think(
            position.mover, position.waiter, depth, time_s or 0.0, confidence_percent, threads, stop
        )
        text = self._game.move_text
        return Thought(text(move), score, depth, confidence, solved, tuple(map(text, line)), nodes)

    def solve(self, position: OthelloPosition, stop: StopFlag) -> tuple[str, int]:
        """A best move and the game's true result in centi-units (see `engine.game.WIN_CENTI`).

        Raises:
            Stopped: The flag is or becomes set.
            ValueError: The game is over.
        """
        move, score = self._core.solve(position.mover, position.waiter, stop)
        return self._game.move_text(move), score


def make_searcher(game_name: str, table_mb: int) -> Searcher:
    """The fastest exact searcher for a game, with a transposition table of that many MB where it has one.

    Raises:
        KeyError: No such game.
    """
    if game_name == "othello":
        return NativeOthelloSearcher(table_mb)
    return ReferenceSearcher(get_game(game_name))
