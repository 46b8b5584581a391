import shutil
import sqlite3
import stat
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from storage.database import Database
from storage.errors import StorageError
from storage.maintenance import backups
from storage.maintenance.backups import back_up, dump_command, sqlite_file
from storage.maintenance.unfinished_files import unfinished_file
from tests.storage.maintenance.samples import fill

NOW = datetime(2026, 11, 30, 18, 0, 5, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path, sqlite_template: Path) -> Path:
    """A database with nothing but its tables."""
    (tmp_path / "data").mkdir()
    return Path(shutil.copy(sqlite_template, tmp_path / "data" / "desdemona.db"))


def games_in(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("SELECT COUNT(*) FROM games").fetchone()[0])


def files_of(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir() if each.is_file())


def write_game(connection: sqlite3.Connection, key: str) -> None:
    of_kind = {"DATETIME": "2026-11-30 18:00:05", "JSON": "{}"}
    known = {"id": None, "site_game_id": key, "state": "open", "result": None}
    columns = [row[1:3] for row in connection.execute("PRAGMA table_info(games)")]
    values = [known.get(name, of_kind.get(kind, 1)) for name, kind in columns]
    connection.execute(f"INSERT INTO games VALUES ({','.join('?' * len(values))})", values)
    connection.commit()


async def test_the_backup_is_a_whole_database(path: Path, tmp_path: Path) -> None:
    database = await Database.open(f"sqlite:///{path}")
    await fill(database, 5)
    made = back_up(path, tmp_path / "copy.db")
    await database.close()
    assert made.path == tmp_path / "copy.db"
    assert made.size == made.path.stat().st_size
    assert games_in(made.path) == 5
    assert files_of(tmp_path) == ["copy.db"]
    await (await Database.open(f"sqlite:///{made.path}", upgrade=False)).close()


def test_a_value_that_its_column_cannot_have_stops_no_backup(path: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA ignore_check_constraints = ON")
        write_game(writer, "a")
        writer.execute("UPDATE games SET our_side = 'left'")
        writer.commit()
    assert games_in(back_up(path, tmp_path / "copy.db").path) == 1


def test_what_is_in_the_log_of_changes_is_in_it(path: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        write_game(writer, "a")
        assert path.with_name("desdemona.db-wal").stat().st_size > 0
        assert games_in(back_up(path, tmp_path / "copy.db").path) == 1


def test_a_writer_goes_on_meanwhile(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It never waits, and the backup is of the moment at which it began."""
    monkeypatch.setattr(backups, "_PAGES_PER_STEP", 1)
    with closing(sqlite3.connect(path, timeout=0)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        write_game(writer, "before")
        told = []

        def on_pages(done: int, total: int) -> None:
            told.append((done, total))
            write_game(writer, f"during{len(told)}")

        made = back_up(path, tmp_path / "copy.db", on_pages=on_pages)
        assert games_in(made.path) == 1
        assert games_in(path) == 1 + len(told)
    assert [done for done, _ in told] == list(range(1, len(told) + 1))  # it never began again
    assert told[-1] == (len(told), len(told))
    assert len(told) > 10


def test_a_series_is_named_by_the_time(path: Path, tmp_path: Path) -> None:
    assert back_up(path, None, now=NOW).path == path.with_name("desdemona-2026-11-30T180005Z.db")
    folder = tmp_path / "backups"
    folder.mkdir()
    assert back_up(path, folder, now=NOW).path == folder / "desdemona-2026-11-30T180005Z.db"


def test_the_latest_are_kept_and_nothing_else_is_touched(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    others = ["other-2026-11-30T180005Z.db", "desdemona-2026.db", "desdemona-2026-11-30T180005Z.db.gz"]
    for name in others:
        (folder / name).touch()
    made = [back_up(path, folder, now=NOW + timedelta(days=day)).path for day in range(4)]
    last = back_up(path, folder, 2, now=NOW + timedelta(days=4))
    assert last.removed == tuple(made[:3])
    assert {each.name for each in folder.iterdir()} == {*others, made[3].name, last.path.name}
    assert back_up(path, folder, 5, now=NOW + timedelta(days=5)).removed == ()


def test_the_backup_itself_is_never_removed(path: Path) -> None:
    """Not even when the clock was set back."""
    later = back_up(path, None, now=NOW + timedelta(days=1)).path
    made = back_up(path, None, 1, now=NOW)
    assert made.path.exists()
    assert later.exists()


def test_one_file_is_no_series(path: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"copy.db is a file, not a folder"):
        back_up(path, tmp_path / "copy.db", 3)


def test_only_its_owner_may_read_it(path: Path, tmp_path: Path) -> None:
    """The database is private, and the backup has all that it has."""
    (tmp_path / "copy.db.new").touch(mode=0o644)  # left by an earlier version
    for target in (tmp_path / "copy.db", tmp_path / "other.db"):
        assert stat.S_IMODE(back_up(path, target).path.stat().st_mode) == 0o600


def test_two_backups_to_one_file_do_not_meet(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one is refused, whatever the first one is doing."""
    refused = []

    def second(*_: object) -> None:
        with pytest.raises(StorageError, match=r"another program is writing .*copy.db"):
            back_up(path, tmp_path / "copy.db")
        refused.append(files_of(tmp_path))

    check = backups._check

    def check_later(copy: Path) -> None:
        second()
        check(copy)

    monkeypatch.setattr(backups, "_check", check_later)
    assert games_in(back_up(path, tmp_path / "copy.db", on_pages=second).path) == 0
    assert len(refused) > 1
    assert files_of(tmp_path) == ["copy.db"]


def test_what_killed_backups_have_left_is_removed(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    for end in ("", "-journal"):
        (folder / f"desdemona-2026-11-29T180005Z.db.new{end}").touch()
    others = ["desdemona-2026-11-29.db.new", "desdemona-2026-11-28T180005Z.db.new"]
    for name in others:
        (folder / name).touch()
    with unfinished_file(folder / "desdemona-2026-11-28T180005Z.db"):  # one that is being written
        made = back_up(path, folder, now=NOW)
        assert set(files_of(folder)) == {*others, made.path.name}


def test_an_earlier_backup_is_replaced(path: Path, tmp_path: Path) -> None:
    (tmp_path / "copy.db").write_text("old")
    assert games_in(back_up(path, tmp_path / "copy.db").path) == 0


def test_the_database_is_not_replaced_by_its_backup(path: Path) -> None:
    with pytest.raises(StorageError, match=r"the backup cannot be written to .*desdemona.db"):
        back_up(path, path)


def test_a_damaged_database_leaves_the_earlier_backup(path: Path, tmp_path: Path) -> None:
    (tmp_path / "copy.db").write_text("old")
    with closing(sqlite3.connect(path)) as connection:
        size, root = (
            connection.execute("PRAGMA page_size").fetchone()[0],
            connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'games'").fetchone()[0],
        )
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with path.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xff" * 100)
    with pytest.raises(StorageError, match=r"the copy of the database is damaged: .* Page \d+"):
        back_up(path, tmp_path / "copy.db")
    assert (tmp_path / "copy.db").read_text() == "old"
    assert files_of(tmp_path) == ["copy.db"]


def test_an_empty_database_replaces_no_backup(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    made = back_up(path, folder, now=NOW).path
    path.write_bytes(b"")
    with pytest.raises(StorageError, match="the database has no table of games"):
        back_up(path, folder, 1, now=NOW + timedelta(days=1))
    assert [*folder.iterdir()] == [made]


def test_no_database_and_no_folder_are_named(path: Path, tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("no database, but long enough to be one" * 100)
    with pytest.raises(StorageError, match=r"cannot back up .*text.db to .*: file is not a database"):
        back_up(tmp_path / "text.db", tmp_path / "copy.db")
    with pytest.raises(StorageError, match=r"cannot back up .* to .*nowhere/copy.db"):
        back_up(path, tmp_path / "nowhere" / "copy.db")
    with pytest.raises(StorageError, match=r"there is no database at .*gone.db"):
        sqlite_file(f"sqlite:///{tmp_path / 'gone.db'}")


def test_the_kind_of_database_is_known(path: Path) -> None:
    assert sqlite_file(f"sqlite:///{path}") == path
    assert sqlite_file("postgresql://anna:secret@db.example/games") is None


def test_the_command_for_postgresql_has_no_password() -> None:
    told = dump_command("postgresql://anna:s3cret@db.example:5433/games", Path("my dumps/one"))
    assert told == "pg_dump --format=custom '--file=my dumps/one' postgresql://anna@db.example:5433/games"
    assert "s3cret" not in dump_command("postgresql://db.example/games?user=anna&password=s3cret", None)
    assert "--file=games.dump" in dump_command("postgres://anna@db.example/games", None)
