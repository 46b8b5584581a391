"""Reconstructs Elo ratings from the results of games whose source has no ratings, such as WTHOR.

Elo's formula (A. Elo 1978, "The Rating of Chessplayers, Past and Present"): after each game a rating changes
by K (result - expected result), where the expected result is 1 / (1 + 10^(difference / 400)).
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from engine.formats.record import GameRecord
from lab.analysis.analysed_games import StoredPosition
from lab.analysis.recorded_games import year_of
from storage.research.archive import content_key

START = 1500.0
"""Rating before the first game."""
K_NEW, K = 80.0, 24.0
"""The factor K during a player's first `NEW_GAMES` games, and the factor K afterwards.

Of eight settings, this one had the lowest log-loss on the results of WTHOR 2006-2015 (2026-11-25): .5705.
With K = 60 for 20 games, then 24: .5731; 40 for 20 games, then 20: .5766; a constant 32: .5793.
"""
NEW_GAMES = 40
SETTLED_GAMES = 20
"""Number of games after which a rating is fully trusted, as in the priors of the people model."""
_PER_POINT = math.log(10.0) / 400.0


@dataclass(frozen=True, slots=True)
class RatedResult:
    """The part of a game's record from which ratings are computed."""

    key: str
    """The game's `storage.research.archive.content_key`."""
    year: int
    players: tuple[str, str]
    points: float
    """The first player's points: 1, 1/2 or 0."""


@dataclass(frozen=True, slots=True)
class EloStanding:
    """A player's rating and number of games before a game."""

    rating: float
    games: int
    """Number of games on which the rating is based."""


def rated_result(record: GameRecord) -> RatedResult | None:
    """Extract a game's result; None if the year, the result or a name is missing, or the names are equal."""
    year, (first, second) = year_of(record.date), record.players
    if year is None or record.points is None or not first or not second or first == second:
        return None
    return RatedResult(content_key(record), year, record.players, record.points)


def standings(results: Iterable[RatedResult]) -> dict[str, tuple[EloStanding, EloStanding]]:
    """The standings of both players before each game, by game key.

    Args:
        results: The results; years may be in any order, but each year's games must be in the order of play.
    """
    now: dict[str, EloStanding] = {}
    standings = {}
    for result in sorted(results, key=lambda each: each.year):  # stable
        first, second = result.players
        ours, theirs = (now.get(name, EloStanding(START, 0)) for name in (first, second))
        standings[result.key] = ours, theirs
        gain = result.points - expected_result(ours.rating, theirs.rating)
        now[first], now[second] = _after(ours, gain), _after(theirs, -gain)
    return standings


def with_ratings(
    positions: Iterable[StoredPosition], known: Mapping[str, tuple[EloStanding, EloStanding]]
) -> list[StoredPosition]:
    """Replace people's ratings with reconstructed ones, or with None before `SETTLED_GAMES` games.

    Args:
        known: The standings by game key, as returned by `standings`.
    """
    ratings = []
    for stored in positions:
        both = known.get(stored.game_key)
        standing = EloStanding(START, 0) if both is None else both[stored.found.side]
        rating = round(standing.rating) if standing.games >= SETTLED_GAMES else None
        ratings.append(replace(stored, found=replace(stored.found, rating=rating)))
    return ratings


def games_before(results: Iterable[RatedResult], year: int) -> Counter[str]:
    """Number of games that each player had played before a year."""
    return Counter(name for result in results if result.year < year for name in result.players)


def expected_result(rating: float, other: float) -> float:
    """The expected result by Elo's formula, from 0 to 1."""
    return 1.0 / (1.0 + math.exp((other - rating) * _PER_POINT))


def _after(standing: EloStanding, gain: float) -> EloStanding:
    k = K_NEW if standing.games < NEW_GAMES else K
    return EloStanding(standing.rating + k * gain, standing.games + 1)
