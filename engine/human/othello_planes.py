"""The network that marks Othello's moves by the style of the persons who prefer them.

The file `othello_persons.onnx` takes ``board`` (own discs, the other's, legal moves, the disc placed last)
and ``who`` (what is known of both players). Its output ``planes`` has logits of the squares in plane 0, which
are not used, and then one plane for each component of a person's vector (`engine.person.vector`). The planes
are means over the eight images of a position, since the network learned from images drawn at random.
"""

from pathlib import Path

import numpy as np

from engine.decision import ModelInfo
from engine.games.othello import PASS, Othello
from engine.human.model import BadModel, PredictionQuery
from engine.human.onnx import OnnxNetwork
from engine.human.othello import GAME, OUTPUT, encode, network_inputs
from engine.human.othello_boards import SQUARES, TURNED
from engine.human.people.network import PeopleNetwork

COUNT = "person_planes"
"""Key of the metadata: the number of planes."""

_IMAGES = np.arange(8)
_DIGITS = 4


class OthelloPlanes:
    """Computes the planes of Othello's moves; see `engine.human.model.PlanesModel`.

    Args:
        network: The network.

    Raises:
        BadModel: The network is of another kind or for another game, or cannot be used.
    """

    def __init__(self, network: OnnxNetwork) -> None:
        self._network = PeopleNetwork(network, GAME)
        count = network.metadata.get(COUNT, "")
        if not count.isdecimal() or not 0 < int(count) <= SQUARES:
            raise BadModel(f"{network.where}: {COUNT}: {count!r} is not a number of planes")
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
        boards = encode(network_inputs([query] * len(_IMAGES)).turned(_IMAGES))
        who = self._network.who([query.person] * len(_IMAGES))
        found = self._network.run(OUTPUT, boards, who, (1 + self._count, SQUARES))
        upright = np.take_along_axis(found[:, 1:], TURNED[:, None, :], axis=2)
        return tuple(map(tuple, upright.mean(axis=0)[:, moves].T.round(_DIGITS).tolist()))


def open_planes(path: Path) -> OthelloPlanes:
    """Open the network of person planes in a file.

    Raises:
        BadModel: The network is missing or unusable; the message names it and says what is wrong.
    """
    return OthelloPlanes(OnnxNetwork.open(path))
