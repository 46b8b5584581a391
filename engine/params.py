"""Every knob of the trap arithmetic, with its meaning, unit and source."""

from dataclasses import dataclass
from enum import StrEnum


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


@dataclass(frozen=True, slots=True)
class TrapParams:
    """Settings of the trap arithmetic; stored with every decision."""

    assessment: Assessment = Assessment.MEDIAN
    margin_centi: int = 0
    """Least size that a score counts as in trappiness and scale, so that even positions get a bonus too.
    0 is the paper."""
    decided: Decided = Decided.SWINDLE
    threshold_centi: int = 100
    """A played move is a *trap set* when the quality of its best trap reaches this (the paper leaves it
    open); at least 1."""

    def __post_init__(self) -> None:
        if self.margin_centi < 0:
            raise ValueError(f"margin_centi is {self.margin_centi}, must be 0 or more")
        if self.threshold_centi < 1:
            raise ValueError(f"threshold_centi is {self.threshold_centi}, must be 1 or more")
