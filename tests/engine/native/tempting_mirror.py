"""The tempting player's candidates: finds the scores that its choice depends on, and no more.

Theory of operation.  The weights of a move's replies need only s_2 and s_3, which cost next to nothing.  A
reply's deep score costs a search of its own, but bounds will do (`MoveBounds`):

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
same candidates, and the C++ core (``engine/native/search/tempting_profile.hpp``) gives those of this mirror.
"""

from collections.abc import Sequence
from dataclasses import replace

from engine.decision import Candidate, ReplyProfile
from engine.errors import IncompleteProfile
from engine.expected import WHOLE
from engine.game import WIN_CENTI, Move
from engine.params import DecidedScores, TemptingParams, TrapParams
from engine.search.profiles import Profiler
from engine.tempting import (
    LOSS_SHARE,
    MIN_DEPTH,
    RAW_SHARE,
    UNBOUNDED,
    TemptingStanding,
    adjusted,
    contender_floor_centi,
    least_score,
    max_standing,
    risk_floor_centi,
    to_expected_score,
    weights,
)
from engine.trappy import with_trap

SETTLED_SHARE = 8
"""The best move's replies are searched until the others have less than one part in this of the total
weight."""


class MoveBounds:
    """Knowledge of a move's adj: the weights of its replies, and bounds on each s_D.

    Args:
        raw_centi: The move's exact raw value.
        index: Its number in the fixed order.
        shallow_scores_centi: s_2 and s_3 of every reply, our view; none: the move ends the game.
        params: With the logistic function.
    """

    def __init__(
        self,
        raw_centi: int,
        index: int,
        shallow_scores_centi: Sequence[tuple[int, int]],
        params: TemptingParams,
    ) -> None:
        self._params = params
        self._index = index
        self._raw_worth = to_expected_score(raw_centi, params)
        self.raw_centi = raw_centi
        self.shallow_scores_centi = tuple(shallow_scores_centi)
        self.weights = weights(shallow_scores_centi, params)
        self.total = sum(self.weights)
        count = len(self.weights)
        self.order = sorted(range(count), key=lambda i: (-self.weights[i], i))
        """The replies by falling weight."""
        self.least_centi = [raw_centi] * count
        """s_D is at least this."""
        self.most_centi = [UNBOUNDED] * count
        """s_D is at most this."""
        self.certain_centi = least_score(WHOLE, params)
        """From this score on a reply is worth a sure win."""

    def is_settled(self, reply: int) -> bool:
        """Whether the worth of the reply's s_D is known."""
        least = self.least_centi[reply]
        return least == self.most_centi[reply] or least >= self.certain_centi

    def is_open(self, reply: int) -> bool:
        """Whether nothing is known of the reply's s_D that could rule the move out."""
        return self.most_centi[reply] == UNBOUNDED and not self.is_settled(reply)

    def open_weight(self) -> int:
        """The sum of the weights of all replies that are not settled."""
        return sum(self.weights[i] for i in self.order if not self.is_settled(i))

    def low(self) -> TemptingStanding:
        """The move's standing at least."""
        return self.standing(self._profits(self.least_centi))

    def high(self) -> TemptingStanding:
        """The move's standing at most."""
        return self.standing(self._profits(self.most_centi))

    def standing(self, profits: int) -> TemptingStanding:
        """The move's standing with that sum of q times profit."""
        return TemptingStanding(adjusted(self._raw_worth, profits, self.total), self.raw_centi, -self._index)

    def needed(self, best: TemptingStanding) -> int:
        """The least sum of q times profit with which the move is chosen over one of that standing."""
        wins_ties = (self.raw_centi, -self._index) > (best.raw, best.before)
        lacking = best.adjusted + (not wins_ties) - RAW_SHARE * self._raw_worth
        return max(0, -(-lacking * self.total // LOSS_SHARE))

    def telling_centi(self, best: TemptingStanding) -> int | None:
        """The score x for the next null window: with all open s_D <= x, the move is ruled out.

        None: it cannot be ruled out that way, because of the replies that are not open.
        """
        known = open_weight = 0
        for i, weight in enumerate(self.weights):
            if self.is_open(i):
                open_weight += weight
            else:
                known += weight * (to_expected_score(self.most_centi[i], self._params) - self._raw_worth)
        spare = self.needed(best) - 1 - known
        if spare < 0 or open_weight == 0:
            return None
        return least_score(self._raw_worth + spare // open_weight + 1, self._params) - 1

    def _profits(self, scores_centi: Sequence[int]) -> int:
        return sum(
            weight * (to_expected_score(score, self._params) - self._raw_worth)
            for weight, score in zip(self.weights, scores_centi, strict=True)
        )


def adjusted_of(candidate: Candidate, params: TemptingParams) -> int:
    """adj of a move from its whole profile, in 100,000ths of a per cent: the reference for all bounds.

    Raises:
        IncompleteProfile: A score is missing.
    """
    if not candidate.complete:
        raise IncompleteProfile(f"{candidate.move}: its profile is incomplete")
    raw = to_expected_score(candidate.raw_centi, params)
    found = weights([(reply.scores_centi[0], reply.scores_centi[1]) for reply in candidate.replies], params)
    profits = sum(
        weight * (to_expected_score(reply.final_centi, params) - raw)
        for weight, reply in zip(found, candidate.replies, strict=True)
    )
    return adjusted(raw, profits, sum(found))


def choose_from_table(table: Sequence[Candidate], params: TemptingParams, decided: DecidedScores) -> str:
    """The choice from whole profiles of all moves, not all lost: the reference for the lazy search."""
    floor = risk_floor_centi(max(c.raw_centi for c in table), params, decided)
    allowed = [c for c in table if c.raw_centi >= floor]
    return max(allowed, key=lambda c: (adjusted_of(c, params), c.raw_centi)).move


def tempting_candidates(
    profiler: Profiler, depth: int, params: TrapParams, tempting: TemptingParams
) -> list[Candidate]:
    """Candidates that give the same choice as the whole table, and prove it (`engine.verification.verify`).

    Args:
        profiler: Of the position.
        depth: D; with less than `MIN_DEPTH` the candidates are plain.
        params: Decide how positions are treated in which every move loses by force.
        tempting: With the logistic function.

    Raises:
        Stopped: The search was stopped.
    """
    if depth < MIN_DEPTH:
        return profiler.raw_candidates(depth)

    def floor(best_centi: int) -> int:
        return contender_floor_centi(best_centi, tempting, params.decided)

    found = profiler.raw_candidates_above(depth, floor)
    best = max(c.raw_centi for c in found if not c.raw_is_bound)
    if params.decided is DecidedScores.SWINDLE and best <= -WIN_CENTI:
        return _escapes(profiler, depth, params)
    least = floor(best)
    found = [
        c if c.raw_centi >= least else _bare(profiler, move, least - 1, is_bound=True)
        for move, c in zip(profiler.moves, found, strict=True)
    ]
    known = {m: c.raw_centi for m, c in zip(profiler.moves, found, strict=True) if not c.raw_is_bound}
    looked = Duel(profiler, depth, tempting, known).decide()
    made = []
    for move, candidate in zip(profiler.moves, found, strict=True):
        replies = candidate.replies
        if move in looked:
            texts = map(profiler.game.move_text, profiler.replies_to(move))
            replies = profiles_of(looked[move], list(texts))
        made.append(with_trap(replace(candidate, replies=replies), params, swindle=True))
    return made


def search_reply(profiler: Profiler, move: Move, reply: Move, depth: int, alpha: int, beta: int) -> int:
    """s_d of a reply by a search with a window, our view: exact inside (alpha, beta), else a bound."""
    game = profiler.game
    after = game.play(game.play(profiler.position, move), reply)
    return profiler.searcher.search(after, depth - 2, alpha, beta, profiler.stop)


def profiles_of(bounds: MoveBounds, replies: Sequence[str]) -> tuple[ReplyProfile, ...]:
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


class Duel:
    """Finds the move of the greatest adj among those of the given raw values."""

    def __init__(
        self, profiler: Profiler, depth: int, params: TemptingParams, raws_centi: dict[Move, int]
    ) -> None:
        self._profiler = profiler
        self._depth = depth
        self._params = params
        self._raws = raws_centi
        self._index = {move: index for index, move in enumerate(profiler.moves)}
        self._looked: dict[Move, MoveBounds] = {}

    def decide(self) -> dict[Move, MoveBounds]:
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
            standing = MoveBounds(self._raws[best], self._index[best], (), self._params).low()
        if not self._profiler.replies_to(move):
            return MoveBounds(raw, index, (), self._params).low() < standing
        return max_standing(raw, index, self._params) < standing

    def look(self, move: Move) -> MoveBounds:
        """The move with the shallow scores at its replies."""
        if move not in self._looked:
            profiles = self._profiler.reply_profiles(move, self._profiler.replies_to(move), MIN_DEPTH - 1)
            shallow_scores = [(each.scores_centi[0], each.scores_centi[1]) for each in profiles]
            self._looked[move] = MoveBounds(self._raws[move], self._index[move], shallow_scores, self._params)
        return self._looked[move]

    def _settle(self, move: Move, share: int = 0) -> None:
        """Find exact scores by falling weight, until the others have less than the share of all weight."""
        known = self.look(move)
        for reply in known.order:
            if known.open_weight() * share < known.total and share > 0:
                return
            self.settle_reply(move, known, reply)

    def settle_reply(self, move: Move, known: MoveBounds, reply: int) -> None:
        """Find the exact score of one reply, unless it is known."""
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
        mine, other = self.look(move), self._looked[best]
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
                    self.settle_reply(move, mine, reply)
            elif any(not other.is_settled(i) for i in other.order):
                self._settle(best)
            else:
                self.settle_reply(move, mine, next(i for i in mine.order if not mine.is_settled(i)))
        return False

    def _search(self, move: Move, reply: int, alpha: int, beta: int) -> int:
        profiler = self._profiler
        return search_reply(profiler, move, profiler.replies_to(move)[reply], self._depth, alpha, beta)


# --- Lost positions -------------------------------------------------------------------------------------


def _escapes(profiler: Profiler, depth: int, params: TrapParams) -> list[Candidate]:
    """Exact raw values, and the whole scores of the replies that would let us escape."""
    text = profiler.game.move_text
    found = []
    for move in profiler.moves:
        replies: list[ReplyProfile] = []
        for reply in profiler.replies_to(move):
            if search_reply(profiler, move, reply, depth, -WIN_CENTI, -WIN_CENTI + 1) > -WIN_CENTI:
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
