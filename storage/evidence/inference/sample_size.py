"""Sample sizes (games, decisions or traps) needed to detect an effect, for fixed and any-time analyses.

A fixed-sample interval excludes 0 with a power of 80 % once n >= 7.85 sd^2 / D^2. An any-time interval
excludes 0 with this power once sd (w(n) + 0.84 / sqrt(n)) <= D (`any_time` defines w); half of the trials
with an effect end much earlier.
"""

from dataclasses import dataclass
from math import ceil, inf, log10, sqrt
from statistics import NormalDist
from typing import Literal

from storage.evidence.inference.any_time import AnyTimeEstimate, PlannedN, SequenceDesign
from storage.evidence.inference.defaults import ALPHA

POWER = 0.8
DRAWS_PER_GAME = 1.0
"""Randomised decisions per game that plans assume if the rate has not been measured: the rate of chess and
xiangqi with default settings (docs/trials.md); Othello has fewer."""
MIN_GAMES = 30
"""Minimum number of games for measuring the rate of randomised decisions; with this number, a rate of one
per game is known to within about 18 %."""
FAIR_COIN_WEIGHT = 4.0
"""The mean of 1 / (pi (1 - pi)) when both arms are equally likely."""
_SCORES = (0.65, 0.80, 0.90)
"""The plans cover these expected scores."""
_ELOS = (20, 50, 100)
_RESIDUAL_SDS = (0.10, 0.133)
"""Standard deviations of a reply's cost around the prediction."""
_COSTS = (0.005, 0.01, 0.02)
"""The plans cover these effects on the next reply's cost, in expected score."""
_FALLS = (0.2, 0.3)
"""The plans cover these shares of baits taken."""
_BEYOND_EXPECTED = (0.02, 0.05, 0.10)
"""The plans cover these differences between the actual and the expected share of baits taken."""
_TRAPS_PER_PERSON = 10.0
"""Number of answered traps per effective person, n / P."""
_INTRACLASS_CORRELATION = 0.09
"""Intraclass correlation of one person's taken baits; 0.06 to 0.12 in simulations."""
_TRAPS_PER_GAME = 2.0
"""Number of answered traps per game."""
_MAX_VALUES = 1e12


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleSizeRow:
    """The sample size for one effect."""

    kind: Literal["games", "decisions", "traps"]
    given: str
    """The assumptions, in words."""
    effect: float
    """The effect, in the unit of the values: score, cost, or share of baits taken."""
    effect_elo: float | None
    """The effect in Elo; None unless it was stated in Elo."""
    sd: float
    """Standard deviation of a value."""
    fixed: float
    """Number of values needed for one planned analysis."""
    any_time: float
    """Number of values needed with an interval that is valid at any time."""
    per_game: float
    """Number of values per game."""
    measured_in: int | None
    """Number of games in which `per_game` was measured; None if assumed, or if values are games."""
    fixed_games: float | None
    """`fixed` converted to games; None if the number of values per game is unknown."""
    any_time_games: float | None
    """`any_time` converted to games; None if the number of values per game is unknown."""


def fixed_sample_size(effect: float, sd: float, alpha: float = ALPHA, power: float = POWER) -> float:
    """Number of values that one planned analysis needs to exclude 0 with this power; not rounded.

    Raises:
        ValueError: The effect or sd is not positive, or the power is not between 1/2 and 1.
    """
    _check(effect, sd, power)
    normal = NormalDist()
    return ((normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)) * sd / effect) ** 2


def any_time_sample_size(effect: float, sd: float, design: SequenceDesign, power: float = POWER) -> float:
    """Number of values after which an any-time-valid interval excludes 0 with this power; not rounded.

    Raises:
        ValueError: As for `fixed_sample_size`, or more than 10^12 values are needed.
    """
    _check(effect, sd, power)
    z = NormalDist().inv_cdf(power)

    def is_enough(n: float) -> bool:
        return sd * (float(design.width(n)) + z / sqrt(n)) <= effect

    low, high = 1.0, _MAX_VALUES
    if not is_enough(high):
        raise ValueError(f"an effect of {effect:g} with sd {sd:g} needs more than {_MAX_VALUES:g} values")
    if is_enough(low):
        return low
    while high / low > 1 + 1e-12:
        middle = sqrt(low * high)
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def values_needed(found: AnyTimeEstimate, effect: float, design: SequenceDesign) -> int | None:
    """Number of further values needed to detect an effect, estimated from the current standard deviation.

    Returns:
        0 if there are enough values; None if there are fewer than `design.least_values` or all are equal.

    Raises:
        ValueError: As for `any_time_sample_size`.
    """
    if found.n < design.least_values or not found.sd:
        return None
    return max(0, ceil(any_time_sample_size(effect, found.sd, design)) - found.n)


def usual_draws(score: float) -> float:
    """The share of drawn games that plans assume: 10 %, or 5 % if the expected score is 90 % or more."""
    return 0.1 if score < 0.9 else 0.05


def elo_effect(score: float, elo: float) -> float:
    """The difference in score between two strategies `elo` points apart, at expected scores around `score`.

    Raises:
        ValueError: The score is not between 0 and 1.
    """
    if not 0 < score < 1:
        raise ValueError(f"the expected score is {score}, not between 0 and 1")
    middle = 400 * log10(score / (1 - score))

    def expected(rating: float) -> float:
        return float(1 / (1 + 10 ** (-rating / 400)))

    return expected(middle + elo / 2) - expected(middle - elo / 2)


def game_sd(score: float, draws: float) -> float:
    """Standard deviation of a game's value if a fair coin assigns the games: sqrt(`FAIR_COIN_WEIGHT` v).

    Here v = S (1 - S) - draws / 4, where S is the expected score.

    Raises:
        ValueError: There are more drawn games than the score allows.
    """
    variance = score * (1 - score) - draws / 4
    if not variance > 0:
        raise ValueError(f"a score of {score} cannot have a share of {draws} draws")
    return sqrt(variance * FAIR_COIN_WEIGHT)


def plan_games() -> tuple[SampleSizeRow, ...]:
    """Games needed to detect differences in Elo, per expected score, with a fair coin and `usual_draws`."""
    design, rows = SequenceDesign(PlannedN.GAMES), []
    for score in _SCORES:
        sd = game_sd(score, usual_draws(score))
        given = f"score {score:.0%}"
        rows += [_row("games", given, elo_effect(score, elo), elo, sd, design) for elo in _ELOS]
    return tuple(rows)


def plan_decisions(
    decisions_per_game: float = DRAWS_PER_GAME, measured_in: int | None = None
) -> tuple[SampleSizeRow, ...]:
    """Decisions needed to detect effects on the next reply's cost if a fair coin randomises the decisions.

    Args:
        decisions_per_game: Number of randomised decisions per game.
        measured_in: Number of games in which that rate was measured; None if it is assumed.
    """
    design, rows = SequenceDesign(PlannedN.DECISIONS), []
    for residual_sd in _RESIDUAL_SDS:
        given, sd = f"residual sd {residual_sd:g}", residual_sd * sqrt(FAIR_COIN_WEIGHT)
        rows += [
            _row("decisions", given, effect, None, sd, design, decisions_per_game, measured_in)
            for effect in _COSTS
        ]
    return tuple(rows)


def plan_traps() -> tuple[SampleSizeRow, ...]:
    """Answered traps needed to detect differences between actual and expected shares of baits taken.

    If the share is f, the variance is f (1 - f) (1 + (n / P - 1) rho), with n / P traps per effective person
    and rho the intraclass correlation of one person's taken baits.
    """
    design, rows = SequenceDesign(PlannedN.TRAPS), []
    for share in _FALLS:
        sd = sqrt(share * (1 - share) * (1 + (_TRAPS_PER_PERSON - 1) * _INTRACLASS_CORRELATION))
        given = f"{share:.0%} of baits taken, {_TRAPS_PER_PERSON:g} traps per person"
        rows += [
            _row("traps", given, effect, None, sd, design, _TRAPS_PER_GAME) for effect in _BEYOND_EXPECTED
        ]
    return tuple(rows)


def _row(
    kind: Literal["games", "decisions", "traps"],
    given: str,
    effect: float,
    elo: float | None,
    sd: float,
    design: SequenceDesign,
    per_game: float = 1.0,
    measured_in: int | None = None,
) -> SampleSizeRow:
    if not 0 <= per_game < inf:
        raise ValueError(f"there are {per_game} {kind} a game, not 0 or more")
    fixed = fixed_sample_size(effect, sd, design.alpha)
    any_time = any_time_sample_size(effect, sd, design)
    return SampleSizeRow(
        kind=kind,
        given=given,
        effect=effect,
        effect_elo=elo,
        sd=sd,
        fixed=fixed,
        any_time=any_time,
        per_game=per_game,
        measured_in=measured_in,
        fixed_games=fixed / per_game if per_game else None,
        any_time_games=any_time / per_game if per_game else None,
    )


def _check(effect: float, sd: float, power: float) -> None:
    if not effect > 0:
        raise ValueError(f"the effect is {effect}, not more than 0")
    if not sd > 0:
        raise ValueError(f"the standard deviation is {sd}, not more than 0")
    if not 0.5 < power < 1:
        raise ValueError(f"the power is {power}, not between 1/2 and 1")
