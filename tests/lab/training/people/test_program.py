"""Tests of the program as the operator runs it."""

import json
import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.training.people import __main__ as program
from tests.lab.training.people.habits import write_xiangqi, xiangqi_games


@pytest.fixture
def games(tmp_path: Path) -> Path:
    file = tmp_path / "games.tsv"
    write_xiangqi(file, xiangqi_games(12), [2002, 2003, 2004] * 4)
    return file


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> None:
    words = ["--channels", "8", "--blocks", "1", "--batch", "32", "--device", "cpu", *map(str, arguments)]
    monkeypatch.setattr(sys, "argv", ["people", "--game", "xiangqi", *words])
    program.main()


def test_trains_continues_exports_and_measures(
    games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint, out, whole = tmp_path / "run.pt", tmp_path / "a.onnx", tmp_path / "b.onnx"
    common = ("--games", games, "--checkpoint", checkpoint, "--out", out)
    run(monkeypatch, *common, "--steps", "6")
    card = json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))
    assert card["learning"]["steps"] == 6
    assert str(tmp_path) not in card["learning"]["command"]
    assert card["measured"]["with_person"]["games"] == 4
    run(monkeypatch, *common, "--steps", "9")
    assert json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))["learning"]["steps"] == 9
    assert "continues from step 6" in capsys.readouterr().out
    run(
        monkeypatch,
        "--games",
        games,
        "--checkpoint",
        checkpoint,
        "--steps",
        "9",
        "--export-only",
        "--out",
        whole,
    )
    assert whole.read_bytes() == out.read_bytes()
    run(monkeypatch, "--games", games, "--evaluate", out)
    shown = capsys.readouterr().out
    report = json.loads(shown[shown.index("\n{") :])
    assert report["with_person"]["games"] == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "--out"),
        (("--out", "x.onnx", "--export-only"), "--checkpoint"),
        (("--out", "x.onnx", "--person-planes", "4"), "othello"),
        (("--out", "x.onnx", "--minutes", "0"), "--minutes"),
        (("--evaluate", "missing.onnx"), "missing.onnx"),
    ],
)
def test_mistakes_are_explained(
    games: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    with pytest.raises(SystemExit, match=message):
        run(monkeypatch, "--games", games, *arguments)


def test_other_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "games.tsv"
    file.write_text("no games", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"games\.tsv"):
        run(monkeypatch, "--games", file, "--out", tmp_path / "x.onnx", "--steps", "1")
