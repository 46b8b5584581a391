"""Start-up time of the program: processor time of short commands (`python -m bench.start`).

Each number is the median of several runs, user and system time together, compared with an idle interpreter;
the two take turns, so that their ratio holds on a busy machine, too.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 7
EMPTY = (sys.executable, "-c", "pass")
COMMANDS = (
    ("--version",),
    ("--help",),
    ("engine", "--help"),
    ("engine", "--protocol", "gtp"),
    ("stats", "--help"),
    ("match", "--help"),
)


def processor_s(command: tuple[str, ...], folder: Path) -> float:
    """User and system time of a program in seconds; it reads ``quit``."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    subprocess.run(command, cwd=folder, env=environment, input=b"quit\n", capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure and print, a line for each command."""
    with tempfile.TemporaryDirectory() as folder:
        measured: dict[str, list[float]] = {}
        empty = []
        for _ in range(RUNS):
            empty.append(processor_s(EMPTY, Path(folder)))
            for arguments in COMMANDS:
                took_s = processor_s((sys.executable, "-m", "bot", *arguments), Path(folder))
                measured.setdefault(" ".join(arguments), []).append(took_s)
    nothing_s = statistics.median(empty)
    print(f"{'python -c pass':24} {nothing_s:6.3f} s")
    for name, runs in measured.items():
        took_s = statistics.median(runs)
        print(f"{name:24} {took_s:6.3f} s {took_s / nothing_s:6.1f} times that")


if __name__ == "__main__":
    main()
