"""Baits: bad replies that people are likely to play because they look good.

The paper's arithmetic (`engine.trappy`) compares a reply's appearance with its true value; it ignores whether
another reply looks even better, and people take hardly any of the baits that it finds. Here a reply is a
*bait* if all of these hold (in expected score, from the opponent's point of view):

- it is an error by the judge (`engine.judge`): it costs `MIN_ERROR_COST` or more;
- it is likely to whoever knows no more than the model: one of the `LIKELIEST` likeliest replies, with a
  probability of `MIN_BAIT_P` or more; how often it is expected to be played takes into account what the judge
  found (`ReplyForecast.judge_tilt`);
- it looks good: by the scores after two and three plies, added up, it is at least as good as every reply that
  is known to be best by the judge;
- the game is undecided between these two players, if both ratings are known (`engine.opponents.pair_value`):
  neither is expected to score less than 5 % after the best reply.

The judge's cost replaces that of the decision's own search, by which a third of all baits were errors of that
search. People play about a third of these baits (docs/research/baits.md).

The probabilities come from a human-move model if the game has one (`engine.human`). Without one,
`rank_probabilities` uses only the scores: the reply's rank by shallow scores, and its cost in the decision's
search.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.decision import Candidate, ModelInfo, PersonUse, ReplyProfile
from engine.expected import WHOLE, expected_score
from engine.figure_9 import MIN_ERROR_COST, ReplyVerdicts
from engine.human.reply_forecast import (
    P_DIGITS,
    RULE,
    Expectations,
    JudgeTilt,
    ReplyForecast,
)
from engine.judge import ReplyCosts, ReplyWord

FORECAST_RULE = RULE
"""The version of these rules: it grows with the judge's, so that baits never have the costs of another
version, and by one more with each change of these rules alone."""

RANK_MODEL = "looks"
"""`ModelInfo.kind` of `rank_probabilities`."""

SHALLOW_DEPTHS = 2
"""How many depths, from 2 plies on, tell how good a reply looks."""

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
    shallow_scores = [sum(each[:SHALLOW_DEPTHS]) for each in expected_scores]
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
    person: PersonUse | None = None
    """See `ReplyForecast.person`."""
    judge_tilt: JudgeTilt | None = None
    """See `ReplyForecast.judge_tilt`."""


def expected_by_rank(candidate: Candidate, scale_centi: float) -> ExpectedReplies:
    """Apply `rank_probabilities` to a move's complete profile."""
    scores = [reply.scores_centi for reply in candidate.replies]
    return ExpectedReplies(rank_probabilities(scores, scale_centi), _RANK_MODEL_INFO)


def forecast(
    candidate: Candidate, scale_centi: float, expected: ExpectedReplies | None = None
) -> ReplyForecast:
    """Forecast people's replies to a move; its baits are not known yet (`with_costs`).

    Args:
        candidate: The move with its complete profile.
        scale_centi: Scale s of the logistic function (`engine.figure_9.expected_scale_centi`).
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
        tuple(round(p, P_DIGITS) for p in each) for each in (expected.probabilities, expected.base)
    )
    replies = tuple(reply.reply for reply in candidate.replies)
    return ReplyForecast(
        FORECAST_RULE,
        expected.model,
        expected.prior,
        replies,
        probabilities,
        base,
        person=expected.person,
        judge_tilt=expected.judge_tilt,
    )


def with_costs(
    made: ReplyForecast,
    candidate: Candidate,
    scale_centi: float,
    costs: ReplyCosts,
    *,
    is_decided: bool = False,
) -> ReplyForecast:
    """Return the forecast with its baits.

    Args:
        made: The forecast of the replies to the move.
        candidate: The move with its complete profile.
        scale_centi: See `forecast`.
        costs: What the replies of `ReplyForecast.likeliest` cost by the judge.
        is_decided: Whether the game is decided between the two players after the best reply.

    Raises:
        RecordError: A reply was not judged.
    """
    judged = {reply: costs.of(reply) for reply in made.likeliest}
    best = {costs.best.reply} | {reply for reply, cost in judged.items() if cost.is_best}
    shallow_scores = {each.reply: shallow_score(each, scale_centi) for each in candidate.replies}
    best_score = max((shallow_scores[each] for each in best if each in shallow_scores), default=-math.inf)
    errors = {reply for reply, cost in judged.items() if cost.word is ReplyWord.ERROR and not is_decided}
    baits = tuple(reply for reply in made.replies if reply in errors and shallow_scores[reply] >= best_score)
    return replace(made, costs=costs, bait_replies=baits)


def shallow_score(reply: ReplyProfile, scale_centi: float) -> int:
    """How good a reply looks to the opponent: minus our expected scores after two and three plies."""
    return -sum(expected_score(score, scale_centi) for score in reply.scores_centi[:SHALLOW_DEPTHS])


def expectations(made: ReplyForecast, verdicts: ReplyVerdicts) -> Expectations:
    """Expectations from a forecast, summed over the replies.

    A reply costs what the judge found, if the forecast has that, and otherwise the cost in the decision's own
    search.

    Args:
        verdicts: The verdicts of the same move.
    """
    replies = verdicts.replies
    known = () if made.costs is None else (made.costs.best, *made.costs.replies)
    judged = {each.reply: each.cost for each in known}
    costs = [judged.get(each.reply, each.cost) for each in replies]
    uniform = [1 / len(replies)] * len(replies) if replies else []
    probabilities = made.judged_probabilities

    def sums(values: Sequence[float]) -> tuple[float, float]:
        return (
            math.fsum(p * value for p, value in zip(uniform, values, strict=True)),
            math.fsum(p * value for p, value in zip(probabilities, values, strict=True)),
        )

    return Expectations(
        *sums([cost >= MIN_ERROR_COST for cost in costs]),
        *sums(costs),
        *sums([verdicts.is_paper_trap(each) for each in replies]),
        *sums([made.takes_bait(each.reply) for each in replies]),
        *sums([each.is_best for each in replies]),
    )
