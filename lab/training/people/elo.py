"""Elo ratings computed from the results of a collection of games that states none.

Elo's formula (A. Elo 1978, "The Rating of Chessplayers, Past and Present"): after each game a rating changes
by K (result - expected result), where the expected result is 1 / (1 + 10^(difference / 400)).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

START = 1500.0
"""Rating before the first game."""
K_NEW, K = 60.0, 24.0
"""The factor K during a player's first `NEW_GAMES` games, and the factor K afterwards.

On the results of WTHOR 2006-2015 (2026-11-25) their log-loss is .5731; with K = 80 for 40 games, then 24:
.5705; a constant 32: .5793.
"""
NEW_GAMES = 20


class Players(NamedTuple):
    """What was known about both players before each game, shape (games, 2); NaN for unknown players."""

    ratings: NDArray[np.float64]
    games: NDArray[np.float64]
    """Number of earlier games."""


def rate(
    players: Sequence[tuple[str | int | None, str | int | None]],
    points: Sequence[float | None],
    order: Iterable[int],
) -> Players:
    """Rate players over their games.

    Args:
        players: The first and the second side of each game; None for an unknown player.
        points: The first side's points: 0, 0.5 or 1; None if unknown: such a game changes no rating.
        order: Numbers of the games to rate, in the order of play; others stay unknown.
    """
    rating: dict[str | int, float] = defaultdict(lambda: START)
    played: dict[str | int, int] = defaultdict(int)
    ratings, games = np.full((2, len(players), 2), np.nan)
    for number in order:
        both = players[number]
        for side, player in enumerate(both):
            if player is not None:
                ratings[number, side], games[number, side] = rating[player], played[player]
        first, second = both
        result = points[number]
        if first is not None and second is not None and result is not None:
            expected = expected_result(rating[first], rating[second])
            rating[first] += _k(played[first]) * (result - expected)
            rating[second] -= _k(played[second]) * (result - expected)
        for player in both:
            if player is not None:
                played[player] += 1
    return Players(ratings, games)


def expected_result(rating: float, other: float) -> float:
    """The expected result, from 0 to 1."""
    return float(1 / (1 + 10 ** ((other - rating) / 400)))


def _k(games: int) -> float:
    return K_NEW if games < NEW_GAMES else K
