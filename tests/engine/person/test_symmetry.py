"""`engine.person.symmetry`: equal keys exactly for positions that differ by a symmetry."""

import numpy as np

from engine.games import get_rules
from engine.games.othello import OthelloPosition
from engine.human.othello_boards import TURNED, images
from engine.person.symmetry import position_keys
from tests.engine.person.samples import positions


def test_othello_has_eight_symmetries_and_no_colours() -> None:
    rules = get_rules("othello")
    for text, _, replies in positions(60, seed=2):
        keys = position_keys("othello", text, replies)
        position = rules.parse_position(text)
        own, other = (images(np.array([board], np.uint64)) for board in position[:2])
        for turn in range(8):
            image = OthelloPosition(int(own[turn][0]), int(other[turn][0]), 1 - position.side)
            moves = tuple(
                rules.move_text(int(TURNED[turn, rules.parse_move(position, reply)])) for reply in replies
            )
            turned = position_keys("othello", rules.position_text(image), moves)
            assert turned == keys


def test_replies_that_a_symmetry_exchanges_are_equal() -> None:
    rules = get_rules("othello")
    moves = tuple(rules.move_text(move) for move in rules.legal_moves(rules.initial()))
    keys = position_keys("othello", rules.position_text(rules.initial()), moves)
    assert len(set(keys.replies)) == 1


def test_xiangqi_has_left_and_right() -> None:
    rules = get_rules("xiangqi")
    start = rules.initial()
    left, right = (rules.play(start, rules.parse_move(start, move)) for move in ("b3e3", "h3e3"))
    ours = position_keys("xiangqi", rules.position_text(left), ("h10g8", "a10a9"))
    theirs = position_keys("xiangqi", rules.position_text(right), ("b10c8", "i10i9"))
    assert ours == theirs
    own = position_keys("xiangqi", rules.position_text(start), ("b3e3", "h3e3", "b1c3"))
    assert own.replies[0] == own.replies[1] != own.replies[2]
    assert own.position != ours.position


def test_counters_and_earlier_moves_do_not_count() -> None:
    rules = get_rules("chess")
    first = rules.initial()
    for move in ("g1f3", "g8f6", "f3g1", "f6g8"):
        first = rules.play(first, rules.parse_move(first, move))
    start = position_keys("chess", rules.position_text(rules.initial()), ("e2e4",))
    assert position_keys("chess", rules.position_text(first), ("e2e4",)) == start
    mirrored = position_keys("chess", rules.position_text(rules.initial()), ("d2d4",))
    assert mirrored.replies != start.replies
