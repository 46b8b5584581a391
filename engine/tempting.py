"""The arithmetic of the strategy `tempting`: pure functions on scores, using only integers.

Theory of operation.  People rarely take a bait that looks bad at every shallow depth; they take replies that
look as good as the best ones to a shallow search. So each reply r to a move m is weighted by its scores at
depths 2 and 3 only, and the weighted mean of the replies' costs to the opponent raises the move's value::

    L(r)   = 2 WHOLE - w(s_2) - w(s_3)                       from the shallow scores, opponent's view
    q(r)   = T[max L - L(r)] // (1 + rank(r))                rank(r): the number of replies with a greater L
    adj(m) = 1000 w(raw) + 600 * sum q(r) (w(s_D(r)) - w(raw)) // sum q(r)

w is `engine.expected.expected_score` from our side, T[k] = floor(2^30 exp(-5.5 k / 20,000)). The factor is
600, not 1000, because these weights overestimate people's losses, by a factor of 1.3 (chess) to 1.9
(Othello). Of the moves that cost little (`risk_floor_centi`), the strategy plays the one with the highest
adj; ties go to the higher raw value, then to the first move in order.

Most scores used in adj need not be known (`standings`): adj never falls when a raw value or an s_D rises, so
bounds on these give bounds on adj, and the choice is proved when one move's lower bound is above all other
moves' upper bounds. `verify_tempting` repeats that proof from a record. At a depth below `MIN_DEPTH` plies,
s_3 is not a shallow score, and the raw value alone decides.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final, NamedTuple

from engine.decision import Candidate, Decision, ReplyProfile
from engine.errors import BadSettings, RecordError
from engine.expected import WHOLE, expected_score
from engine.params import DecidedScores, TemptingParams

MIN_DEPTH = 4
"""Minimum search depth, in plies; at a lower depth, scores at depths 2 and 3 do not count as shallow."""
SHALLOW_SCORES = 2
"""Number of shallow scores of a reply: s_2 and s_3."""
UNBOUNDED = 1_000_000
"""Bound on unknown scores; equal to `engine.search.reference.INFINITY`."""

RAW_SHARE, LOSS_SHARE = 1000, 600
"""Weights of the raw value and the expected loss."""
_WEIGHT_BITS = 30
_STEEPNESS: Final = (11, 2)  # 5.5 as a fraction
_BITS = 128


# --- Expected score -------------------------------------------------------------------------------------


def to_expected_score(score_centi: int, params: TemptingParams) -> int:
    """The expected score for a score, in hundredths of a per cent; it never falls when the score rises.

    Raises:
        BadSettings: The logistic function has not been filled in yet (`TemptingParams.for_position`).
    """
    if params.logistic_centi == 0:
        raise BadSettings("logistic_centi is 0: the tempting player needs the game's own value")
    return expected_score(score_centi, params.logistic_centi)


@lru_cache(maxsize=4096)
def least_score(least_expected: int, params: TemptingParams) -> int:
    """The lowest score, in centi-units, with at least this expected score; `-UNBOUNDED` for 0 or less."""
    scores = range(-UNBOUNDED, UNBOUNDED)
    return scores.start + bisect_left(
        scores, least_expected, key=lambda score: to_expected_score(score, params)
    )


# --- Which moves take part ------------------------------------------------------------------------------


def gaps_centi(params: TemptingParams, decided: DecidedScores) -> tuple[int, int]:
    """Limits on the loss compared with the best move, in centi-units: in general, and in nearly won games."""
    if decided is DecidedScores.PAPER:
        return 2 * UNBOUNDED, 2 * UNBOUNDED
    gap, won_gap = (
        int(percent * params.logistic_centi / 100) for percent in (params.gap_percent, params.won_gap_percent)
    )
    return gap, won_gap


def risk_floor_centi(best_centi: int, params: TemptingParams, decided: DecidedScores) -> int:
    """The minimum raw value of an allowed move; it never falls when the best raw value rises.

    `TemptingParams.budget` and `share_percent` limit the expected score that a move may give up. These limits
    mean little when a game is nearly decided, so `gaps_centi` also limits the loss in centi-units.
    """
    best = to_expected_score(best_centi, params)
    given_up = min(params.budget, params.share_percent * best // 100)
    gap, won_gap = gaps_centi(params, decided)
    is_nearly_won = best > WHOLE - params.budget
    return max(least_score(best - given_up, params), best_centi - (won_gap if is_nearly_won else gap))


def contender_floor_centi(best_centi: int, params: TemptingParams, decided: DecidedScores) -> int:
    """The minimum raw value at which a move is allowed and could still beat the move with the best raw value.

    No reply is worth more than a sure win, so adj <= 400 w(raw) + 600 WHOLE; for the best move, adj >= 1000
    w(best).
    """
    missing = RAW_SHARE * to_expected_score(best_centi, params) - LOSS_SHARE * WHOLE
    beaten = missing // (RAW_SHARE - LOSS_SHARE)  # with this worth a move is no better
    reach = best_centi if beaten >= WHOLE else min(best_centi, least_score(beaten + 1, params))
    return max(risk_floor_centi(best_centi, params, decided), reach)


# --- The weights ----------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def weight_table() -> bytes:
    """T as 32-bit integers in native byte order, one for each k from 0 to 2 `WHOLE`.

    Computed with `_BITS` binary digits, so that it does not depend on the machine's exponential function.
    """
    numerator, denominator = _STEEPNESS[0], _STEEPNESS[1] * 2 * WHOLE
    factor, term, n = 0, 1 << _BITS, 0
    while term:  # the exponential series
        factor, n = factor + term, n + 1
        term = -(abs(term) * numerator // (denominator * n)) * (1 if term > 0 else -1)
    table, value = array("i"), 1 << _BITS
    for _ in range(2 * WHOLE + 1):
        table.append(value >> (_BITS - _WEIGHT_BITS))
        value = value * factor >> _BITS
    return table.tobytes()


@lru_cache(maxsize=1)
def _weight_view() -> memoryview:
    return memoryview(weight_table()).cast("i")


def weights(shallow_scores_centi: Iterable[tuple[int, int]], params: TemptingParams) -> list[int]:
    """q of all replies to a move, each above 0.

    Args:
        shallow_scores_centi: s_2 and s_3 of every reply, from our point of view.
        params: The settings, with the logistic function filled in.
    """
    shallow_sums = [
        2 * WHOLE - to_expected_score(two, params) - to_expected_score(three, params)
        for two, three in shallow_scores_centi
    ]
    table, best = _weight_view(), max(shallow_sums, default=0)
    ranks: dict[int, int] = {}
    for rank, shallow_sum in enumerate(sorted(shallow_sums, reverse=True)):
        ranks.setdefault(shallow_sum, rank)
    return [table[best - shallow_sum] // (1 + ranks[shallow_sum]) for shallow_sum in shallow_sums]


def adjusted(raw_expected: int, profits: int, total: int) -> int:
    """Compute adj from the raw value's expected score, the sum of q times profit, and the sum of q."""
    return RAW_SHARE * raw_expected + (LOSS_SHARE * profits // total if total else 0)


# --- One move -------------------------------------------------------------------------------------------


class TemptingStanding(NamedTuple):
    """Sort key of moves: the move with the highest key is played."""

    adjusted: int
    raw: int
    """In centi-units."""
    before: int
    """Minus the move's number in the fixed order."""


def max_standing(raw_centi: int, index: int, params: TemptingParams) -> TemptingStanding:
    """A move's highest possible standing if nothing is known about its replies."""
    most = (RAW_SHARE - LOSS_SHARE) * to_expected_score(raw_centi, params) + LOSS_SHARE * WHOLE
    return TemptingStanding(most, raw_centi, -index)


def standings(
    candidate: Candidate, index: int, params: TemptingParams
) -> tuple[TemptingStanding, TemptingStanding]:
    """A move's lowest and highest possible standing, given the recorded scores and bounds of its replies.

    Raises:
        RecordError: A reply has no shallow scores, or its bounds contradict each other or the raw value.
    """
    raw, raw_expected = candidate.raw_centi, to_expected_score(candidate.raw_centi, params)
    reply_weights = weights([_shallow_scores_of(candidate, reply) for reply in candidate.replies], params)
    low = high = 0
    for reply, weight in zip(candidate.replies, reply_weights, strict=True):
        least, most = reply.least_centi, reply.final_centi
        if reply.bound_centi is None:
            least = most
        elif least is None:
            least = raw
        if not raw <= least <= most:
            raise RecordError(f"{candidate.move}: {reply.reply} has bounds that contradict each other")
        low += weight * (to_expected_score(least, params) - raw_expected)
        high += weight * (to_expected_score(most, params) - raw_expected)
    total = sum(reply_weights)
    return (
        TemptingStanding(adjusted(raw_expected, low, total), raw, -index),
        TemptingStanding(adjusted(raw_expected, high, total), raw, -index),
    )


def _shallow_scores_of(candidate: Candidate, reply: ReplyProfile) -> tuple[int, int]:
    if reply.shallow_scores_centi is not None:
        return reply.shallow_scores_centi
    if reply.bound_centi is None and len(reply.scores_centi) >= MIN_DEPTH - 1:
        return reply.scores_centi[0], reply.scores_centi[1]
    raise RecordError(f"{candidate.move}: {reply.reply} has no scores after two and three plies")


# --- The choice -----------------------------------------------------------------------------------------


def choose_tempting(candidates: Sequence[Candidate], params: TemptingParams, decided: DecidedScores) -> str:
    """The choice from partially known candidates: the move with the highest proved standing.

    This is the move with the highest raw value (the first in order) if nothing is known about any replies, or
    if complete profiles have fewer than `MIN_DEPTH` plies.
    """
    best_centi = max(c.raw_centi for c in candidates if not c.raw_is_bound)
    floor = risk_floor_centi(best_centi, params, decided)
    return max(
        (_exact_standing(c, index, params), c.move)
        for index, c in enumerate(candidates)
        if not c.raw_is_bound and c.raw_centi >= floor
    )[1]


def _exact_standing(candidate: Candidate, index: int, params: TemptingParams) -> TemptingStanding:
    if all(
        reply.bound_centi is None
        and reply.shallow_scores_centi is None
        and len(reply.scores_centi) < MIN_DEPTH - 1
        for reply in candidate.replies
    ):
        candidate = replace(candidate, replies=())
    return standings(candidate, index, params)[0]


def verify_tempting(decision: Decision, params: TemptingParams) -> None:
    """Check that no score left open by a search of `MIN_DEPTH` plies or more could change the choice.

    The chosen move must be allowed, and its proved standing no lower than the maximum possible standing of
    any other allowed move.

    Raises:
        RecordError: The choice does not follow from the record; the message says where.
    """
    if decision.model_use is not None:
        raise RecordError(f"{decision.strategy} players use no opponent model, but the record has one")
    candidates, decided = decision.candidates, decision.params.decided
    best_centi = max(c.raw_centi for c in candidates if not c.raw_is_bound)
    floor = risk_floor_centi(best_centi, params, decided)
    if decision.chosen.raw_is_bound or decision.chosen.raw_centi < floor:
        raise RecordError(f"{decision.move} at {decision.chosen.raw_centi} is below the floor of {floor}")
    played, _ = standings(decision.chosen, candidates.index(decision.chosen), params)
    for index, candidate in enumerate(candidates):
        if candidate.move == decision.move:
            continue
        if candidate.raw_is_bound and candidate.raw_centi > best_centi:
            raise RecordError(f"{candidate.move} could be worth {candidate.raw_centi}, and raise the floor")
        if candidate.raw_centi < floor:
            continue
        if candidate.raw_is_bound or not (candidate.replies or candidate.complete):
            most = max_standing(candidate.raw_centi, index, params)
        else:
            _, most = standings(candidate, index, params)
        if most > played:
            raise RecordError(f"{candidate.move} could stand at {most}, above {decision.move} at {played}")
