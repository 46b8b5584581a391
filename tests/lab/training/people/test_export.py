"""Tests of the files that training writes: networks in ONNX, with 8-bit convolutions, and their cards."""

import hashlib
import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch
from numpy.typing import NDArray

from engine.human.onnx import OnnxNetwork
from lab.training.people import measure
from lab.training.people.collection import Collection
from lab.training.people.export import TrainedNetwork, card_path, export
from lab.training.people.games import read_collection
from lab.training.people.onnx_graph import to_onnx
from lab.training.people.positions import HumanPositions, input_planes, input_who
from lab.training.people.shapes import MOVES, PLANES, SHAPES, VALUE, NetworkSize
from lab.training.people.training import TrainingRun, TrainingSettings
from tests.lab.training.people.habits import chess_pgn, write_othello, write_xiangqi, xiangqi_games

SIZES = (
    NetworkSize("xiangqi", 8, 2),
    NetworkSize("othello", 8, 1, person_planes=3),
    NetworkSize("chess", 8, 1),
)


def silent(_: str) -> None:
    """Discard progress."""


def collection_of(game: str, folder: Path) -> Collection:
    """A few dozen games, some of them held out."""
    if game == "othello":
        write_othello(folder, {2014: 12, 2016: 4})
        return read_collection(game, [folder], 0)
    file = folder / f"{game}.tsv"
    if game == "xiangqi":
        write_xiangqi(file, xiangqi_games(24), [2000 + number % 6 for number in range(24)])
        return read_collection(game, [file], 0)
    file = folder / "games.pgn"
    file.write_text(chess_pgn(40)[0], encoding="utf-8")
    return read_collection(game, [file], 0)


@pytest.fixture(scope="module", params=SIZES, ids=lambda size: size.game)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, ...]:
    """A trained network, its games, and what was written for it."""
    torch.set_num_threads(1)
    size, folder = request.param, tmp_path_factory.mktemp(request.param.game)
    collection = collection_of(size.game, folder)
    learned = collection.positions.of(~collection.held_out)
    persons = int(learned.person.max()) if size.person_planes else 0
    run = TrainingRun(TrainingSettings(size, 1, 64, 60, None, persons))
    run.train(learned, silent)
    trained = TrainedNetwork(run.averaged(), size, run.averaged_vectors(), {"seed": 1})
    logging.disable(logging.WARNING)
    card = export(trained, collection, folder / "network.onnx", 1000, silent)
    logging.disable(logging.NOTSET)
    return run, trained, collection, folder / "network.onnx", card


def outputs(size: NetworkSize) -> tuple[str, tuple[int, ...]]:
    shape = SHAPES[size.game]
    if shape.moves_have_origin:
        return MOVES, (shape.squares, shape.squares)
    return PLANES, (1 + size.person_planes, shape.squares)


def some(positions: HumanPositions, size: NetworkSize) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    numbers = np.arange(40)
    board = input_planes(SHAPES[size.game], positions, numbers).astype(np.float32)
    return board, input_who(positions.features[numbers])


def test_the_file_is_a_network_of_this_program(case: tuple[Any, ...]) -> None:
    _, trained, collection, file, _ = case
    network = OnnxNetwork.open(file)
    network.require("people", trained.size.game)
    assert network.metadata["scale"] == collection.scale
    assert network.metadata["source"] == collection.source
    assert (network.metadata.get("orientations") == "canonical") == (trained.size.game == "othello")
    columns = network.metadata["who"].split(",")
    assert len(columns) == 6
    assert columns[3:] == [f"has_{name}" for name in columns[:3]]
    board, who = some(collection.positions, trained.size)
    name, shape = outputs(trained.size)
    assert network.run(name, {"board": board, "who": who}).shape == (40, *shape)
    assert network.run(VALUE, {"board": board, "who": who}).shape == (40,)


def test_onnx_computes_what_pytorch_does(case: tuple[Any, ...]) -> None:
    run, trained, collection, _, _ = case
    board, who = some(collection.positions, trained.size)
    model = run.learner.network
    before = {name: value.clone() for name, value in model.state_dict().items()}
    model.load_state_dict(
        {name: torch.from_numpy(np.array(value)) for name, value in trained.weights.items()}, strict=False
    )
    model.eval()
    with torch.no_grad():
        policy, value = model(torch.from_numpy(board), torch.from_numpy(who))
    model.load_state_dict(before)
    session = measure.open_session(to_onnx(trained.weights, trained.size, {}, "").SerializeToString())
    found = session.run(None, {"board": board, "who": who})
    assert np.allclose(found[0], policy.numpy(), atol=1e-4)
    assert np.allclose(found[1], value.numpy(), atol=1e-4)


def test_eight_bits_are_close_to_single_precision(case: tuple[Any, ...]) -> None:
    _, trained, collection, file, card = case
    board, who = some(collection.positions, trained.size)
    exact = measure.open_session(to_onnx(trained.weights, trained.size, {}, "").SerializeToString())
    small = onnxruntime.InferenceSession(file)
    one, two = (each.run(None, {"board": board, "who": who}) for each in (exact, small))
    assert np.abs(one[0] - two[0]).max() < 0.1 * np.ptp(one[0])
    assert not np.array_equal(one[0], two[0])
    assert abs(card["measured"]["nats_lost_by_int8"]) < 0.02
    assert file.read_bytes().count(b"QuantizeLinear") > 4


def test_the_card_describes_the_file(case: tuple[Any, ...]) -> None:
    _, trained, collection, file, card = case
    assert json.loads(card_path(file).read_text(encoding="utf-8")) == card
    content = file.read_bytes()
    assert card["sha256"] == hashlib.sha256(content).hexdigest()
    assert card["bytes"] == len(content)
    assert card["data"]["positions_learned_from"] == int((~collection.held_out).sum())
    measured = card["measured"]
    for row in (measured["with_person"], measured["without_person"], *measured["by_year"].values()):
        low, high = row["nats_interval"]
        assert low <= row["nats"] <= high
        low, high = row["top1_interval"]
        assert low <= row["top1"] <= high
    assert measured["ms_per_position"] > 0
    assert card["learning"] == trained.learning


def test_networks_with_person_planes_carry_the_prior_of_their_vectors(case: tuple[Any, ...]) -> None:
    _, trained, _, file, _ = case
    metadata = OnnxNetwork.open(file, start=False).metadata
    planes = trained.size.person_planes
    if not planes:
        assert not [key for key in metadata if key.startswith("person")]
        return
    assert np.shape(json.loads(metadata["person.mean"])) == (planes,)
    assert np.shape(json.loads(metadata["person.cov"])) == (planes, planes)


def test_no_held_out_games_leave_the_card_without_figures(case: tuple[Any, ...], tmp_path: Path) -> None:
    _, trained, collection, _, _ = case
    everything = replace(collection, held_out=np.zeros(len(collection.positions), dtype=np.bool_))
    logging.disable(logging.WARNING)
    card = export(trained, everything, tmp_path / "network.onnx", 0, silent)
    logging.disable(logging.NOTSET)
    assert card["measured"] == {"positions": 0}
