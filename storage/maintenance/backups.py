"""Backs up a SQLite database while programs write to it, and keeps the newest backups of a series.

SQLite's backup API copies page by page. A read transaction on the same connection fixes the snapshot, so
writers neither wait nor make the copy restart (https://sqlite.org/backup.html). The copy is checked and
synced before it gets its final name. Only the owner may read the copy: it contains the whole database.
"""

import os
import re
import shlex
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import URL

from storage.database import STATEMENT_BUSY_TIMEOUT_MS, parse_url
from storage.errors import StorageError
from storage.maintenance.unfinished_files import UNFINISHED, FileInUse, unfinished_file
from storage.sqlite_access import access_to

_PAGES_PER_STEP = 4096
"""Number of pages copied between calls of `OnPages`."""

_TIME_FORMAT = "%Y-%m-%dT%H%M%SZ"
_TIME_PATTERN = r"\d{4}-\d\d-\d\dT\d{6}Z"

OnPages = Callable[[int, int], None]
"""Called with the number of pages copied so far, and the total number of pages."""


@dataclass(frozen=True, slots=True)
class Backup:
    """A finished backup."""

    path: Path
    size: int
    """Size in bytes."""
    removed: tuple[Path, ...]
    """Older backups of the series that were removed, the oldest first."""


def sqlite_file(url: str) -> Path | None:
    """The file of a SQLite database; None for any other database.

    Raises:
        StorageError: The URL is invalid, or the file does not exist.
    """
    parsed = parse_url(url)
    if not parsed.drivername.startswith("sqlite"):
        return None
    path = Path(str(parsed.database))
    if not path.is_file():
        raise StorageError(f"there is no database at {path}")
    return path


def dump_command(url: str, target: Path | None) -> str:
    """The shell command that backs up a PostgreSQL database, without the password."""
    parsed = parse_url(url)
    options = {name: value for name, value in parsed.query.items() if "password" not in name}
    shown = URL.create(
        "postgresql", parsed.username, None, parsed.host, parsed.port, parsed.database, options
    )
    file = target or Path(f"{parsed.database}.dump")
    return shlex.join(["pg_dump", "--format=custom", f"--file={file}", shown.render_as_string()])


def back_up(
    database: Path,
    target: Path | None,
    keep: int | None = None,
    *,
    now: datetime | None = None,
    on_pages: OnPages | None = None,
) -> Backup:
    """Back up a SQLite database.

    Args:
        database: The database file.
        target: The backup's file, which is replaced if it exists; or a folder, to add a backup to the series,
            named after the database and the time. None for the database's folder.
        keep: Number of backups of the series to keep, including this one; None to keep all. If given, creates
            a missing folder.
        now: Time of the backup; None for the current time.
        on_pages: Called during copying; see `OnPages`.

    Raises:
        StorageError: The database cannot be read, or the backup cannot be written or is damaged; earlier
            backups are kept.
        ValueError: `keep` is given, but the target is a file rather than a folder.
    """
    folder = database.parent if target is None else target
    if keep is not None and not folder.exists() and not folder.suffix:  # else it is meant as a file
        with _as_storage_errors(f"cannot create the folder {folder}"):
            folder.mkdir(parents=True)
    is_series = folder.is_dir()
    if keep is not None and not is_series:
        raise ValueError(f"{target} is a file, not a folder with a series of backups")
    path = folder
    if is_series:
        path = folder / f"{database.stem}-{(now or datetime.now(UTC)).strftime(_TIME_FORMAT)}.db"
    if path.exists() and (not path.is_file() or os.path.samefile(path, database)):
        raise StorageError(f"the backup cannot be written to {path}")
    with _as_storage_errors(f"cannot back up {database} to {path}"):
        if is_series:
            _remove_unfinished(folder, database.stem)
        with unfinished_file(path, 0o600) as unfinished:
            _copy_pages(database, unfinished, on_pages)
            _check(unfinished)
            _sync(unfinished)
            unfinished.replace(path)
            _sync(path.parent)
        removed = _remove_older(path, database.stem, keep) if keep is not None else ()
        return Backup(path, path.stat().st_size, removed)


def _remove_unfinished(folder: Path, stem: str) -> None:
    """Remove the unfinished files of interrupted backups of the series."""
    pattern = re.compile(rf"({re.escape(stem)}-{_TIME_PATTERN}\.db){re.escape(UNFINISHED)}")
    for each in sorted(folder.iterdir()):
        if match := pattern.fullmatch(each.name):
            with suppress(FileInUse), unfinished_file(folder / match[1]):
                pass  # we hold its lock, so nobody is writing it


@contextmanager
def _as_storage_errors(what: str) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise StorageError(f"{what}: {reason}") from error


def _copy_pages(database: Path, target: Path, on_pages: OnPages | None) -> None:
    timeout_s, access = STATEMENT_BUSY_TIMEOUT_MS / 1000, access_to(database)
    address = access.uri(os.path.realpath(database)) if access.options else database
    with (
        closing(
            sqlite3.connect(address, timeout=timeout_s, isolation_level=None, uri=bool(access.options))
        ) as source,
        closing(sqlite3.connect(target, isolation_level=None)) as copy,
    ):
        copy.execute("PRAGMA synchronous = OFF")  # `_sync` does it, once
        for pragma in access.pragmas if access.options else ():
            source.execute(pragma)
        source.execute("BEGIN")
        source.execute("SELECT COUNT(*) FROM sqlite_schema").fetchone()  # here the transaction begins

        def progress(_status: int, remaining: int, total: int) -> None:
            if on_pages is not None:
                on_pages(total - remaining, total)

        source.backup(copy, pages=_PAGES_PER_STEP, progress=progress)
        source.execute("ROLLBACK")
        # A single file, without a log beside it that a copy of the file alone would lack.
        copy.execute("PRAGMA journal_mode = DELETE")


def _check(path: Path) -> None:
    """Reject a backup that is damaged or has no table of games, so that it does not replace a good backup.

    Raises:
        StorageError: The backup has no table of games, or is damaged (and so is the database or the disk).
    """
    with closing(sqlite3.connect(path)) as copy:
        # Values that their columns do not allow are for `db recheck`; they must not stop backups.
        copy.execute("PRAGMA ignore_check_constraints = ON")
        messages = [str(row[0]) for row in copy.execute("PRAGMA integrity_check(1)")]
        if messages != ["ok"]:
            raise StorageError(f"the copy of the database is damaged: {' '.join(messages[0].split())}")
        if copy.execute("SELECT 1 FROM sqlite_schema WHERE name = 'games'").fetchone() is None:
            raise StorageError(
                "the database has no table of games: it is empty, or belongs to another program"
            )


def _sync(path: Path) -> None:
    """Sync a file, or the entries of a folder, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove_older(newest: Path, stem: str, keep: int) -> tuple[Path, ...]:
    pattern = re.compile(rf"{re.escape(stem)}-{_TIME_PATTERN}\.db")
    series = sorted(each for each in newest.parent.iterdir() if pattern.fullmatch(each.name))
    removed = tuple(each for each in series[: max(len(series) - keep, 0)] if each != newest)
    for each in removed:
        each.unlink()
    return removed
