"""Reads and writes files that users name: reads regular files only, writes the whole file or nothing.

A device or a pipe might never end, or, with nobody at its other end, never begin.
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
    """A file, open for reading.

    Raises:
        OSError: It cannot be opened, or is no regular file.
    """
    # Asked before it is opened: a pipe would be waited for, and some devices do things when they are opened.
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return path.open("rb")


def read_regular(path: Path, most_bytes: int) -> bytes:
    """What is in a file.

    Raises:
        OSError: It cannot be read, is no regular file, or has more than so many bytes.
    """
    with open_regular(path) as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise OSError(errno.EFBIG, f"larger than {most_bytes >> 20} MiB", str(path))
    return content


def write_whole(contents: Mapping[Path, bytes]) -> None:
    """Write files in place of those that are there; each is whole, and unless all can be written none is.

    Raises:
        OSError: They cannot be written; what was begun is gone.
    """
    with ExitStack() as undo:
        begun = []
        for path, data in contents.items():
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
            unfinished = Path(name)
            undo.callback(unfinished.unlink, missing_ok=True)
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            unfinished.chmod(0o644)  # as any file; temporary ones are their owner's alone
            begun.append((unfinished, path))
        for unfinished, path in begun:
            unfinished.replace(path)
