"""Tempting replies: bad replies that people are likely to play because they look good.

The paper's arithmetic (`engine.trappy`) compares a reply's appearance with its true value; it ignores whether
another reply looks even better, and people take hardly any of the baits that it finds. Here a reply is
*tempting* if all of these hold (in expected score, from the opponent's point of view):

- it is an error: it loses `MIN_ERROR_COST` or more compared with the best reply;
- it is likely: its predicted probability is `MIN_BAIT_P` or more;
- it deceives: at some shallower depth it looks at least as good as every truly best reply.

Of more than 2,000 positions in each of chess and Othello, one in seven to ten had a tempting reply. People
played it in a fifth to a quarter of those positions, as often as predicted (docs/research/baits.md).

The probabilities come from a human-move model if the game has one (`engine.human`). Without one,
`rank_probabilities` uses only the scores: the reply's rank by shallow scores, and its true cost.

A third of all baits are search errors: a search two plies deeper finds that they cost less than
`MIN_ERROR_COST`. People play these false baits most often, because people see further than the first search.
So a bait counts and is reported only if a search two plies deeper *confirms* it (`confirm_depth`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.decision import Candidate, ModelInfo, ReplyProfile
from engine.expected import WHOLE, expected_score
from engine.human.reply_forecast import Expectations, ReplyForecast, TemptingReply
from engine.judgement import MIN_ERROR_COST, Judgement

FORECAST_RULE = 1
"""The version of these rules; increase it when the meaning of anything in this module changes."""

MIN_BAIT_P = 0.10
"""Minimum probability of a tempting reply."""

RANK_MODEL = "looks"
"""`ModelInfo.kind` of `rank_probabilities`."""

CONFIRM_PLIES = 2
"""Number of plies by which the confirming search is deeper than the decision's search."""

_DIGITS = 6
_STEEPNESS = 6.5  # fits to people's replies gave 6.2 for chess and 7.1 for Othello
_RANK_MODEL_INFO = ModelInfo(RANK_MODEL, f"looks {_STEEPNESS}", "")


def rank_probabilities(scores_centi: Sequence[Sequence[int]], scale_centi: float) -> tuple[float, ...]:
    """The probability of each reply, from its scores alone: p ~ exp(-6.5 score) / (1 + rank).

    `rank` is the number of replies that look better at depths 2 and 3 combined; `score` is our expected score
    after the reply, from 0 to 1: the reply's cost plus a constant.

    Args:
        scores_centi: The scores s_2 .. s_D of each reply, from our point of view.
        scale_centi: Scale s of the logistic function that converts scores to expected scores.

    Returns:
        Probabilities that add up to 1, in the same order.
    """
    expected_scores = [[expected_score(score, scale_centi) for score in scores] for scores in scores_centi]
    shallow_scores = [sum(each[:2]) for each in expected_scores]
    weights = [
        math.exp(-_STEEPNESS * each[-1] / WHOLE) / (1 + sum(other < shallow for other in shallow_scores))
        for each, shallow in zip(expected_scores, shallow_scores, strict=True)
    ]
    total = math.fsum(weights)
    return tuple(weight / total for weight in weights)


@dataclass(frozen=True, slots=True)
class ExpectedReplies:
    """The probability of each reply, and the model that predicted it."""

    probabilities: tuple[float, ...]
    """Probabilities in the order of the profile's replies."""
    model: ModelInfo
    base: tuple[float, ...] = ()
    """See `ReplyForecast.base`."""
    prior: str = ""
    """See `ReplyForecast.prior`."""


def expected_by_rank(candidate: Candidate, scale_centi: float) -> ExpectedReplies:
    """Apply `rank_probabilities` to a move's complete profile."""
    scores = [reply.scores_centi for reply in candidate.replies]
    return ExpectedReplies(rank_probabilities(scores, scale_centi), _RANK_MODEL_INFO)


def forecast(
    candidate: Candidate, scale_centi: float, expected: ExpectedReplies | None = None
) -> ReplyForecast:
    """Forecast people's replies to a move; its baits are not yet confirmed.

    Args:
        candidate: The move with its complete profile.
        scale_centi: Scale s of the logistic function (`engine.judgement.expected_scale_centi`).
        expected: The probability of each reply; None to use `expected_by_rank`.

    Raises:
        IncompleteProfile: The profile is incomplete.
        ValueError: The number of probabilities differs from the number of replies.
    """
    candidate.require_whole()
    if expected is None:
        expected = expected_by_rank(candidate, scale_centi)
    if len(expected.probabilities) != len(candidate.replies):
        raise ValueError(
            f"{len(expected.probabilities)} probabilities for {len(candidate.replies)} replies "
            f"to {candidate.move}"
        )
    probabilities, base = (
        tuple(round(p, _DIGITS) for p in each) for each in (expected.probabilities, expected.base)
    )
    tempting = _tempting(candidate, scale_centi, probabilities)
    replies = tuple(reply.reply for reply in candidate.replies)
    return ReplyForecast(
        FORECAST_RULE, expected.model, expected.prior, replies, probabilities, base, tempting, 0
    )


def expectations(made: ReplyForecast, judgement: Judgement) -> Expectations:
    """Expectations from a forecast, summed over the replies.

    Args:
        judgement: The judgement of the same move.
    """
    replies = judgement.replies
    uniform = [1 / len(replies)] * len(replies) if replies else []

    def sums(values: Sequence[float]) -> tuple[float, float]:
        return (
            math.fsum(p * value for p, value in zip(uniform, values, strict=True)),
            math.fsum(p * value for p, value in zip(made.probabilities, values, strict=True)),
        )

    return Expectations(
        *sums([each.cost >= MIN_ERROR_COST for each in replies]),
        *sums([each.cost for each in replies]),
        *sums([judgement.is_paper_trap(each) for each in replies]),
        *sums([made.takes_bait(each.reply) for each in replies]),
        *sums([each.is_best for each in replies]),
    )


def _tempting(
    candidate: Candidate, scale_centi: float, probabilities: Sequence[float]
) -> tuple[TemptingReply, ...]:
    raw = expected_score(candidate.raw_centi, scale_centi)
    best = [reply for reply in candidate.replies if reply.final_centi == candidate.raw_centi]
    replies = []
    for reply, p in zip(candidate.replies, probabilities, strict=True):
        cost = expected_score(reply.final_centi, scale_centi) - raw
        if cost >= MIN_ERROR_COST and p >= MIN_BAIT_P and (depths := _deceives_at(reply, best, scale_centi)):
            replies.append(TemptingReply(reply.reply, p, cost, depths))
    return tuple(replies)


def _deceives_at(reply: ReplyProfile, best: Sequence[ReplyProfile], scale_centi: float) -> tuple[int, ...]:
    """Depths below the full depth at which a reply looks at least as good as every best reply."""

    def score_at(profile: ReplyProfile, at: int) -> int:
        return -expected_score(profile.scores_centi[at], scale_centi)

    shallow = range(len(reply.scores_centi) - 1)
    return tuple(
        at + 2 for at in shallow if all(score_at(reply, at) >= score_at(other, at) for other in best)
    )


def with_confirmed_costs(made: ReplyForecast, depth: int, costs: Sequence[int], source: str) -> ReplyForecast:
    """Return the forecast with the costs that a deeper search found for its tempting replies.

    Args:
        depth: Depth of the deeper search in plies, counted from the decision's position.
        costs: The cost of each tempting reply, in hundredths of a per cent of expected score.
        source: The engine of the deeper search, stored as `ReplyForecast.confirm_source`.
    """
    tempting = tuple(
        replace(each, confirmed_cost=cost) for each, cost in zip(made.tempting, costs, strict=True)
    )
    return replace(made, tempting=tempting, confirm_depth=depth, confirm_source=source)
