"""A move's value against a person: pure arithmetic on scores and reply probabilities.

Plain minimax values a move by the best reply to it.  A person does not always find that reply, so here each
reply is weighted by its probability according to a model (as in "When Suboptimal Minimax is Better")::

    value(m) = sum over r of p(r | m) w(s_D(m, r))

Replies that are hardly ever played are not searched; each counts as w(raw(m)), like the best reply.
(With calibrated models, which need complete profiles, every reply is searched.) An expectation is not a
guarantee, so only moves with a small guaranteed loss get a value: those that give up at most a budget of
expected score, and at most a share of the best move's expected score (`risk_floor_centi`). No move
is worth more than a forced win, so the shortest forced win is played without a model.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from engine.decision import Candidate, Decision, ReplyProfile
from engine.errors import BadSettings, IncompleteProfile, RecordError
from engine.expected import expected_score
from engine.game import WIN_CENTI
from engine.human.model import MASS_TOLERANCE
from engine.params import OpponentParams, OpponentScale

UNSEARCHED = 1_000_000
"""Score bound of a reply that was not searched; equals `engine.search.reference.INFINITY`."""

_DIGITS = 6
_MIN_CENTI = -UNSEARCHED
_FAR = 30.0


def utility(score_centi: int, params: OpponentParams) -> int:
    """Convert a score to the unit of values; a higher score never has a lower utility.

    Raises:
        BadSettings: The logistic function has not been filled in yet (`OpponentParams.for_position`).
    """
    if params.scale is OpponentScale.PAWNS:
        return max(-params.checkmate_centi, min(params.checkmate_centi, score_centi))
    return _expected(score_centi, params)


def _expected(score_centi: int, params: OpponentParams) -> int:
    if params.logistic_centi == 0:
        raise BadSettings("logistic_centi is 0: expected scores need the game's own value")
    return expected_score(score_centi, params.logistic_centi)


def expectation(probabilities: Iterable[float], utilities: Iterable[float], rest: float) -> float:
    """The mean of our utility over the replies.

    Args:
        probabilities: Probability of each reply.
        utilities: Utility of each reply, in the same order.
        rest: Utility of every other reply; these replies share the remaining probability.

    Returns:
        The mean, rounded to a millionth of the unit so that summation order cannot decide between equals.
    """
    probabilities = list(probabilities)
    known = math.fsum(p * worth for p, worth in zip(probabilities, utilities, strict=True))
    return round(known + max(0.0, 1.0 - math.fsum(probabilities)) * rest, _DIGITS)


def is_reply_likely(reply: ReplyProfile, params: OpponentParams) -> bool:
    """Whether a reply is likely enough for its own utility to count."""
    return reply.probability is not None and reply.probability >= params.min_reply_p


def value_of(candidate: Candidate, params: OpponentParams) -> float:
    """A move's value from the probabilities and scores of its replies.

    A move that ends the game or repeats a position of the game has no probabilities; its value is guaranteed.
    A repetition is not expected to provoke an error: the opponent has already met it without erring.

    Raises:
        IncompleteProfile: A reply that counts has no score.
    """
    likely = [reply for reply in candidate.replies if is_reply_likely(reply, params)]
    if missing := [reply.reply for reply in likely if not reply.scores_centi]:
        raise IncompleteProfile(f"{candidate.move}: {missing[0]} is likely, but was not searched")
    return expectation(
        (reply.probability or 0.0 for reply in likely),
        (utility(reply.final_centi, params) for reply in likely),
        utility(candidate.raw_centi, params),
    )


def risk_floor_centi(best_centi: int, params: OpponentParams) -> int:
    """The minimum guaranteed score that the risk budget allows, given the best score.

    Args:
        best_centi: The best raw value, in centi-units.
    """
    least = _expected(best_centi, params) - params.risk_budget
    scores = range(_share_floor_centi(best_centi, params), best_centi)
    return scores.start + bisect_left(scores, least, key=lambda score: _expected(score, params))


def _share_floor_centi(best_centi: int, params: OpponentParams) -> int:
    """The minimum score that `share_percent` allows, given the best score; forced losses are allowed only if
    every move is one.

    The minimum follows from f(x) >= (1 - share) f(best), where f is the logistic function.
    """
    if params.share_percent >= 100 or best_centi <= -WIN_CENTI:
        return _MIN_CENTI
    s, share_left = params.logistic_centi, 1 - params.share_percent / 100
    power = -best_centi / s
    if power > _FAR:  # f is e^(x / s) there
        lowest = best_centi + s * math.log(share_left)
    else:
        lowest = -s * math.log((1 + math.exp(power)) / share_left - 1)
    return max(1 - WIN_CENTI, min(best_centi, math.ceil(lowest)))


def is_won(candidates: Sequence[Candidate]) -> bool:
    """Whether some move is a forced win; the choice then needs no model."""
    return any(c.raw_centi >= WIN_CENTI for c in candidates if not c.raw_is_bound)


def choose_by_value(candidates: Sequence[Candidate]) -> str:
    """The move with the highest value; ties are broken by the higher raw value, then by the move order.

    If no move has a value, because there is a forced win or no model, the highest raw value decides.
    """
    known = [c for c in candidates if not c.raw_is_bound]
    valued = [(c.value, c.raw_centi, c.move) for c in known if c.value is not None]
    if not valued:
        return max(known, key=lambda c: c.raw_centi).move
    return max(valued, key=lambda each: each[:2])[2]


def is_chosen_by_value(decision: Decision) -> bool:
    """Whether expected values determined the choice; if not (forced win or no model), plain minimax did."""
    return any(candidate.value is not None for candidate in decision.candidates)


def verify_values(decision: Decision) -> None:
    """Recompute the expected values of a decision from its record alone.

    Checks that exactly the moves within the risk budget have a value; that the bounds of all other moves
    exclude them; and that probabilities are valid and come from a named model.

    Raises:
        RecordError: The recorded values do not follow from the record; the message says where.
    """
    candidates, model_use = decision.candidates, decision.model_use
    if model_use is None:
        raise RecordError(
            f"{decision.strategy} players use an opponent model, but the record does not say so"
        )
    if is_won(candidates) or model_use.trouble:
        _verify_unvalued(decision)
        return
    floor = risk_floor_centi(max(c.raw_centi for c in candidates if not c.raw_is_bound), model_use.value)
    for candidate in candidates:
        _verify_value(candidate, floor, model_use.value, decision)


def _verify_unvalued(decision: Decision) -> None:
    if decision.model is not None:
        raise RecordError("a model is named, but was not used")
    for candidate in decision.candidates:
        if candidate.value is not None or any(r.probability is not None for r in candidate.replies):
            raise RecordError(f"{candidate.move}: has a value or reply probabilities, but needs none")


def _verify_value(candidate: Candidate, floor_centi: int, params: OpponentParams, decision: Decision) -> None:
    move = candidate.move
    probabilities = [reply.probability for reply in candidate.replies if reply.probability is not None]
    if candidate.raw_centi < floor_centi:
        if candidate.value is not None or probabilities:
            raise RecordError(f"{move}: it is below the budget at {candidate.raw_centi}, but has a value")
        return
    if candidate.raw_is_bound:
        if decision.source is not None and candidate.raw_centi <= decision.source.floor_centi:
            return  # beyond the moves that the other engine analysed
        raise RecordError(f"{move} could be worth {candidate.raw_centi}, within the budget, but has no value")
    if probabilities:
        if decision.model is None:
            raise RecordError(f"{move}: its replies have probabilities, but no model is named")
        if len(probabilities) != len(candidate.replies):
            raise RecordError(f"{move}: some of its replies have no probability")
        if not all(0 <= p <= 1 for p in probabilities) or abs(math.fsum(probabilities) - 1) > MASS_TOLERANCE:
            raise RecordError(
                f"{move}: the probabilities of its replies add up to {math.fsum(probabilities)}"
            )
    if candidate.value != (again := value_of(candidate, params)):
        raise RecordError(f"{move}: its value was {candidate.value}, recomputed {again}")
