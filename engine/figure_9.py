"""Classifies the opponent's replies to our moves by Figure 9 of Gordon & Reda 2006, in expected score.

The trap arithmetic chooses moves in the unit of its scale (`engine.trappy`). Counting traps needs a unit with
the same meaning in every game and at every score, so here a reply's quality as a trap is its trappiness times
its cost in *expected score*. A move sets a trap when the quality of its best trap reaches a threshold, and
the opponent falls into a trap with any reply whose quality reaches the same threshold.

The distance to a forced result does not count: if our move wins by force, no reply has a cost; if it loses by
force, only replies that give up the win have one. Statistics count such moves separately, as *decided*.

`FIGURE_9_RULE` is increased when the meaning of anything in this module changes; it is stored with every
outcome, and ``desdemona db recheck`` classifies outcomes of older versions again.
"""

from dataclasses import dataclass
from functools import lru_cache

from engine.decision import Candidate, Decision, Outcome, OutcomeKind, ProfileVerdict
from engine.errors import RecordError
from engine.expected import expected_score
from engine.game import WIN_CENTI
from engine.games import get_rules
from engine.params import TrapParams
from engine.trappy import reply_trappiness

FIGURE_9_RULE = 2
"""The version of these rules. In version 1, before 2026-11-25, qualities and threshold were in the
unit of the params' scale, and any reply with a quality above 0 counted as a fall."""

MIN_ERROR_COST = 1_000
"""Minimum cost of an error, in hundredths of a per cent of expected score."""
LIKELIEST = 2
"""Number of likeliest replies that the judge values, and among which a bait must be (`engine.bait_rule`)."""
MIN_BAIT_P = 0.10
"""Minimum probability of each of them, and of a bait."""


@dataclass(frozen=True, slots=True)
class ReplyVerdict:
    """The verdict on one reply to our move, in hundredths of a per cent of expected score."""

    reply: str
    cost: int
    """The reply's cost to the opponent compared with the best reply, at least 0."""
    quality: float
    """Trappiness times cost."""
    is_best: bool
    """Whether the reply is one of the best by the exact scores (outcome *optimal*)."""


@dataclass(frozen=True, slots=True)
class ReplyVerdicts:
    """The verdicts of all replies to our move, whichever of them is played."""

    replies: tuple[ReplyVerdict, ...]
    """Every legal reply, in the order of the profile."""
    threshold: float
    """Minimum quality for a reply to count as a trap, in hundredths of a per cent of expected score."""
    is_decided: bool
    """Whether our move wins or loses by force."""

    @property
    def trap(self) -> ReplyVerdict | None:
        """The reply with the highest quality as a trap; None if no reply has a quality above 0."""
        best = max(self.replies, key=lambda each: each.quality, default=None)
        return best if best is not None and best.quality > 0 else None

    @property
    def is_trap(self) -> bool:
        """Whether our move sets a trap."""
        return self.trap is not None and self.is_paper_trap(self.trap)

    def is_paper_trap(self, judged: ReplyVerdict) -> bool:
        """Whether a reply's quality reaches the threshold, so that it is a trap in the paper's sense."""
        return judged.quality >= self.threshold

    def of(self, reply: str) -> ReplyVerdict:
        """The verdict on the reply with this text.

        Raises:
            RecordError: There is no such reply.
        """
        for each in self.replies:
            if each.reply == reply:
                return each
        raise RecordError(f"{reply} is not among the replies")


def expected_scale_centi(decision: Decision) -> float:
    """The parameter s of the logistic function for expected scores, for the decision's game and position.

    Raises:
        BadPosition: The recorded position cannot be read.
    """
    return _scale_centi(decision.game, decision.position)


@lru_cache(maxsize=64)  # a decision is classified several times within a few seconds
def _scale_centi(game_name: str, position: str) -> float:
    game = get_rules(game_name)
    return game.expected_scale_centi(game.for_search(game.parse_position(position)))


def reply_verdicts(candidate: Candidate, params: TrapParams, scale_centi: float) -> ReplyVerdicts:
    """Return the verdict on every reply to a move.

    Args:
        candidate: The move with its complete profile.
        params: The decision's parameters, for the assessment of shallow scores.
        scale_centi: See `expected_scale_centi`.

    Raises:
        IncompleteProfile: The profile is incomplete.
    """
    candidate.require_whole()
    params = params.for_position(scale_centi)
    raw = expected_score(candidate.raw_centi, scale_centi)
    replies = []
    for profile in candidate.replies:
        cost = expected_score(profile.final_centi, scale_centi) - raw
        quality = cost * reply_trappiness(profile.scores_centi, params) if cost > 0 else 0.0
        is_best = profile.final_centi == candidate.raw_centi
        replies.append(ReplyVerdict(profile.reply, cost, quality, is_best))
    is_decided = abs(candidate.raw_centi) >= WIN_CENTI
    return ReplyVerdicts(tuple(replies), params.threshold, is_decided)


def decision_verdicts(decision: Decision) -> ReplyVerdicts:
    """Return the verdict on every reply to the chosen move of a decision.

    Raises:
        IncompleteProfile: The profile is incomplete.
    """
    return reply_verdicts(decision.chosen, decision.params, expected_scale_centi(decision))


def profile_verdict(decision: Decision) -> ProfileVerdict:
    """Return the verdict on the chosen move of a decision.

    Raises:
        IncompleteProfile: The profile is incomplete.
    """
    verdicts = decision_verdicts(decision)
    return ProfileVerdict(
        rule=FIGURE_9_RULE,
        is_trap=verdicts.is_trap,
        trap_quality=0.0 if verdicts.trap is None else verdicts.trap.quality,
        reply_count=len(verdicts.replies),
        is_decided=verdicts.is_decided,
    )


def classify_by_figure_9(decision: Decision, reply: str | None) -> Outcome:
    """Classify the opponent's reply to the chosen move (Figure 9), from the scores stored with the decision.

    Args:
        decision: The decision; the chosen move's profile must be complete if there was a reply.
        reply: The opponent's move; None if the game ended first. If our rules ended the game with our move
            but the server continued it (`Game.without_rule_ending`), any reply is ignored.

    Raises:
        IncompleteProfile: The chosen move's profile is incomplete.
        RecordError: The profile is complete, but lacks the reply.
    """
    chosen = decision.chosen
    if reply is None or (chosen.complete and not chosen.replies):
        return Outcome(OutcomeKind.UNANSWERED, None, False, 0.0, 0, 0, FIGURE_9_RULE)
    verdicts = decision_verdicts(decision)
    try:
        judged = verdicts.of(reply)
    except RecordError as error:
        raise RecordError(f"{decision.move}: {error}") from None
    profile = next(each for each in chosen.replies if each.reply == reply)
    cost_centi = profile.final_centi - chosen.raw_centi
    if cost_centi == 0:
        kind = OutcomeKind.OPTIMAL
    elif verdicts.is_paper_trap(judged):
        kind = OutcomeKind.FELL_FOR_PAPER_TRAP
    else:
        kind = OutcomeKind.ERRED_ELSEWHERE
    for_best = kind is OutcomeKind.FELL_FOR_PAPER_TRAP and verdicts.trap == judged
    return Outcome(kind, reply, for_best, judged.quality, cost_centi, judged.cost, FIGURE_9_RULE)
