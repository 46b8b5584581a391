"""The program's own files: a damaged one is named, whoever reads it."""

import json
import lzma
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from engine._native import ChessNetwork
from engine.errors import DamagedFile
from engine.games import chess_evaluation, networks, othello_evaluation
from engine.search import searchers

OWN = Path(networks.__file__).parent


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the files are for a test, at first none; nothing that was read before counts."""
    monkeypatch.setattr(resources, "files", lambda _: tmp_path)
    networks.weights.cache_clear()
    othello_evaluation.weight_bytes.cache_clear()
    return tmp_path


def network() -> Any:
    return searchers._network.__wrapped__("chess", ChessNetwork)


def othello() -> Any:
    return othello_evaluation.native_evaluation.__wrapped__()


@pytest.mark.parametrize(
    ("name", "read", "contents", "says"),
    [
        ("chess_network.xz", network, None, "No such file"),
        ("chess_network.xz", network, b"", "end-of-stream"),
        ("chess_network.xz", network, (OWN / "chess_network.xz").read_bytes()[:5000], "end-of-stream"),
        ("chess_network.xz", network, lzma.compress(bytes(6)), "bytes"),
        ("othello_weights.xz", othello, b"not compressed", "format"),
        ("othello_weights.xz", othello, lzma.compress(bytes(6)), "bytes"),
        ("chess_weights.json", chess_evaluation.weights.__wrapped__, b"{", "Expecting"),
        ("chess_weights.json", chess_evaluation.weights.__wrapped__, b"{}", "'weights' is missing"),
        ("chess_weights.json", chess_evaluation.weights.__wrapped__, b'{"weights": 1}', "int"),
        ("chess_weights.json", chess_evaluation.weights.__wrapped__, b"\xff", "decode"),
    ],
)
def test_a_damaged_file_is_named(
    folder: Path, name: str, read: Callable[[], Any], contents: bytes | None, says: str
) -> None:
    if contents is not None:
        (folder / name).write_bytes(contents)
    with pytest.raises(DamagedFile, match=rf"{name}: .*{says}.*: the file is damaged; install"):
        read()


@pytest.mark.parametrize(
    ("group", "scale", "says"),
    [
        (True, 100.0, "tempo has weights that are not 16-bit integers"),
        (1, "100", "expected_scale_centi has values that are not positive numbers"),
        (1, 0, "expected_scale_centi"),
        (1, float("nan"), "expected_scale_centi"),
    ],
)
def test_weights_are_numbers(folder: Path, group: Any, scale: Any, says: str) -> None:
    card = json.loads((OWN / "chess_weights.json").read_text())
    card["weights"]["tempo"]["middle"] = [group]
    card["expected_scale_centi"]["end"] = scale
    (folder / "chess_weights.json").write_text(json.dumps(card))
    with pytest.raises(DamagedFile, match=says):
        chess_evaluation.weights.__wrapped__()
