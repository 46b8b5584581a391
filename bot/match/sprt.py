"""Sequential probability ratio test (SPRT) between two Elo differences, over pairs of games.

A generalised SPRT (Wald 1945; Michel Van den Bergh, "The generalized sequential probability ratio test",
2017): the log-likelihood ratio compares two distributions of pair scores, those nearest to the observed one
(by maximum likelihood) whose means are the scores expected at elo1 and at elo0. If the scores a have observed
shares p, the nearest distribution with mean s is p / (1 + t (a - s)), with t such that the mean is s.

Pairs are evaluated in the order of their numbers, not in the order in which they end: short games are often
losses, so counting pairs as they end would bias the test. The test ends at the first pair at which the ratio
reaches a bound; later pairs are ignored.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.match.play import FinishedGame
from bot.match.player_specs import MatchError
from bot.match.score import PAIR_SCORES, pair_score, pair_score_counts, score_from_elo

_MIN_PAIR_COUNT = 1e-3
"""Pseudo-count of a pair score that has not occurred."""


@dataclass(frozen=True, slots=True)
class Sprt:
    """Two hypotheses and their error rates."""

    elo0: float
    """H0: A is stronger by at most this Elo difference."""
    elo1: float
    """H1: A is stronger by at least this Elo difference."""
    alpha: float = 0.05
    """Probability of accepting H1 when H0 is true."""
    beta: float = 0.05
    """Probability of accepting H0 when H1 is true."""

    def __post_init__(self) -> None:
        if not self.elo0 < self.elo1:
            raise MatchError(f"--sprt: elo0 is {self.elo0:g}, must be below elo1, {self.elo1:g}")
        if max(abs(self.elo0), abs(self.elo1)) > 1000:
            raise MatchError("--sprt: differences of more than 1000 are not tested")
        for name, chance in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < chance < 0.5:
                raise MatchError(f"--sprt: {name} is {chance:g}, must be above 0 and below 0.5")

    @property
    def lower(self) -> float:
        """Lower bound of the log-likelihood ratio, at or below which H0 is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """Upper bound of the log-likelihood ratio, at or above which H1 is accepted."""
        return math.log((1 - self.beta) / self.alpha)


class SprtVerdict(StrEnum):
    """State of a test."""

    OPEN = "open"
    H0 = "H0"
    H1 = "H1"


@dataclass(frozen=True, slots=True)
class SprtResult:
    """The state of a test after the pairs evaluated so far."""

    sprt: Sprt
    seen: tuple[int, ...]
    """Number of pairs with each of `PAIR_SCORES`; includes the pair that decided the test, but no pair after
    the first unfinished pair."""
    llr: float
    """Log-likelihood ratio after the counted pairs."""
    verdict: SprtVerdict

    @property
    def pairs(self) -> int:
        """Number of pairs counted."""
        return sum(self.seen)


def parse_sprt(text: str) -> Sprt:
    """Parse ``elo0,elo1[,alpha,beta]``.

    Raises:
        MatchError: The text is malformed, or a value is out of range.
    """
    parts = text.split(",")
    number = re.compile(r"[+-]?\d+(\.\d+)?")
    if len(parts) not in (2, 4) or not all(number.fullmatch(part.strip()) for part in parts):
        raise MatchError(f"--sprt: {text!r} is not ELO0,ELO1 or ELO0,ELO1,ALPHA,BETA")
    return Sprt(*map(float, parts))


def llr(pair_counts: Sequence[int], elo0: float, elo1: float) -> float:
    """The log-likelihood ratio of elo1 against elo0.

    Args:
        pair_counts: Number of pairs with each of `PAIR_SCORES`.
    """
    if not any(pair_counts):
        return 0.0
    weights = [count or _MIN_PAIR_COUNT for count in pair_counts]
    total = sum(weights)
    shares = [weight / total for weight in weights]
    tilted = []
    for expected in (score_from_elo(elo0), score_from_elo(elo1)):
        tilt = _solve_likelihood_tilt(shares, expected)
        tilted.append([math.log1p(tilt * (score - expected)) for score in PAIR_SCORES])
    zeros, ones = tilted
    return total * math.fsum(p * (zero - one) for p, zero, one in zip(shares, zeros, ones, strict=True))


def judge(sprt: Sprt, games: Mapping[int, FinishedGame], before: SprtResult | None = None) -> SprtResult:
    """Return the state of the SPRT after the given games, keyed by game number.

    Args:
        before: An earlier state of the same test; None: begin with the first pair.
    """
    now = before or SprtResult(sprt, (0,) * len(PAIR_SCORES), 0.0, SprtVerdict.OPEN)
    while now.verdict is SprtVerdict.OPEN:
        first = 2 * now.pairs
        if first not in games or first + 1 not in games:
            break
        score = pair_score((games[first], games[first + 1]))
        seen = tuple(count + new for count, new in zip(now.seen, pair_score_counts([score]), strict=True))
        ratio = llr(seen, sprt.elo0, sprt.elo1)
        verdict = (
            SprtVerdict.H1
            if ratio >= sprt.upper
            else SprtVerdict.H0
            if ratio <= sprt.lower
            else SprtVerdict.OPEN
        )
        now = SprtResult(sprt, seen, ratio, verdict)
    return now


def _solve_likelihood_tilt(shares: Sequence[float], expected: float) -> float:
    """Find the t of the module's docstring: the root of the decreasing sum of p (a - s) / (1 + t (a - s))."""
    low, high = -1 / (1 - expected), 1 / expected  # beyond these a probability would not be positive
    for _ in range(50):
        middle = (low + high) / 2
        excess = sum(
            p * (score - expected) / (1 + middle * (score - expected))
            for p, score in zip(shares, PAIR_SCORES, strict=True)
        )
        if excess > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
