import json
import os
from pathlib import Path

import pytest

from tests.bot.conftest import Command
from tests.lab.training.lc0_files import pawn_pusher


@pytest.fixture
def published(tmp_path: Path) -> Path:
    path = tmp_path / "maia-1234.pb.gz"
    path.write_bytes(pawn_pusher().file(licence="CC0\x1b[31m-1.0"))
    return path


def test_a_network_is_imported_and_shown(desdemona: Command, published: Path, tmp_path: Path) -> None:
    status, out, err = desdemona("lab", "import-model", str(published))
    assert status == 0
    model = Path("data/models/maia-1234.onnx")
    assert out.startswith(f"{model}: sha256 ")
    assert "maia-1234.pb.gz: not one of the published networks, sha256 " in err
    assert "; rating 1234; licence CC0" in err
    assert "; licence CC0 [31m-1.0; " in err
    assert sorted(os.listdir(tmp_path / "data" / "models")) == ["maia-1234.onnx"]
    assert model.stat().st_mode & 0o777 == 0o644

    status, shown, _ = desdemona("lab", "show-model", str(model))
    assert status == 0
    assert "\x1b" not in shown
    lines = {" ".join(line.split()) for line in shown.splitlines()}
    assert {"kind maia", "game chess", "name maia-1234", "rating 1234"} <= lines
    told = json.loads(desdemona("lab", "show-model", str(model), "--format", "json")[1])
    assert out.split()[-1] == told["sha256"]
    assert told["source_sha256"] in err
    assert set(told["first_moves"].values()) == {0.125}

    family = json.loads(desdemona("lab", "show-model", str(model.parent), "--format", "json")[1])
    assert family["kind"] == "maia"
    assert family["name"].startswith("maia-1234-1234")
    # Once more does no harm.
    assert desdemona("lab", "import-model", str(published), "--out", "data/models")[0] == 0


def test_several_at_once(desdemona: Command, published: Path, tmp_path: Path) -> None:
    other = tmp_path / "maia-1300.pb.gz"
    other.write_bytes(published.read_bytes())
    assert (
        desdemona("lab", "import-model", str(published), str(other), "--out", str(tmp_path / "out"))[0] == 0
    )
    assert sorted(os.listdir(tmp_path / "out")) == ["maia-1234.onnx", "maia-1300.onnx"]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"hello", "not compressed with gzip, unlike lc0 networks (*.pb.gz)"),
        (b"\x1f\x8b\x08", "truncated: the compressed data ends prematurely after 3 bytes"),
        (None, "No such file or directory"),
    ],
)
def test_what_is_no_network_is_told_in_one_line(
    desdemona: Command, tmp_path: Path, content: bytes | None, why: str
) -> None:
    path = tmp_path / "bad.pb.gz"
    if content is not None:
        path.write_bytes(content)
    assert desdemona("lab", "import-model", str(path)) == (2, "", f"desdemona: {path}: {why}\n")
    assert not (tmp_path / "data").exists()


def test_pipes_and_devices_are_refused(desdemona: Command, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        for command in ("import-model", "show-model"):
            assert desdemona("lab", command, str(path)) == (
                2,
                "",
                f"desdemona: {path}: not a regular file\n",
            )


def test_a_folder_that_is_none(desdemona: Command, published: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    status, out, err = desdemona("lab", "import-model", str(published), "--out", str(tmp_path / "file"))
    assert (status, out) == (2, "")
    assert err.startswith(f"desdemona: {tmp_path / 'file' / 'maia-1234.onnx'}: ")
    assert err.count("\n") == 1
    status, _, err = desdemona("lab", "show-model", str(tmp_path))
    assert status == 2
    assert "no Maia network" in err
