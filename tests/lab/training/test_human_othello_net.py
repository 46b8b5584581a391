"""Learning what people play in Othello, with PyTorch (extra: train); left out where it is not installed."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.games.othello import PASS, Othello
from engine.human.model import PredictionQuery
from engine.human.model_files import open_model
from engine.human.onnx import OnnxNetwork
from engine.human.othello import NetworkInputs, encode
from lab.training import human_othello
from lab.training.human_othello_graph import TABLES, first_weights, to_onnx
from lab.training.human_othello_net import logits
from tests.lab.training.othello_games import random_game, run

GAME = Othello()


def test_the_written_network_computes_what_was_learned() -> None:
    weights = first_weights(4)
    weights["last"] *= 20
    for name in TABLES:  # numbers that one byte each can hold, so that nothing is rounded
        weights[name] = (np.clip(np.rint(weights[name] * 50), -127, 127) / 50).astype(np.float32)
        weights[name][:64] = np.float32(127 / 50)
    moves = [(position, move) for game in range(2) for position, move in random_game_of(game)]
    sight = NetworkInputs(
        *(
            np.array(column, dtype=np.uint64)
            for column in zip(*[(p.mover, p.waiter, 0, 0) for p, _ in moves], strict=True)
        )
    )
    squares = encode(sight)
    position, square = np.nonzero(squares[:, :, 2])
    said = OnnxNetwork.load(to_onnx(weights, "a", "none"), "a").run("logits", {"squares": squares})
    learned = logits(
        {name: torch.from_numpy(value) for name, value in weights.items()},
        *(torch.from_numpy(item) for item in (squares, position, square)),
    ).numpy()
    assert said[position, square] == pytest.approx(learned[position, square], abs=1e-3)


def random_game_of(seed: int) -> list[tuple[Any, int]]:
    return [(position, move) for position, move in random_game(random.Random(seed)) if move != PASS]


def test_a_lesson_can_be_interrupted_and_resumed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, kept = folder / "made.onnx", folder / "made.pt"
    usual = ("--wthor", folder, "--out", file, "--checkpoint", kept, "--batch", 16)
    run(monkeypatch, *map(str, usual), "--minutes", "0.02")
    first = json.loads(human_othello.card_path(file).read_text())
    run(monkeypatch, *map(str, usual), "--minutes", "0.04", "--resume")
    card = json.loads(human_othello.card_path(file).read_text())
    assert card["data"]["games"] == 9  # none of 2016
    assert card["validation"]["games"] == 3
    assert card["learning"]["steps"] > first["learning"]["steps"] > 0
    assert card["sha256"] != first["sha256"]
    assert open_model(file).predict([PredictionQuery((GAME.initial(),))])[0] == pytest.approx([0.25] * 4)
    assert "9 games of 1999-2015" in capsys.readouterr().out
    kept.write_bytes(b"nothing")
    with pytest.raises(SystemExit, match=r"made\.pt: not a checkpoint"):
        run(monkeypatch, *map(str, usual), "--minutes", "0.04", "--resume")
