"""Files are written completely or not at all."""

from pathlib import Path

import pytest

from bot.base.files import write_atomically


def test_files_are_written_and_replaced(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"old")
    write_atomically({one: b"1", other: b"2"})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"one": b"1", "other": b"2"}
    assert one.stat().st_mode & 0o777 == 0o644


def test_unless_all_can_be_written_none_is(tmp_path: Path) -> None:
    one = tmp_path / "one"
    one.write_bytes(b"old")
    with pytest.raises(FileNotFoundError):
        write_atomically({one: b"1", tmp_path / "none" / "other": b"2"})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"one": b"old"}


def test_nothing_unfinished_is_left(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        write_atomically({tmp_path / "folder": b"1"})
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
