"""Reply profiles: every reply's exact score at every depth, or only the scores that the choice depends on.

A full table costs many times as much as the plain search, and almost none of it can change the choice. The
C++ core omits scores that provably cannot change it (``engine/native/search/profile.hpp``);
`Profiler.naive_candidates` computes the full table for any game and search, as a reference for other methods.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from engine.decision import Candidate, ReplyProfile
from engine.game import Game, Move
from engine.params import TrapParams
from engine.search.reference import INFINITY, Searcher, exact_score
from engine.search.searchers import NativeSearcher
from engine.stop import StopFlag
from engine.trappy import Standing, bonus_cap, is_swindle, standing, utility, with_trap


class Profiler:
    """Scores of one position's moves and replies; each is computed at most once as the search deepens."""

    def __init__(
        self, game: Game[Any], searcher: Searcher, position: Any, params: TrapParams, stop: StopFlag
    ) -> None:
        self.game = game
        self.searcher = searcher
        self._params = params
        self.stop = stop
        position = game.for_search(position)
        self.moves: tuple[Move, ...] = game.legal_moves(position)
        self.position = position
        # Python rules are slow next to a C++ search, so these are generated on demand.
        self._positions_after: dict[Move, Any] = {}
        self._replies_to: dict[Move, tuple[Move, ...]] = {}
        self._exact: dict[tuple[Move, Move], tuple[int, ...]] = {}
        self._order = list(self.moves)

    def _after(self, move: Move) -> Any:
        if move not in self._positions_after:
            self._positions_after[move] = self.game.play(self.position, move)
        return self._positions_after[move]

    def replies_to(self, move: Move) -> tuple[Move, ...]:
        """The opponent's replies to a move of ours, in the game's move order."""
        if move not in self._replies_to:
            self._replies_to[move] = self.game.legal_moves(self._after(move))
        return self._replies_to[move]

    def raw_value(self, move: Move, depth: int) -> int:
        """The exact raw value of a move, in centi-units."""
        return -exact_score(self.searcher, self._after(move), depth - 1, self.stop)

    def raw_value_from(self, move: Move, depth: int, floor_centi: int) -> tuple[int, bool]:
        """The exact raw value and False if it is at least `floor_centi`; otherwise
        the bound `floor_centi` - 1 and True."""
        score = self._child(move, depth, floor_centi - 1, INFINITY)
        return (score, False) if score >= floor_centi else (floor_centi - 1, True)

    # --- Raw values -------------------------------------------------------------------------------------

    def raw_candidates(self, depth: int, within_centi: int = 0) -> list[Candidate]:
        """Candidates of plain minimax: exact raw values for the best moves, bounds for the rest.

        Raw values at most `within_centi` below the best are exact too, and all bounds are lower.
        """
        return self.raw_candidates_above(depth, lambda best: best - within_centi)

    def raw_candidates_above(self, depth: int, floor_centi: Callable[[int], int]) -> list[Candidate]:
        """Like `raw_candidates`, with a floor that is a non-decreasing function of the best raw value.

        Uses principal variation search at the root: the last iteration's best move comes first, so most other
        moves only need a proof that they are below the floor.
        """
        best = -INFINITY
        raw: dict[Move, tuple[int, bool]] = {}
        for move in self._order:
            if best == -INFINITY:
                best = score = self.raw_value(move, depth)
                is_bound = False
            else:
                floor = floor_centi(best)
                score = self._child(move, depth, max(floor - 1, -INFINITY), best + 1)
                is_bound = score < floor
                if score > best:
                    best = score = self._child(move, depth, best, INFINITY)
            raw[move] = score, is_bound
        self._order.sort(key=lambda move: -raw[move][0])  # stable: ties stay as they were
        return [
            # A move that ends the game has no replies: its empty profile is complete.
            Candidate(
                self.game.move_text(move),
                *raw[move],
                adjusted_centi=utility(raw[move][0], self._params),
                complete=not raw[move][1] and not self.replies_to(move),
            )
            for move in self.moves
        ]

    def _child(self, move: Move, depth: int, alpha: int, beta: int) -> int:
        return -self.searcher.search(self._after(move), depth - 1, -beta, -alpha, self.stop)

    # --- Profiles ---------------------------------------------------------------------------------------

    def naive_candidates(self, depth: int) -> list[Candidate]:
        """Candidates with every reply's exact score at every depth; slow; serves as a reference."""
        candidates = []
        for move in self.moves:
            raw = self.raw_value(move, depth)
            whole = Candidate(self.game.move_text(move), raw, False, 0.0, complete=True)
            candidates.append(replace(whole, replies=self.all_replies(move, depth)))
        swindle = is_swindle(candidates, self._params)
        return [with_trap(candidate, self._params, swindle) for candidate in candidates]

    def pruned_candidates(self, depth: int) -> list[Candidate]:
        """Candidates that suffice for the choice, without profiles of moves that no bonus could make best."""
        params = self._params
        raws = [self.raw_value(move, depth) for move in self.moves]
        candidates = [
            Candidate(self.game.move_text(move), raw, False, 0.0, complete=not self.replies_to(move))
            for move, raw in zip(self.moves, raws, strict=True)
        ]
        swindle = is_swindle(candidates, params)
        best = Standing(-math.inf, 0)
        for index in sorted(range(len(candidates)), key=lambda i: -raws[i]):
            raw, cap = raws[index], bonus_cap(raws[index], params)
            if swindle or (cap > 0 and Standing(utility(raw, params) + cap, raw) >= best):
                replies = self.all_replies(self.moves[index], depth)
                candidates[index] = replace(candidates[index], replies=replies, complete=True)
            candidates[index] = with_trap(candidates[index], params, swindle)
            best = max(best, standing(candidates[index], params, swindle))
        return candidates

    def all_replies(self, move: Move, depth: int) -> tuple[ReplyProfile, ...]:
        """A move's complete profile: exact scores of every reply at every depth."""
        return self.reply_profiles(move, self.replies_to(move), depth)

    def reply_profiles(self, move: Move, replies: Sequence[Move], depth: int) -> tuple[ReplyProfile, ...]:
        """The scores s_2 to s_D of the given replies, from our point of view."""
        known = self._exact
        lacking: dict[int, list[Move]] = {}
        for reply in replies:
            depths = len(known.setdefault((move, reply), ()))
            if depths < depth - 1:
                lacking.setdefault(depths, []).append(reply)
        for depths, some in lacking.items():
            position, most = self._after(move), depth - 2
            found = scores_after(self.game, self.searcher, position, some, depths, most, self.stop)
            for reply, scores in zip(some, found, strict=True):
                known[move, reply] += scores
        text = self.game.move_text
        return tuple(ReplyProfile(text(reply), known[move, reply][: depth - 1]) for reply in replies)


def scores_after(
    game: Game[Any],
    searcher: Searcher,
    position: Any,
    moves: Sequence[Move],
    least: int,
    most: int,
    stop: StopFlag,
) -> Sequence[tuple[int, ...]]:
    """Like `NativeSearcher.scores_after`, with any searcher.

    Raises:
        Stopped: The flag was set before or during the search.
    """
    if isinstance(searcher, NativeSearcher):
        return searcher.scores_after(position, moves, least, most, stop)
    scores_after = []
    for move in moves:
        after = game.play(position, move)
        scores_after.append(tuple(exact_score(searcher, after, d, stop) for d in range(least, most + 1)))
    return scores_after


def whole_profile(profiler: Profiler, candidate: Candidate, depth: int) -> Candidate:
    """The candidate with every reply's exact scores, for the record and for judging any reply."""
    move = next(m for m in profiler.moves if profiler.game.move_text(m) == candidate.move)
    probabilities = {reply.reply: reply.probability for reply in candidate.replies}
    replies = tuple(
        replace(reply, probability=probabilities.get(reply.reply))
        for reply in profiler.all_replies(move, depth)
    )
    return replace(candidate, replies=replies, complete=True)
