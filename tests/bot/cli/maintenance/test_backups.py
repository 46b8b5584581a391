"""`desdemona db backup` as the operator types it."""

import re
from pathlib import Path

import pytest

from tests.bot.conftest import Command


def test_a_backup_beside_the_database(desdemona: Command, migrated_file: Path) -> None:
    status, told, _ = desdemona("db", "backup")
    assert status == 0
    (made,) = migrated_file.parent.glob("desdemona-*.db")
    assert told == f"{made}: {made.stat().st_size:,} bytes, checked\n"


def test_older_ones_are_removed(desdemona: Command, migrated_file: Path, tmp_path: Path) -> None:
    old = tmp_path / "desdemona-2020-01-01T000000Z.db"
    old.touch()
    status, told, _ = desdemona("db", "backup", str(tmp_path), "--keep", "1")
    assert (status, told.splitlines()[1]) == (0, f"removed {old}")
    assert not old.exists()
    assert migrated_file.exists()


def test_a_missing_folder_is_created(desdemona: Command, migrated_file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "backups"
    for _ in range(2):
        assert desdemona("db", "backup", str(folder), "--keep", "1")[0] == 0
    assert len(list(folder.iterdir())) == 1
    (tmp_path / "file").touch()
    status, _, told = desdemona("db", "backup", str(tmp_path / "file" / "backups"), "--keep", "1")
    assert (status, "cannot create the folder" in told, "Not a directory" in told) == (3, True, True)
    assert migrated_file.exists()


def test_one_file_is_no_series(desdemona: Command, migrated_file: Path, tmp_path: Path) -> None:
    status, _, told = desdemona("db", "backup", str(tmp_path / "one.db"), "--keep", "1")
    assert status == 2
    assert "--keep: " in told
    assert "give a folder" in told
    assert migrated_file.exists()


def test_postgresql_has_its_own_program(desdemona: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESDEMONA_STORAGE__URL", "postgresql://anna:s3cret@db.example/games")
    status, told, why = desdemona("db", "backup", "--keep", "3")
    assert status == 2
    assert told == "pg_dump --format=custom --file=games.dump postgresql://anna@db.example/games\n"
    assert re.search("no backup was made: run the line above", why)
    assert "s3cret" not in told + why
