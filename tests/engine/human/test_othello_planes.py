"""The network of Othello's person planes: shape, symmetry, and files that cannot be used."""

from pathlib import Path

import numpy as np
import pytest

from engine import human
from engine.decision import Person
from engine.games.othello import Othello, OthelloPosition
from engine.human.model import BadModel, PredictionQuery
from engine.human.onnx import OnnxNetwork
from engine.human.othello_boards import TURNED, images
from engine.human.othello_planes import OthelloPlanes, open_planes
from engine.human.registry import ModelRegistry
from engine.person.card import person_model

FILE = Path(human.__file__).with_name("othello_persons.onnx")
RULES = Othello()
PERSON = Person(1900)


@pytest.fixture(scope="module")
def planes() -> OthelloPlanes:
    return OthelloPlanes(OnnxNetwork.open(FILE))


def position() -> OthelloPosition:
    found = RULES.initial()
    for move in ("f5", "d6", "c3", "d3", "c4"):
        found = RULES.play(found, RULES.parse_move(found, move))
    return found


def test_the_card_of_persons_is_for_this_network(planes: OthelloPlanes) -> None:
    vector = person_model("othello", None, "0" * 64).card.vector
    assert vector is not None
    assert planes.info.sha256 == vector.network
    assert len(planes.planes(PredictionQuery((position(),), PERSON))[0]) == len(vector.mean)


def test_symmetric_moves_have_equal_planes(planes: OthelloPlanes) -> None:
    own, other, side = position()
    moves = RULES.legal_moves(position())
    expected = dict(zip(moves, planes.planes(PredictionQuery((position(),), PERSON)), strict=True))
    for turn in (3, 6):
        turned = [int(images(np.array([board], np.uint64))[turn][0]) for board in (own, other)]
        image = OthelloPosition(turned[0], turned[1], side)
        found = planes.planes(PredictionQuery((image,), PERSON))
        for move, values in zip(RULES.legal_moves(image), found, strict=True):
            (source,) = (each for each in moves if TURNED[turn, each] == move)
            assert values == pytest.approx(expected[source], abs=2e-4)


def test_a_pass_has_no_style(planes: OthelloPlanes) -> None:
    blocked = RULES.parse_position("bw6/8/8/8/8/8/8/8 w")
    assert planes.planes(PredictionQuery((blocked,), PERSON)) == ((0.0,) * 16,)


def test_the_registry_opens_it() -> None:
    with ModelRegistry().lend("othello") as models:
        assert models.planes is not None
    with ModelRegistry().lend("connect4") as models:
        assert models.planes is None


def test_other_networks_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadModel):
        open_planes(FILE.with_name("othello_human.onnx"))
    with pytest.raises(BadModel):
        open_planes(tmp_path / "none.onnx")
