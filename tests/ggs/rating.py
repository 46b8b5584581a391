"""Ratings as the service computes and shows them (its help file ``rating``)."""

import math
from dataclasses import dataclass

from tests.ggs.clocks import show_time

_P = 3 * math.log(10) ** 2 / (math.pi**2 * 400**2)
_Q = math.log(10) / 400
_GROWTH = 350.0**2 / (60 * 60 * 24 * 365 * 5)
"""Of the squared deviation, a second without a game."""


@dataclass(slots=True)
class Rating:
    """Of one player in one pool, such as ``8`` or ``8r``."""

    rank: float = 1720.0
    deviation: float = 350.0
    total: float = 0.0
    """Sum of the results, in discs."""
    wins: int = 0
    draws: int = 0
    losses: int = 0
    date: int = 0
    """Unix time of the last game; 0: none yet."""

    def deviation_at(self, now: int) -> float:
        """It grows while the player is away."""
        return min(350.0, math.sqrt(self.deviation**2 + _GROWTH * max(0, now - self.date)))

    def show(self, now: int) -> str:
        """The columns after the pool's name."""
        games = self.wins + self.draws + self.losses
        away = show_time(now - self.date, 8).rjust(13) if self.date else " ----------- "
        return (
            f"{self.rank:6.1f}@{self.deviation_at(now):5.1f}={away}+@{self.deviation:5.1f}"
            f"{self.total / games if games else 0:+6.1f}{self.wins:7}{self.draws:7}{self.losses:7}"
        )


def outcome(discs: float) -> float:
    """A result in discs as a share of a won game: +2 is 0.8."""
    return 0.5 + discs * 0.75 * 0.5 / (1 + abs(discs) * 0.75)


def rate(discs: float, first: Rating, second: Rating, now: int) -> None:
    """Change both ratings after a game with that result in the first one's view."""
    for rating, result in ((first, discs), (second, -discs)):
        rating.wins += result > 0
        rating.draws += result == 0
        rating.losses += result < 0
        rating.total += result
        rating.deviation = rating.deviation_at(now)
        rating.date = now
    score = outcome(discs)
    lead, spreads = first.rank - second.rank, (first.deviation, second.deviation)
    for rating, other, won, ahead in (
        (first, spreads[1], score, lead),
        (second, spreads[0], 1 - score, -lead),
    ):
        damped = 1 / math.sqrt(1 + _P * other**2)
        expected = 1 / (1 + 10 ** (-ahead * damped / 400))
        knowledge = 1 / rating.deviation**2 + _Q**2 * damped**2 * expected * (1 - expected)
        rating.rank += 2 * max(16.0, _Q * damped / knowledge) * (won - expected)
        rating.deviation = 1 / math.sqrt(knowledge)
