"""What people play in Othello: what the network sees, how its answers are made, and the one we come with."""

import hashlib
import json
import math
import random
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.decision import Person
from engine.games.othello import PASS, Othello, OthelloPosition
from engine.human.model import BadModel, HumanModel, PredictionQuery, predictions_of
from engine.human.onnx import OnnxNetwork
from engine.human.othello import DEFAULT_FILE, PLANES, OthelloHumanModel, encode, network_inputs
from engine.human.othello_boards import TURNED
from lab.training.human_othello import card_path, some_games
from lab.training.human_othello_data import measure, read_wthor, replay, report
from lab.training.human_othello_graph import TABLES, first_weights, to_onnx
from tests.lab.training.othello_games import played_positions, random_game
from tests.shared_data import shared_path

GAME = Othello()


def drawn(seed: int = 5) -> bytes:
    """A network at random that holds some moves for much likelier than others."""
    weights = first_weights(seed)
    weights["last"] *= 40
    return to_onnx(weights, "at-random", "none")


@pytest.fixture(scope="module")
def random_network() -> OthelloHumanModel:
    return OthelloHumanModel(OnnxNetwork.load(drawn(), "at-random.onnx"))


@pytest.fixture(scope="module")
def ours() -> OthelloHumanModel:
    return OthelloHumanModel(OnnxNetwork.open(DEFAULT_FILE))


def image(position: OthelloPosition, turn: int) -> OthelloPosition:
    def board(discs: int) -> int:
        return sum(1 << int(TURNED[turn, square]) for square in range(64) if discs >> square & 1)

    return OthelloPosition(board(position.mover), board(position.waiter), position.side)


def asks_of_games(games: int, history: int = 2) -> list[PredictionQuery]:
    rng = random.Random(3)
    asks = []
    for _ in range(games):
        path: list[OthelloPosition] = []
        for position, _move in random_game(rng):
            path.append(position)
            if len(GAME.legal_moves(position)) > 1:
                asks.append(PredictionQuery(tuple(path[-history:])))
    return asks


def test_answers_are_probabilities_of_the_legal_moves(random_network: OthelloHumanModel) -> None:
    model: HumanModel = random_network
    asks = asks_of_games(2)
    answers = predictions_of(model, GAME, asks)
    assert max(max(answer) for answer in answers) > 0.6
    for ask, answer in zip(asks, answers, strict=True):
        assert len(answer) == len(GAME.legal_moves(ask.positions[-1]))
        assert math.fsum(answer) == pytest.approx(1)
    assert model.predict([]) == []


def test_a_batch_of_any_size_gives_the_same_answers(random_network: OthelloHumanModel) -> None:
    asks = asks_of_games(1)
    together = random_network.predict(asks)
    for ask, answer in zip(asks, together, strict=True):
        assert random_network.predict([ask])[0] == pytest.approx(answer, abs=1e-5)


def test_nobody_asks_for_rating_or_clock(random_network: OthelloHumanModel) -> None:
    ask = asks_of_games(1)[20]
    asks = [ask, PredictionQuery(ask.positions, Person(rating=1200, clock_s=3.0))]
    assert len(set(random_network.predict(asks))) == 1


def test_images_of_a_position_get_the_same_answer(random_network: OthelloHumanModel) -> None:
    asks = [PredictionQuery((GAME.initial(),)), *asks_of_games(1)[::6]]
    for ask in asks:
        (probabilities,) = random_network.predict([ask])
        by_square = dict(zip(GAME.legal_moves(ask.positions[-1]), probabilities, strict=True))
        for turn in range(8):
            turned = PredictionQuery(tuple(image(position, turn) for position in ask.positions))
            (found,) = random_network.predict([turned])
            expected = {int(TURNED[turn, square]): chance for square, chance in by_square.items()}
            moves = GAME.legal_moves(turned.positions[-1])
            assert found == pytest.approx([expected[move] for move in moves], abs=1e-5)


def test_the_first_move_is_a_matter_of_taste(
    random_network: OthelloHumanModel, ours: OthelloHumanModel
) -> None:
    for model in (random_network, ours):
        assert model.predict([PredictionQuery((GAME.initial(),))])[0] == pytest.approx([0.25] * 4)


def test_the_last_move_counts(random_network: OthelloHumanModel) -> None:
    longer = asks_of_games(1, history=3)
    with_it = random_network.predict(longer)
    assert with_it == random_network.predict([PredictionQuery(ask.positions[-2:]) for ask in longer])
    without = random_network.predict([PredictionQuery(ask.positions[-1:]) for ask in longer])
    assert sum(one != other for one, other in zip(with_it, without, strict=True)) > len(longer) / 2


def test_the_last_move_as_it_is_seen() -> None:
    start = GAME.initial()
    after = GAME.play(start, 19)  # d3
    sight = network_inputs(
        [
            PredictionQuery((start, after)),
            PredictionQuery((after,)),
            PredictionQuery((start, start)),
            PredictionQuery((after, start)),
        ]
    )
    assert sight.placed.tolist() == [1 << 19, 0, 0, 0]
    assert sight.flipped.tolist() == [1 << 27, 0, 0, 0]


def test_a_pass_is_no_last_move() -> None:
    rng = random.Random(1)
    while True:
        path = list(random_game(rng))
        passed = [place for place, (_, move) in enumerate(path[:-1]) if move == PASS]
        if passed:
            break
    before, after = path[passed[0]][0], path[passed[0] + 1][0]
    sight = network_inputs([PredictionQuery((before, after))])
    assert (sight.placed.tolist(), sight.flipped.tolist()) == ([0], [0])


def planes_by_the_rules(position: OthelloPosition) -> NDArray[np.float32]:
    """The planes about moves, as slowly and plainly as possible."""
    found = np.zeros((64, 6), dtype=np.float32)
    for move in GAME.legal_moves(position):
        after = GAME.play(position, move)
        passed = OthelloPosition(after.waiter, after.mover, position.side)

        def moves(of: OthelloPosition) -> list[int]:
            return [square for square in GAME.legal_moves(of) if square != PASS]

        def beside(discs: int, of: OthelloPosition) -> int:
            taken = of.mover | of.waiter
            near = {
                8 * row + column
                for square in range(64)
                if discs >> square & 1
                for row in range(max(0, square // 8 - 1), min(8, square // 8 + 2))
                for column in range(max(0, square % 8 - 1), min(8, square % 8 + 2))
            }
            return sum(not taken >> square & 1 for square in near)

        corners = sum(square in (0, 7, 56, 63) for square in moves(after))
        flips = after.waiter.bit_count() - position.mover.bit_count() - 1
        found[move] = (
            flips / 8, len(moves(after)) / 10, len(moves(passed)) / 10, corners,
            beside(after.waiter, after) / 15, beside(after.mover, after) / 15,
        )  # fmt: skip
    return found


def test_the_planes_are_what_they_are_said_to_be() -> None:
    positions = played_positions(2, seed=8)[::3]
    found = encode(network_inputs([PredictionQuery((position,)) for position in positions]))
    assert found.shape == (len(positions), 64, PLANES)
    for planes, position in zip(found, positions, strict=True):
        mover, waiter, _ = position
        squares = range(64)
        assert [planes[square, 0] for square in squares] == [mover >> square & 1 for square in squares]
        assert [planes[square, 1] for square in squares] == [waiter >> square & 1 for square in squares]
        assert tuple(np.flatnonzero(planes[:, 2])) == GAME.legal_moves(position)
        other = GAME.legal_moves(OthelloPosition(waiter, mover, 0))
        assert tuple(np.flatnonzero(planes[:, 3])) == tuple(move for move in other if move != PASS)
        empty = [square for square in squares if not (mover | waiter) >> square & 1]
        assert np.flatnonzero(planes[:, 4]).tolist() == empty
        quarters = [square // 32 * 2 + square % 8 // 4 for square in empty]
        odd = [square for square, at in zip(empty, quarters, strict=True) if quarters.count(at) % 2]
        assert np.flatnonzero(planes[:, 7]).tolist() == odd
        assert planes[:, 8] == pytest.approx(len(empty) / 60)
        assert (planes[:, 9] == len(empty) % 2).all()
        assert planes[:, 10:] == pytest.approx(planes_by_the_rules(position))


def test_tables_keep_their_numbers_in_one_byte() -> None:
    weights = first_weights(1)
    assert sum(weights[name].size for name in TABLES) < len(to_onnx(weights, "a", "none")) < 4_000_000


def test_a_network_for_something_else_is_refused() -> None:
    data = drawn().replace(b"desdemona.kind\x12\x07othello", b"desdemona.kind\x12\x07unknown")
    with pytest.raises(BadModel, match=r"x\.onnx: .*'unknown'"):
        OthelloHumanModel(OnnxNetwork.load(data, "x.onnx"))


def test_the_network_we_come_with_has_its_card(ours: OthelloHumanModel) -> None:
    data = DEFAULT_FILE.read_bytes()
    card = json.loads(card_path(DEFAULT_FILE).read_text())
    assert card["sha256"] == hashlib.sha256(data).hexdigest() == ours.info.sha256
    assert card["bytes"] == len(data) <= 4_000_000
    assert (card["name"], card["file"]) == (ours.info.name, DEFAULT_FILE.name)
    assert (ours.game, ours.info.kind) == ("othello", "othello")
    assert card["validation"]["years"] == "2016-2019"
    assert card["validation"]["with_a_choice"]["top1"] > 0.45


def test_the_network_we_come_with_knows_openings(ours: OthelloHumanModel) -> None:
    start = GAME.initial()
    first = GAME.play(start, GAME.parse_move(start, "f5"))
    (probabilities,) = predictions_of(ours, GAME, [PredictionQuery((start, first))])
    by_text = dict(zip(map(GAME.move_text, GAME.legal_moves(first)), probabilities, strict=True))
    # People answer perpendicularly or diagonally; the parallel opening is a beginner's.
    assert by_text["d6"] > by_text["f6"] > by_text["f4"]


def test_the_card_tells_the_truth(ours: OthelloHumanModel) -> None:
    """On some games of 2019 the network does as well as its card says of the whole year."""
    folder: Path = shared_path("wthor")
    told = json.loads(card_path(DEFAULT_FILE).read_text())["validation"]["by_year"]["2019"]
    positions = some_games(replay(read_wthor(folder, [2019])), 60)
    found = report(measure(ours, positions), positions)["with_a_choice"]
    for name in ("top1", "log_loss"):
        low, high = found[f"{name}_interval"]
        half = (high - low) / 2
        assert abs(found[name] - told[name]) < 1.6 * half  # 1.6 half-intervals are 3 standard errors
