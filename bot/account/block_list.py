"""The file of accounts we refuse to play, reloaded whenever it changes."""

import logging
import os
import stat
from pathlib import Path

logger = logging.getLogger(__name__)

LIMIT = 1 << 20
"""Largest file that is read, in bytes."""


class BlockFile:
    """Names and ids, one per line; ``#`` starts a comment.

    Args:
        path: The file; empty for none.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._seen: tuple[int, ...] | None = None
        """Modification time, size and inode at the last read."""
        self._names: frozenset[str] = frozenset()
        self._trouble = ""

    def names(self) -> frozenset[str]:
        """The file's current names, or those of the last successful read if it cannot be read now."""
        if not self.path:
            return self._names
        try:
            found = os.stat(self.path)
            seen = (found.st_mtime_ns, found.st_size, found.st_ino)
            if not stat.S_ISREG(found.st_mode) or found.st_size > LIMIT:  # reading a device might never end
                raise ValueError(f"not a file of at most {LIMIT} bytes")
            if seen != self._seen:
                lines = Path(self.path).read_text(encoding="utf-8").splitlines()
                self._names = frozenset(line.partition("#")[0].strip() for line in lines) - {""}
                self._seen = seen
                logger.info("challenges.block_file: %s names: %d", self.path, len(self._names))
            self._trouble = ""
        except (OSError, ValueError) as error:  # ValueError: also not UTF-8, or an impossible path
            if str(error) != self._trouble:
                self._trouble = str(error)
                logger.error("challenges.block_file: cannot read %s: %s", self.path, error)
        return self._names
