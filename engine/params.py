"""Every knob of the trap arithmetic, with its meaning, unit and source."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

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
    logistic_centi: float = 0.0
    """s of the expected scale's 1 / (1 + exp(-score / s)), in centi-units; 0: the game's own, which the
    player fills in before it searches (`for_position`)."""

    def __post_init__(self) -> None:
        if self.margin_centi < 0:
            raise ValueError(f"margin_centi is {self.margin_centi}, must be 0 or more")
        if self.threshold_centi < 1:
            raise ValueError(f"threshold_centi is {self.threshold_centi}, must be 1 or more")
        if not 0 < self.risk_percent <= 100:  # nor NaN
            raise ValueError(f"risk_percent is {self.risk_percent}, must be above 0 and at most 100")
        least, most = SMALLEST_LOGISTIC_CENTI, LARGEST_LOGISTIC_CENTI
        if self.logistic_centi != 0 and not least <= self.logistic_centi <= most:
            raise ValueError(f"logistic_centi is {self.logistic_centi}, must be 0 or {least} .. {most}")
        if self.scale is Scale.EXPECTED and self.margin_centi != 0:
            raise ValueError(f"margin_centi is {self.margin_centi}, must be 0 with the expected scale")

    @property
    def risk(self) -> float:
        """The risk budget in hundredths of a per cent of expected score."""
        return PER_PERCENT * self.risk_percent

    def for_position(self, expected_scale_centi: float) -> Self:
        """The same with the game's own logistic function filled in, if it is needed and not set.

        Args:
            expected_scale_centi: `Game.expected_scale_centi` of the position that is searched.

        Raises:
            ValueError: That is no such number.
        """
        if self.scale is Scale.PAPER or self.logistic_centi != 0:
            return self
        return replace(self, logistic_centi=expected_scale_centi)
