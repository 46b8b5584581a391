"""The chess evaluation: fair to both sides, the same in C++, and its features count what their names say."""

import random
from collections.abc import Iterator

import chess
import pytest

from engine import _native
from engine.games import chess_evaluation
from engine.games.chess_evaluation import GROUPS, THREATS, evaluate_centi, expected_scale_centi
from engine.games.linear_weights import LinearWeights, group_offsets
from tests.engine.games.chess_mirror import features
from tests.engine.games.linear_features import LIMIT_CENTI

TRICKY = (
    "8/8/8/8/8/4k3/8/4K2Q w - - 0 1",
    "8/2k5/8/P7/8/8/8/4K3 w - - 0 1",  # a pawn that runs, if it is its turn
    "8/2k5/8/P7/8/8/8/4K3 b - - 0 1",
    "4k3/8/4b3/8/8/3B4/PP4pp/4K3 b - - 0 1",  # bishops of one colour
    "4k3/8/3b4/8/8/3B4/PP4pp/4K3 w - - 0 1",  # of both
    "4k3/8/8/8/8/8/5N2/4K3 b - - 0 1",
    "4k3/8/8/r7/8/8/5R1B/4K3 w - - 0 1",
    "QQQQQQQ1/QQQQQQQ1/7k/8/8/8/8/K7 b - - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
)


def boards(seed: int, games: int) -> Iterator[chess.Board]:
    """Positions of random games, which are full of hanging pieces."""
    rng = random.Random(seed)
    for _ in range(games):
        board = chess.Board()
        while moves := list(board.legal_moves):
            board.push(rng.choice(moves))
            if board.is_insufficient_material() or len(board.move_stack) > 200:
                break
            if rng.random() < 0.2:
                yield board.copy(stack=False)


def weights_at_random(seed: int) -> LinearWeights:
    rng = random.Random(seed)
    middle, end = ([rng.randrange(-300, 300) for _ in range(sum(GROUPS.values()))] for _ in range(2))
    return LinearWeights(tuple(middle), tuple(end), (200.0, 200.0))


def counts(fen: str) -> dict[tuple[str, int], int]:
    """Features other than 0, by group and place in it."""
    first = group_offsets(GROUPS)
    names = {first[name] + i: (name, i) for name, size in GROUPS.items() for i in range(size)}
    return {names[feature]: count for feature, count in features(chess.Board(fen)).counts.items() if count}


@pytest.mark.parametrize("seed", range(3))
def test_the_core_gives_the_same_score(seed: int) -> None:
    """With weights at random, lest the features that matter little hide a difference."""
    weights = weights_at_random(seed)
    search = _native.ChessSearch(1, _native.ChessEvaluation(weights.to_bytes()))
    for board in [chess.Board(fen) for fen in TRICKY] + list(boards(seed, 20)):
        assert search.evaluate(board.fen()) == features(board).score_centi(weights), board.fen()


def test_the_core_gives_the_same_score_with_the_learned_weights() -> None:
    for board in boards(9, 10):
        assert features(board).score_centi(chess_evaluation.weights()) == evaluate_centi(board.fen())
        assert features(board).middle == chess_evaluation.middle(board)


def test_both_colours_are_equal() -> None:
    weights = weights_at_random(4)
    for board in boards(4, 10):
        assert features(board) == features(board.mirror())
        assert features(board).score_centi(weights) == features(board.mirror()).score_centi(weights)


def test_the_start_is_worth_the_move() -> None:
    assert counts(chess.STARTING_FEN) == {
        ("tempo", 0): 1,
        **{(f"danger_{whose}_with_queen", 0): sign for whose, sign in (("moving", 1), ("waiting", -1))},
    }
    assert features(chess.Board()).middle == 64
    assert abs(evaluate_centi(chess.STARTING_FEN)) < 100


@pytest.mark.parametrize(
    ("fen", "expected"),
    [
        ("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", {("rook_square", 0): 1, ("open_rook", 0): 1}),
        ("4k3/8/8/8/8/8/8/R3K3 b - - 0 1", {("rook_square", 0): -1, ("open_rook", 0): -1}),
        ("4k3/p7/8/8/8/8/8/R3K3 w - - 0 1", {("open_rook", 1): 1, ("isolated", 1): -1, ("passed", 1): -1}),
        ("4k3/8/8/3PP3/8/8/8/4K3 w - - 0 1", {("phalanx", 4): 2, ("passed", 4): 2, ("passed_safe", 4): 2}),
        ("4k3/8/8/8/3P4/4P3/8/4K3 w - - 0 1", {("supported", 3): 1, ("passed_free", 3): 1}),
        ("4k3/8/8/8/3P4/3P4/8/4K3 w - - 0 1", {("doubled", 0): 1, ("isolated", 1): 2, ("passed", 3): 1}),
        ("4k3/8/8/8/8/8/8/2B1KB2 w - - 0 1", {("bishop_pair", 0): 1}),
        ("4k3/8/8/3N4/2P5/8/8/4K3 w - - 0 1", {("outpost", 0): 1, ("knight_pawns", 0): 1}),
        ("8/k7/8/8/8/8/7P/4K3 w - - 0 1", {("passed", 1): 1}),
        ("8/k7/7P/8/8/8/8/4K3 w - - 0 1", {("runner", 0): 1, ("passed_other_king", 7): 1}),
        ("4k3/8/8/8/8/8/4r3/4K3 w - - 0 1", {("in_check", 0): 1}),
    ],
)
def test_features_count_what_their_names_say(fen: str, expected: dict[tuple[str, int], int]) -> None:
    found = counts(fen)
    assert {key: found.get(key, 0) for key in expected} == expected


@pytest.mark.parametrize(
    ("fen", "whose", "kinds"),
    [
        ("4k3/8/8/3n4/8/8/8/3QK3 b - - 0 1", "moving", ["knight_hangs"]),
        ("4k3/8/8/3n4/8/8/8/3QK3 w - - 0 1", "waiting", ["knight_hangs"]),
        ("4k3/8/2p5/3n4/8/8/8/3QK3 w - - 0 1", "waiting", []),
        ("4k3/8/2p5/3n4/4P3/8/8/4K3 w - - 0 1", "waiting", ["knight_by_pawn"]),
        ("4k3/8/2p5/3q4/8/2N5/8/4K3 w - - 0 1", "waiting", ["queen_by_minor"]),
        ("4k3/8/8/q2r4/2N1P3/8/8/4K3 w - - 0 1", "waiting", ["queen_by_minor", "rook_by_pawn"]),
    ],
)
def test_threats_are_told_by_kind_and_by_whose_move_it_is(fen: str, whose: str, kinds: list[str]) -> None:
    found = {key for key in counts(fen) if key[0].startswith("threat_")}
    places = ("first", "second", "more")
    assert found == {
        (f"threat_{whose}_{place}", THREATS.index(kind)) for place, kind in zip(places, kinds, strict=False)
    }


@pytest.mark.parametrize(
    ("fen", "scale"),
    [
        ("4k3/8/8/8/8/8/5R2/4K3 w - - 0 1", 64),
        ("4k3/8/8/8/8/8/5B2/4K3 w - - 0 1", 12),  # a bishop alone does not win
        ("4k3/7p/8/8/8/8/5B2/4K3 b - - 0 1", 12),
        ("4k3/8/8/8/8/8/5BP1/4K3 w - - 0 1", 64),
        (TRICKY[4], 36),
        (TRICKY[3], 64),
    ],
)
def test_what_is_hard_to_win_counts_less(fen: str, scale: int) -> None:
    assert features(chess.Board(fen)).scale == scale


def test_a_queen_more_is_much_better_and_evaluations_are_limited() -> None:
    assert evaluate_centi("4k3/8/8/8/8/8/8/Q3K3 b - - 0 1") < -500
    many = chess.Board("QQQQQQQ1/QQQQQQQ1/7k/8/8/8/8/K7 b - - 0 1")
    same = (5_000,) * sum(GROUPS.values())
    huge = LinearWeights(same, same, (1.0, 1.0))
    assert features(many).score_centi(huge) == -LIMIT_CENTI


def test_the_expected_scale_lies_between_those_of_the_phases() -> None:
    end, middle = chess_evaluation.weights().scale_centi
    assert expected_scale_centi(chess.Board()) == pytest.approx(middle)
    assert expected_scale_centi(chess.Board("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")) == pytest.approx(end)
    assert min(end, middle) > 30
    assert max(end, middle) < 1000
