"""Measures the depth that a player reaches beside busy loops on its core, against less time on an idle one.

    python -m bench.decisions.starved [--games othello chess] [--seconds 0.1] [--loops 10] [--positions 12]

Each player searches middlegames with so much time a move: on an idle core; on an idle core with one of
`--loops` parts of that time; and beside the loops with the stretches of `engine.time_management`: 1 (by the
wall clock), and the most that a clock and a game without a clock allow.  All of it happens on one core, the
first that this process may use; the machine should be idle.  "Shallower" counts the positions in which the
search was shallower than with the part of the time on an idle core.
"""

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from bench.games import middle_games
from bench.suites import balanced_positions
from engine.game import Game
from engine.games import get_game
from engine.move_chooser import MoveChooser
from engine.params import TrapParams
from engine.search.searchers import NATIVE_GAMES, make_searcher
from engine.stop import StopFlag
from engine.strategies.registry import compared_strategies, strategy_named
from engine.time_management import LARGEST_STRETCH, LARGEST_STRETCH_UNTIMED, Limits

TABLE_MB = 16
DEEPEST = 60


@contextlib.contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """So many processes that never rest, on the cores of this one."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def depths(game: Game[Any], kind: str, positions: Sequence[Any], time_s: float, stretch: float) -> list[int]:
    """Depth reached in each position but the first, in which the memory of the table is first touched."""
    player = MoveChooser(strategy_named(kind), game, TrapParams(), make_searcher(game.name, TABLE_MB))
    found = []
    for position in positions:
        stop = StopFlag()
        stop.follow_thread(stretch)
        found.append(player.choose(position, Limits(DEEPEST, time_s, stretch=stretch), stop).depth)
    return found[1:]


def text(found: Sequence[int], least: Sequence[int]) -> str:
    """Mean, range and the number of positions below `least`."""
    below = sum(depth < other for depth, other in zip(found, least, strict=True))
    return f"mean {statistics.mean(found):5.2f}, {min(found):>2} to {max(found):>2}, shallower in {below}"


def measure(game: Game[Any], kind: str, positions: Sequence[Any], time_s: float, loops: int) -> None:
    idle = depths(game, kind, positions, time_s, stretch=1)
    share = depths(game, kind, positions, time_s / loops, stretch=1)
    print(f"\n{game.title}, {kind}, {len(share)} positions, {time_s:g} s a move")
    print(f"  idle                       {text(idle, share)}")
    print(f"  idle, {time_s / loops:<6g} s             {text(share, share)}")
    with busy_loops(loops):
        for stretch in (1, LARGEST_STRETCH, LARGEST_STRETCH_UNTIMED):
            found = depths(game, kind, positions, time_s, stretch)
            print(f"  beside {loops} loops, stretch {stretch:<3g} {text(found, share)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", nargs="+", default=["othello", "chess"], choices=list(NATIVE_GAMES))
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--loops", type=int, default=10)
    parser.add_argument("--positions", type=int, default=12)
    options = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    for name in options.games:
        game, count = get_game(name), options.positions + 1
        positions = balanced_positions(count) if name == "othello" else middle_games(game, count)
        for kind in compared_strategies():
            measure(game, kind, positions, options.seconds, options.loops)


if __name__ == "__main__":
    main()
