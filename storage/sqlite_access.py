"""Decides how to open a SQLite file: for writing, or for reading files and folders that cannot be written.

In WAL mode, SQLite needs to create a ``-shm`` file even for reading. In a folder where it cannot, we open the
file as immutable; if a ``-wal`` file was left over, its pages count, so SQLite keeps that index in memory
instead (https://sqlite.org/wal.html, "use of WAL without shared memory"). This is safe because a program that
has the file open for writing has a ``-shm`` file beside it.
"""

import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from storage.errors import StorageError


@dataclass(frozen=True, slots=True)
class SqliteAccess:
    """How to open a SQLite file."""

    options: str = ""
    """Options of the file's URI (https://sqlite.org/uri.html) for reading only; empty for reading and
    writing."""

    @property
    def pragmas(self) -> tuple[str, ...]:
        """Statements to run on each new connection that only reads."""
        in_memory = ("PRAGMA locking_mode = EXCLUSIVE",) if "vfs" in self.options else ()
        return (*in_memory, "PRAGMA query_only = ON")

    def uri(self, path: str) -> str:
        """The URI with which to open a file for reading only."""
        return f"file:{quote(path)}?{self.options or 'mode=ro'}"


_READ_ONLY = (SqliteAccess("mode=ro"), SqliteAccess("mode=ro&vfs=unix-none"), SqliteAccess("immutable=1"))


def access_to(path: Path) -> SqliteAccess:
    """How to open an existing SQLite file.

    Raises:
        StorageError: The file cannot be read; or it can be written, and has several names.
    """
    if _is_writable(path) and _is_writable(path.resolve().parent):
        require_single_name(path)
        return SqliteAccess()
    has_log = os.path.exists(f"{os.path.realpath(path)}-wal")
    error: sqlite3.Error | None = None
    for access in _READ_ONLY[:2] if has_log else _READ_ONLY:
        try:
            with closing(sqlite3.connect(access.uri(os.path.realpath(path)), uri=True)) as connection:
                for pragma in access.pragmas:
                    connection.execute(pragma)
                connection.execute("SELECT COUNT(*) FROM sqlite_schema").fetchone()
            return access
        except sqlite3.Error as caught:
            error = caught
    raise StorageError(f"cannot read the database {path}, and its file or folder cannot be written: {error}")


def _is_writable(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def require_single_name(path: Path) -> None:
    """Refuse a file with several names (hard links).

    Programs that open it by different names do not see each other's locks and logs, and would damage it.

    Raises:
        StorageError: The file has several names.
    """
    names = path.stat().st_nlink
    if names > 1:
        raise StorageError(
            f"the database {path} has {names} names (hard links); programs that use different names would "
            f"damage it: delete the other names (find / -samefile {path}), or use a copy"
        )
