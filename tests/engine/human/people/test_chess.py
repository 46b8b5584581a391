"""Tests of the human-move model for chess, with a network that is a fixed function of its input."""

import random
from typing import Any

import chess
import numpy as np
import pytest

from engine.games.standard_chess import ChessPosition, StandardChess
from engine.human.model import PredictionQuery, predictions_of
from engine.human.people.chess import PLANES, SQUARES, ChessHumanModel, planes, seen_moves
from tests.engine.human.fakes import FakeNetwork

RULES = StandardChess()


def played(count: int, seed: int) -> list[ChessPosition]:
    """The positions of a game at random."""
    rng, positions = random.Random(seed), [RULES.initial()]
    while len(positions) <= count and (moves := RULES.legal_moves(positions[-1])):
        positions.append(RULES.play(positions[-1], rng.choice(moves)))
    return positions


def probabilities(model: ChessHumanModel, *history: ChessPosition) -> dict[tuple[int, int], float]:
    (answer,) = model.predict([PredictionQuery(history)])
    origin, target = seen_moves(history[-1])
    return dict(zip(zip(origin.tolist(), target.tolist(), strict=True), answer, strict=True))


def test_predictions_are_distributions_over_the_legal_moves() -> None:
    positions = played(120, seed=1)
    asks = [PredictionQuery(tuple(positions[max(0, at - 1) : at + 1])) for at in range(len(positions))]
    for ask, answer in zip(
        asks, predictions_of(ChessHumanModel(FakeNetwork(PLANES, SQUARES)), RULES, asks), strict=True
    ):
        assert len(answer) == len(RULES.legal_moves(ask.positions[-1]))


def test_both_sides_are_seen_alike() -> None:
    model = ChessHumanModel(FakeNetwork(PLANES, SQUARES))
    fen = "r3k2r/1P4pp/8/3pP3/8/8/6PP/R3K2R w KQkq d6 0 1"
    position = RULES.parse_position(fen)
    other = RULES.parse_position(chess.Board(fen).mirror().fen())
    assert probabilities(model, position) == pytest.approx(probabilities(model, other))


def test_every_legal_move_has_a_number_of_its_own() -> None:
    position = RULES.parse_position("1n2k3/P1P5/8/8/8/8/8/R3K2R w KQ - 0 1")
    origin, target = seen_moves(position)
    assert len(set(zip(origin.tolist(), target.tolist(), strict=True))) == len(RULES.legal_moves(position))
    by_text = dict(
        zip(
            map(RULES.move_text, position.legal),
            zip(origin.tolist(), target.tolist(), strict=True),
            strict=True,
        )
    )
    assert by_text["a7b8q"] == (chess.A7, chess.B8)
    assert by_text["a7b8n"] == (chess.A7, chess.B1)
    assert by_text["a7a8b"] == (chess.A7, chess.A2)
    assert by_text["c7b8r"] == (chess.C7, chess.B3)
    assert by_text["e1g1"] == (chess.E1, chess.G1)


@pytest.mark.parametrize(
    ("fen", "moves", "last"),
    [
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", ["e1g1"], (chess.E1, chess.G1)),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", ["e5d6"], (chess.E5, chess.D6)),
        ("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", ["e4d5"], (chess.E4, chess.D5)),
        ("1n2k3/P7/8/8/8/8/8/4K3 w - - 0 1", ["a7b8r"], (chess.A7, chess.B8)),
        ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", ["e2e4", "e8e7"], None),
    ],
)
def test_the_last_move_is_known_from_the_position_before(
    fen: str, moves: list[str], last: tuple[int, int] | None
) -> None:
    positions = [RULES.parse_position(fen)]
    for text in moves:
        positions.append(RULES.play(positions[-1], RULES.parse_move(positions[-1], text)))
    found = planes([PredictionQuery((positions[0], positions[-1]))])[0, 12:14].reshape(2, 64)
    flip = 0 if positions[-1].board.turn else 56
    expected = [] if last is None else [[0, last[0] ^ flip], [1, last[1] ^ flip]]
    assert np.argwhere(found).tolist() == expected


def test_castling_of_chess960_has_the_kings_target() -> None:
    game: Any = StandardChess()
    board = chess.Board("4k3/8/8/8/8/8/8/1R2K1R1 w KQ - 0 1", chess960=True)
    position = game.parse_position(board.fen(shredder=True))
    origin, target = seen_moves(position)
    moves = set(zip(origin.tolist(), target.tolist(), strict=True))
    assert (chess.E1, chess.C1) in moves
    assert (chess.E1, chess.G1) in moves
