"""The xiangqi evaluation: fair to both sides, the same in C++, its features count what their names say."""

import random
from collections.abc import Iterator

import pytest

from engine import _native
from engine.games import xiangqi_evaluation
from engine.games.linear_weights import LinearWeights, group_offsets
from engine.games.xiangqi import Xiangqi, XiangqiPosition
from engine.games.xiangqi_evaluation import (
    GROUPS,
    THREATS,
    expected_scale_centi,
)
from tests.engine.games.xiangqi_mirror import features

GAME = Xiangqi()
TRICKY = (
    "3k5/9/9/9/9/9/9/9/9/4K4 w - - 0 1",
    "4k4/9/9/9/9/9/9/9/4A4/4K4 w - - 0 1",  # one piece between the generals
    "4k4/9/9/9/9/4C4/9/9/9/3K5 b - - 0 1",  # a cannon without a screen
    "3ak4/4a4/4b4/9/2b6/9/9/9/4R4/3K5 w - - 0 1",
    "3k5/4P4/9/9/9/9/9/9/4p4/5K3 b - - 0 1",
    "2bak4/4a4/4b1R2/9/9/9/9/4B4/9/3K5 b - - 0 1",
)


def positions(seed: int, games: int) -> Iterator[XiangqiPosition]:
    """Positions of random games that like to capture, so that endgames turn up, too."""
    rng = random.Random(seed)
    for _ in range(games):
        position = GAME.initial()
        for _ in range(150):
            moves = GAME.legal_moves(position)
            if not moves:
                break
            captures = [move for move in moves if position.board[move >> 7] != "."]
            position = GAME.play(position, rng.choice(captures if captures and rng.random() < 0.3 else moves))
            if rng.random() < 0.2:
                yield position


def turned(position: XiangqiPosition) -> tuple[str, int]:
    """The same for the other side: the board by half a turn, colours exchanged."""
    return position.board[::-1].swapcase(), 1 - position.side


def weights_at_random(seed: int) -> LinearWeights:
    rng = random.Random(seed)
    middle, end = ([rng.randrange(-300, 300) for _ in range(sum(GROUPS.values()))] for _ in range(2))
    return LinearWeights(tuple(middle), tuple(end), (200.0, 200.0))


def counts(fen: str) -> dict[tuple[str, int], int]:
    """Features other than 0, by group and place in it."""
    first = group_offsets(GROUPS)
    names = {first[name] + i: (name, i) for name, size in GROUPS.items() for i in range(size)}
    position = GAME.parse_position(fen)
    found = features(position.board, position.side).counts
    return {names[feature]: count for feature, count in found.items() if count}


@pytest.mark.parametrize("seed", range(2))
def test_the_core_gives_the_same_score(seed: int) -> None:
    """With weights at random, lest the features that matter little hide a difference."""
    weights = weights_at_random(seed)
    search = _native.XiangqiSearch(1, _native.XiangqiEvaluation(weights.to_bytes()))
    for position in [GAME.parse_position(fen) for fen in TRICKY] + list(positions(seed, 15)):
        score = features(position.board, position.side).score_centi(weights)
        assert search.evaluate(GAME.position_text(position)) == score, position


def test_the_core_gives_the_same_score_with_the_learned_weights() -> None:
    for position in positions(9, 5):
        found = features(position.board, position.side)
        assert found.score_centi(xiangqi_evaluation.weights()) == GAME.evaluate_centi(position)
        assert found.middle == xiangqi_evaluation.middle(position.board)


def test_both_sides_and_both_halves_are_equal() -> None:
    for position in positions(4, 8):
        found = features(position.board, position.side)
        assert features(*turned(position)) == found
        mirrored = "".join(position.board[9 * rank : 9 * rank + 9][::-1] for rank in range(10))
        assert features(mirrored, position.side) == found


def test_the_start_is_worth_the_move() -> None:
    start = GAME.initial()
    found = counts(GAME.position_text(start))
    assert found.pop(("tempo", 0)) == 1
    assert {name.rpartition("_")[0] for name, _ in found} <= {"danger_waiting_2", "danger_moving_2"}
    assert features(start.board, 0).middle == 64
    assert abs(GAME.evaluate_centi(start)) < 150


@pytest.mark.parametrize(
    ("fen", "expected"),
    [
        (TRICKY[1], {("facing", 0): 1, ("advisor_place", 9): 1}),
        ("3k5/9/9/9/9/4C4/9/9/9/4K4 w - - 0 1", {("cannon_aim_on_file", 0): 0}),
        ("4k4/9/9/9/9/4C4/9/9/9/3K5 b - - 0 1", {("cannon_aim_on_file", 0): -1}),
        ("4k4/4a4/9/9/9/4C4/9/9/9/3K5 b - - 0 1", {("cannon_aim_on_file", 1): -1, ("in_check", 0): 1}),
        ("R3k4/9/9/9/9/9/9/9/9/3K5 b - - 0 1", {("rook_aim_on_rank", 0): -1, ("in_check", 0): 1}),
        ("3k5/9/9/9/2PP5/9/9/9/9/4K4 w - - 0 1", {("soldier_links", 0): 2}),
        ("3k5/9/9/9/9/2N6/4N4/9/9/4K4 w - - 0 1", {("horse_links", 0): 2, ("horse_mobility", 7): 2}),
        ("3k5/9/9/9/9/2B6/9/4B4/9/4K4 w - - 0 1", {("elephant_links", 0): 2, ("guards", 2): 1}),
    ],
)
def test_features_count_what_their_names_say(fen: str, expected: dict[tuple[str, int], int]) -> None:
    found = counts(fen)
    assert {key: found.get(key, 0) for key in expected} == expected


@pytest.mark.parametrize(
    ("fen", "whose", "kinds"),
    [
        ("3k5/9/9/9/9/2n6/9/9/9/2R1K4 w - - 0 1", "waiting", ["horse_hangs"]),
        ("3k5/9/9/9/9/2n6/9/9/9/2R1K4 b - - 0 1", "moving", ["horse_hangs"]),
        ("3k5/9/9/9/2r6/2n6/9/9/9/2R1K4 w - - 0 1", "waiting", []),
        ("3k5/9/4r4/2P1r4/4P4/9/9/9/9/5K3 w - - 0 1", "waiting", ["rook_by_cheap"]),
        ("3k5/9/9/9/r8/9/P8/9/9/C3K4 w - - 0 1", "waiting", ["rook_hangs"]),
    ],
)
def test_threats_are_told_by_kind_and_by_whose_move_it_is(fen: str, whose: str, kinds: list[str]) -> None:
    found = {key for key in counts(fen) if key[0].startswith(f"threat_{whose}")}
    places = ("first", "second", "more")
    assert found == {
        (f"threat_{whose}_{place}", THREATS.index(kind)) for place, kind in zip(places, kinds, strict=False)
    }


@pytest.mark.parametrize(
    ("fen", "scale"),
    [
        ("3k5/9/9/9/9/9/9/9/4R4/4K4 w - - 0 1", 64),
        ("3k5/9/9/9/9/9/9/9/4A4/4K4 w - - 0 1", 2),  # an advisor cannot attack
        ("3k5/4a4/9/9/9/9/9/9/4N4/4K4 b - - 0 1", 64),
        ("3k5/4a4/5a3/9/9/9/9/9/4N4/4K4 w - - 0 1", 16),
        (TRICKY[3], 24),
    ],
)
def test_what_is_hard_to_win_counts_less(fen: str, scale: int) -> None:
    position = GAME.parse_position(fen)
    assert features(position.board, position.side).scale == scale


def test_a_chariot_more_is_much_better() -> None:
    position = GAME.parse_position("3k5/9/9/9/9/9/9/9/R8/4K4 b - - 0 1")
    assert GAME.evaluate_centi(position) < -500


def test_the_expected_scale_lies_between_those_of_the_phases() -> None:
    end, middle = xiangqi_evaluation.weights().scale_centi
    assert expected_scale_centi(GAME.initial().board) == pytest.approx(middle)
    assert expected_scale_centi(GAME.parse_position(TRICKY[1]).board) == pytest.approx(end)
    assert min(end, middle) > 30
    assert max(end, middle) < 2000
