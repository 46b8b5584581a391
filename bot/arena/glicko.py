"""Glicko-2 ratings: updates a player's rating from game results.

References: Glickman, "Example of the Glicko-2 system" (2013, revised 2022); the comments below use its step
    numbers.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

_GLICKO_SCALE = 173.7178  # Glicko points for one unit of Glickman's inner scale: 400 / ln 10
_VOLATILITY_CONSTRAINT = 0.5  # how far the volatility may move; Glickman suggests 0.3 to 1.2
_EPSILON = 1e-6
# Below 45 a rating would hardly change (lila has the same floor); 350 is a newcomer's deviation.
_MIN_DEVIATION, _MAX_DEVIATION = 45.0, 350.0
MIN_PROVISIONAL_DEVIATION = 110.0
"""Ratings with a larger deviation are provisional, as on Lichess."""


@dataclass(frozen=True, slots=True)
class Rating:
    """A rating and its uncertainty; the defaults are for a newcomer."""

    rating: float = 1500.0
    deviation: float = 350.0
    """The true strength lies within two deviations of the rating with 95 % probability."""
    volatility: float = 0.06
    """Expected fluctuation of the true strength over time."""

    @property
    def is_provisional(self) -> bool:
        return self.deviation > MIN_PROVISIONAL_DEVIATION


def update_rating(
    player: Rating,
    results: Sequence[tuple[Rating, float]],
    *,
    tau: float = _VOLATILITY_CONSTRAINT,
    periods: float = 1.0,
) -> Rating:
    """Compute the player's rating after one rating period, or a part of it.

    Args:
        player: The rating before the period.
        results: Each opponent's rating before the period, and the score: 1 (win), 0.5 (draw) or 0 (loss).
        tau: Glickman's system constant.
        periods: Length of the period relative to a usual one; the uncertainty grows in proportion to it.
    """
    # Step 2: to the inner scale.
    mu, phi = (player.rating - 1500) / _GLICKO_SCALE, player.deviation / _GLICKO_SCALE
    if not results:  # only the uncertainty grows
        return _bounded_rating(mu, math.hypot(phi, player.volatility * math.sqrt(periods)), player.volatility)
    # Steps 3 and 4: the variance of the results, and the improvement they suggest.
    weight = gain = 0.0
    for opponent, score in results:
        g = 1 / math.sqrt(1 + 3 * (opponent.deviation / _GLICKO_SCALE) ** 2 / math.pi**2)
        expected = 1 / (1 + math.exp(-g * (mu - (opponent.rating - 1500) / _GLICKO_SCALE)))
        weight += g * g * expected * (1 - expected)
        gain += g * (score - expected)
    variance = 1 / weight
    # Steps 5 to 7.
    volatility = _new_volatility(player.volatility, phi, variance, variance * gain, tau)
    phi = 1 / math.sqrt(1 / (phi * phi + volatility * volatility * periods) + weight)
    return _bounded_rating(mu + phi * phi * gain, phi, volatility)


def _new_volatility(sigma: float, phi: float, variance: float, delta: float, tau: float) -> float:
    """Step 5: find the new volatility from the zero of Glickman's f, by the Illinois algorithm."""
    a = math.log(sigma * sigma)

    def f(x: float) -> float:
        e = math.exp(x)
        spread = phi * phi + variance + e
        return e * (delta * delta - spread) / (2 * spread * spread) - (x - a) / (tau * tau)

    low = a
    if delta * delta > phi * phi + variance:
        high = math.log(delta * delta - phi * phi - variance)
    else:
        k = 1
        while f(a - k * tau) < 0:
            k += 1
        high = a - k * tau
    f_low, f_high = f(low), f(high)
    while abs(high - low) > _EPSILON:
        x = low + (low - high) * f_low / (f_high - f_low)
        f_x = f(x)
        if f_x * f_high <= 0:
            low, f_low = high, f_high
        else:
            f_low /= 2
        high, f_high = x, f_x
    return math.exp(low / 2)


def _bounded_rating(mu: float, phi: float, volatility: float) -> Rating:
    """Step 8: convert back to the original scale, and keep the values within sensible bounds."""
    deviation = min(max(phi * _GLICKO_SCALE, _MIN_DEVIATION), _MAX_DEVIATION)
    return Rating(min(max(mu * _GLICKO_SCALE + 1500, 100.0), 4000.0), deviation, volatility)
