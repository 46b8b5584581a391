"""What people play in Othello: what the network sees, how its answers are made, and the one we come with."""

import hashlib
import json
import math
import random
from collections.abc import Sequence

import numpy as np
import pytest

from engine.decision import Person
from engine.games.othello import PASS, Othello, OthelloPosition
from engine.human.model import BadModel, HumanModel, PredictionQuery, predictions_of
from engine.human.onnx import OnnxNetwork
from engine.human.othello import DEFAULT_FILE, OthelloHumanModel, encode, network_inputs
from engine.human.othello_boards import TURNED
from lab.training.people.shapes import NetworkSize
from tests.engine.human.people.random_network import random_network
from tests.lab.training.othello_games import played_positions, random_game

GAME = Othello()
SIZE = NetworkSize("othello", 6, 1, person_planes=2)


def drawn(**metadata: str) -> OthelloHumanModel:
    return OthelloHumanModel(OnnxNetwork.load(random_network(SIZE, **metadata), "by-lot.onnx"))


@pytest.fixture(scope="module", params=["canonical", "all"])
def model(request: pytest.FixtureRequest) -> OthelloHumanModel:
    return drawn(orientations=request.param)


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


def differ(some: Sequence[Sequence[float]], others: Sequence[Sequence[float]]) -> int:
    """Number of answers that differ."""
    return sum(one != pytest.approx(other, abs=1e-5) for one, other in zip(some, others, strict=True))


def test_answers_are_probabilities_of_the_legal_moves(model: OthelloHumanModel) -> None:
    asked: HumanModel = model
    asks = asks_of_games(2)
    answers = predictions_of(asked, GAME, asks)
    assert max(max(answer) for answer in answers) > 0.5
    for ask, answer in zip(asks, answers, strict=True):
        assert len(answer) == len(GAME.legal_moves(ask.positions[-1]))
        assert math.fsum(answer) == pytest.approx(1)
    assert model.predict([]) == []


def test_a_batch_of_any_size_gives_the_same_answers(model: OthelloHumanModel) -> None:
    asks = asks_of_games(1)
    together = model.predict(asks * 5)
    assert differ(together[-len(asks) :], [model.predict([ask])[0] for ask in asks]) == 0


def test_images_of_a_position_get_the_same_answer(model: OthelloHumanModel) -> None:
    asks = [PredictionQuery((GAME.initial(),)), *asks_of_games(1)[::6]]
    for ask in asks:
        (probabilities,) = model.predict([ask])
        by_square = dict(zip(GAME.legal_moves(ask.positions[-1]), probabilities, strict=True))
        for turn in range(8):
            turned = PredictionQuery(tuple(image(position, turn) for position in ask.positions))
            (found,) = model.predict([turned])
            expected = {int(TURNED[turn, square]): chance for square, chance in by_square.items()}
            moves = GAME.legal_moves(turned.positions[-1])
            assert found == pytest.approx([expected[move] for move in moves], abs=1e-5)


def test_the_first_move_is_a_matter_of_taste(model: OthelloHumanModel, ours: OthelloHumanModel) -> None:
    for each in (model, ours):
        assert each.predict([PredictionQuery((GAME.initial(),))])[0] == pytest.approx([0.25] * 4)


def test_over_all_images_is_another_answer_than_over_the_canonical_one() -> None:
    asks = asks_of_games(1)
    answers = [drawn(orientations=name).predict(asks) for name in ("all", "canonical")]
    assert differ(*answers) > len(asks) / 2


def test_a_quick_answer_is_that_of_one_canonical_image() -> None:
    asks = asks_of_games(1)
    quick = [PredictionQuery(ask.positions, is_quick=True) for ask in asks]
    every, canonical = drawn(orientations="all"), drawn(orientations="canonical")
    assert differ(every.predict(quick), canonical.predict(quick)) == 0
    assert differ(every.predict(quick), every.predict(asks)) > len(asks) / 2
    assert differ(every.predict(quick)[6:], canonical.predict(asks)[6:]) == 0  # no symmetric position
    symmetric = PredictionQuery((GAME.initial(),), is_quick=True)
    (first,) = every.predict([symmetric])
    assert first != pytest.approx([0.25] * 4, abs=1e-3)


@pytest.mark.parametrize(
    "person", [Person(rating=1900), Person(opponent_rating=1900), Person(games=900)], ids=str
)
def test_what_is_known_of_the_person_counts(person: Person) -> None:
    model, asks = drawn(), asks_of_games(1)
    told = [PredictionQuery(ask.positions, person) for ask in asks]
    assert differ(model.predict(asks), model.predict(told)) > len(asks) / 2


def test_the_last_move_counts(model: OthelloHumanModel) -> None:
    longer = asks_of_games(1, history=3)
    with_it = model.predict(longer)
    assert differ(with_it, model.predict([PredictionQuery(ask.positions[-2:]) for ask in longer])) == 0
    without = model.predict([PredictionQuery(ask.positions[-1:]) for ask in longer])
    assert differ(with_it, without) > len(longer) / 2


def test_the_last_move_as_it_is_seen() -> None:
    start = GAME.initial()
    after = GAME.play(start, 19)  # d3
    paths = (start, after), (after,), (start, start), (after, start)
    inputs = network_inputs([PredictionQuery(path) for path in paths])
    assert inputs.placed.tolist() == [1 << 19, 0, 0, 0]


def test_a_pass_is_no_last_move() -> None:
    rng = random.Random(1)
    while True:
        path = list(random_game(rng))
        passed = [place for place, (_, move) in enumerate(path[:-1]) if move == PASS]
        if passed:
            break
    before, after = path[passed[0]][0], path[passed[0] + 1][0]
    assert network_inputs([PredictionQuery((before, after))]).placed.tolist() == [0]


def test_the_planes_are_what_they_are_said_to_be() -> None:
    start = GAME.initial()
    paths = [(position,) for position in played_positions(2, seed=8)[::3]]
    found = encode(network_inputs([PredictionQuery(path) for path in paths]))
    assert found.shape == (len(paths), 4, 8, 8)
    for planes, ((mover, waiter, side),) in zip(found.reshape(-1, 4, 64), paths, strict=True):
        assert [planes[0, square] for square in range(64)] == [mover >> square & 1 for square in range(64)]
        assert [planes[1, square] for square in range(64)] == [waiter >> square & 1 for square in range(64)]
        legal = GAME.legal_moves(OthelloPosition(mover, waiter, side))
        assert tuple(np.flatnonzero(planes[2])) == legal
        assert not planes[3].any()
    last = encode(network_inputs([PredictionQuery((start, GAME.play(start, 19)))]))[0, 3]
    assert np.argwhere(last).tolist() == [[2, 3]]


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"kind": "unknown"}, "'unknown'"),
        ({"game": "chess"}, "'chess'"),
        ({"orientations": "some"}, "orientations: 'some', not all or canonical"),
        ({"who": "rating,shoe_size"}, "who: unknown column 'shoe_size'"),
        ({"who": "rating"}, "cannot be run"),
    ],
)
def test_a_network_for_something_else_is_refused(metadata: dict[str, str], said: str) -> None:
    with pytest.raises(BadModel, match=rf"by-lot\.onnx: .*{said}"):
        drawn(**metadata)


def test_the_network_we_come_with_has_its_card(ours: OthelloHumanModel) -> None:
    data = DEFAULT_FILE.read_bytes()
    card = json.loads(DEFAULT_FILE.with_suffix(".json").read_text())
    assert card["sha256"] == hashlib.sha256(data).hexdigest() == ours.info.sha256
    assert card["bytes"] == len(data) <= 5_000_000
    assert (card["name"], card["file"]) == (ours.info.name, DEFAULT_FILE.name)
    assert (ours.game, ours.info.kind) == ("othello", "people")


def test_the_network_we_come_with_knows_openings_and_strength(ours: OthelloHumanModel) -> None:
    start = GAME.initial()
    first = GAME.play(start, GAME.parse_move(start, "f5"))
    asks = [PredictionQuery((start, first), Person(rating)) for rating in (None, 1000, 2200)]
    unknown, weak, strong = (
        dict(zip(map(GAME.move_text, GAME.legal_moves(first)), answer, strict=True))
        for answer in predictions_of(ours, GAME, asks)
    )
    # People answer perpendicularly or diagonally; the parallel opening is a beginner's.
    assert unknown["d6"] > unknown["f6"] > unknown["f4"]
    assert weak["f4"] > strong["f4"]
