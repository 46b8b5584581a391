"""Reads files named by users if they are regular files, and writes files atomically.

Rejects devices, whose data might never end, and pipes, whose reader might wait for ever for a writer.
"""

import errno
import os
import stat
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading.

    Raises:
        OSError: The file cannot be opened or is not a regular file.
    """
    # Checked before opening: opening a pipe blocks, and opening some devices has side effects.
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return path.open("rb")


def read_regular(path: Path, max_bytes: int) -> bytes:
    """Return the content of a file.

    Raises:
        OSError: The file cannot be read, is not a regular file, or is larger than `max_bytes`.
    """
    with open_regular(path) as file:
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise OSError(errno.EFBIG, f"larger than {max_bytes >> 20} MiB", str(path))
    return content


def write_atomically(contents: Mapping[Path, bytes], mode: int = 0o644) -> None:
    """Replace files atomically: either all or none of them are replaced.

    Args:
        contents: The files' contents.
        mode: The files' permissions.

    Raises:
        OSError: The files cannot be written; partial files are removed.
    """
    with ExitStack() as undo:
        begun = []
        for path, data in contents.items():
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
            unfinished = Path(name)
            undo.callback(unfinished.unlink, missing_ok=True)
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            unfinished.chmod(mode)
            begun.append((unfinished, path))
        for unfinished, path in begun:
            unfinished.replace(path)
