"""Reads commands and writes answers line by line while searches run.

The main thread only reads and must never wait for a search. An obsolete search is *dropped*: it is stopped
and its further output is discarded. The next search starts when the search thread is free. Thus ``ping`` and
``stop`` are answered immediately.
"""

import threading
from collections.abc import Iterator
from typing import IO

from engine.stop import StopFlag

MAX_LINE_LENGTH = 1 << 20
"""Maximum line length in bytes, enough for a game of 8,000 plies; longer lines are dropped."""


class Console:
    """The two pipes to the program that runs our engine.

    Args:
        source: Carries commands to us.
        sink: Carries our answers.
    """

    def __init__(self, source: IO[bytes], sink: IO[bytes]) -> None:
        self._source = source
        self._sink = sink
        self.lock = threading.RLock()
        """Lock held during a write; hold it to write several lines without interruption."""
        self.is_broken = False
        """Whether writing has failed, usually because the other end has closed the pipe."""
        self.write_error: OSError | None = None
        """The error raised by the first failed write; None if there was none."""

    def lines(self) -> Iterator[str]:
        """Yield the commands, stripped, until the input ends."""
        is_rest = False  # the rest of a line that is too long
        while not self.is_broken and (part := self._source.readline(MAX_LINE_LENGTH)):
            is_whole = part.endswith(b"\n") or len(part) < MAX_LINE_LENGTH
            if is_whole and not is_rest:
                yield part.decode("utf-8", "replace").strip()
            is_rest = not is_whole

    def say(self, *lines: str) -> None:
        """Write lines and flush."""
        with self.lock:
            try:
                for line in lines:
                    # Messages can quote foreign text, which must not end the line.
                    self._sink.write(line.replace("\r", " ").encode("utf-8", "replace") + b"\n")
                self._sink.flush()
            except (OSError, ValueError) as error:
                self.is_broken = True
                if self.write_error is None and isinstance(error, OSError):
                    self.write_error = error


class ConsoleSearch:
    """One search, whose output may be dropped."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._is_dropped = False
        self.stop = StopFlag()

    def say(self, *lines: str) -> None:
        """Write lines unless the search was dropped."""
        with self._console.lock:
            if not self._is_dropped:
                self._console.say(*lines)

    def say_last(self, *lines: str) -> None:
        """Write the last lines of the search unless it was dropped; discard all further output."""
        with self._console.lock:
            self.say(*lines)
            self._is_dropped = True

    def drop(self) -> None:
        """Stop the search and discard its further output."""
        with self._console.lock:
            self._is_dropped = True
        self.stop.set()
