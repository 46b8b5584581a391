"""Reconstructs Elo ratings from the results of games whose source has no ratings, such as WTHOR."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from engine.formats.record import GameRecord
from lab.analysis.analysed_games import StoredPosition
from lab.analysis.recorded_games import year_of
from lab.training.people.elo import K_NEW, NEW_GAMES, START, K, expected_result
from storage.database import Database
from storage.research.archive import content_key, each_game

SETTLED_GAMES = 20
"""Number of games after which a rating is fully trusted, as in the priors of the people model."""


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


Standings = Mapping[str, tuple[EloStanding, EloStanding]]
"""The standings of both players before each game, by the game's `storage.research.archive.content_key`."""


def rated_result(record: GameRecord) -> RatedResult | None:
    """Extract a game's result; None if the year, the result or a name is missing, or the names are equal."""
    year, (first, second) = year_of(record.date), record.players
    if year is None or record.points is None or not first or not second or first == second:
        return None
    return RatedResult(content_key(record), year, record.players, record.points)


async def results_of(database: Database, game: str) -> list[RatedResult]:
    """The results of all imported games, in import order."""
    async with database.read() as session:
        results = [rated_result(record) async for record in each_game(session, game=game)]
    return [each for each in results if each is not None]


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


def with_ratings(positions: Iterable[StoredPosition], known: Standings) -> list[StoredPosition]:
    """Replace people's ratings with reconstructed ones, or with None before `SETTLED_GAMES` games.

    Args:
        known: The standings by game key, as returned by `standings`.
    """
    return [
        replace(
            stored,
            found=replace(
                stored.found, rating=settled_ratings(known.get(stored.game_key))[stored.found.side]
            ),
        )
        for stored in positions
    ]


def settled_ratings(standings: tuple[EloStanding, EloStanding] | None) -> tuple[int | None, int | None]:
    """Both players' ratings, or None before `SETTLED_GAMES` games."""
    if standings is None:
        return None, None
    first, second = (round(s.rating) if s.games >= SETTLED_GAMES else None for s in standings)
    return first, second


def games_before(results: Iterable[RatedResult], year: int) -> Counter[str]:
    """Number of games that each player had played before a year."""
    return Counter(name for result in results if result.year < year for name in result.players)


def _after(standing: EloStanding, gain: float) -> EloStanding:
    k = K_NEW if standing.games < NEW_GAMES else K
    return EloStanding(standing.rating + k * gain, standing.games + 1)
