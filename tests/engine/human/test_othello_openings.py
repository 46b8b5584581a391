"""Openings as people have played them: kept as text, and counted beside a network's word."""

import base64
import lzma

import numpy as np
import pytest

from engine.games.othello import Othello
from engine.human.model import BadModel, PredictionQuery
from engine.human.onnx import OnnxNetwork
from engine.human.othello import OthelloHumanModel
from engine.human.othello_boards import TURNED, turned, upright
from engine.human.othello_openings import NETWORK_WEIGHT_GAMES, OpeningTable, keys_of
from lab.training.human_othello_graph import first_weights, to_onnx

GAME = Othello()
AFTER_F5 = GAME.play(GAME.initial(), GAME.parse_move(GAME.initial(), "f5"))


def some() -> OpeningTable:
    keys = np.array([30, 10, 10, 10, 30, 20, 10], dtype=np.uint64)
    squares = np.array([5, 1, 2, 1, 6, 3, 1])
    return OpeningTable.from_weighted_moves(keys, squares, np.array([1.0, 1, 1, 1, 0.4, 9, 0.6]), least=2)


def test_games_are_counted() -> None:
    found = some()
    assert found.keys.tolist() == [10, 30]  # 20 was met once
    assert found.first.tolist() == [0, 2, 3]
    assert found.squares.tolist() == [1, 2, 5]
    assert found.games.tolist() == [3, 1, 1]  # 2.6 games, one; one and .4, which rounds to none


def test_a_table_comes_back_from_its_text() -> None:
    found, again = some(), OpeningTable.read(some().text(), "x")
    for one, other in zip(vars(found).values(), vars(again).values(), strict=True):
        assert (one == other).all()
        assert one.dtype == other.dtype
    assert some().text() == some().text()
    assert OpeningTable.read(OpeningTable.none().text(), "x").blend(found.keys, np.ones((2, 64))).sum() == 128


def test_counts_stand_beside_the_networks_word() -> None:
    even = np.full((3, 64), 1 / 64)
    found = some().blend(np.array([7, 10, 30], dtype=np.uint64), even)
    assert (found[0] == even[0]).all()
    assert found.sum(axis=1) == pytest.approx(1)
    assert found[1, 1] == pytest.approx((3 + NETWORK_WEIGHT_GAMES / 64) / (4 + NETWORK_WEIGHT_GAMES))
    assert found[2, 0] == pytest.approx(NETWORK_WEIGHT_GAMES / 64 / (1 + NETWORK_WEIGHT_GAMES))


def packed(data: bytes) -> str:
    return base64.b64encode(lzma.compress(data)).decode()


@pytest.mark.parametrize(
    "text",
    [
        "nothing",
        base64.b64encode(b"nothing").decode(),
        packed(b""),
        packed(b"\1\0\0\0\1\0\0\0" + bytes(8)),
        packed(b"\1\0\0\0\1\0\0\0" + bytes(8) + b"\2" + b"\1" + b"\1\0"),  # two moves of one
        packed(b"\1\0\0\0\1\0\0\0" + bytes(8) + b"\1" + b"\x40" + b"\1\0"),  # no square
        packed(b"\2\0\0\0\0\0\0\0" + bytes(16) + b"\0\0"),  # one position twice
        packed(bytes(5 << 20)),
        packed(b"\xff" * 8 + bytes(100)),
    ],
)
def test_what_is_no_table_is_refused(text: str) -> None:
    with pytest.raises(BadModel, match=r"x\.onnx: its openings"):
        OpeningTable.read(text, "x.onnx")


def test_positions_have_keys_of_their_own() -> None:
    rng = np.random.default_rng(1)
    own, other = rng.integers(0, 2**64, (2, 1000), dtype=np.uint64)
    keys = np.concatenate([keys_of(own, other), keys_of(other, own), keys_of(own ^ np.uint64(1), other)])
    assert len(np.unique(keys)) == 3000


def test_a_model_knows_its_openings_whichever_way_they_are_turned() -> None:
    own, other = (np.array([board], dtype=np.uint64) for board in AFTER_F5[:2])
    turn = upright(own, other).argmax(axis=0)
    move = GAME.parse_move(AFTER_F5, "d6")
    table = OpeningTable.from_weighted_moves(
        keys_of(turned(own, turn), turned(other, turn)), TURNED[turn, [move]], np.array([1000.0]), least=1
    )
    network = OnnxNetwork.load(to_onnx(first_weights(1), "a", "none", openings=table), "a.onnx")
    model, plain = OthelloHumanModel(network), OthelloHumanModel(network, openings=False)
    moves = GAME.legal_moves(AFTER_F5)
    (probabilities,) = model.predict([PredictionQuery((AFTER_F5,))])
    assert moves[probabilities.index(max(probabilities))] == move
    assert max(probabilities) > 0.99
    assert max(plain.predict([PredictionQuery((AFTER_F5,))])[0]) < 0.9
    for image in TURNED:
        position = AFTER_F5._replace(
            mover=sum(1 << int(image[at]) for at in range(64) if AFTER_F5.mover >> at & 1),
            waiter=sum(1 << int(image[at]) for at in range(64) if AFTER_F5.waiter >> at & 1),
        )
        (found,) = model.predict([PredictionQuery((position,))])
        assert GAME.legal_moves(position)[found.index(max(found))] == image[move]
