"""Tests of the human-move model for xiangqi, with a network that is a fixed function of its input."""

import random

import numpy as np
import pytest

from engine.decision import Person
from engine.games.xiangqi import START, Xiangqi, XiangqiPosition
from engine.human.model import PredictionQuery, predictions_of
from engine.human.xiangqi import (
    MIRROR,
    NO_SQUARE,
    PLANES,
    SQUARES,
    EncodedPosition,
    XiangqiHumanModel,
    encode,
    planes,
    seen_moves,
    should_mirror,
)
from tests.engine.human.fakes import FakeNetwork

RULES = Xiangqi()


def played(count: int, seed: int) -> list[XiangqiPosition]:
    """The positions of a game at random."""
    rng, positions = random.Random(seed), [RULES.initial()]
    while len(positions) <= count and (moves := RULES.legal_moves(positions[-1])):
        positions.append(RULES.play(positions[-1], rng.choice(moves)))
    return positions


def mirrored(position: XiangqiPosition) -> XiangqiPosition:
    """The position with left and right swapped, without its past."""
    board = "".join(position.board[square] for square in MIRROR)
    return position._replace(board=board, past=(), line=None)


def swapped(position: XiangqiPosition) -> XiangqiPosition:
    """The position with the sides swapped and the board turned, without its past."""
    return position._replace(
        board=position.board[::-1].swapcase(), side=1 - position.side, past=(), line=None
    )


def by_move(model: XiangqiHumanModel, *history: XiangqiPosition) -> dict[tuple[int, int], float]:
    """The probabilities by origin and target as seen from the side to move."""
    (answer,) = model.predict([PredictionQuery(history)])
    origin, target = seen_moves(history[-1])
    return dict(zip(zip(origin.tolist(), target.tolist(), strict=True), answer, strict=True))


@pytest.fixture
def model() -> XiangqiHumanModel:
    return XiangqiHumanModel(FakeNetwork(PLANES, SQUARES))


def test_predictions_are_distributions_over_the_legal_moves(model: XiangqiHumanModel) -> None:
    positions = played(60, seed=1)
    asks = [PredictionQuery(tuple(positions[max(0, at - 1) : at + 1])) for at in range(len(positions))]
    for ask, answer in zip(asks, predictions_of(model, RULES, asks), strict=True):
        assert len(answer) == len(RULES.legal_moves(ask.positions[-1]))
        assert sum(answer) == pytest.approx(1)


@pytest.mark.parametrize("seed", range(4))
def test_mirror_images_have_mirrored_predictions(model: XiangqiHumanModel, seed: int) -> None:
    before, after = played(31, seed)[-2:]
    found = by_move(model, before, after)
    image = by_move(model, mirrored(before), mirrored(after))
    assert image == pytest.approx({(int(MIRROR[a]), int(MIRROR[b])): p for (a, b), p in found.items()})


@pytest.mark.parametrize("plies", [30, 31])
def test_both_sides_are_seen_alike(model: XiangqiHumanModel, plies: int) -> None:
    before, after = played(plies, seed=2)[-2:]
    assert by_move(model, before, after) == pytest.approx(by_move(model, swapped(before), swapped(after)))


def test_equivalent_moves_of_a_symmetric_position_are_as_likely(model: XiangqiHumanModel) -> None:
    found = by_move(model, RULES.parse_position(START))
    for (origin, target), p in found.items():
        assert found[int(MIRROR[origin]), int(MIRROR[target])] == pytest.approx(p)
    assert max(found.values()) > 1.5 * min(found.values())


def test_a_last_move_off_the_middle_breaks_the_symmetry_of_a_board() -> None:
    """The board alone does not say which of two equal pieces moved last."""
    board = np.zeros((2, SQUARES), dtype=np.uint8)
    last = np.array([[9, 18], [17, 26]], dtype=np.uint8)
    assert should_mirror(board, last).tolist() == [False, True]
    assert should_mirror(board, np.full((2, 2), NO_SQUARE, dtype=np.uint8)).tolist() == [False, False]


def test_the_last_move_is_known_only_from_the_position_before() -> None:
    positions = played(4, seed=3)
    first, second, skipped = (
        encode([PredictionQuery(history)]).last[0].tolist()
        for history in (tuple(positions[:2]), tuple(positions[2:4]), (positions[0], positions[3]))
    )
    for number, last in ((0, first), (2, second)):
        before, after = positions[number : number + 2]
        squares = [square if after.side == 0 else 89 - square for square in last]
        assert after.board[squares[0]] == "."
        assert after.board[squares[1]] == before.board[squares[0]]
    assert skipped == [NO_SQUARE, NO_SQUARE]
    assert encode([PredictionQuery((positions[3],))]).last[0].tolist() == [NO_SQUARE, NO_SQUARE]


def test_planes_show_pieces_and_the_last_move() -> None:
    before, after = played(1, seed=4)
    found = planes(encode([PredictionQuery((before, after))]))
    assert found.shape == (1, PLANES, 10, 9)
    assert found[0, :14].sum() == 32
    assert found[0, 14:].sum(axis=(1, 2)).tolist() == [1, 1]
    assert found[0, 6, 0, 4] == 1  # the own general, on its home row
    assert found[0, 13, 9, 4] == 1
    unknown = planes(EncodedPosition(*(values[:1] for values in encode([PredictionQuery((after,))]))))
    assert unknown[0, 14:].sum() == 0


def test_the_network_sees_one_orientation_and_the_person() -> None:
    network = FakeNetwork(PLANES, SQUARES)
    model = XiangqiHumanModel(network)
    before, after = played(21, seed=5)[-2:]
    network.people.clear()
    network.boards.clear()
    person = Person(rating=1900)
    model.predict(
        [PredictionQuery((before, after), person), PredictionQuery((mirrored(before), mirrored(after)))]
    )
    assert network.people[0] is person
    assert np.array_equal(network.boards[0], network.boards[1])


def test_many_queries_are_answered_in_order(model: XiangqiHumanModel) -> None:
    positions = [position for seed in range(3) for position in played(50, seed)][:140]
    asks = [PredictionQuery((position,)) for position in positions]
    for ask, answer in zip(asks, model.predict(asks), strict=True):
        assert answer == pytest.approx(model.predict([ask])[0])
    assert model.predict([]) == []
