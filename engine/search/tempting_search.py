"""The tempting player's candidates: finds the scores that its choice depends on, and no more.

Theory of operation.  The weights of a move's replies need only s_2 and s_3, which cost next to nothing.  A
reply's deep score costs a search of its own, but bounds will do (`engine.tempting_player.TemptingBounds`):

1. Raw values are exact from the floor up; a move below it cannot be chosen (`contender_floor_centi`).
2. The moves above the floor challenge the best so far in turn, the highest raw value first.  Before the first
   challenge that is not hopeless, the best move's replies are searched by falling weight, until the others
   weigh less than an eighth: the rest could only confirm it.
3. Null windows rule a challenger out: all of its replies not yet known to be better for us than some x would
   leave it behind, and x is proved of one after the other, by falling weight.  A reply that is better for us
   gets its exact score, and the next x is lower.
4. When that cannot succeed any more, first the best move's scores are completed, then the challenger's.

No score between s_3 and s_D is searched.  Every number in the candidates follows from exact scores: a bound
is the limit of the window that proved it, not what the search happened to return.  So all searches give the
same candidates, and the C++ core (``engine/native/search/tempting_profile.hpp``) gives those of this module.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

from engine.decision import Candidate, ReplyProfile
from engine.game import WIN_CENTI, Move
from engine.params import Decided, TemptingParams, TrapParams
from engine.search.profiles import Profiler
from engine.search.reference import INFINITY
from engine.stop import StopFlag
from engine.tempting_player import (
    LEAST_DEPTH,
    UNBOUNDED,
    TemptingBounds,
    ceiling,
    contender_floor_centi,
)
from engine.trappy import with_trap

SETTLED_SHARE = 8
"""The best move's replies are searched until the others have less than one part in this of the total
weight."""


@runtime_checkable
class TemptingSource(Protocol):
    """A searcher that finds the tempting player's candidates by itself."""

    def tempting_candidates(
        self, position: object, depth: int, params: TrapParams, tempting: TemptingParams, stop: StopFlag
    ) -> list[Candidate]:
        """See `tempting_candidates`; `position` is one of `Game.for_search`."""


def tempting_candidates(
    profiler: Profiler, depth: int, params: TrapParams, tempting: TemptingParams
) -> list[Candidate]:
    """Candidates that give the same choice as the whole table, and prove it (`engine.verification.verify`).

    Args:
        profiler: Of the position.
        depth: D; with less than `LEAST_DEPTH` the candidates are plain.
        params: Decide how positions are treated in which every move loses by force.
        tempting: With the logistic function.

    Raises:
        Stopped: The search was stopped.
    """
    if depth < LEAST_DEPTH:
        return profiler.plain(depth)

    def floor(best_centi: int) -> int:
        return contender_floor_centi(best_centi, tempting, params.decided)

    found = profiler.plain_above(depth, floor)
    best = max(c.raw_centi for c in found if not c.raw_is_bound)
    if params.decided is Decided.SWINDLE and best <= -WIN_CENTI:
        return _escapes(profiler, depth, params)
    least = floor(best)
    found = [
        c if c.raw_centi >= least else _bare(profiler, move, least - 1, is_bound=True)
        for move, c in zip(profiler.moves, found, strict=True)
    ]
    return with_tempting_bounds(found, profiler, depth, params, tempting)


def with_tempting_bounds(
    found: Sequence[Candidate],
    profiler: Profiler,
    depth: int,
    params: TrapParams,
    tempting: TemptingParams,
) -> list[Candidate]:
    """Candidates with the required data of their replies, from exact raw values from the floor up.

    Args:
        found: Every move in the game's order; `with_trap` is applied here.
        profiler: Of the position.
        depth: D, at least `LEAST_DEPTH`.
        params: See `tempting_candidates`.
        tempting: See `tempting_candidates`.

    Raises:
        Stopped: The search was stopped.
    """
    known = {move: c for move, c in zip(profiler.moves, found, strict=True) if not c.raw_is_bound}
    floor = contender_floor_centi(max(c.raw_centi for c in known.values()), tempting, params.decided)
    duel = _Duel(
        profiler, depth, tempting, {m: c.raw_centi for m, c in known.items() if c.raw_centi >= floor}
    )
    looked = duel.decide()
    text = profiler.game.move_text
    made = []
    for move, candidate in zip(profiler.moves, found, strict=True):
        replies = candidate.replies
        if move in looked:
            texts = map(text, profiler.replies_to(move))
            replies = profiles_of(looked[move], list(texts))
        made.append(with_trap(replace(candidate, replies=replies), params, swindle=True))
    return made


def profiles_of(bounds: TemptingBounds, replies: Sequence[str]) -> tuple[ReplyProfile, ...]:
    """The record of a move's replies, in their order."""
    raw = bounds.raw_centi
    return tuple(
        ReplyProfile(
            reply, (), most, shallow_scores_centi=shallow, least_centi=least if least > raw else None
        )
        for reply, shallow, least, most in zip(
            replies, bounds.shallow_scores_centi, bounds.least_centi, bounds.most_centi, strict=True
        )
    )


class _Duel:
    """Finds the move of the greatest adj among those of the given raw values."""

    def __init__(
        self, profiler: Profiler, depth: int, params: TemptingParams, raws_centi: dict[Move, int]
    ) -> None:
        self._profiler = profiler
        self._depth = depth
        self._params = params
        self._raws = raws_centi
        self._index = {move: index for index, move in enumerate(profiler.moves)}
        self._looked: dict[Move, TemptingBounds] = {}

    def decide(self) -> dict[Move, TemptingBounds]:
        """The computed data of the replies; empty: the choice does not depend on them."""
        best, *others = sorted(self._raws, key=lambda move: (-self._raws[move], self._index[move]))
        for move in others:
            if self._is_beaten(move, best):
                continue
            self._settle(best, SETTLED_SHARE)
            if not self._is_beaten(move, best) and self._overtakes(move, best):
                best = move
        return {move: known for move, known in self._looked.items() if known.weights}

    def _is_beaten(self, move: Move, best: Move) -> bool:
        """Whether a move of which only the raw value is known cannot be chosen over the best so far."""
        raw, index = self._raws[move], self._index[move]
        if best in self._looked:
            standing = self._looked[best].low()
        else:
            standing = TemptingBounds(self._raws[best], self._index[best], (), self._params).low()
        if not self._profiler.replies_to(move):
            return TemptingBounds(raw, index, (), self._params).low() < standing
        return ceiling(raw, index, self._params) < standing

    def _look(self, move: Move) -> TemptingBounds:
        """The move with the shallow scores at its replies."""
        if move not in self._looked:
            profiles = self._profiler.reply_profiles(move, self._profiler.replies_to(move), LEAST_DEPTH - 1)
            shallow_scores = [(each.scores_centi[0], each.scores_centi[1]) for each in profiles]
            self._looked[move] = TemptingBounds(
                self._raws[move], self._index[move], shallow_scores, self._params
            )
        return self._looked[move]

    def _settle(self, move: Move, share: int = 0) -> None:
        """Find exact scores by falling weight, until the others have less than the share of all weight."""
        known = self._look(move)
        for reply in known.order:
            if known.open_weight() * share < known.total and share > 0:
                return
            self._settle_reply(move, known, reply)

    def _settle_reply(self, move: Move, known: TemptingBounds, reply: int) -> None:
        if known.is_settled(reply):
            return
        alpha = known.least_centi[reply] - 1
        beta = min(known.most_centi[reply] + 1, known.certain_centi)
        score = self._search(move, reply, alpha, beta)
        known.least_centi[reply] = min(score, beta)
        if score < known.certain_centi:
            known.most_centi[reply] = score

    def _overtakes(self, move: Move, best: Move) -> bool:
        """Whether the challenger is proved to be chosen over the best so far."""
        mine, other = self._look(move), self._looked[best]
        while mine.high() > other.low():
            if mine.low() > other.high():
                return True
            x = mine.telling_centi(other.low())
            if x is not None:
                reply = next(i for i in mine.order if mine.is_open(i))
                if self._search(move, reply, x, x + 1) <= x:
                    mine.most_centi[reply] = x
                else:
                    mine.least_centi[reply] = min(x + 1, mine.certain_centi)
                    self._settle_reply(move, mine, reply)
            elif any(not other.is_settled(i) for i in other.order):
                self._settle(best)
            else:
                self._settle_reply(move, mine, next(i for i in mine.order if not mine.is_settled(i)))
        return False

    def _search(self, move: Move, reply: int, alpha: int, beta: int) -> int:
        profiler = self._profiler
        return profiler.search_reply(move, profiler.replies_to(move)[reply], self._depth, alpha, beta)


# --- Lost positions -------------------------------------------------------------------------------------


def _escapes(profiler: Profiler, depth: int, params: TrapParams) -> list[Candidate]:
    """Exact raw values, and the whole scores of the replies that would let us escape."""
    text = profiler.game.move_text
    found = []
    for move in profiler.moves:
        replies: list[ReplyProfile] = []
        for reply in profiler.replies_to(move):
            if profiler.search_reply(move, reply, depth, -WIN_CENTI, -WIN_CENTI + 1) > -WIN_CENTI:
                replies += profiler.reply_profiles(move, (reply,), depth)
            else:
                replies.append(ReplyProfile(text(reply), (), -WIN_CENTI))
        bare = _bare(profiler, move, profiler.raw_value(move, depth), is_bound=False)
        whole = all(reply.bound_centi is None for reply in replies)
        found.append(with_trap(replace(bare, replies=tuple(replies), complete=whole), params, swindle=True))
    return found


def _bare(profiler: Profiler, move: Move, raw_centi: int, *, is_bound: bool) -> Candidate:
    over = not is_bound and not profiler.replies_to(move)
    return Candidate(profiler.game.move_text(move), raw_centi, is_bound, raw_centi, complete=over)


assert UNBOUNDED == INFINITY  # noqa: S101 - the arithmetic knows no search
