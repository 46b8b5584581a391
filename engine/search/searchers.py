"""Selects the search for a game: the C++ core if it supports the game, otherwise the reference search."""

import logging
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Protocol, TypeVar

from engine._native import (
    AnySearch,
    ChessNetwork,
    ChessSearch,
    Connect4Search,
    OthelloSearch,
    XiangqiNetwork,
    XiangqiSearch,
)
from engine.decision import Candidate, ReplyProfile
from engine.expected import expected_table
from engine.game import Game, Move
from engine.games import chess_evaluation, get_rules, networks, othello_evaluation, xiangqi_evaluation
from engine.games.connect4 import Connect4
from engine.games.othello import Othello, OthelloPosition
from engine.games.program_files import open_program_file
from engine.games.standard_chess import StandardChess
from engine.games.xiangqi import Xiangqi
from engine.params import Assessment, DecidedScores, Scale, TemptingParams, TrapParams
from engine.search.reference import ReferenceSearcher, Searcher
from engine.search.result import SearchResult
from engine.stop import StopFlag
from engine.tempting import SHALLOW_SCORES, UNBOUNDED, gaps_centi, to_expected_score, weight_table
from engine.trappy import is_swindle, with_trap

logger = logging.getLogger(__name__)

P = TypeVar("P")

_ASSESSMENTS = {Assessment.MEDIAN: 0, Assessment.BEST: 1, Assessment.LAST: 2}  # as in native/core.hpp


class NativeGame(Game[P], Protocol[P]):
    """A game that the C++ core also supports."""

    def native_position(self, position: P) -> Any:
        """Return the position in the form that the core's search takes."""


class NativeSearcher:
    """The C++ core's search for one game, with the common interface `Searcher`."""

    source = "native"

    def __init__(self, game: NativeGame[Any], core: AnySearch) -> None:
        self._game = game
        self._core = core

    @property
    def nodes(self) -> int:
        """See `Searcher.nodes`."""
        return self._core.nodes

    def search(self, position: Any, depth: int, alpha: int, beta: int, stop: StopFlag) -> int:
        """See `Searcher.search`."""
        return self._core.search(self._game.native_position(position), depth, alpha, beta, stop)

    def scores_after(
        self, position: Any, moves: Sequence[Move], least: int, most: int, stop: StopFlag
    ) -> list[tuple[int, ...]]:
        """Return the exact scores of the positions after legal moves, by searches of `least` .. `most` plies.

        Returns:
            For each move, the scores that `exact_score` returns, from the replying side's point of view.

        Raises:
            Stopped: The flag was set before or during the search.
        """
        native = self._game.native_position(position)
        return self._core.scores_after(native, moves, least, most, stop)

    def trappy_candidates(
        self, position: Any, depth: int, params: TrapParams, stop: StopFlag
    ) -> list[Candidate]:
        """Return candidates that give the same choice of move as the full table.

        The chosen move's adjusted value may be lower than in the full table, but is high enough for it to be
        chosen; `engine.completion.complete` computes the exact value. Bounds replace the omitted scores and
        prove the choice (`engine.verification.verify` checks them).

        Raises:
            Stopped: The flag was set before or during the search.
        """
        is_expected = params.scale is Scale.EXPECTED
        found = self._core.trappy_candidates(
            self._game.native_position(position),
            depth,
            _ASSESSMENTS[params.assessment],
            params.margin_centi,
            params.decided is DecidedScores.SWINDLE,
            expected_table(params.logistic_centi) if is_expected else b"",
            params.risk_budget,
            params.risk_share,
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

    def tempting_candidates(
        self, position: Any, depth: int, params: TrapParams, tempting: TemptingParams, stop: StopFlag
    ) -> list[Candidate]:
        """Candidates that suffice to find the choice of `tempting`, with bounds that prove the choice.

        Args:
            position: The root of a search (`Game.for_search`).
            depth: D, at least `engine.tempting.MIN_DEPTH`.
            params: Trap settings, including how to treat positions in which every move loses.
            tempting: The strategy's settings, including the logistic function.
            stop: Ends the search.

        Raises:
            Stopped: The flag was set before or during the search.
        """
        to_expected_score(0, tempting)  # raises if the logistic function is missing
        gap, won_gap = gaps_centi(tempting, params.decided)
        candidates = self._core.tempting_candidates(
            self._game.native_position(position),
            depth,
            expected_table(tempting.logistic_centi),
            weight_table(),
            tempting.budget,
            tempting.share_percent,
            min(gap, 2 * UNBOUNDED),
            min(won_gap, 2 * UNBOUNDED),
            params.decided is DecidedScores.SWINDLE,
            stop,
        )
        text = self._game.move_text
        return [
            with_trap(
                Candidate(
                    move=text(move),
                    raw_centi=raw,
                    raw_is_bound=is_bound,
                    adjusted_centi=0.0,
                    replies=tuple(
                        _tempting_reply(text(reply), scores, most, int(least), raw)
                        for reply, scores, most, least in replies
                    ),
                    complete=complete,
                ),
                params,
                swindle=True,
            )
            for move, raw, is_bound, complete, replies in candidates
        ]

    def think(
        self,
        position: Any,
        depth: int,
        time_s: float | None,
        stop: StopFlag,
        *,
        confidence_percent: int = 73,
        threads: int = 1,
        contempt_centi: int = 0,
        nodes: int | None = None,
    ) -> SearchResult:
        """Find the best move within the limits by selective search; for strong play, not for trap analysis.

        Args:
            position: A position in which the game is not over.
            depth: Maximum depth in plies, 1 to `Game.deepest_search`.  In Othello, a depth of at least the
                number of empty squares solves the endgame if time allows, and always if `time_s` is None.
            time_s: Time limit in seconds, on the clock of `stop`; None for no limit. An iteration that would
                exceed the limit is not started.
            stop: Ends the search early; the search then returns its best result so far.
            confidence_percent: Othello only: required confidence of cuts in percent: 73, 87, 95 or 99, or 100
                for a full-width search like `search`.
            threads: Number of threads; with more than one, the result is not deterministic.
            contempt_centi: In games with draws, a draw scores this far below zero for the side to move.
            nodes: Approximate maximum number of positions to visit; None for no limit.

        Raises:
            Stopped: The flag was set before the search had any result.
            ValueError: The game is over, or a limit is out of range.
        """
        if time_s is not None and time_s <= 0:
            raise ValueError(f"time_s is {time_s}, must be above 0")
        if nodes is not None and nodes < 1:
            raise ValueError(f"nodes is {nodes}, must be at least 1")
        move, score, depth, confidence, solved, line, nodes = self._core.think(
            self._game.native_position(position),
            depth,
            time_s or 0.0,
            confidence_percent,
            threads,
            contempt_centi,
            stop,
            nodes or 0,
        )
        text = self._game.move_text
        return SearchResult(text(move), score, depth, confidence, solved, tuple(map(text, line)), nodes)

    def probe(
        self,
        position: Any,
        depth: int,
        alpha: int,
        beta: int,
        stop: StopFlag,
        *,
        confidence_percent: int = 73,
        contempt_centi: int = 0,
    ) -> int:
        """The score of a position by one iteration of the selective search, to a fixed depth.

        It uses and fills the hash table of the latest `think`, so it costs little on positions that `think`
        has visited.

        Args:
            position: A position in which the game is not over.
            depth: Depth in plies, 1 to `Game.deepest_search`.
            alpha: Lower limit of the window, in centi-units for the side to move.
            beta: Upper limit of the window.
            stop: Ends the search early.
            confidence_percent: See `think`.
            contempt_centi: See `think`.

        Returns:
            An estimate inside the window; outside it, a bound on the estimate (fail-soft).

        Raises:
            Stopped: The flag was set before the iteration was complete.
            ValueError: The game is over, or a limit is out of range.
        """
        native = self._game.native_position(position)
        return self._core.probe(native, depth, alpha, beta, confidence_percent, contempt_centi, stop)


def _tempting_reply(reply: str, scores: tuple[int, ...], most: int, least: int, raw: int) -> ReplyProfile:
    if len(scores) == SHALLOW_SCORES:
        return ReplyProfile(
            reply,
            (),
            most,
            shallow_scores_centi=(scores[0], scores[1]),
            least_centi=least if least > raw else None,
        )
    return ReplyProfile(reply, scores) if scores else ReplyProfile(reply, (), most)


class NativeOthelloSearcher(NativeSearcher):
    """The core's search of Othello, which can also solve endgames."""

    def __init__(self, table_mb: int) -> None:
        self._solver = OthelloSearch(table_mb, othello_evaluation.native_evaluation())
        super().__init__(Othello(), self._solver)

    def solve(self, position: OthelloPosition, stop: StopFlag) -> tuple[str, int]:
        """Find a best move and the game's true result in centi-units (see `engine.game.WIN_CENTI`).

        Raises:
            Stopped: The flag was set before or during the search.
            ValueError: The game is over.
        """
        move, score = self._solver.solve(self._game.native_position(position), stop)
        return self._game.move_text(move), score


N = TypeVar("N", ChessNetwork, XiangqiNetwork)


@cache
def _network(game_name: str, kind: type[N]) -> N:
    with open_program_file(networks.network_file(game_name)):
        return kind(networks.weights(game_name))


def _chess(table_mb: int) -> Searcher:
    evaluation = chess_evaluation.native_evaluation()
    return NativeSearcher(StandardChess(), ChessSearch(table_mb, evaluation, _network("chess", ChessNetwork)))


def _xiangqi(table_mb: int) -> Searcher:
    evaluation = xiangqi_evaluation.native_evaluation()
    network = _network("xiangqi", XiangqiNetwork)
    return NativeSearcher(Xiangqi(), XiangqiSearch(table_mb, evaluation, network))


NATIVE_GAMES: dict[str, Callable[[int], Searcher]] = {
    "othello": NativeOthelloSearcher,
    "chess": _chess,
    "xiangqi": _xiangqi,
    "connect4": lambda table_mb: NativeSearcher(Connect4(), Connect4Search(table_mb)),
}
"""Factories of the core's searchers, keyed by game name; the argument is the table size in MB."""


@cache
def _warn_once(text: str) -> None:
    logger.warning(text)


def make_searcher(
    game_name: str, table_mb: int, on_less_memory: Callable[[str], None] = _warn_once
) -> Searcher:
    """Return the fastest exact searcher for a game; its transposition table, if any, has `table_mb` MB.

    Without the memory for it, halves the table until it fits.

    Args:
        on_less_memory: Called with a message if the table is smaller; by default, logs each message once.

    Raises:
        KeyError: There is no such game.
        DamagedFile: A file of the game's weights is missing or damaged.
        MemoryError: There is no memory for any table.
    """
    native = NATIVE_GAMES.get(game_name)
    if native is None:
        return ReferenceSearcher(get_rules(game_name))
    size_mb = table_mb
    while True:
        try:
            searcher = native(size_mb)
        except MemoryError:
            if size_mb <= 1:
                raise
            size_mb //= 2
        else:
            if size_mb < table_mb:
                on_less_memory(
                    f"there is no memory for a transposition table of {table_mb} MiB; it has {size_mb} MiB"
                )
            return searcher
