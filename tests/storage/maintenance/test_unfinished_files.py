"""Files that are being written: one program at a time, nothing through a link, nothing left behind."""

import stat
from contextlib import ExitStack
from pathlib import Path

import pytest

from storage.maintenance import unfinished_files
from storage.maintenance.unfinished_files import FileInUse, unfinished_file


def test_one_program_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with ExitStack() as first, ExitStack() as second:
        file = first.enter_context(unfinished_file(path))
        file.write_text("first")
        with pytest.raises(FileInUse, match=r"^another program is writing .*/out$"), unfinished_file(path):
            pass
        file.replace(path)
        other = second.enter_context(unfinished_file(path))
        other.write_text("second")
        first.close()
        assert other.read_text() == "second"
    assert path.read_text() == "first"
    assert [each.name for each in tmp_path.iterdir()] == ["out"]


def test_who_comes_late_begins_with_a_file_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has opened the first one's file, which has its final name by now."""
    path, is_at, found = tmp_path / "out", unfinished_files._is_at, list[bool]()

    def late(handle: int, unfinished: Path) -> bool:
        if not found:
            unfinished.write_text("first")
            unfinished.replace(path)
        found.append(is_at(handle, unfinished))
        return found[-1]

    monkeypatch.setattr(unfinished_files, "_is_at", late)
    with unfinished_file(path) as file:
        assert file.read_text() == ""
    assert path.read_text() == "first"
    assert found[:2] == [False, True]


def test_what_a_killed_program_has_left_is_used_again(tmp_path: Path) -> None:
    (tmp_path / "out.new").write_text("half")
    (tmp_path / "out.new-journal").write_text("half")
    with unfinished_file(tmp_path / "out") as file:
        assert file.read_text() == ""
        assert [each.name for each in tmp_path.iterdir()] == ["out.new"]
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    """Somebody may have put one into a folder that all may write to."""
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "out.new").symlink_to(tmp_path / "mine")
    with pytest.raises(OSError, match="Too many levels"), unfinished_file(tmp_path / "out"):
        pass
    assert (tmp_path / "mine").read_text() == "mine"


def test_permissions(tmp_path: Path) -> None:
    (tmp_path / "left.new").touch(mode=0o644)
    for name in ("left", "new"):
        with unfinished_file(tmp_path / name, 0o600) as file:
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
