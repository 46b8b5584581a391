"""The network that marks Othello's moves by the style of the persons who prefer them.

The file `othello_persons.onnx` takes ``board`` (own discs, the other's, legal moves, the disc placed last)
and ``who`` (what is known of both players). Its output ``planes`` has logits of the squares in plane 0, which
are not used, and then one plane for each component of a person's vector (`engine.person.vector`). The planes
are means over the eight images of a position, since the network learned from images drawn at random.
"""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.decision import ModelInfo, Person
from engine.games.othello import PASS, Othello, OthelloPosition
from engine.human.model import BadModel, PredictionQuery
from engine.human.onnx import OnnxNetwork
from engine.human.othello_boards import SQUARES, TURNED, bits, moves_masks, turned

KIND, GAME = "people", "othello"
COUNT = "person_planes"
"""Key of the metadata: the number of planes."""

_IMAGES = np.arange(8)
_DIGITS = 4
_CENTRE, _UNIT = 1500, 300
_MIN_RATING, _MAX_RATING = 600, 3000
_COUNT_UNIT = 5
_USUAL_GAMES = 50
"""Number of earlier games assumed for a person with a rating."""


class OthelloPlanes:
    """Computes the planes of Othello's moves; see `engine.human.model.PlanesModel`.

    Args:
        network: The network.

    Raises:
        BadModel: The network is of another kind or for another game, or cannot be used.
    """

    def __init__(self, network: OnnxNetwork) -> None:
        network.require(KIND, GAME)
        count = network.metadata.get(COUNT, "")
        if not count.isdecimal() or not 0 < int(count) <= SQUARES:
            raise BadModel(f"{network.where}: {COUNT}: {count!r} is not a number of planes")
        self._network = network
        self._count = int(count)
        self.planes(PredictionQuery((Othello().initial(),)))  # to fail now rather than during a game

    @property
    def info(self) -> ModelInfo:
        return self._network.info

    def planes(self, query: PredictionQuery) -> tuple[tuple[float, ...], ...]:
        """See `engine.human.model.PlanesModel`."""
        moves = list(Othello().legal_moves(query.positions[-1]))
        if moves == [PASS]:
            return ((0.0,) * self._count,)
        who = np.array([_who(query.person)] * len(_IMAGES), np.float32)
        found = self._network.run("planes", {"board": _board(query.positions), "who": who})
        if found.shape != (len(_IMAGES), 1 + self._count, SQUARES):
            raise BadModel(f"{self._network.where}: its planes have the shape {found.shape}")
        upright = np.take_along_axis(found[:, 1:].astype(np.float64), TURNED[:, None, :], axis=2)
        return tuple(map(tuple, upright.mean(axis=0)[:, moves].T.round(_DIGITS).tolist()))


def open_planes(path: Path) -> OthelloPlanes:
    """Open the network of person planes in a file.

    Raises:
        BadModel: The network is missing or unusable; the message names it and says what is wrong.
    """
    return OthelloPlanes(OnnxNetwork.open(path))


def _board(positions: Sequence[OthelloPosition]) -> NDArray[np.float32]:
    """The input ``board`` for the eight images of the last position."""
    own, other, _ = positions[-1]
    boards = (np.full(len(_IMAGES), board, np.uint64) for board in (own, other, _placed(positions)))
    own_images, other_images, placed = (turned(board, _IMAGES) for board in boards)
    masks = (own_images, other_images, moves_masks(own_images, other_images), placed)
    planes = np.stack([bits(board) for board in masks], axis=1)
    return planes.astype(np.float32).reshape(len(_IMAGES), len(masks), 8, 8)


def _placed(positions: Sequence[OthelloPosition]) -> int:
    """The disc that the other side placed in the last ply; 0 if that was a pass or is unknown."""
    own, other, side = positions[-1]
    if len(positions) < 2:
        return 0
    mover, waiter, before = positions[-2]
    placed = (own | other) & ~(mover | waiter)
    is_one_ply = before != side and placed.bit_count() == 1 and other == mover | placed | (other & waiter)
    return placed if is_one_ply else 0


def _who(person: Person) -> tuple[float, ...]:
    """The input ``who``: both ratings, number of games, whether they are known, and the year 2015."""
    if person.rating is None:
        return 0.0, 0.0, 0.0, 0.0, 1.0, 1.0
    own = _rating(person.rating)
    other = own if person.opponent_rating is None else _rating(person.opponent_rating)
    games = _USUAL_GAMES if person.games is None else person.games
    return own, other, math.log1p(games) / _COUNT_UNIT, 1.0, 1.0, 1.0


def _rating(rating: float) -> float:
    return (max(_MIN_RATING, min(_MAX_RATING, rating)) - _CENTRE) / _UNIT
