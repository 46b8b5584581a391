"""Measures the native core: perft, search, trap analysis and endgames, each with a comparison.

    python -m bench.native [--depths 6 8 10 12] [--naive 6 8] [--strong 12 16 20] [--endings 40 41 42]
                           [--positions 20]

Times are processor seconds on one core. The tables are used before each measurement, because the first
access to fresh memory costs time; they may contain results for the position at smaller depths.
`bench.full_width` describes the columns of full-width search. The fingerprint is the number of nodes in a
fixed set of searches: it changes if and only if the search or the evaluation changes.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable

from bench.full_width import print_full_width, timed
from bench.suites import ENDINGS, balanced_positions, midgames
from engine import _native
from engine.games.othello import Othello, OthelloPosition
from engine.params import TrapParams
from engine.search.reference import INFINITY, exact_score
from engine.search.searchers import NativeOthelloSearcher
from engine.stop import StopFlag, Stopped

TABLE_MB = 64
GAME = Othello()


def used_searcher() -> NativeOthelloSearcher:
    """Return a searcher whose tables a few searches have almost filled."""
    searcher = NativeOthelloSearcher(TABLE_MB)
    searches: tuple[Callable[[StopFlag], object], ...] = (
        lambda stop: exact_score(searcher, GAME.initial(), 60, stop),
        lambda stop: searcher.think(GAME.initial(), 60, None, stop),
        lambda stop: searcher.solve(GAME.parse_position(ENDINGS[-1].position), stop),
    )
    for search in searches:
        stop = StopFlag()
        stop.set_node_limit(5_000_000)
        with contextlib.suppress(Stopped):
            search(stop)
    return searcher


def perft(depth: int) -> dict[str, float]:
    """Count the leaves of perft and time the count, using the code for the current instruction set."""
    start = GAME.initial()
    seconds, leaves = min(
        timed(lambda: _native.othello_perft(start.mover, start.waiter, depth)) for _ in range(3)
    )
    return {"leaves": leaves, "per_s": leaves / seconds}


def fingerprint() -> int:
    """Return the number of nodes visited by a fixed set of searches with a small, empty table."""
    searcher = NativeOthelloSearcher(1)
    for position in balanced_positions(5):
        searcher.search(position, 7, -INFINITY, INFINITY, StopFlag())
        searcher.trappy_candidates(position, 6, TrapParams(), StopFlag())
        searcher.think(position, 10, None, StopFlag())
    searcher.solve(GAME.parse_position(ENDINGS[0].position), StopFlag())
    return searcher.nodes


def print_perft() -> None:
    here = json.dumps(perft(10))
    print(f"perft 10 from the start, in leaves per second (code for {_native.UNIT})")
    results = {_native.UNIT: json.loads(here)}
    for unit in _native.units():
        if unit not in results:
            result = subprocess.run(
                [
                    sys.executable,
                    "-c",
                    "import json; from bench.native import perft; print(json.dumps(perft(10)))",
                ],
                env={**os.environ, "DESDEMONA_UNIT": unit},
                capture_output=True,
                text=True,
                check=True,
            )
            results[unit] = json.loads(result.stdout)
    base = results["baseline"]["per_s"]
    for unit in _native.units():
        rate = results[unit]["per_s"]
        print(f"  {unit:<9} {rate / 1e6:5.0f} M/s   {rate / base:.2f} x baseline")


def print_search(depths: list[int], naive_depths: list[int], count: int) -> None:
    name, positions = midgames(count)
    print(
        f"\nFull-width search of {len(positions)} middlegames ({name}): plain, and trappy relative to plain"
    )
    print_full_width(GAME, positions, used_searcher, depths, naive_depths)


def print_strong(depths: list[int], count: int) -> None:
    """Measure selective search to fixed depths; the table has no entries for the searched position."""
    name, positions = midgames(count)
    print(f"\nStrong search (73 % cuts) of {len(positions)} middlegames ({name})")
    print("depth  mean s  worst s  M nodes  plies of full width in the same time")
    for depth in depths:
        times, nodes, widths = [], 0, []
        for position in positions:
            searcher = used_searcher()
            before = searcher.nodes
            times.append(timed(searcher.think, position, depth, None, StopFlag())[0])
            nodes += searcher.nodes - before
            widths.append(full_width_depth(searcher, position, times[-1]))
        mean = sum(times) / len(times)
        print(
            f"{depth:>5} {mean:7.3f} {max(times):8.3f} {nodes / 1e6 / len(times):8.2f}"
            f"  {sum(widths) / len(widths):.1f}"
        )


def full_width_depth(searcher: NativeOthelloSearcher, position: OthelloPosition, seconds: float) -> int:
    """The last depth, in plies, that exact iterative deepening completes in the given processor time."""
    began, depth = time.process_time(), 0
    while time.process_time() - began < seconds:
        depth += 1
        exact_score(searcher, position, depth, StopFlag())
    return depth - 1


def print_endings(numbers: list[int]) -> None:
    """Measure the exact solving of FFO endgames; the table has no entries for the searched position."""
    print("\nFFO endings, exact score and best move")
    print("number  empty  score  move  right  seconds  M nodes  Mnps")
    total_s, total_nodes, wrong = 0.0, 0, 0
    for ending in ENDINGS:
        if ending.number not in numbers:
            continue
        searcher = used_searcher()
        position = GAME.parse_position(ending.position)
        before = searcher.nodes
        took, (move, score) = timed(searcher.solve, position, StopFlag())
        nodes = searcher.nodes - before
        is_right = score == GAME.result_of_margin(ending.score) and move in ending.best
        total_s, total_nodes, wrong = total_s + took, total_nodes + nodes, wrong + (not is_right)
        print(
            f"{ending.number:>6} {GAME.plies_left(position):>6} "
            f"{GAME.score_text(score, position):>12} {move:>5}"
            f" {'yes' if is_right else 'NO':>6} {took:8.2f} {nodes / 1e6:8.1f} {nodes / 1e6 / took:5.1f}"
        )
    if total_s:
        print(f"all: {total_s:.1f} s, {total_nodes / 1e6:.0f} M nodes, {wrong} wrong")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--depths", type=int, nargs="*", default=[6, 8, 10, 12])
    parser.add_argument(
        "--naive", type=int, nargs="*", default=[6, 8], help="depths at which to compute the full table"
    )
    parser.add_argument("--endings", type=int, nargs="*", default=[e.number for e in ENDINGS])
    parser.add_argument(
        "--strong", type=int, nargs="*", default=[12, 16, 20], help="depths of the strong search"
    )
    parser.add_argument("--positions", type=int, default=20)
    arguments = parser.parse_args()
    print(f"fingerprint {fingerprint()}\n")
    print_perft()
    print_search(arguments.depths, arguments.naive, arguments.positions)
    print_strong(arguments.strong, arguments.positions)
    print_endings(arguments.endings)


if __name__ == "__main__":
    main()
