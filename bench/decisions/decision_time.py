"""Time of a decision: trappy against standard, in one run, on balanced Othello middlegames.

    python -m bench.decisions.decision_time [--depths 8 10] [--positions 20]

Positions come from random play of the first twenty plies, if plain search finds them nearly balanced; so the
benchmark needs no other files, and every run has the same positions.
"""

import argparse
import statistics
import time

from bench.suites import balanced_positions
from engine.completion import complete
from engine.games.othello import Othello
from engine.move_chooser import MoveChooser
from engine.params import TrapParams
from engine.search.profiles import Profiler
from engine.search.searchers import NativeOthelloSearcher
from engine.stop import StopFlag
from engine.strategies.registry import compared_strategies, strategy_named
from engine.time_management import Limits
from engine.verification import verify

TABLE_MB = 64


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--depths", type=int, nargs="+", default=[8, 10])
    parser.add_argument("--positions", type=int, default=20)
    arguments = parser.parse_args()
    game = Othello()
    positions = balanced_positions(arguments.positions)
    print(f"{len(positions)} positions, one core, table of {TABLE_MB} MB, each decision with an empty table")
    print("depth  player    mean s  median s  max s   nodes M  Mnps  whole profile s  time ratio")
    for depth in arguments.depths:
        means = {}
        for kind in compared_strategies():
            times, profile_times, nodes = [], [], 0
            for position in positions:
                searcher = NativeOthelloSearcher(TABLE_MB)
                player = MoveChooser(strategy_named(kind), game, TrapParams(), searcher)
                began = time.process_time()
                decision = player.choose(position, Limits(depth), StopFlag())
                decided = time.process_time()
                full = complete(decision, searcher, StopFlag())
                profile_times.append(time.process_time() - decided)
                times.append(decided - began)
                nodes += decision.nodes
                verify(full)
            means[kind] = statistics.mean(times)
            print(
                f"{depth:>5}  {kind:<8}  {means[kind]:.3f}   {statistics.median(times):.3f}"
                f"     {max(times):.3f}   {nodes / 1e6 / len(times):.2f}     {nodes / 1e6 / sum(times):.1f}"
                f"  {statistics.mean(profile_times):.3f}            {means[kind] / means['standard']:.2f}"
            )
        began = time.process_time()
        for position in positions:
            searcher = NativeOthelloSearcher(TABLE_MB)
            Profiler(game, searcher, position, TrapParams(), StopFlag()).naive_candidates(depth)
        naive = (time.process_time() - began) / len(positions)
        print(
            f"{depth:>5}  every reply of every move at every depth: {naive:.3f} s,"
            f" time ratio {naive / means['standard']:.1f}"
        )


if __name__ == "__main__":
    main()
