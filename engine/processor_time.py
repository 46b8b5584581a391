"""Reads how much processor time another program has used."""

import contextlib
import os
import time
from pathlib import Path

_PROC = Path("/proc")
_SCHEDULED = 2  # CPUCLOCK_SCHED of Linux: the time that the scheduler gave to all threads, in nanoseconds
_ENDED = slice(13, 15)
"""Fields of /proc/PID/stat, after the name, with the time of children that have ended: cutime and cstime."""


def processor_time_s(pid: int) -> float | None:
    """Processor time of a process and its descendants in seconds, all threads together.

    It includes children that have ended, as far as their parents waited for them.

    Returns:
        None: unknown, because the process is gone or the system has no such clock.
    """
    try:
        spent_s = time.clock_gettime(~pid << 3 | _SCHEDULED) + _ended_children_s(pid)
    except (OSError, AttributeError, ValueError):
        return None
    return spent_s + sum(processor_time_s(child) or 0.0 for child in _children(pid))


def _ended_children_s(pid: int) -> float:
    # The name, in parentheses, may contain anything.
    fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    return sum(int(ticks) for ticks in fields[_ENDED]) / os.sysconf("SC_CLK_TCK")


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):  # a thread, or the process, has just ended
        for task in (_PROC / str(pid) / "task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found
