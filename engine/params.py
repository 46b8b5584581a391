"""Every parameter of trap arithmetic and opponent-model values, with its meaning, unit and source."""

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

from engine.errors import BadSettings
from engine.expected import LARGEST_LOGISTIC_CENTI, PER_PERCENT, SMALLEST_LOGISTIC_CENTI


class Assessment(StrEnum):
    """How a reply's shallow scores become one number, U (Gordon & Reda 2006, section 3.2)."""

    MEDIAN = "median"
    """The middle one: for people, who look at all depths a little."""
    BEST = "best"
    """The best for the opponent: for people, who see what they hope for."""
    LAST = "last"
    """The one a ply short of the full search: for shallower programs (Fang et al., Trap_AB)."""


class Decided(StrEnum):
    """What to do with scores of decided games, which are not distances."""

    SWINDLE = "swindle"
    """A forced win gets no bonus; when every move loses by force, play the trap that is hardest to see."""
    PAPER = "paper"
    """Treat them as any other score."""


class Scale(StrEnum):
    """What the arithmetic counts in, and against what it holds a trap."""

    PAPER = "paper"
    """Centi-units, relative to the size of the score itself: an even game has next to no traps."""
    EXPECTED = "expected"
    """Hundredths of a per cent of expected score, against a fixed risk, whatever the score."""


@dataclass(frozen=True, slots=True)
class TrapParams:
    """Settings of the trap arithmetic; stored with every decision."""

    assessment: Assessment = Assessment.MEDIAN
    margin_centi: int = 0
    """Least size that a score counts as in trappiness and scale, so that even positions get a bonus too.
    0 is the paper, and all that the expected scale knows, where sizes do not depend on scores."""
    decided: Decided = Decided.SWINDLE
    threshold_centi: int = 100
    """A played move is a *trap set* when the quality of its best trap reaches this (the paper leaves it
    open); at least 1.  Centi-units, or hundredths of a per cent with the expected scale."""
    scale: Scale = Scale.PAPER
    risk_percent: float = 5.0
    """The most points of expected score (hundredths of a game) that are given up for a trap; above 0.  Of the
    expected scale alone."""
    risk_share_percent: float = 25.0
    """The most of the best move's expected score, in per cent of it, that is given up for a trap: where
    little is left, `risk_percent` alone would allow anything.  Above 0; 100: no such limit.  Of the expected
    scale alone."""
    logistic_centi: float = 0.0
    """s of the expected scale's 1 / (1 + exp(-score / s)), in centi-units; 0: the game's own, which the
    player fills in before it searches (`for_position`)."""

    def __post_init__(self) -> None:
        if self.margin_centi < 0:
            raise BadSettings(f"margin_centi is {self.margin_centi}, must be 0 or more")
        if self.threshold_centi < 1:
            raise BadSettings(f"threshold_centi is {self.threshold_centi}, must be 1 or more")
        if not 0 < self.risk_percent <= 100:  # nor NaN
            raise BadSettings(f"risk_percent is {self.risk_percent}, must be above 0 and at most 100")
        if not 0 < self.risk_share_percent <= 100:
            raise BadSettings(
                f"risk_share_percent is {self.risk_share_percent}, must be above 0 and at most 100"
            )
        least, most = SMALLEST_LOGISTIC_CENTI, LARGEST_LOGISTIC_CENTI
        if self.logistic_centi != 0 and not least <= self.logistic_centi <= most:
            raise BadSettings(f"logistic_centi is {self.logistic_centi}, must be 0 or {least} .. {most}")
        if self.scale is Scale.EXPECTED and self.margin_centi != 0:
            raise BadSettings(f"margin_centi is {self.margin_centi}, must be 0 with the expected scale")

    @property
    def risk(self) -> float:
        """The risk budget in hundredths of a per cent of expected score."""
        return PER_PERCENT * self.risk_percent

    @property
    def risk_share(self) -> float:
        """The most that a move's bonus may be, as a multiple of what the move itself is worth.

        With k = share / (1 - share) a move worth w gets at most to (1 + k) w = w / (1 - share): so one that
        is worth less than (1 - share) of the best is not played.
        """
        kept = 100 - self.risk_share_percent
        return self.risk_share_percent / kept if kept else math.inf

    def for_position(self, expected_scale_centi: float) -> Self:
        """The same with the game's own logistic function filled in, if it is needed and not set.

        Args:
            expected_scale_centi: `Game.expected_scale_centi` of the position that is searched.

        Raises:
            BadSettings: That is no such number.
        """
        if self.scale is Scale.PAPER or self.logistic_centi != 0:
            return self
        return replace(self, logistic_centi=expected_scale_centi)


class ValueScale(StrEnum):
    """What values of moves are counted in."""

    EXPECTED = "expected"
    """Hundredths of a per cent of expected score."""
    PAWNS = "pawns"
    """Centi-units (hundredths of a pawn, a disc), at most `ValueParams.checkmate_centi` either way: the paper
    "When Suboptimal Minimax is Better"."""


@dataclass(frozen=True, slots=True)
class ValueParams:
    """Settings of the players that reckon with what a person will reply; stored with their decisions."""

    scale: ValueScale = ValueScale.EXPECTED
    budget_percent: float = 3.0
    """The most points of expected score (hundredths of a game) that a move may give up against the best: what
    the best reply to it takes, for sure.  0: none; on either scale."""
    share_percent: float = 25.0
    """The most of the best move's expected score, in per cent of it, that a move may give up: where little is
    left, `budget_percent` alone would allow anything.  Nor may a move lose by force that need not.  Above 0;
    100: no such limits."""
    least_percent: float = 2.0
    """Replies that are less likely are not looked into: they count as if each were the best.  With calibrated
    odds, for which every reply is looked into, it is 0."""
    checkmate_centi: int = 1000
    """What a decided game counts on the scale of pawns, and the most that any score does (the paper's
    CHECKMATE_WEIGHT, ten pawns)."""
    logistic_centi: float = 0.0
    """s of the expected score's 1 / (1 + exp(-score / s)), in centi-units; 0: the game's own, which the
    player fills in before it searches (`for_position`)."""

    def __post_init__(self) -> None:
        if not 0 <= self.budget_percent <= 100:  # nor NaN
            raise BadSettings(f"budget_percent is {self.budget_percent}, must be 0 to 100")
        if not 0 < self.share_percent <= 100:
            raise BadSettings(f"share_percent is {self.share_percent}, must be above 0 and at most 100")
        if not 0 <= self.least_percent <= 50:
            raise BadSettings(f"least_percent is {self.least_percent}, must be 0 to 50")
        if self.checkmate_centi < 1:
            raise BadSettings(f"checkmate_centi is {self.checkmate_centi}, must be 1 or more")
        least, most = SMALLEST_LOGISTIC_CENTI, LARGEST_LOGISTIC_CENTI
        if self.logistic_centi != 0 and not least <= self.logistic_centi <= most:
            raise BadSettings(f"logistic_centi is {self.logistic_centi}, must be 0 or {least} .. {most}")

    @property
    def budget(self) -> float:
        """The risk budget in hundredths of a per cent of expected score."""
        return PER_PERCENT * self.budget_percent

    @property
    def least(self) -> float:
        """The least probability of a reply that is looked into."""
        return self.least_percent / 100

    def for_position(self, expected_scale_centi: float) -> Self:
        """The same with the game's own logistic function filled in, if none is set.

        Args:
            expected_scale_centi: `Game.expected_scale_centi` of the position that is searched.

        Raises:
            BadSettings: That is no such number.
        """
        return self if self.logistic_centi else replace(self, logistic_centi=expected_scale_centi)
