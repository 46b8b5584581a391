"""Files that somebody has named to be read: regular ones alone.

A device or a pipe might never end, or, with nobody at its other end, never begin.
"""

import errno
import stat
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
