"""The trap arithmetic of trappy minimax: pure functions on scores from any search.

Theory of operation. A reply of the opponent is a *trap* if it looks good to shallow searches and is bad at
full depth. `assess_shallow_scores` turns the shallow scores into one number U (how good the reply looks);
`trappiness` in [0, 1] measures how deceptive that is; the trap's profit is the cost of falling into it; its
quality is trappiness times profit. A move's best trap adds a bonus of at most a quarter of the move's own
value (`scale`), so a trap can tip the balance between nearly equal moves but never justify a bad one.

The formulas are Gordon & Reda 2006, Figures 2, 3 and 5, with their misprints corrected: Figure 2 sets the
raw value once, outside the loop over moves; Figure 5 lacks M; with M, the formula (`scale`) is continuous and
consistent with Figure 8.

There are two *scales* (`engine.params.Scale`). The paper's scale takes scores as they are and measures a trap
against the size of the score, so an even game gets no bonus. The expected scale first converts scores into
expected score (`utility`), where an error costs the same whatever the score, and measures a trap against a
constant, the risk; no bonus exceeds a share of the move's own value. Assessments, qualities, bonuses and
adjusted values are in the scale's unit; scores, raw values and their bounds are centi-units on both.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from typing import NamedTuple

from engine.decision import Candidate, ReplyProfile
from engine.errors import BadSettings
from engine.expected import WHOLE, expected_score
from engine.game import WIN_CENTI
from engine.params import Assessment, DecidedScores, Scale, TrapParams

# --- The scale ------------------------------------------------------------------------------------------


def utility(score_centi: int, params: TrapParams) -> int:
    """Convert a score to the scale's unit; the result never falls when the score rises.

    Raises:
        BadSettings: The logistic function has not been filled in yet (`TrapParams.for_position`).
    """
    if params.scale is Scale.PAPER:
        return score_centi
    if params.logistic_centi == 0:
        raise BadSettings("logistic_centi is 0: the expected scale needs the game's own value")
    return expected_score(score_centi, params.logistic_centi)


def _size(value: float, params: TrapParams) -> float:
    """M in Figures 3 and 5: the size against which a gap or a quality at that value is measured."""
    if params.scale is Scale.EXPECTED:
        return 4 * params.risk_budget  # so Figure 5 gives at most the risk
    return max(abs(value), params.margin_centi)


def _risk_limited_size(value: float, params: TrapParams) -> float:
    """`_size` for the bonus of a move with that value: moves of lower value may risk less."""
    if params.scale is Scale.PAPER or math.isinf(params.risk_share):
        return _size(value, params)
    return min(4 * params.risk_share * value, _size(value, params))


# --- Arithmetic on one reply ----------------------------------------------------------------------------


def assess_shallow_scores(shallow: Sequence[float], assessment: Assessment) -> float:
    """U: one number for the shallow scores o_2 .. o_(D-1), from the opponent's side (section 3.2).

    Raises:
        ValueError: There is no shallow score.
    """
    if not shallow:
        raise ValueError("no shallow scores to assess")
    match assessment:
        case Assessment.MEDIAN:
            return median(shallow)
        case Assessment.BEST:
            return max(shallow)
        case Assessment.LAST:
            return shallow[-1]


def trappiness(upper: float, final: float, margin: float = 0) -> float:
    """How easily the opponent mistakes the reply for a good one, in [0, 1] (Figure 3, maximising column).

    Args:
        upper: U, the shallow assessment, from the opponent's point of view.
        final: M, the score at full depth, from the opponent's point of view.
        margin: Lower limit on the size of M; 0 in the paper.
    """
    return _trappiness_of(upper - final, max(abs(final), margin))


def _trappiness_of(gap: float, size: float) -> float:
    if gap <= 0:
        return 0.0
    if gap >= 4 * size:
        return 1.0
    if gap >= size:
        return 0.75 + 0.25 * (gap - size) / (3 * size)
    return 0.75 * gap / size


def reply_trappiness(scores_centi: Sequence[int], params: TrapParams) -> float:
    """Trappiness of a reply, given its scores s_2 .. s_D from our side; 0 when there is no shallow score."""
    if len(scores_centi) < 2:
        return 0.0
    # Opponent's view: on the expected scale this is the opponent's expected score minus WHOLE, a constant
    # that cancels in every difference.
    *shallow, final = (-utility(score, params) for score in scores_centi)
    return _trappiness_of(assess_shallow_scores(shallow, params.assessment) - final, _size(final, params))


def reply_quality(scores_centi: Sequence[int], raw_centi: int, params: TrapParams) -> float:
    """Quality of a reply as a trap: profit times trappiness, in the scale's unit."""
    profit = utility(scores_centi[-1], params) - utility(raw_centi, params)
    return profit * reply_trappiness(scores_centi, params) if profit > 0 else 0.0


def quality_ceiling(shallow_bound: float, final_bound: int, raw: int, params: TrapParams) -> float:
    """Upper bound on a reply's quality when only bounds on its scores are known.

    On the paper's scale quality does not always grow with the full-depth score: while our move is losing and
    the reply seems to lose by more, trappiness falls as the score rises, and the product of profit and
    trappiness is convex; so its maximum lies at one end of the score's range. In all other cases, and always
    on the expected scale, quality grows with the score.

    Args:
        shallow_bound: Lower bound on the shallow scores' assessment, from our side, in the scale's unit.
        final_bound: Upper bound on s_D, from our side, in centi-units.
        raw: The move's raw value, in centi-units.
    """
    low = utility(raw, params)

    def quality(final: float) -> float:
        if final <= low:
            return 0.0
        return (final - low) * _trappiness_of(final - shallow_bound, _size(final, params))

    high = utility(final_bound, params)
    if params.scale is Scale.EXPECTED:
        return quality(high)
    turn = max(-shallow_bound / 3, params.margin_centi)
    return max(quality(high), quality(turn)) if turn < high else quality(high)


# --- Arithmetic on one move -----------------------------------------------------------------------------


def scale(quality: float, raw: float, margin: float = 0) -> float:
    """The bonus that a trap of this quality gives a move with this raw value (Figure 5, corrected)."""
    return _bonus_of(quality, max(abs(raw), margin))


def _bonus_of(quality: float, size: float) -> float:
    if quality <= 0 or size == 0:
        return 0.0
    if quality <= 0.25 * size:
        return 0.8 * quality
    if quality < 2 * size:
        bonus = 0.2 * size + 0.05 * (quality - 0.25 * size) / 1.75
        return min(bonus, 0.25 * size)  # rounding could exceed this limit, on which pruning relies
    return 0.25 * size


def bonus_cap(raw: int, params: TrapParams) -> float:
    """Upper limit on the bonus of a move with this raw value (in centi-units), in the scale's unit."""
    if params.decided is DecidedScores.SWINDLE and raw >= WIN_CENTI:
        return 0.0  # a forced win needs no trap
    if params.scale is Scale.PAPER:
        return 0.25 * _size(raw, params)
    if params.decided is DecidedScores.SWINDLE and raw <= -WIN_CENTI:
        return 0.0  # otherwise a bonus could be a reason to lose by force
    # No reply is worth more than a sure win, so no trap lifts a move to the value of a forced win.
    return _bonus_of(WHOLE - utility(raw, params), _risk_limited_size(utility(raw, params), params))


def bonus(quality: float, raw: int, params: TrapParams) -> float:
    """A move's bonus under the given parameters, in the scale's unit; `raw` in centi-units."""
    if bonus_cap(raw, params) == 0:
        return 0.0
    return _bonus_of(quality, _risk_limited_size(utility(raw, params), params))


# --- The choice -----------------------------------------------------------------------------------------


class Standing(NamedTuple):
    """Sort key of moves: we play the move with the highest key; among equal keys, the first move."""

    adjusted: float
    """In the scale's unit."""
    raw: int
    """In centi-units; separates moves of the same value on the expected scale."""


def is_swindle(candidates: Sequence[Candidate], params: TrapParams) -> bool:
    """Whether every move is a forced loss, so only an error of the opponent can help."""
    return params.decided is DecidedScores.SWINDLE and all(c.raw_centi <= -WIN_CENTI for c in candidates)


def escape_trappiness(candidate: Candidate, params: TrapParams) -> float:
    """Trappiness of the most deceptive reply that throws away a forced win; 0 if no reply does."""
    return max(
        (
            reply_trappiness(reply.scores_centi, params)
            for reply in candidate.replies
            if reply.scores_centi and reply.final_centi > -WIN_CENTI
        ),
        default=0.0,
    )


def with_trap(candidate: Candidate, params: TrapParams, swindle: bool = False) -> Candidate:
    """The candidate, with its trap, quality and adjusted value computed from its replies' profiles."""
    trap, quality = None, 0.0
    for reply in candidate.replies:
        if reply.scores_centi:
            found = reply_quality(reply.scores_centi, candidate.raw_centi, params)
            if found > quality:
                trap, quality = reply.reply, found
    raw = candidate.raw_centi
    value = utility(raw, params)
    adjusted = value if swindle else value + bonus(quality, raw, params)
    return replace(candidate, adjusted_centi=adjusted, quality_centi=quality, trap=trap)


def standing(candidate: Candidate, params: TrapParams, swindle: bool) -> Standing:
    """The candidate's standing, based on the known part of its profile."""
    if swindle:
        return Standing(escape_trappiness(candidate, params), candidate.raw_centi)
    return Standing(candidate.adjusted_centi, candidate.raw_centi)


def best_standing(candidates: Sequence[Candidate], params: TrapParams, swindle: bool) -> str:
    """The move with the highest standing; among equal standings, the first move."""
    known = [c for c in candidates if not c.raw_is_bound]
    return max(known, key=lambda c: standing(c, params, swindle)).move


def max_standing(candidate: Candidate, params: TrapParams, swindle: bool) -> Standing:
    """Upper bound on the candidate's standing, given its proven scores and bounds.

    The adjusted value rises with the raw value, so a bound on the raw value also bounds the adjusted value.
    """
    raw = candidate.raw_centi
    pruned = [reply for reply in candidate.replies if reply.bound_centi is not None]
    is_open = not candidate.replies and (candidate.raw_is_bound or not candidate.complete)
    if swindle:
        may_escape = is_open or any(reply.final_centi > -WIN_CENTI for reply in pruned)
        return Standing(1.0 if may_escape else escape_trappiness(candidate, params), raw)
    if is_open:
        return Standing(utility(raw, params) + bonus_cap(raw, params), raw)
    quality = max([candidate.quality_centi, *(_reply_ceiling(reply, raw, params) for reply in pruned)])
    return Standing(utility(raw, params) + bonus(quality, raw, params), raw)


def _reply_ceiling(reply: ReplyProfile, raw: int, params: TrapParams) -> float:
    if reply.shallow_bound_centi is None:
        return float(max(0, utility(reply.final_centi, params) - utility(raw, params)))
    return quality_ceiling(reply.shallow_bound_centi, reply.final_centi, raw, params)
