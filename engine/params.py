"""All parameters of the trap arithmetic and the opponent-model values, with meaning, unit and source."""

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

from engine.errors import BadSettings
from engine.expected import MAX_LOGISTIC_CENTI, MIN_LOGISTIC_CENTI, PER_PERCENT, WHOLE


class Assessment(StrEnum):
    """How a reply's shallow scores become one number, U (Gordon & Reda 2006, section 3.2)."""

    MEDIAN = "median"
    """The median score: models people who give every depth some weight."""
    BEST = "best"
    """The best score for the opponent at any depth: models people who judge a reply by its best score."""
    LAST = "last"
    """The score one ply short of the full search: models shallower programs (Fang et al., Trap_AB)."""


class DecidedScores(StrEnum):
    """How to treat scores of decided games, which do not measure an advantage."""

    SWINDLE = "swindle"
    """A forced win gets no bonus; if every move loses by force, play the trap that is hardest to see."""
    PAPER = "paper"
    """Treat scores of decided games like any other score."""


class Scale(StrEnum):
    """Unit of the trap arithmetic, and the reference for the size of a trap."""

    PAPER = "paper"
    """Centi-units, relative to the size of the score itself: an even game has almost no traps."""
    EXPECTED = "expected"
    """Hundredths of a per cent of expected score, relative to a fixed risk, whatever the score."""


def _require(params: object, name: str, is_right: bool, must: str) -> None:
    """Refuse an invalid value, including NaN, for which every comparison is false."""
    if not is_right:
        raise BadSettings(f"{name} is {getattr(params, name)}, must be {must}")


def _require_logistic(params: "TrapParams | OpponentParams | TemptingParams") -> None:
    least, most = MIN_LOGISTIC_CENTI, MAX_LOGISTIC_CENTI
    is_right = params.logistic_centi == 0 or least <= params.logistic_centi <= most
    _require(params, "logistic_centi", is_right, f"0 or {least} .. {most}")


@dataclass(frozen=True, slots=True)
class TrapParams:
    """Settings of the trap arithmetic; stored with every decision."""

    assessment: Assessment = Assessment.MEDIAN
    margin_centi: int = 0
    """Trappiness and scale treat smaller scores as if they had this size, so level positions get a bonus,
    too. 0 in the paper; must be 0 on the expected scale, where sizes do not depend on scores."""
    decided: DecidedScores = DecidedScores.SWINDLE
    threshold_percent: float = 5.0
    """A played move is a *trap set* when the quality of its best trap, in points of expected score
    (hundredths of a game), reaches this value (above 0; the paper does not specify it)."""
    scale: Scale = Scale.PAPER
    risk_percent: float = 5.0
    """Maximum expected score to give up for a trap, in points (hundredths of a game); above 0. Applies
    only on the expected scale."""
    risk_share_percent: float = 25.0
    """Maximum percentage of the best move's expected score to give up for a trap: if that score is low,
    `risk_percent` alone would allow any loss. Above 0; 100 means no limit. Only on the expected scale.
    """
    logistic_centi: float = 0.0
    """Scale s of the logistic function 1 / (1 + exp(-score / s)) for expected scores, in centi-units; 0: the
    game's default, which the strategy sets before the search (`for_position`)."""

    def __post_init__(self) -> None:
        _require(self, "margin_centi", self.margin_centi >= 0, "0 or more")
        for name in ("threshold_percent", "risk_percent", "risk_share_percent"):
            _require(self, name, 0 < getattr(self, name) <= 100, "above 0 and at most 100")
        _require_logistic(self)
        is_free = self.scale is Scale.PAPER or self.margin_centi == 0
        _require(self, "margin_centi", is_free, "0 with the expected scale")

    @property
    def threshold(self) -> float:
        """The threshold in hundredths of a per cent of expected score."""
        return PER_PERCENT * self.threshold_percent

    @property
    def risk_budget(self) -> float:
        """The risk budget in hundredths of a per cent of expected score."""
        return PER_PERCENT * self.risk_percent

    @property
    def risk_share(self) -> float:
        """Upper limit on a move's bonus, as a multiple of the move's own value.

        With k = share / (1 - share), a bonus lifts a move worth w to at most (1 + k) w = w / (1 - share), so
        a move worth less than (1 - share) of the best is never played.
        """
        rest_percent = 100 - self.risk_share_percent
        return self.risk_share_percent / rest_percent if rest_percent else math.inf

    def for_position(self, expected_scale_centi: float) -> Self:
        """A copy that uses the game's own logistic function, if one is needed and none is set.

        Args:
            expected_scale_centi: `Game.expected_scale_centi` of the position that is searched.

        Raises:
            BadSettings: `expected_scale_centi` is out of range.
        """
        if self.scale is Scale.PAPER or self.logistic_centi != 0:
            return self
        return replace(self, logistic_centi=expected_scale_centi)


class OpponentScale(StrEnum):
    """Unit of the values of moves."""

    EXPECTED = "expected"
    """Hundredths of a per cent of expected score."""
    PAWNS = "pawns"
    """Centi-units (hundredths of a pawn or disc), limited to +-`OpponentParams.checkmate_centi`, as
    in the paper "When Suboptimal Minimax is Better"."""


@dataclass(frozen=True, slots=True)
class OpponentParams:
    """Settings of the strategies that model the opponent; stored with their decisions."""

    scale: OpponentScale = OpponentScale.EXPECTED
    budget_percent: float = 3.0
    """Maximum expected score, in points (hundredths of a game), that a move may give up compared with the
    best move, both followed by their best replies. At 0, it may give up nothing. Applies on both scales."""
    share_percent: float = 25.0
    """Maximum share of the best move's expected score that a move may give up, in per cent: if that score
    is low, `budget_percent` alone would allow any loss. Moves that lead to a forced loss are also excluded,
    unless every move does. Above 0; at 100, neither limit applies."""
    least_percent: float = 2.0
    """Replies less likely than this are not searched: each counts as if it were the best. With calibrated
    probabilities, 0 is used instead, and every reply is searched."""
    checkmate_centi: int = 1000
    """Value of a decided game in centi-units, and the limit on the size of any score in centi-units (the
    paper's CHECKMATE_WEIGHT, ten pawns)."""
    logistic_centi: float = 0.0
    """Scale s of the logistic function 1 / (1 + exp(-score / s)) for expected scores, in centi-units;
    0: the game's default, which the strategy sets before the search (`for_position`)."""

    def __post_init__(self) -> None:
        _require(self, "budget_percent", 0 <= self.budget_percent <= 100, "0 to 100")
        _require(self, "share_percent", 0 < self.share_percent <= 100, "above 0 and at most 100")
        _require(self, "least_percent", 0 <= self.least_percent <= 50, "0 to 50")
        _require(self, "checkmate_centi", self.checkmate_centi >= 1, "1 or more")
        _require_logistic(self)

    @property
    def risk_budget(self) -> float:
        """The risk budget in hundredths of a per cent of expected score."""
        return PER_PERCENT * self.budget_percent

    @property
    def min_reply_p(self) -> float:
        """The minimum probability at which a reply is searched."""
        return self.least_percent / 100

    def for_position(self, expected_scale_centi: float) -> Self:
        """A copy with the game's own logistic function, if none is set; see `TrapParams.for_position`."""
        return self if self.logistic_centi else replace(self, logistic_centi=expected_scale_centi)


@dataclass(frozen=True, slots=True)
class ExploitParams:
    """Settings of the strategy exploit (`engine.opponents.exploit_value`); stored with its decisions."""

    budget_percent: float = 2.0
    """Maximum expected score, in points (hundredths of a game), that a move may give up."""
    bank_percent: float = 30.0
    """Maximum sum over a game of what its moves give up, in the same unit."""
    flatness: float = 3.0
    """Without a scale for two players, this many times the game's own scale counts: between a program and
    a person, a lead is worth less than between equal programs."""
    margin_percent: float = 0.5
    """Least advantage in value, in the same unit, of a move that is played instead of the best: smaller ones
    bring next to nothing (docs/engine.md)."""
    cap_percent: float = 200.0
    """Maximum loss of score of a move, in per cent of the scale of the game's own logistic function: near 0
    and 100 % of expected score, a few points are worth many pawns."""
    cost_factor: float = 1.0
    """A contender's loss of score counts this many times: of many estimates that are nearly as good as the
    best, the one preferred is too high on average. The contenders' scores are lower bounds already."""
    prior_percent: float = 2.0
    """How much a contender is expected to bring against a person beside its score, before it was played out:
    a standard deviation, in the same unit."""
    bait_percent: float = 0.0
    """What a bait that is certainly taken counts in itself, in the same unit."""

    def __post_init__(self) -> None:
        _require(self, "budget_percent", 0 <= self.budget_percent <= 100, "0 to 100")
        _require(self, "bank_percent", 0 <= self.bank_percent <= 1000, "0 to 1000")
        _require(self, "flatness", 1 <= self.flatness <= 10, "1 to 10")
        _require(self, "margin_percent", 0 <= self.margin_percent <= 100, "0 to 100")
        _require(self, "cap_percent", 0 <= self.cap_percent <= 1000, "0 to 1000")
        _require(self, "cost_factor", 1 <= self.cost_factor <= 10, "1 to 10")
        _require(self, "prior_percent", 0.01 <= self.prior_percent <= 100, "0.01 to 100")
        _require(self, "bait_percent", 0 <= self.bait_percent <= 100, "0 to 100")


@dataclass(frozen=True, slots=True)
class TemptingParams:
    """Settings of the strategy tempting (`engine.tempting`); stored with its decisions.

    All limits are whole numbers, so that the same moves are allowed on every machine.
    """

    budget: int = 500
    """Maximum expected score that a move may give up compared with the best, in hundredths of a per cent."""
    share_percent: int = 25
    """Maximum share of the best move's expected score that a move may give up, in per cent."""
    gap_percent: int = 35
    """Maximum loss of score, in per cent of `logistic_centi`, unless decided games are treated like any other
    (`DecidedScores.PAPER`). By default, `budget` and `share_percent` are stricter up to an expected score of
    80 %. This limit matters near 0 and 100 %, where a hundredth of a per cent is worth more than a pawn."""
    won_gap_percent: int = 10
    """Replaces `gap_percent` within `budget` of a certain win, where the budget limits nothing."""
    logistic_centi: float = 0.0
    """Scale s of the logistic function 1 / (1 + exp(-score / s)) for expected scores, in centi-units;
    0: the game's default, which the strategy sets before the search (`for_position`)."""

    def __post_init__(self) -> None:
        _require(self, "budget", 0 <= self.budget <= WHOLE, f"0 to {WHOLE}")
        _require(self, "share_percent", 0 <= self.share_percent <= 100, "0 to 100")
        for name in ("gap_percent", "won_gap_percent"):
            _require(self, name, 0 <= getattr(self, name) <= 1000, "0 to 1000")
        _require_logistic(self)

    def for_position(self, expected_scale_centi: float) -> Self:
        """A copy with the game's own logistic function, if none is set; see `TrapParams.for_position`."""
        return self if self.logistic_centi else replace(self, logistic_centi=expected_scale_centi)


@dataclass(frozen=True, slots=True)
class RandomisedParams:
    """Settings of the strategy `randomised` (`engine.randomised`); stored with randomised decisions."""

    chance: float = 0.5
    """Probability of playing the move that sets a trap, from .1 to .9."""
    budget_percent: float = 2.0
    """Maximum difference between the two moves' values, in points (hundredths) of expected score."""
    most_profiles: int = 6
    """Maximum number of moves, best first, to search when looking for one that sets no trap."""
    by_pair: bool = False
    """Whether a nearly decided game is one that is decided between these two players, if both ratings are
    known (`engine.opponents.pair_value`); otherwise, and in games of older records, between equal ones."""

    def __post_init__(self) -> None:
        _require(self, "chance", 0.1 <= self.chance <= 0.9, "0.1 to 0.9")
        _require(self, "budget_percent", 0 < self.budget_percent <= 5, "above 0 and at most 5")
        _require(self, "most_profiles", 1 <= self.most_profiles <= 100, "1 to 100")

    @property
    def risk_budget(self) -> float:
        """The budget in hundredths of a per cent of expected score."""
        return PER_PERCENT * self.budget_percent
