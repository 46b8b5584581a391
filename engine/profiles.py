"""From searches to profiles: which scores the choice needs, and no more.

A naive table asks for every reply's exact score at every depth, many times the cost of the plain search
(`bench/decision_time.py` prints how many).  Most of it cannot matter, and null-window searches prove so
(docs/engine.md, "Searching"):

* a move whose raw value plus the largest bonus stays below the best adjusted value is never chosen, so a
  bound on its raw value is enough;
* quality never exceeds profit, so a reply whose full-depth score does not exceed the raw value by the quality
  that would still change something needs no shallow scores.

Both are exact: `naive_candidates`, the oracle, gives the same choice with the same adjusted value.  What was
left out is in the record as a bound, so that `engine.trappy.verify` can check the proof.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from engine.decision import Candidate, ReplyProfile
from engine.game import WIN_CENTI, Game, Move
from engine.params import TrapParams
from engine.search import INFINITY, Searcher, exact_score
from engine.stop import StopFlag
from engine.trappy import (
    Standing,
    bonus_cap,
    is_swindle,
    quality_for_bonus,
    reply_quality,
    standing,
    with_trap,
)


class Profiler:
    """Scores around one position, each found at most once however deep the search goes on."""

    def __init__(
        self, game: Game[Any], searcher: Searcher, position: Any, params: TrapParams, stop: StopFlag
    ) -> None:
        self._game = game
        self._searcher = searcher
        self._params = params
        self._stop = stop
        self.moves: tuple[Move, ...] = game.legal_moves(position)
        self._after = {move: game.play(position, move) for move in self.moves}
        self._replies = {move: game.legal_moves(after) for move, after in self._after.items()}
        self._exact: dict[tuple[Move, Move, int], int] = {}
        self._order = list(self.moves)

    # --- Raw values -------------------------------------------------------------------------------------

    def plain(self, depth: int) -> list[Candidate]:
        """Candidates of plain minimax: the best raw value and all equal ones exact, bounds for the rest."""
        return self._raw_values(depth, lambda best: best)

    def _raw_values(self, depth: int, floor: Callable[[int], int]) -> list[Candidate]:
        """Raw values, exact for the best and for all at or above ``floor(best)``.

        Principal variation search at the root: the last iteration's best move first, so that the others
        mostly need to prove no more than that they stay below the floor.
        """
        best = -INFINITY
        raw: dict[Move, tuple[int, bool]] = {}
        for move in self._order:
            if best == -INFINITY:
                best = score = -exact_score(self._searcher, self._after[move], depth - 1, self._stop)
                is_bound = False
            else:
                low = floor(best) - 1
                score = self._child(move, depth, low, best + 1)
                if score > best:
                    best = score = self._child(move, depth, best, INFINITY)
                is_bound = score <= low
            raw[move] = score, is_bound
        self._order.sort(key=lambda move: -raw[move][0])  # stable: ties stay as they were
        return [
            # A move that ends the game has no replies: its profile, empty, is whole.
            Candidate(
                self._game.move_text(move),
                *raw[move],
                adjusted_centi=raw[move][0],
                complete=not self._replies[move] and not raw[move][1],
            )
            for move in self.moves
        ]

    def _child(self, move: Move, depth: int, alpha: int, beta: int) -> int:
        return -self._searcher.search(self._after[move], depth - 1, -beta, -alpha, self._stop)

    # --- Profiles ---------------------------------------------------------------------------------------

    def naive_candidates(self, depth: int) -> list[Candidate]:
        """Every reply's exact score at every depth: slow, and the measure of everything else."""
        candidates = []
        for move in self.moves:
            raw = -exact_score(self._searcher, self._after[move], depth - 1, self._stop)
            candidates.append(
                Candidate(
                    self._game.move_text(move),
                    raw,
                    False,
                    raw,
                    0.0,
                    None,
                    self.all_replies(move, depth),
                    True,
                )
            )
        swindle = is_swindle(candidates, self._params)
        return [with_trap(candidate, self._params, swindle) for candidate in candidates]

    def lazy_candidates(self, depth: int) -> list[Candidate]:
        """Candidates with as much profile as the choice depends on."""
        params = self._params
        candidates = self._raw_values(depth, self._floor)
        if is_swindle(candidates, params):
            return self._swindle_candidates(depth)
        best: tuple[Standing, int] | None = None  # standing and (negated) place in the order
        for index in sorted(range(len(candidates)), key=lambda i: -candidates[i].raw_centi):
            candidate = candidates[index]
            raw = candidate.raw_centi
            most = Standing(raw + bonus_cap(raw, params), raw), -index
            if candidate.raw_is_bound or (best is not None and most < best):
                continue
            needed = (
                0.0 if best is None else quality_for_bonus(best[0].adjusted - raw, raw, params.margin_centi)
            )
            if bonus_cap(raw, params) > 0 and needed is not None:
                move = self.moves[index]
                candidate = replace(candidate, replies=self._telling_replies(move, depth, raw, needed))
            candidate = candidates[index] = with_trap(candidate, params)
            here = standing(candidate, params, swindle=False), -index
            if best is None or here > best:
                best = here
        return candidates

    def _floor(self, best_raw: int) -> int:
        """The least raw value with which a move could still be chosen beside one of `best_raw`.

        raw + cap(raw) is the greatest of 1.25 raw, 0.75 raw and raw + margin / 4, so it reaches `best_raw`
        just when one of the three does.
        """
        if bonus_cap(best_raw, self._params) == 0:
            return best_raw
        least = min(best_raw / 1.25, best_raw / 0.75, best_raw - 0.25 * self._params.margin_centi)
        return min(best_raw, math.floor(least))

    def _telling_replies(self, move: Move, depth: int, raw: int, needed: float) -> tuple[ReplyProfile, ...]:
        """Profiles of the replies that can change the move's best trap, or that it could be chosen for."""
        quality = 0.0
        profiles = []
        for reply in self._replies[move]:
            worth = raw + max(1, math.floor(quality) + 1, math.ceil(needed))
            after = self._game.play(self._after[move], reply)
            final = self._exact.get((move, reply, depth))
            if final is None:
                final = self._searcher.search(after, depth - 2, worth - 1, worth, self._stop)
            if final < worth:
                profiles.append(ReplyProfile(self._game.move_text(reply), (), final))
                continue
            profile = self.reply_profile(move, reply, depth)
            quality = max(quality, reply_quality(profile.scores_centi, raw, self._params))
            profiles.append(profile)
        return tuple(profiles)

    def _swindle_candidates(self, depth: int) -> list[Candidate]:
        """Every move loses by force: profile the replies that would let us off."""
        candidates = []
        for move in self.moves:
            raw = -exact_score(self._searcher, self._after[move], depth - 1, self._stop)
            profiles = []
            for reply in self._replies[move]:
                after = self._game.play(self._after[move], reply)
                final = self._searcher.search(after, depth - 2, -WIN_CENTI, -WIN_CENTI + 1, self._stop)
                if final > -WIN_CENTI:
                    profiles.append(self.reply_profile(move, reply, depth))
                else:
                    profiles.append(ReplyProfile(self._game.move_text(reply), (), final))
            candidate = Candidate(
                self._game.move_text(move),
                raw,
                raw_is_bound=False,
                adjusted_centi=raw,
                replies=tuple(profiles),
                complete=all(profile.bound_centi is None for profile in profiles),
            )
            candidates.append(with_trap(candidate, self._params, swindle=True))
        return candidates

    def all_replies(self, move: Move, depth: int) -> tuple[ReplyProfile, ...]:
        """The whole profile of a move: exact scores of every reply at every depth."""
        return tuple(self.reply_profile(move, reply, depth) for reply in self._replies[move])

    def reply_profile(self, move: Move, reply: Move, depth: int) -> ReplyProfile:
        """s_2 .. s_D of one reply, our view."""
        after = self._game.play(self._after[move], reply)
        scores = []
        for d in range(2, depth + 1):
            key = move, reply, d
            if key not in self._exact:
                self._exact[key] = exact_score(self._searcher, after, d - 2, self._stop)
            scores.append(self._exact[key])
        return ReplyProfile(self._game.move_text(reply), tuple(scores))


def whole_profile(profiler: Profiler, game: Game[Any], candidate: Candidate, depth: int) -> Candidate:
    """The candidate with every reply's exact scores, for the record and for judging any reply."""
    move = next(m for m in profiler.moves if game.move_text(m) == candidate.move)
    return replace(candidate, replies=profiler.all_replies(move, depth), complete=True)
