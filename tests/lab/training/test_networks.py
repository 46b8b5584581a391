"""The command that learns a network: what it gives to the learning, and what it writes; without PyTorch."""

import argparse
import hashlib
import json
import lzma
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lab.training import networks
from lab.training.network_samples import Samples
from lab.training.self_play import GAMES, NetworkGame
from tests.lab.training.test_self_play import records

WEIGHTS = bytes(range(256)) * 9


@pytest.fixture
def games(tmp_path: Path) -> Path:
    path = tmp_path / "games.bin"
    path.write_bytes(records("chess", games=2))
    return path


def test_the_network_is_written_with_its_card(
    games: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given: list[Any] = []

    def learn(
        game: NetworkGame, samples: Samples, options: argparse.Namespace, say: Callable[[str], None]
    ) -> tuple[bytes, dict[str, Any]]:
        given.extend([game, samples.scores.tolist(), options.epochs, options.seed])
        say("learned")
        return WEIGHTS, {"rounds": options.epochs}

    monkeypatch.setitem(sys.modules, "lab.training.network_descent", SimpleNamespace(learn=learn))
    out = games.with_name("network.xz")
    arguments = ["chess", str(games), "--out", str(out), "--epochs", "2", "--seed", "7"]
    networks.main(arguments)
    positions = Samples(GAMES["chess"], [games]).scores.tolist()
    assert given == [GAMES["chess"], positions, 2, 7]
    assert lzma.decompress(out.read_bytes(), format=lzma.FORMAT_XZ) == WEIGHTS
    card = json.loads(out.with_suffix(".json").read_text())
    assert card["command"] == "python -m lab.training.networks " + " ".join(arguments)
    assert (card["positions"], card["rounds"], card["seed"]) == (len(positions), 2, 7)
    assert card["games"] == [{"name": "games.bin", "sha256": hashlib.sha256(games.read_bytes()).hexdigest()}]
    assert card["sha256"] == hashlib.sha256(WEIGHTS).hexdigest()
    assert card["evaluation_sha256"] == hashlib.sha256(GAMES["chess"].linear().to_bytes()).hexdigest()
    said = capsys.readouterr().out
    assert f"{len(positions):,} positions, " in said
    assert "learned" in said


def test_what_it_lacks_is_said_in_one_line(
    games: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = games.with_name("network.xz")
    monkeypatch.setitem(sys.modules, "torch", None)  # as if it were not installed
    monkeypatch.delitem(sys.modules, "lab.training.network_descent", raising=False)
    with pytest.raises(
        SystemExit, match=r"^networks: learning needs PyTorch: pip install 'desdemona\[train\]'$"
    ):
        networks.main(["chess", str(games), "--out", str(out)])
    monkeypatch.setitem(sys.modules, "lab.training.network_descent", SimpleNamespace(learn=None))
    games.write_bytes(b"")
    with pytest.raises(SystemExit) as leaving:
        networks.main(["chess", str(games), "--out", str(out)])
    assert leaving.value.code == 2
    assert "there are no positions to learn from" in capsys.readouterr().err
    assert not out.exists()
