"""Compares other Othello programs with this one, in one run: the FFO endings, and perft.

    python -m bench.peers [--endings "NAME=COMMAND" ...] [--perft "NAME=COMMAND" ...] [--only 40 41 ...]

A COMMAND is a line for the shell; ``{file}`` in it becomes the name of a file of positions, one a line (64
squares X, O and -, a space, the side to move).  We measure its processor time, children included, less that
of the same command with a file of one trivial position, so that start-up does not count.  For perft the
command has ``{depth}``, and is run with depth 10 and, for the start-up, with depth 1.

Examples::

    --endings "Edax=cd edax && bin/lEdax-x86-64-v3 -book-usage off -l 60 -n 1 -h 22 -solve {file}"
    --perft "Egaroucid=cd egaroucid && ./Egaroucid_for_Console.out -nobook -t 1 -perft {depth} 1"
"""

import argparse
import resource
import subprocess
import tempfile
import time
from pathlib import Path

from bench.native import GAME, used_searcher
from bench.suites import ENDINGS, Ending
from engine import _native
from engine.stop import StopFlag

PERFT_DEPTH = 10
PERFT_LEAVES = 24_571_284
REPEATS = 3
TRIVIAL = "X" * 62 + "O- X"
"""One empty square, one move."""


def child_seconds(command: str) -> float:
    """Processor seconds of a command and all its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, shell=True, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def solved_by(command: str, endings: list[Ending]) -> float:
    """Processor seconds of a peer for the endings, without its start-up."""
    with tempfile.TemporaryDirectory() as folder:
        suite, trivial = Path(folder, "suite.obf"), Path(folder, "trivial.obf")
        suite.write_text("".join(f"{ending.position}\n" for ending in endings))
        trivial.write_text(f"{TRIVIAL}\n")
        start_up = min(child_seconds(command.format(file=trivial)) for _ in range(REPEATS))
        return child_seconds(command.format(file=suite)) - start_up


def solved_here(endings: list[Ending]) -> float:
    """Processor seconds of this program for the same; every score and move is checked."""
    seconds = 0.0
    for ending in endings:
        searcher = used_searcher()
        began = time.process_time()
        move, score = searcher.solve(GAME.parse_position(ending.position), StopFlag())
        seconds += time.process_time() - began
        assert score == GAME.result_of_margin(ending.score), ending
        assert move in ending.best, ending
    return seconds


def perft_here() -> float:
    """Processor seconds of perft, the best of a few."""
    start = GAME.initial()
    times = []
    for _ in range(REPEATS):
        began = time.process_time()
        leaves = _native.othello_perft(start.mover, start.waiter, PERFT_DEPTH)
        times.append(time.process_time() - began)
        assert leaves == PERFT_LEAVES
    return min(times)


def perft_by(command: str) -> float:
    """Processor seconds of a peer's perft, without its start-up."""
    return min(child_seconds(command.format(depth=PERFT_DEPTH)) for _ in range(REPEATS)) - min(
        child_seconds(command.format(depth=1)) for _ in range(REPEATS)
    )


def named(text: str) -> tuple[str, str]:
    name, equals, command = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"expected NAME=COMMAND, got {text!r}")
    return name, command


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--endings", type=named, nargs="*", default=[])
    parser.add_argument("--perft", type=named, nargs="*", default=[])
    parser.add_argument("--only", type=int, nargs="*", default=[ending.number for ending in ENDINGS])
    arguments = parser.parse_args()
    if arguments.perft:
        ours = perft_here()
        print(f"perft {PERFT_DEPTH}: this program ({_native.UNIT}) {PERFT_LEAVES / ours / 1e6:.0f} M/s")
        for name, command in arguments.perft:
            took = perft_by(command)
            print(
                f"  {name}: {PERFT_LEAVES / took / 1e6:.0f} M/s; this program {took / ours:.2f} times as fast"
            )
    if arguments.endings:
        endings = [ending for ending in ENDINGS if ending.number in arguments.only]
        ours = solved_here(endings)
        print(f"{len(endings)} FFO endings: this program {ours:.1f} s, all right")
        for name, command in arguments.endings:
            took = solved_by(command, endings)
            print(f"  {name}: {took:.1f} s; this program takes {ours / took:.2f} times as long")


if __name__ == "__main__":
    main()
