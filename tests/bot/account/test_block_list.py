"""A file of blocked accounts that changes while we play."""

import os
from pathlib import Path

import pytest

from bot.account.block_list import LIMIT, BlockFile


def test_without_a_file_nobody_is_blocked() -> None:
    assert BlockFile("").names() == frozenset()


def test_names_ids_and_comments(tmp_path: Path) -> None:
    path = tmp_path / "blocked"
    path.write_text("# rude people\nAnna\n\n  ben  # also as Carl\r\nCarl\n", encoding="utf-8")
    assert BlockFile(str(path)).names() == {"Anna", "ben", "Carl"}


def test_it_is_read_again_when_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "blocked"
    path.write_text("anna\n", encoding="utf-8")
    blocked = BlockFile(str(path))
    assert blocked.names() == {"anna"}
    path.write_text("anna\nben\n", encoding="utf-8")
    assert blocked.names() == {"anna", "ben"}
    path.write_text("anna\neve\n", encoding="utf-8")  # the same size
    os.utime(path, ns=(1, 1))
    assert blocked.names() == {"anna", "eve"}


def test_trouble_is_told_once_and_changes_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "blocked"
    blocked = BlockFile(str(path))
    assert blocked.names() == blocked.names() == frozenset()
    path.write_text("anna\n", encoding="utf-8")
    assert blocked.names() == {"anna"}
    path.write_bytes(b"\xff\xfe anna and ben")
    assert blocked.names() == blocked.names() == {"anna"}
    path.unlink()
    assert blocked.names() == blocked.names() == {"anna"}
    os.mkfifo(path)
    assert blocked.names() == {"anna"}
    path.unlink()
    path.write_bytes(b"a" * (LIMIT + 1))
    assert blocked.names() == {"anna"}
    errors = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert len(errors) == 4  # the last two are the same
    assert all("challenges.block_file: cannot read" in error and str(path) in error for error in errors)
