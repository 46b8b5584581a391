"""Processor time of this process; unknown while several games run, because the time cannot be split among
them."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_games = 0


@contextmanager
def game_in_process() -> Iterator[bool]:
    """Count a game that this process plays; yield whether it is the only game."""
    global _games
    with _lock:
        _games += 1
        is_alone = _games == 1
    try:
        yield is_alone
    finally:
        with _lock:
            _games -= 1


def processor_time_s() -> float | None:
    """Processor time of all threads of this process in seconds; None while it plays several games."""
    return time.process_time() if _games <= 1 else None


def used_s(before_s: float | None, after_s: float | None) -> float | None:
    """Return the processor time between two readings, or None if either reading is None."""
    return None if before_s is None or after_s is None else max(0.0, after_s - before_s)
