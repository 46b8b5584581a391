"""Files that cannot be written are read; files with several names are refused."""

import asyncio
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from storage.database import Database
from storage.errors import StorageError
from storage.ledger.games import list_games
from storage.maintenance.backups import back_up
from storage.sql.question import ask
from storage.sqlite_access import SqliteAccess, access_to
from tests.storage.samples import opened

NOBODY = 65534


@contextmanager
def without_rights() -> Iterator[None]:
    """Root may write everything, so it becomes nobody."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def folder() -> Iterator[Path]:
    """Pytest's own folders cannot be entered by others."""
    path = Path(tempfile.mkdtemp())
    yield path
    path.chmod(0o700)
    shutil.rmtree(path)


def filled(template: Path, folder: Path, *, log: bool) -> Path:
    """A database with one game, in the file or still in the write-ahead log; nobody may write it."""
    path = folder / "x.db"
    shutil.copy(template, path)

    async def fill() -> None:
        database = await Database.open(f"sqlite:///{path}")
        async with database.write() as session:
            await opened(session, "first")
        if log:
            for each in ("", "-wal"):
                shutil.copy(f"{path}{each}", folder / f"copy{each}")
        await database.close()

    asyncio.run(fill())
    if log:
        for each in ("", "-wal"):
            (folder / f"copy{each}").rename(f"{path}{each}")
    for made in folder.iterdir():
        made.chmod(0o444)
    return path


def count_games(path: Path) -> object:
    ((count,),) = ask(f"sqlite:///{path}", "SELECT COUNT(*) FROM games", limit_s=10, most_rows=5).rows
    return count


async def read_and_try_writing(path: Path) -> list[int]:
    database = await Database.open(f"sqlite:///{path}", upgrade=False)
    async with database.read() as first, database.read() as second:
        counts = [len(await list_games(session)) for session in (first, second)]
    with pytest.raises(StorageError, match="readonly"):
        await database.try_writing()
    await database.close()
    return counts


async def open_and_close(path: Path) -> None:
    await (await Database.open(f"sqlite:///{path}", upgrade=False)).close()


def as_it_is(_: Path) -> None: ...


def without_log(path: Path) -> None:
    """As in a backup."""
    path.chmod(0o644)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    path.chmod(0o444)


@pytest.mark.parametrize("mode", [0o555, 0o777])
@pytest.mark.parametrize(("log", "change"), [(False, as_it_is), (True, as_it_is), (False, without_log)])
def test_a_database_that_cannot_be_written_is_read(
    sqlite_template: Path, folder: Path, mode: int, log: bool, change: Callable[[Path], None]
) -> None:
    path = filled(sqlite_template, folder, log=log)
    change(path)
    folder.chmod(mode)
    with without_rights():
        assert asyncio.run(read_and_try_writing(path)) == [1, 1]
        assert count_games(path) == 1
    if log and mode == 0o555:
        assert sorted(each.name for each in folder.iterdir()) == ["x.db", "x.db-wal"]


def test_its_backup_is_complete(sqlite_template: Path, folder: Path) -> None:
    path = filled(sqlite_template, folder, log=True)
    folder.chmod(0o555)
    with without_rights():
        target = Path(tempfile.mkdtemp()) / "copy.db"
        back_up(path, target)
    assert count_games(target) == 1
    shutil.rmtree(target.parent)


def test_one_that_cannot_be_read_is_refused(sqlite_template: Path, folder: Path) -> None:
    path = filled(sqlite_template, folder, log=False)
    path.chmod(0)
    folder.chmod(0o555)
    with without_rights(), pytest.raises(StorageError, match=r"cannot read the database .*x\.db, and its "):
        asyncio.run(open_and_close(path))


def test_a_file_with_two_names_is_refused(sqlite_template: Path, tmp_path: Path) -> None:
    """By either name, and again accepted when one is left."""
    path, other = tmp_path / "x.db", tmp_path / "y.db"
    shutil.copy(sqlite_template, path)
    os.link(path, other)
    for name in (path, other):
        with pytest.raises(StorageError, match=rf"{name.name} has 2 names \(hard links\)"):
            asyncio.run(open_and_close(name))
        with pytest.raises(StorageError, match="2 names"):
            back_up(name, tmp_path / "backup.db")
    other.unlink()
    asyncio.run(open_and_close(path))
    assert access_to(path) == SqliteAccess()
