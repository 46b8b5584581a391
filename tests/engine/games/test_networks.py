"""Networks: the core computes what the mirror does, after any moves; files that are none are refused."""

import hashlib
import json
import lzma
import random
from importlib import resources
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest

from engine import _native
from engine.games import chess_evaluation, get_rules, networks, xiangqi_evaluation
from engine.games.networks import BUCKETS, INPUTS, WIDTH
from engine.stop import StopFlag
from lab.training.network_samples import to_bytes
from tests.engine.games.network_mirror import Network

GAMES = ["chess", "xiangqi"]


def random_weights(game: str, seed: int) -> bytes:
    numbers = np.random.default_rng(seed)

    def normal(spread: float, *shape: int) -> Any:
        return numbers.normal(0, spread, shape).astype(np.float32)

    parts = normal(0.2, INPUTS[game], WIDTH), normal(0.3, WIDTH), normal(0.4, BUCKETS, 2, WIDTH)
    return to_bytes(*parts, normal(0.2, BUCKETS))


def searcher(game: str, weights: bytes | None) -> Any:
    if game == "chess":
        return _native.ChessSearch(
            1,
            _native.ChessEvaluation(chess_evaluation.weights().to_bytes()),
            None if weights is None else _native.ChessNetwork(weights),
        )
    return _native.XiangqiSearch(
        1,
        _native.XiangqiEvaluation(xiangqi_evaluation.weights().to_bytes()),
        None if weights is None else _native.XiangqiNetwork(weights),
    )


def chess_inputs(board: chess.Board, view: chess.Color) -> list[int]:
    """Own pieces first, the board from the side's own end, mirrored if its king is on the right."""
    king = board.king(view)
    assert king is not None
    turn = (0 if view else 56) ^ (7 if chess.square_file(king) >= 4 else 0)
    return [
        64 * (6 * (piece.color != view) + piece.piece_type - 1) + (square ^ turn)
        for square, piece in board.piece_map().items()
    ]


def xiangqi_inputs(fen: str, view: int) -> list[int]:
    """Likewise; mirrored if the general is right of the middle."""
    kinds = "pabnckr"
    order = {"p": 0, "a": 1, "b": 2, "n": 3, "c": 4, "r": 5, "k": 6}
    assert set(kinds) == set(order)
    pieces = []
    for row, text in enumerate(fen.split()[0].split("/")):
        file = 0
        for letter in text:
            if letter.isdigit():
                file += int(letter)
                continue
            pieces.append((int(letter.islower()), order[letter.lower()], 9 - row, file))
            file += 1
    general = next(file for side, kind, _, file in pieces if side == view and kind == 6)
    return [
        90 * (7 * (side != view) + kind)
        + 9 * (rank if view == 0 else 9 - rank)
        + (8 - file if general > 4 else file)
        for side, kind, rank, file in pieces
    ]


def inputs_of(game: str, position: Any) -> tuple[list[int], list[int]]:
    """The mover's inputs, then the other side's."""
    rules = get_rules(game)
    if game == "chess":
        board = position.board
        return chess_inputs(board, board.turn), chess_inputs(board, not board.turn)
    fen = rules.board_text(position)
    side = rules.side_to_move(position)
    return xiangqi_inputs(fen, side), xiangqi_inputs(fen, 1 - side)


@pytest.mark.parametrize("game", GAMES)
def test_the_core_adds_what_the_mirror_computes_however_the_position_was_reached(game: str) -> None:
    weights = random_weights(game, 1)
    network, core = Network(game, weights), searcher(game, weights)
    rules: Any = get_rules(game)
    moves_of = random.Random(2)
    corrections = set()
    for _ in range(12):
        position, path = rules.initial(), []
        for _ in range(90):
            legal = rules.legal_moves(position)
            if not legal:
                break
            path.append(moves_of.choice(legal))
            position = rules.play(position, path[-1])
            text = rules.native_position(position)
            correction = network.correction_centi(*inputs_of(game, position))
            corrections.add(correction)
            expected = max(-20_000, min(20_000, core.evaluate(text) + correction))
            assert core.strong_evaluation(text, []) == expected
            assert core.strong_evaluation(rules.native_position(rules.initial()), path) == expected
    assert len(corrections) > 300


def test_castling_en_passant_and_promotions_change_the_right_inputs() -> None:
    weights = random_weights("chess", 3)
    core, rules = searcher("chess", weights), get_rules("chess")
    for fen, text in (
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1c1"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6"),
        ("1n2k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7b8n"),
        ("1n2k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8q"),
        ("4k3/8/8/8/8/8/8/r2K4 w - - 0 1", "d1e2"),  # the king crosses the middle: all is mirrored
        ("4k3/8/8/8/8/4p3/3P4/4K3 w - - 0 1", "d2e3"),  # a pawn takes a pawn
    ):
        before: Any = rules.parse_position(fen)
        move = rules.parse_move(before, text)
        after: Any = rules.play(before, move)
        by_moves = core.strong_evaluation(rules.native_position(before), [move])  # type: ignore[attr-defined]
        assert by_moves == core.strong_evaluation(rules.native_position(after), []), fen  # type: ignore[attr-defined]


@pytest.mark.parametrize("game", GAMES)
def test_without_a_network_the_strong_search_has_the_evaluation(game: str) -> None:
    rules: Any = get_rules(game)
    text = rules.native_position(rules.initial())
    core = searcher(game, None)
    assert core.strong_evaluation(text, []) == core.evaluate(text)


@pytest.mark.parametrize("game", GAMES)
def test_the_exact_search_knows_nothing_of_the_network(game: str) -> None:
    rules: Any = get_rules(game)
    text, never = rules.native_position(rules.initial()), StopFlag()
    limit = _native.INFINITY
    with_network, without = searcher(game, random_weights(game, 5)), searcher(game, None)
    assert with_network.search(text, 3, -limit, limit, never) == without.search(text, 3, -limit, limit, never)
    thought = [core.think(text, 6, 0.0, 100, 1, 0, never)[1] for core in (with_network, without)]
    assert thought[0] != thought[1]


def test_the_rounding_is_the_cores_on_both_sides_of_zero() -> None:
    zeros = np.zeros((INPUTS["chess"], WIDTH), np.float32)
    outputs = np.zeros((BUCKETS, 2, WIDTH), np.float32)
    for bias in (0.5003, -0.5003, 0.1, -0.1):
        weights = to_bytes(zeros, np.zeros(WIDTH, np.float32), outputs, np.full(BUCKETS, bias, np.float32))
        rules: Any = get_rules("chess")
        text, core = rules.native_position(rules.initial()), searcher("chess", weights)
        found = core.strong_evaluation(text, []) - core.evaluate(text)
        assert found == Network("chess", weights).correction_centi(*inputs_of("chess", rules.initial()))
        assert abs(found - 400 * bias) < 1


def test_bytes_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match=r"the weights must be .* bytes, not 3"):
        _native.ChessNetwork(b"abc")
    with pytest.raises(ValueError, match=r"a network of xiangqi has .* bytes, not 3"):
        Network("xiangqi", b"abc")


def test_a_file_that_is_no_network_is_named(tmp_path: Path) -> None:
    path = tmp_path / "broken.xz"
    path.write_bytes(b"no such thing")
    with pytest.raises(ValueError, match=r"broken\.xz"):
        networks.read(path)
    path.write_bytes(lzma.compress(b"abc"))
    assert networks.read(path) == b"abc"


@pytest.mark.parametrize("game", GAMES)
def test_the_programs_own_network_is_the_cards_and_corrects_the_programs_own_evaluation(game: str) -> None:
    card = json.loads((resources.files(networks.__package__ or "") / f"{game}_network.json").read_text())
    assert hashlib.sha256(networks.weights(game)).hexdigest() == card["sha256"]
    evaluation = {"chess": chess_evaluation, "xiangqi": xiangqi_evaluation}[game].weights().to_bytes()
    assert hashlib.sha256(evaluation).hexdigest() == card["evaluation_sha256"], "learn the network anew"
