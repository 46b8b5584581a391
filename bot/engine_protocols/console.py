"""Reads commands and writes answers line by line, with searches running in between.

The thread that reads is the program's own.  It must never wait for a search: a search that is not wanted any
more is *dropped*, which tells it to end and swallows whatever it still says, and the next one begins when its
thread is free.  So the answer to ``ping`` or ``stop`` takes no longer than writing it.
"""

import logging
import queue
import threading
from collections.abc import Callable, Iterator
from typing import IO, Self

from engine.stop import StopFlag

logger = logging.getLogger(__name__)

LONGEST_LINE = 1 << 20
"""Bytes of a line; longer ones are dropped.  A game of 8,000 plies fits in."""


class Console:
    """The two pipes to the program that drives us.

    Args:
        source: Its commands.
        sink: Our answers.
    """

    def __init__(self, source: IO[bytes], sink: IO[bytes]) -> None:
        self._source = source
        self._sink = sink
        self.lock = threading.RLock()
        """Held while something is said; hold it for what must not be said in between."""
        self.is_broken = False
        """Nobody reads what we say."""

    def lines(self) -> Iterator[str]:
        """The commands, without blanks around them, until there will be no more."""
        is_rest = False  # of a line that is too long
        while not self.is_broken and (part := self._source.readline(LONGEST_LINE)):
            is_whole = part.endswith(b"\n") or len(part) < LONGEST_LINE
            if is_whole and not is_rest:
                yield part.decode("utf-8", "replace").strip()
            is_rest = not is_whole

    def say(self, *lines: str) -> None:
        """Write lines, at once."""
        with self.lock:
            try:
                for line in lines:
                    # What somebody else wrote comes back in messages; it must not end the line.
                    self._sink.write(line.replace("\r", " ").encode("utf-8", "replace") + b"\n")
                self._sink.flush()
            except (OSError, ValueError):
                self.is_broken = True


class ConsoleSearch:
    """One search that somebody waits for."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._is_dropped = False
        self.stop = StopFlag()

    def say(self, *lines: str) -> None:
        """Write lines, unless the search was dropped."""
        with self._console.lock:
            if not self._is_dropped:
                self._console.say(*lines)

    def say_last(self, *lines: str) -> None:
        """Write lines, unless the search was dropped, and drop it."""
        with self._console.lock:
            self.say(*lines)
            self._is_dropped = True

    def drop(self) -> None:
        """Nobody waits any more: nothing of it is said after this."""
        with self._console.lock:
            self._is_dropped = True
        self.stop.set()


class Worker:
    """A thread that does one thing after the other; ends with its context."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="frontend-search", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Wait for the end of all that was begun: stop it first."""
        self._jobs.put(None)
        self._thread.join()

    def do(self, job: Callable[[], None]) -> None:
        """Have something done when all before it is done."""
        self._jobs.put(job)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except Exception:  # the edge of a search: the next one may do better
                logger.exception("a search failed")
