"""Records and statistics of forecasts of people's replies to a move (`engine.bait_rule`)."""

from dataclasses import asdict, dataclass, field
from typing import Any, Self

from engine.decision import ModelInfo
from engine.errors import RecordError
from engine.judgement import MIN_ERROR_COST
from engine.plain_values import OLD_NAMES, reader


@dataclass(frozen=True, slots=True)
class TemptingReply:
    """A tempting reply; costs are in hundredths of a per cent of expected score."""

    reply: str
    p_reply: float = field(metadata={OLD_NAMES: ("odds",)})
    """Probability of the reply."""
    cost: int
    """Cost of the reply in the decision's own search."""
    deceives_at: tuple[int, ...]
    """Depths in plies, ascending, at which the reply looks at least as good as every best reply."""
    confirmed_cost: int | None = None
    """Cost of the reply in the confirming search; None if no confirming search was run."""

    @property
    def is_confirmed(self) -> bool:
        """Whether the reply is also an error in the confirming search."""
        return self.confirmed_cost is not None and self.confirmed_cost >= MIN_ERROR_COST

    @property
    def expected_loss(self) -> float:
        """Probability times cost."""
        return self.p_reply * self.cost


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
    """Each reply's probability, to six digits."""
    base: tuple[float, ...]
    """The model's probabilities before it was adapted to the person; empty if it was not."""
    tempting: tuple[TemptingReply, ...]
    """Tempting replies according to the decision's own search, in the order of the profile."""
    confirm_depth: int
    """Depth of the confirming search in plies from the decision's position; 0 if the search took too long."""
    confirm_source: str = ""
    """The engine of the confirming search, as in `Decision.profile_source`; empty if none was recorded."""
    other: "ReplyForecast | None" = None
    """The forecast for the move that a trial did not select (`Decision.trial_draw`), without confirmation."""

    @property
    def confirmed(self) -> tuple[TemptingReply, ...]:
        """The confirmed tempting replies."""
        return tuple(each for each in self.tempting if each.is_confirmed)

    @property
    def bait(self) -> TemptingReply | None:
        """The confirmed bait with the highest probability times cost; None if our move sets no bait."""
        return max(self.confirmed, key=lambda each: each.expected_loss, default=None)

    def probability_of(self, reply: str) -> float:
        """A reply's probability.

        Raises:
            RecordError: The reply is not in the forecast.
        """
        try:
            return self.probabilities[self.replies.index(reply)]
        except ValueError:
            raise RecordError(f"{reply} is not among the replies of the forecast") from None

    def takes_bait(self, reply: str) -> bool:
        """Whether a reply takes any confirmed bait."""
        return any(each.reply == reply for each in self.confirmed)

    def to_record(self) -> dict[str, Any]:
        """A dictionary of plain JSON values; `from_record` turns it back into an equal forecast."""
        record = _with_stored_names(asdict(self))
        if self.other is None:
            del record["other"]
        else:
            record["other"] = _with_stored_names(record["other"])
            del record["other"]["other"]
        return record

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        """Restore a forecast from a record written by `to_record`.

        Raises:
            RecordError: The record lacks a field, or has an unknown field or a value of the wrong type.
        """
        try:
            forecast: Self = reader(ReplyForecast)(record)
            if len(forecast.replies) != len(forecast.probabilities):
                raise ValueError("the number of probabilities differs from the number of replies")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise RecordError(f"not the record of a forecast: {error}") from error
        return forecast


def _with_stored_names(record: dict[str, Any]) -> dict[str, Any]:
    """A forecast as plain values under the names used in records, which call probabilities ``odds``."""
    record["tempting"] = tuple(
        {"odds" if name == "p_reply" else name: value for name, value in each.items()}
        for each in record["tempting"]
    )
    return {"odds" if name == "probabilities" else name: value for name, value in record.items()}


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
    """Share of the replies that are traps in the paper's sense (`engine.judgement`)."""
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
