"""Records and statistics of forecasts of people's replies to a move (`engine.bait_rule`)."""

import math
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from engine.decision import ModelInfo, PersonUse
from engine.errors import RecordError
from engine.expected import WHOLE
from engine.figure_9 import LIKELIEST, MIN_BAIT_P
from engine.judge import JUDGE_VERSION, ReplyCost, ReplyCosts
from engine.plain_values import OLD_NAMES, reader

PERSON_FIELD = "person"
"""The name of the field of a record that says what the forecast used of the person's state."""
RULE = JUDGE_VERSION + 1
"""See `engine.bait_rule.FORECAST_RULE`."""
P_DIGITS = 6
"""Number of digits of the recorded probabilities."""
_JUDGE_TILT_FIELD = "judge_tilt"
_OLD_FIELDS = ("tempting", "confirm_depth", "confirm_source", "costs", "bait_replies")
"""The fields of earlier rules that tell which replies are baits."""


@dataclass(frozen=True, slots=True)
class Bait:
    """A reply that looks good and is bad."""

    reply: str
    p_reply: float
    """Probability of the reply."""
    cost: ReplyCost
    """What it costs by the judge."""

    @property
    def expected_loss(self) -> float:
        """Probability times cost."""
        return self.p_reply * self.cost.cost


@dataclass(frozen=True, slots=True)
class JudgeTilt:
    """What the judge's costs say of a reply's probability beyond what the model knew.

    A model that sees six plies expects good players to play errors that they see through
    (docs/research/baits.md). Weights, with the cost from 0 to 1; they are scaled to add up to 1::

        a reply that the judge valued     p^power exp(constant - per_cost * cost)
        all others together               (their p, added up)^power
    """

    power: float
    constant: float
    per_cost: float

    def applied(self, probabilities: tuple[float, ...], costs: dict[int, float]) -> tuple[float, ...]:
        """The probabilities with the costs taken into account.

        Args:
            probabilities: The probability of every reply.
            costs: The costs of the judged replies, from 0 to 1, by the reply's index.
        """
        rest = math.fsum(p for at, p in enumerate(probabilities) if at not in costs)
        weights = [
            p**self.power * math.exp(self.constant - self.per_cost * costs[at])
            if at in costs
            else p * rest ** (self.power - 1)
            if rest > 0
            else 0.0
            for at, p in enumerate(probabilities)
        ]
        total = math.fsum(weights)
        return tuple(round(weight / total, P_DIGITS) for weight in weights)


@dataclass(frozen=True, slots=True)
class ReplyForecast:
    """The forecast of people's replies to our move, made before the reply was known.

    It is computed from the move's profile, the known facts about the person, and the models.
    """

    rule: int
    """The version of the rules (`engine.bait_rule.FORECAST_RULE`)."""
    model: ModelInfo
    """The model of the forecast; for `rank_probabilities` its kind is `RANK_MODEL`."""
    prior: str
    """SHA-256 of the card that adapted the model to the person (`engine.human.person_prior`); empty for
    none."""
    replies: tuple[str, ...]
    """Every legal reply, in the order of the profile."""
    probabilities: tuple[float, ...] = field(metadata={OLD_NAMES: ("odds",)})
    """Each reply's probability before the judge valued any, to six digits."""
    base: tuple[float, ...]
    """The model's probabilities before it was adapted to the person; empty if it was not."""
    costs: ReplyCosts | None = None
    """What the likeliest replies cost by the judge; None for a forced reply, or if it is not known yet."""
    bait_replies: tuple[str, ...] = ()
    """The replies that are baits, in the order of the profile."""
    other: "ReplyForecast | None" = None
    """The forecast for the move that a trial did not select (`Decision.trial_draw`), without costs."""
    is_forgotten: bool = False
    """Whether what the forecast said of the person was erased at their request (`without_person`): the
    probabilities cannot be computed again."""
    person: PersonUse | None = None
    """What the probabilities owe to the person's earlier replies; None if the person's state was not used."""
    judge_tilt: JudgeTilt | None = None
    """How the judge's costs change the probabilities; None if they do not."""

    @property
    def likeliest(self) -> tuple[str, ...]:
        """The replies whose costs decide which are baits, the likeliest first; empty for a forced reply."""
        if len(self.replies) < 2:
            return ()
        ordered = sorted(zip(self.replies, self.probabilities, strict=True), key=lambda each: -each[1])
        return tuple(reply for reply, p in ordered[:LIKELIEST] if p >= MIN_BAIT_P)

    @property
    def judged_probabilities(self) -> tuple[float, ...]:
        """Each reply's probability, once the judge's costs of the likeliest are known."""
        if self.costs is None or self.judge_tilt is None:
            return self.probabilities
        known = {self.replies.index(reply): self.costs.of(reply).cost / WHOLE for reply in self.likeliest}
        return self.judge_tilt.applied(self.probabilities, known)

    @property
    def is_judged(self) -> bool:
        """Whether it is known which replies are baits; a forced reply is none."""
        return self.costs is not None or len(self.replies) < 2

    @property
    def baits(self) -> tuple[Bait, ...]:
        """The baits, in the order of the profile."""
        if self.costs is None:
            return ()
        return tuple(
            Bait(reply, self.probability_of(reply), self.costs.of(reply)) for reply in self.bait_replies
        )

    @property
    def bait(self) -> Bait | None:
        """The bait with the highest probability times cost; None if our move sets no bait."""
        return max(self.baits, key=lambda each: each.expected_loss, default=None)

    def probability_of(self, reply: str) -> float:
        """A reply's probability (`judged_probabilities`).

        Raises:
            RecordError: The reply is not in the forecast.
        """
        try:
            return self.judged_probabilities[self.replies.index(reply)]
        except ValueError:
            raise RecordError(f"{reply} is not among the replies of the forecast") from None

    def takes_bait(self, reply: str) -> bool:
        """Whether a reply takes any bait."""
        return reply in self.bait_replies

    def to_record(self) -> dict[str, Any]:
        """A dictionary of plain JSON values; `from_record` turns it back into an equal forecast."""
        record = _with_stored_names(asdict(self))
        if self.other is None:
            del record["other"]
        else:
            record["other"] = _with_stored_names(record["other"])
            del record["other"]["other"]
        for each in (record, record.get("other", {})):
            if not each.get("is_forgotten", True):
                del each["is_forgotten"]
        return record

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        """Restore a forecast from a record written by `to_record`.

        A forecast by other rules than the present ones is restored without its baits and their costs.

        Raises:
            RecordError: The record lacks a field, or has an unknown field or a value of the wrong type.
        """
        try:
            forecast: Self = reader(ReplyForecast)(_without_old_baits(record))
            if len(forecast.replies) != len(forecast.probabilities):
                raise ValueError("the number of probabilities differs from the number of replies")
            judged = () if forecast.costs is None else forecast.costs.replies
            if not set(forecast.bait_replies) <= {each.reply for each in judged}:
                raise ValueError("a bait was not judged")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise RecordError(f"not the record of a forecast: {error}") from error
        return forecast


def without_person(record: dict[str, Any]) -> dict[str, Any]:
    """A forecast's record without what it says of the person who replies.

    The probabilities stay, since statistics need them; which of them the person's habits moved is no longer
    known.
    """
    left = dict(record)
    if left.pop(PERSON_FIELD, None) is not None:
        left["is_forgotten"] = True
    if isinstance(left.get("other"), dict):  # a forced reply has nothing of the person, the other move's may
        left["other"] = without_person(left["other"])
    return left


def _with_stored_names(record: dict[str, Any]) -> dict[str, Any]:
    """A forecast as plain values under the names used in records, which call probabilities ``odds``."""
    return {
        "odds" if name == "probabilities" else name: value
        for name, value in record.items()
        if name not in (PERSON_FIELD, _JUDGE_TILT_FIELD) or value is not None
    }


def _without_old_baits(record: Any) -> Any:
    if not isinstance(record, dict) or record.get("rule") == RULE:
        return record
    left = {name: value for name, value in record.items() if name not in _OLD_FIELDS}
    return left | {"other": _without_old_baits(record["other"])} if "other" in record else left


@dataclass(frozen=True, slots=True)
class Expectations:
    """Expected statistics of a reply, according to the forecast and for a person who moves at random."""

    error_uniform: float
    """Share of the replies that are errors."""
    error_expected: float
    """Probability of an error."""
    cost_uniform: float
    """Mean cost of the replies, in hundredths of a per cent of expected score."""
    cost_expected: float
    """Expected cost."""
    fall_uniform: float
    """Share of the replies that are traps in the paper's sense (`engine.figure_9`)."""
    fall_expected: float
    """Probability that the reply is a trap in that sense."""
    bait_uniform: float
    """Share of the replies that take a bait."""
    bait_expected: float
    """Probability that a bait is taken."""
    optimal_uniform: float
    """Share of the replies that are among the best."""
    optimal_expected: float
    """Probability that the reply is among the best."""
