"""Clocks and lags of whole games, in arithmetic."""

import math
import random
from collections import deque
from dataclasses import dataclass, field

SLOWEST_FAST_S = 0.03
"""What the fastest decision was seen to take on a busy machine."""


@dataclass
class Line:
    """The way to a server: what a move takes on it, and what was measured so far."""

    rng: random.Random
    mean_s: float
    """Of ways from 0 to twice as much."""
    spike_s: float
    """One in thirty takes up to so much more."""
    ways_s: deque[float] = field(default_factory=lambda: deque(maxlen=20))

    @property
    def lag_s(self) -> float:
        """What three of four of the latest ways took at most, as the adapters measure it."""
        return sorted(self.ways_s)[math.ceil(0.75 * len(self.ways_s)) - 1] if self.ways_s else 0.0

    def way_s(self) -> float:
        way_s = self.rng.uniform(0, 2 * self.mean_s)
        if self.rng.random() < 1 / 30:
            way_s += self.rng.uniform(0, self.spike_s)
        self.ways_s.append(min(way_s, 1.0))
        return way_s


@dataclass
class Side:
    """Our clock in one game, and beside it the clock of one who never thinks."""

    initial_s: float
    increment_s: float
    moves: int
    """The game ends after this many of our moves."""
    clock_s: float = field(init=False)
    unthinking_s: float = field(init=False)
    least_unthinking_s: float = field(init=False)
    thought_s: float = 0.0
    made: int = 0

    def __post_init__(self) -> None:
        self.clock_s = self.unthinking_s = self.least_unthinking_s = self.initial_s

    @property
    def given_s(self) -> float:
        return self.initial_s + self.made * self.increment_s

    @property
    def plies_left(self) -> int:
        """As at chess, with pieces that leave the board evenly."""
        pieces = max(4, 32 - 2 * self.made // 3)
        return 24 + 3 * pieces // 2

    def move(self, waited_s: float, thought_s: float, way_s: float) -> bool:
        """Make a move; False: the flag fell."""
        self.clock_s -= waited_s + thought_s + way_s
        self.unthinking_s -= waited_s + SLOWEST_FAST_S + way_s
        self.least_unthinking_s = min(self.least_unthinking_s, self.unthinking_s)
        self.thought_s += thought_s
        self.made += 1
        if self.clock_s <= 0:
            return False
        self.clock_s += self.increment_s
        self.unthinking_s += self.increment_s
        return True


def overshot(rng: random.Random, asked_s: float) -> float:
    """What a search takes that was asked for so much."""
    return asked_s * (1 + rng.uniform(0, 0.1)) + rng.uniform(0, 0.02)
