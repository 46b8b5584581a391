"""Positions of people's games as arrays, in one form for all games.

Squares are numbered by rows, seen from the side to move, and every position is in its canonical orientation
where the game has symmetries. All arrays except `HumanPositions.moves` have one element per position.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lab.training.people.shapes import GameShape

NONE = 255
"""In `HumanPositions.marks`: there is no such square."""
LAST_FROM, LAST_TO, EN_PASSANT, CASTLING = range(4)
"""Columns of `HumanPositions.marks`."""


class UnusableGames(ValueError):
    """Files contain no usable games; the message names them and gives the reason."""


@dataclass(frozen=True)
class HumanPositions:
    """Positions in which people moved."""

    board: NDArray[np.uint8]
    """Shape (n, squares): 0 empty, 1 .. kinds own pieces, then the other side's."""
    marks: NDArray[np.uint8]
    """Shape (n, 4): see `LAST_FROM` to `CASTLING`."""
    first: NDArray[np.int64]
    """Where the position's legal moves begin in `moves`."""
    count: NDArray[np.int16]
    """Number of legal moves."""
    played: NDArray[np.int16]
    """Place of the played move among the legal ones."""
    features: NDArray[np.float32]
    """Shape (n, features), scaled as in the network's input; NaN if unknown."""
    result: NDArray[np.float32]
    """Result for the side to move: 0, 0.5 or 1; NaN if unknown."""
    game: NDArray[np.int32]
    ply: NDArray[np.int16]
    year: NDArray[np.int16]
    """Year of the game; 0 if unknown."""
    person: NDArray[np.int32]
    """Number of the person within the collection, from 1; 0 if unknown."""
    moves: NDArray[np.int16]
    """Legal moves of all positions; shared by subsets."""

    def __len__(self) -> int:
        return len(self.board)

    def of(self, chosen: NDArray[Any]) -> Self:
        """Select a subset by indices or a mask."""
        rest = {each.name: getattr(self, each.name)[chosen] for each in fields(self) if each.name != "moves"}
        return replace(self, **rest)

    @property
    def has_choice(self) -> NDArray[np.bool_]:
        """Whether there was a choice; a game's first move, often fixed by convention, is none."""
        mask: NDArray[np.bool_] = (self.count > 1) & (self.ply > 0)
        return mask


def concatenate(parts: Sequence[HumanPositions]) -> HumanPositions:
    """Join positions of different games; games are numbered on."""
    if len(parts) == 1:
        return parts[0]
    values = {
        each.name: np.concatenate([getattr(part, each.name) for part in parts])
        for each in fields(HumanPositions)
    }
    moves = np.cumsum([0] + [len(part.moves) for part in parts[:-1]])
    games = np.cumsum([0] + [int(part.game.max(initial=-1)) + 1 for part in parts[:-1]])
    sizes = [len(part) for part in parts]
    values["first"] = values["first"] + np.repeat(moves, sizes)
    values["game"] = (values["game"] + np.repeat(games, sizes)).astype(np.int32)
    return HumanPositions(**values)


def scaled_rating(ratings: NDArray[Any]) -> NDArray[np.float32]:
    """Ratings as the network's input; NaN stays NaN."""
    return ((np.asarray(ratings, np.float64) - 1500) / 300).astype(np.float32)


def scaled_count(counts: NDArray[Any]) -> NDArray[np.float32]:
    """Numbers of games, or seconds on a clock, as the network's input; NaN stays NaN."""
    return (np.log1p(np.asarray(counts, np.float64)) / 5).astype(np.float32)


def padded_moves(
    positions: HumanPositions, numbers: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The legal moves of some positions, padded, shape (n, most), and which of these entries are moves."""
    place = np.arange(int(positions.count[numbers].max(initial=1)))
    is_move = place < positions.count[numbers, None]
    index = np.where(is_move, positions.first[numbers, None] + place, 0)
    return positions.moves[index].astype(np.int64), is_move


def input_planes(
    shape: GameShape, positions: HumanPositions, numbers: NDArray[np.integer]
) -> NDArray[np.bool_]:
    """The network's input `board`, shape (n, planes, rows, columns); see `GameShape.planes`."""
    board, marks = positions.board[numbers], positions.marks[numbers]
    planes = np.zeros((len(numbers), shape.planes, shape.squares), dtype=np.bool_)
    planes[:, : 2 * shape.kinds] = board[:, None, :] == np.arange(1, 2 * shape.kinds + 1)[:, None]
    at = 2 * shape.kinds
    if shape.has_legal_plane:
        moves, is_move = padded_moves(positions, numbers)
        rows, places = np.nonzero(is_move)
        planes[rows, at, moves[rows, places]] = 1
        at += 1
    for mark in (LAST_FROM, LAST_TO)[not shape.moves_have_origin :]:
        planes[:, at] = marks[:, mark, None] == np.arange(shape.squares)
        at += 1
    if shape.has_rights:
        planes[:, at] = marks[:, EN_PASSANT, None] == np.arange(shape.squares)
        planes[:, at + 1 :] = (marks[:, CASTLING, None] >> np.arange(4) & 1)[:, :, None]
    return planes.reshape(len(numbers), shape.planes, shape.rows, shape.columns)


def input_who(features: NDArray[np.float32], hidden: NDArray[np.bool_] | None = None) -> NDArray[np.float32]:
    """The network's input `who`: features and their flags, 0 where a feature is unknown or hidden.

    Args:
        features: As in `HumanPositions.features`.
        hidden: Features to mask, in the same shape; None: mask nothing.
    """
    known = ~np.isnan(features)
    if hidden is not None:
        known &= ~hidden
    return np.concatenate([np.where(known, features, 0), known], axis=1).astype(np.float32)
