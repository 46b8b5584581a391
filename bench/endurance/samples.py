"""Measures a running program from outside: memory, descriptors, threads, tasks, files."""

import os
from dataclasses import dataclass
from pathlib import Path

TASKS = "desdemona_tasks "
"""Start of the `/metrics` line with the number of asyncio tasks."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample of the program's resource use."""

    games: int
    """Number of games that had ended when the sample was taken."""
    life: int
    """Sequence number of the program's process, increased by one at each start."""
    rss_mb: float
    """Resident memory of the program and its child processes."""
    pss_mb: float
    """Proportional set size of the same processes: shared pages are divided among them."""
    descriptors: int
    threads: int
    tasks: int
    database_mb: float
    wal_mb: float
    """Size of SQLite's write-ahead log."""


def take_sample(pid: int, database: Path, games: int, life: int, metrics: str) -> Sample | None:
    """Sample a process; return None if it no longer exists.

    Args:
        pid: Process id.
        database: SQLite file of the program.
        games: As in `Sample`.
        life: As in `Sample`.
        metrics: Text of the program's `/metrics`; may be empty.
    """
    process = Path(f"/proc/{pid}")
    try:
        status = _fields(process / "status")
        children = (process / "task" / str(pid) / "children").read_text().split()
        family = [process, *(Path("/proc") / child for child in children)]
        return Sample(
            games=games,
            life=life,
            rss_mb=sum(_fields(each / "status")["VmRSS"] for each in family) / 1024,
            pss_mb=sum(_fields(each / "smaps_rollup")["Pss"] for each in family) / 1024,
            descriptors=len(os.listdir(process / "fd")),
            threads=status["Threads"],
            tasks=_tasks(metrics),
            database_mb=_mb(database),
            wal_mb=_mb(Path(f"{database}-wal")),
        )
    except (OSError, KeyError):  # killed; the fields of an ending process disappear first
        return None


def _fields(path: Path) -> dict[str, int]:
    """Parse the integers in a file of `Name: 123 kB` lines."""
    fields = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        name, _, rest = line.partition(":")
        words = rest.split()
        if words and words[0].isdecimal():
            fields[name] = int(words[0])
    return fields


def _tasks(metrics: str) -> int:
    lines = [line for line in metrics.splitlines() if line.startswith(TASKS)]
    return int(float(lines[0].split()[1])) if lines else 0


def _mb(path: Path) -> float:
    return path.stat().st_size / 1e6 if path.exists() else 0.0
