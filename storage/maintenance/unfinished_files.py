"""Creates files that get their final names only when complete; only one process at a time writes a file.

The next process reuses what a killed process left behind, so that leftovers do not accumulate.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from storage.errors import StorageError

UNFINISHED = ".new"
"""Suffix of the names of files that are being written."""
_ENDS = ("", "-wal", "-shm", "-journal")
"""Suffixes of the files of an unfinished SQLite database."""


class FileInUse(StorageError):
    """Error: another process is writing the file."""


@contextmanager
def unfinished_file(path: Path, mode: int = 0o666) -> Iterator[Path]:
    """Create an empty file beside `path`, locked against other callers during the `with` block.

    The caller renames the file when it is complete; otherwise it is removed after the `with` block.

    Args:
        path: The final path of the file.
        mode: The file's permissions, which the process's umask restricts further.

    Raises:
        FileInUse: Another process is writing the file.
        OSError: The file cannot be created, or is a link, which an attacker may have placed there.
    """
    unfinished = path.with_name(path.name + UNFINISHED)
    while (handle := _locked(unfinished, path, mode)) is None:
        pass  # the previous holder of the lock has just finished
    try:
        for end in _ENDS[1:]:
            unfinished.with_name(unfinished.name + end).unlink(missing_ok=True)
        yield unfinished
    finally:
        if _is_at(handle, unfinished):  # otherwise it is finished, and the next one may be there
            for end in _ENDS:
                unfinished.with_name(unfinished.name + end).unlink(missing_ok=True)
        os.close(handle)


def _locked(unfinished: Path, path: Path, mode: int) -> int | None:
    """The handle of an empty, locked file; None if the file was renamed or removed meanwhile."""
    handle = os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, mode)
    try:
        # SQLite's own locks are of another kind and do not conflict.
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not _is_at(handle, unfinished):
            os.close(handle)
            return None
        os.fchmod(handle, os.fstat(handle).st_mode & mode)  # an earlier version may have left it
        os.ftruncate(handle, 0)
    except OSError as error:
        os.close(handle)
        if isinstance(error, BlockingIOError):
            raise FileInUse(f"another program is writing {path}") from None
        raise
    return handle


def _is_at(handle: int, path: Path) -> bool:
    """Whether the path still refers to the open file."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False
