"""Othello's rules in arrays: the same as the plain ones, and symmetric."""

import random

import numpy as np
import pytest

from engine.games.othello import Othello, OthelloPosition, flips_mask, moves_mask
from engine.human.othello_boards import (
    TURNED,
    Boards,
    bits,
    flips_masks,
    images,
    moves_masks,
    neighbours,
    square_bits,
    turned,
    upright,
)
from tests.lab.training.othello_games import played_positions


@pytest.fixture(scope="module")
def positions() -> list[OthelloPosition]:
    return played_positions(20)


def boards(positions: list[OthelloPosition]) -> tuple[Boards, Boards]:
    own, other = ([position[side] for position in positions] for side in (0, 1))
    return np.array(own, dtype=np.uint64), np.array(other, dtype=np.uint64)


def test_moves_are_those_of_the_rules(positions: list[OthelloPosition]) -> None:
    assert moves_masks(*boards(positions)).tolist() == [moves_mask(*each[:2]) for each in positions]


def test_discs_are_turned_over_as_by_the_rules(positions: list[OthelloPosition]) -> None:
    chosen = random.Random(2).sample(positions, 60)
    rows = [
        (each, square)
        for each in chosen
        for square in range(64)
        if not (each.mover | each.waiter) >> square & 1
    ]
    own, other = boards([each for each, _ in rows])
    found = flips_masks(own, other, square_bits(np.array([square for _, square in rows])))
    assert found.tolist() == [flips_mask(each.mover, each.waiter, square) for each, square in rows]


def test_squares_of_a_board() -> None:
    assert bits(np.array([1, 1 << 7, 1 << 56], dtype=np.uint64)).argmax(axis=1).tolist() == [0, 7, 56]


def test_neighbours_do_not_wrap_round_a_side() -> None:
    corner, side = neighbours(square_bits(np.array([0, 31]))).tolist()
    assert corner == 1 << 1 | 1 << 8 | 1 << 9
    assert side == sum(1 << square for square in (22, 23, 30, 38, 39))


def test_the_eight_symmetries_keep_the_rules(positions: list[OthelloPosition]) -> None:
    own, other = boards(positions)
    legal = bits(moves_masks(own, other))
    assert len({tuple(goes) for goes in TURNED.tolist()}) == 8
    for goes, own_image, other_image in zip(TURNED, images(own), images(other), strict=True):
        image = np.empty_like(legal)
        image[:, goes] = legal
        assert (bits(moves_masks(own_image, other_image)) == image).all()


def test_images_of_a_position_have_one_upright_orientation(positions: list[OthelloPosition]) -> None:
    own, other = boards(positions)
    found = set()
    for own_image, other_image in zip(images(own), images(other), strict=True):
        ways = upright(own_image, other_image)
        assert ways.any(axis=0).all()
        turn = ways.argmax(axis=0)
        found.add((tuple(turned(own_image, turn).tolist()), tuple(turned(other_image, turn).tolist())))
    assert len(found) == 1


def test_every_way_to_the_upright_orientation_leads_there() -> None:
    start = Othello().initial()
    own, other = boards([start] * 8)
    ways = upright(own, other)
    assert ways.sum(axis=0).tolist() == [4] * 8  # the start is its own image by both diagonals
    (turn,) = np.nonzero(ways[:, 0])
    assert len(set(turned(own[: len(turn)], turn).tolist())) == 1
