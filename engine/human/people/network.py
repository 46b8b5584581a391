"""Networks that predict people's moves from the board and from what is known about the two players.

A file (kind ``people``; `lab.training.people` writes it) takes ``board`` (n, planes, rows, columns), which
the game's encoder makes, and ``who`` (n, columns), whose columns the metadata ``who`` names (`COLUMNS`).
Ratings are on the scale of the games that the network learned from, which the metadata ``scale`` names.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from engine.decision import ModelInfo, Person
from engine.human.model import PEOPLE, BadModel
from engine.human.onnx import OnnxNetwork

BOARD, WHO = "board", "who"
"""Names of the inputs."""

CENTRE, UNIT = 1500, 300
"""A rating enters as (rating - `CENTRE`) / `UNIT`."""
COUNT_UNIT = 5
"""A number of games or seconds enters as ln(1 + number) / `COUNT_UNIT`."""
USUAL_GAMES = 50
"""Number of earlier games assumed for a person with a rating."""
_MIN_RATING, _MAX_RATING = 600, 3000
_YEAR = 1.0  # (2015 - 2000) / 15, for networks that learned from the games of 1977 to 2015 with their years


def _of_rating(rating: float | None) -> float:
    return 0.0 if rating is None else (max(_MIN_RATING, min(_MAX_RATING, rating)) - CENTRE) / UNIT


def _of_count(count: float | None) -> float:
    return 0.0 if count is None else math.log1p(max(0.0, count)) / COUNT_UNIT


def _usual_opponent(person: Person) -> float:
    known = person.opponent_rating is not None and person.rating is not None
    return _of_rating(person.opponent_rating if known else person.rating)


def _usual_games(person: Person) -> float:
    return 0.0 if person.rating is None else _of_count(USUAL_GAMES if person.games is None else person.games)


COLUMNS: Final[Mapping[str, Callable[[Person], float]]] = {
    "rating": lambda person: _of_rating(person.rating),
    "opponent": lambda person: _of_rating(person.opponent_rating),
    "games": lambda person: _of_count(person.games),
    "clock": lambda person: _of_count(person.clock_s),
    "has_rating": lambda person: float(person.rating is not None),
    "has_opponent": lambda person: float(person.opponent_rating is not None),
    "has_games": lambda person: float(person.games is not None),
    "has_clock": lambda person: float(person.clock_s is not None),
    # Of networks that know the three facts only together: a rated person plays an equal opponent.
    "usual_opponent": _usual_opponent,
    "usual_games": _usual_games,
    "year": lambda _: _YEAR,
    "one": lambda _: 1.0,
}
"""What each column of ``who`` says about a person; 0 if it is unknown."""


class PeopleNetwork:
    """A network of the kind ``people``; used by one thread at a time.

    Raises:
        BadModel: The network is of another kind or for another game, or names an unknown column.
    """

    def __init__(self, network: OnnxNetwork, game: str) -> None:
        network.require(PEOPLE, game)
        names = network.metadata.get(WHO, "").split(",")
        if unknown := [name for name in names if name not in COLUMNS]:
            raise BadModel(f"{network.where}: {WHO}: unknown column {unknown[0]!r}")
        self._network = network
        self._columns = [COLUMNS[name] for name in names]

    @property
    def info(self) -> ModelInfo:
        """Identifies the network."""
        return self._network.info

    @property
    def where(self) -> str:
        """The file's name in messages."""
        return self._network.where

    @property
    def metadata(self) -> Mapping[str, str]:
        """See `OnnxNetwork.metadata`."""
        return self._network.metadata

    def who(self, people: Sequence[Person]) -> NDArray[np.float32]:
        """The input ``who``, one row per person."""
        rows = [[column(person) for column in self._columns] for person in people]
        return np.array(rows, np.float32)

    def run(
        self, output: str, board: NDArray[np.float32], who: NDArray[np.float32], shape: tuple[int, ...]
    ) -> NDArray[np.float64]:
        """Compute an output.

        Args:
            output: Its name.
            board: One position per row.
            who: The persons to move, in the same order.
            shape: The output's shape after the first axis.

        Raises:
            BadModel: The network rejects the inputs, or its output is malformed.
        """
        found: NDArray[Any] = self._network.run(output, {BOARD: board, WHO: who})
        if found.shape[0] != len(board) or found.shape[-len(shape) :] != shape:
            raise BadModel(f"{self.where}: its output {output} has the shape {found.shape}")
        return found.astype(np.float64)
