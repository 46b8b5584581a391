"""A collection of games as positions, and what the readers of the games' collections share."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab.training.people.elo import Players
from lab.training.people.positions import HumanPositions, scaled_count, scaled_rating
from lab.training.people.shapes import GameShape


@dataclass(frozen=True)
class Collection:
    """Positions with a choice, and where they come from."""

    positions: HumanPositions
    held_out: NDArray[np.bool_]
    """Positions of the games that measure a network; it never learns from them."""
    source: str
    """Name of the collection and its licence, for metadata and card."""
    scale: str
    """Name of the rating scale."""
    split: str
    """Which games are learned from and which measure, in words."""


NativeArrays = tuple[bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes]
"""What `lab._training` returns for games: see ``lab/native/human_games.hpp``."""


@dataclass(frozen=True)
class NativePositions:
    """Positions read by the native core."""

    positions: HumanPositions
    """With unknown features, results and years."""
    clocks_s: NDArray[np.float64]
    """Time left before the move; NaN if unknown."""
    is_whole: NDArray[np.bool_]
    """For each game, whether all its words were legal moves."""


def from_native(shape: GameShape, arrays: NativeArrays) -> NativePositions:
    """The arrays of the native core as positions."""
    board, marks, count, moves, played, game, ply, clock, whole = arrays
    counts = np.frombuffer(count, np.int16)
    ends = np.cumsum(counts, dtype=np.int64)
    tenths = np.frombuffer(clock, np.int32)
    n = len(counts)
    positions = HumanPositions(
        board=np.frombuffer(board, np.uint8).reshape(n, shape.squares),
        marks=np.frombuffer(marks, np.uint8).reshape(n, 4),
        first=ends - counts,
        count=counts,
        played=np.frombuffer(played, np.int16),
        features=np.full((n, len(shape.features)), np.nan, dtype=np.float32),
        result=np.full(n, np.nan, dtype=np.float32),
        game=np.frombuffer(game, np.int32),
        ply=np.frombuffer(ply, np.int16),
        year=np.zeros(n, dtype=np.int16),
        person=np.zeros(n, dtype=np.int32),
        moves=np.frombuffer(moves, np.int16),
    )
    clocks_s = np.where(tenths < 0, np.nan, tenths / 10)
    return NativePositions(positions, clocks_s, np.frombuffer(whole, np.bool_))


def person_features(
    players: Players, game: NDArray[np.integer], side: NDArray[np.integer]
) -> NDArray[np.float32]:
    """The features rating, opponent and games of the side to move, shape (n, 3)."""
    columns = (
        scaled_rating(players.ratings[game, side]),
        scaled_rating(players.ratings[game, 1 - side]),
        scaled_count(players.games[game, side]),
    )
    return np.stack(columns, axis=1)


def results_of(
    points: Iterable[float | None], game: NDArray[np.integer], side: NDArray[np.integer]
) -> NDArray[np.float32]:
    """The result of each position's game for the side to move, given the first side's points in each game."""
    first = np.array([np.nan if value is None else value for value in points], dtype=np.float32)[game]
    found: NDArray[np.float32] = np.where(side == 0, first, 1 - first)
    return found


POINTS: Mapping[str, float] = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}
"""The first side's points by the usual result texts."""
