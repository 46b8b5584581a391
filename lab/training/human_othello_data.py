"""Human Othello games as arrays, and the quality of a model's predictions on them."""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from engine.formats.wthor import BadWthor, parse_games
from engine.human.othello import NetworkInputs, OthelloHumanModel
from engine.human.othello_boards import TURNED, flips_masks, moves_masks, square_bits, upright
from engine.human.othello_openings import OpeningTable, keys_of

VALIDATION = range(2016, 2020)
"""Validation years, never used for training."""
PLIES = 60
BLOCK = 10
"""Plies per group in reports."""

_START = (0x0000000810000000, 0x0000001008000000)
_NONE = np.uint64(0)
_AT_ONCE = 1024
_EQUAL = 1e-9
_MAX_OPENING_PLIES = 34
_HALF_LIFE_YEARS = 15.0
"""Half-life of a game's weight, in years; older games weigh less because playing styles change."""
MIN_OPENING_OCCURRENCES = 20
"""Minimum number of occurrences for a position to count as an opening."""


class NoUsableGames(ValueError):
    """A folder or file contains no usable games; the message names it and gives the reason."""


class GameArrays(NamedTuple):
    """Games as sequences of squares."""

    squares: NDArray[np.int8]
    """Squares in the order of play from the starting position, shape (games, 60); -1 after the last move."""
    year: NDArray[np.int16]
    faulty: int
    """Number of games dropped because they contain invalid squares or scores."""


@dataclass(frozen=True)
class Positions:
    """Positions of games, without passes; all arrays have the same length."""

    sight: NetworkInputs
    square: NDArray[np.int64]
    """The move that was played."""
    moves: NDArray[np.uint8]
    """Number of legal moves."""
    game: NDArray[np.int32]
    year: NDArray[np.int16]

    def __len__(self) -> int:
        return len(self.square)

    @property
    def ply(self) -> NDArray[np.int64]:
        """Number of discs placed before this move."""
        discs: NDArray[np.int64] = np.bitwise_count(self.sight.own | self.sight.other).astype(np.int64)
        return discs - 4

    def of(self, chosen: NDArray[Any]) -> Self:
        """Select a subset by indices or a mask."""
        rest = (values[chosen] for values in (self.square, self.moves, self.game, self.year))
        return type(self)(self.sight.of(chosen), *rest)


def read_wthor(folder: Path, years: Collection[int] | None = None) -> GameArrays:
    """The games of a folder's ``.wtb`` files.

    Args:
        folder: Folder with the files as published.
        years: Only games of these years; None for all years.

    Raises:
        NoUsableGames: There are no usable games, or a file's content does not match its name.
    """
    try:
        files = sorted(file for file in folder.iterdir() if file.suffix.lower() == ".wtb")
    except OSError as error:
        raise NoUsableGames(f"{folder}: {error.strerror}") from None
    squares: list[NDArray[np.int8]] = []
    found_years: list[int] = []
    faulty = 0
    for file in files:
        try:
            content = parse_games(file.read_bytes())
        except OSError as error:
            raise NoUsableGames(f"{file}: {error.strerror}") from None
        except BadWthor as error:
            raise NoUsableGames(f"{file}: {error}") from None
        if years is not None and content.year not in years:
            continue
        for game in content.games():
            if isinstance(game, BadWthor):
                faulty += 1
                continue
            row = np.full(PLIES, -1, dtype=np.int8)
            row[: len(game.squares)] = game.squares
            squares.append(row)
            found_years.append(content.year)
    if not squares:
        wanted = "" if years is None else f" of the years {min(years)}-{max(years)}"
        raise NoUsableGames(f"{folder}: no games{wanted} in .wtb files")
    return GameArrays(np.stack(squares), np.array(found_years, dtype=np.int16), faulty)


def replay(games: GameArrays) -> Positions:
    """The positions of all games, ply by ply; a game with an illegal move ends before that move."""
    plies = list(_plies(games.squares))
    game = np.concatenate([ply.game for ply in plies])
    sight = NetworkInputs(
        *(np.concatenate(boards) for boards in zip(*(ply.sight for ply in plies), strict=True))
    )
    return Positions(
        sight=sight,
        square=np.concatenate([ply.square for ply in plies]),
        moves=np.bitwise_count(moves_masks(sight.own, sight.other)),
        game=game.astype(np.int32),
        year=games.year[game],
    )


class _Ply(NamedTuple):
    """Data for one ply of every game that reaches it."""

    game: NDArray[np.int64]
    sight: NetworkInputs
    square: NDArray[np.int64]


def _plies(squares: NDArray[np.int8]) -> Iterator[_Ply]:
    count = len(squares)
    own, other = (np.full(count, board, dtype=np.uint64) for board in _START)
    placed, flipped = np.zeros((2, count), dtype=np.uint64)
    game = np.arange(count)
    for ply in range(PLIES):
        square = squares[game, ply].astype(np.int64)
        game, square = game[square >= 0], square[square >= 0]
        sight = _after_pass(NetworkInputs(own[game], other[game], placed[game], flipped[game]))
        move = square_bits(square)
        flips = flips_masks(sight.own, sight.other, move)
        possible = (flips != 0) & (move & (sight.own | sight.other) == 0)
        game, square, move, flips = (values[possible] for values in (game, square, move, flips))
        sight = sight.of(possible)
        yield _Ply(game, sight, square)
        own[game], other[game] = sight.other & ~flips, sight.own | flips | move
        placed[game], flipped[game] = move, flips


def _after_pass(sight: NetworkInputs) -> NetworkInputs:
    """Pass in each position in which the side to move has no legal move; the pass becomes the last ply."""
    stuck = moves_masks(sight.own, sight.other) == 0
    return NetworkInputs(
        np.where(stuck, sight.other, sight.own),
        np.where(stuck, sight.own, sight.other),
        np.where(stuck, _NONE, sight.placed),
        np.where(stuck, _NONE, sight.flipped),
    )


def weight_of(positions: Positions) -> NDArray[np.float64]:
    """The weight of each position, decreasing with age."""
    age = positions.year.max() - positions.year
    weights: NDArray[np.float64] = 0.5 ** (age / _HALF_LIFE_YEARS)
    return weights


def repeats(positions: Positions) -> NDArray[np.int64]:
    """How often each position occurs among all positions; symmetric positions count separately."""
    keys = keys_of(positions.sight.own, positions.sight.other)
    _, place, count = np.unique(keys, return_inverse=True, return_counts=True)
    return count[place]


def openings_of(positions: Positions, least: int = MIN_OPENING_OCCURRENCES) -> OpeningTable:
    """Build the opening table from positions that occur at least `least` times."""
    early = positions.of(positions.ply < _MAX_OPENING_PLIES)
    weights = weight_of(early)
    keys, squares = np.empty_like(early.sight.own), np.empty_like(early.square)
    for start in range(0, len(early), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        sight = early.sight.of(np.arange(len(early))[part])
        turn = upright(sight.own, sight.other).argmax(axis=0)
        standing = sight.turned(turn)
        keys[part] = keys_of(standing.own, standing.other)
        squares[part] = TURNED[turn, early.square[part]]
    return OpeningTable.from_weighted_moves(keys, squares, weights, least)


class MeasuredPredictions(NamedTuple):
    """A model's predictions on positions in which a person moved."""

    likelier: NDArray[np.int64]
    """Number of moves with a higher predicted probability than the move played."""
    alike: NDArray[np.int64]
    """Number of equally probable moves, including the one played: symmetry makes moves equivalent."""
    loss: NDArray[np.float64]
    """-ln p of the move played."""

    def among(self, count: int) -> NDArray[np.float64]:
        """Probability that the move played is in the model's top `count` moves, with random tie-breaking."""
        return np.clip((count - self.likelier) / self.alike, 0, 1)

    def of(self, chosen: NDArray[Any]) -> "MeasuredPredictions":
        """Select a subset by indices or a mask."""
        return MeasuredPredictions(*(values[chosen] for values in self))


def measure(model: OthelloHumanModel, positions: Positions, done: Any = None) -> MeasuredPredictions:
    """Query the model for every position.

    Args:
        done: Called periodically with the number of positions processed so far.

    Raises:
        BadModel: The model cannot be evaluated.
    """
    likelier, alike = np.empty((2, len(positions)), dtype=np.int64)
    loss = np.empty(len(positions))
    for start in range(0, len(positions), _AT_ONCE):
        part = slice(start, min(start + _AT_ONCE, len(positions)))
        numbers = np.arange(part.start, part.stop)
        probabilities = model.probabilities(positions.sight.of(numbers))
        square = positions.square[part]
        played = np.take_along_axis(probabilities, square[:, None], axis=1)
        likelier[part] = (probabilities > played + _EQUAL).sum(axis=1)
        alike[part] = (probabilities >= played - _EQUAL).sum(axis=1) - likelier[part]
        loss[part] = -np.log(np.maximum(played[:, 0], np.finfo(float).tiny))
        if done is not None:
            done(part.stop)
    return MeasuredPredictions(likelier, alike, loss)


def summary(measured: MeasuredPredictions, game: NDArray[np.integer]) -> dict[str, Any]:
    """Top-1, top-3 and log-loss of some positions, with 95 % intervals clustered by game."""
    first, three = measured.among(1), measured.among(3)
    return {
        "positions": len(game),
        "top1": round(float(first.mean()), 4),
        "top1_interval": _interval(first, game),
        "top3": round(float(three.mean()), 4),
        "log_loss": round(float(measured.loss.mean()), 4),
        "log_loss_interval": _interval(measured.loss, game),
    }


def _interval(values: NDArray[Any], game: NDArray[np.integer]) -> list[float]:
    """95 % interval of a mean, clustered by game because positions of one game are dependent."""
    mean = float(values.mean())
    _, place = np.unique(game, return_inverse=True)
    per_game = np.bincount(place, weights=values - mean)
    games = len(per_game)
    error = math.sqrt(float((per_game**2).sum()) * games / max(1, games - 1)) / len(values)
    return [round(mean - 1.96 * error, 4), round(mean + 1.96 * error, 4)]


def report(measured: MeasuredPredictions, positions: Positions) -> dict[str, Any]:
    """The model card's figures for positions with a choice: overall, by year, and by block of plies.

    The first move does not count as a choice: its four options are equivalent; WTHOR records them all as f5.
    """

    def part(mask: NDArray[np.bool_]) -> dict[str, Any]:
        return summary(measured.of(mask), positions.game[mask])

    choice = (positions.moves > 1) & (positions.ply > 0)
    block = positions.ply // BLOCK
    return {
        "games": len(np.unique(positions.game)),
        "with_a_choice": part(choice),
        "forced_moves_too": part(np.ones_like(choice)),
        "by_year": {
            str(year): part(choice & (positions.year == year)) for year in _in(positions.year[choice])
        },
        "by_ply": {
            f"{BLOCK * number + 1}-{BLOCK * (number + 1)}": part(choice & (block == number))
            for number in _in(block[choice])
        },
    }


def _in(values: NDArray[Any]) -> Sequence[int]:
    found: list[int] = np.unique(values).tolist()
    return found
