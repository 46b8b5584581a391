"""Reads the weight files that are part of the program, in the same folder as the games' code."""

import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from importlib.resources.abc import Traversable

from engine.errors import DamagedFile


@contextmanager
def open_program_file(name: str) -> Iterator[Traversable]:
    """Context manager for reading one of the program's own files; adds its path to errors.

    Raises:
        DamagedFile: The file cannot be read, or has the wrong contents.
    """
    file = resources.files(__package__).joinpath(name)
    try:
        yield file
    except (OSError, EOFError, lzma.LZMAError, ValueError, KeyError, TypeError, AttributeError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise DamagedFile(f"{file}: {what}: the file is damaged; install the program again") from error


def read_compressed_file(name: str) -> bytes:
    """The contents of a compressed file.

    Raises:
        DamagedFile: The file cannot be read, or is not compressed with LZMA.
    """
    with open_program_file(name) as file:
        return lzma.decompress(file.read_bytes())
