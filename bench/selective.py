"""Measures the search of `strong` in chess and xiangqi: depth reached, mates, test suites, time to depth.

    python -m bench.selective [--seconds 1] [--sts-seconds 0.2] [--every 10]

* Chess: depth reached in one second in middlegames, mates in two found at each depth, percentage of points in
  the Strategic Test Suite; the suites are read from the folder next to the project, if it exists.
* Xiangqi: time to depth 8.

Times are wall-clock times, so the machine should be idle.
"""

import argparse
import re
import statistics
import time
from pathlib import Path

from bench.suites import middle_games, native_searcher
from engine.games import get_rules
from engine.stop import StopFlag

SUITES = Path(__file__).parents[2] / "shared" / "data" / "suites"
STS = SUITES / "STS1-STS15_LAN_v6.epd"
MATES = SUITES / "sunfish_mate2.fen"
TABLE_MB = 64
MIDDLE_GAMES = 10
MATE_DEPTHS = 7
XIANGQI_DEPTH = 8


def depth_in(name: str, seconds: float) -> None:
    game = get_rules(name)
    searcher = native_searcher(name, TABLE_MB)
    depths, speeds = [], []
    for position in middle_games(game, MIDDLE_GAMES):
        began = time.perf_counter()
        result = searcher.think(position, game.deepest_search, seconds, StopFlag())
        depths.append(result.depth)
        speeds.append(result.nodes / (time.perf_counter() - began))
    print(
        f"{name}: depth in {seconds:g} s in {len(depths)} middlegames: mean {statistics.mean(depths):.1f},"
        f" {min(depths)} to {max(depths)}; {statistics.mean(speeds) / 1e6:.2f} M nodes/s"
    )


def mates_in_two() -> None:
    if not MATES.exists():
        print(f"chess: no {MATES.name} next to the project")
        return
    game = get_rules("chess")
    lines = [line.strip() for line in MATES.read_text().splitlines() if line.strip()]
    found = [0] * (MATE_DEPTHS + 1)
    for line in lines:
        for depth in range(1, MATE_DEPTHS + 1):
            result = native_searcher("chess", TABLE_MB).think(
                game.parse_position(line), depth, None, StopFlag()
            )
            if result.solved and result.score_centi > 0 and len(result.principal_variation) <= 3:
                found[depth] += 1
                break
    by_depth = ", ".join(f"{count} at {depth}" for depth, count in enumerate(found) if count)
    print(f"chess: mates in two: {sum(found)} of {len(lines)} ({by_depth})")


def strategic(seconds: float, every: int) -> None:
    if not STS.exists():
        print(f"chess: no {STS.name} next to the project")
        return
    game, searcher = get_rules("chess"), native_searcher("chess", TABLE_MB)
    points, best, depths = 0, 0, list[int]()
    for line in STS.read_text().splitlines()[::every]:
        moves = re.search(r'c9 "([^"]*)"', line)
        values = re.search(r'c8 "([^"]*)"', line)
        if moves is None or values is None:
            continue
        worth = dict(zip(moves[1].split(), map(int, values[1].split()), strict=False))
        position = game.parse_position(" ".join(line.split()[:4]) + " 0 1")
        result = searcher.think(position, game.deepest_search, seconds, StopFlag())
        points += worth.get(result.move, 0)
        best += max(worth.values())
        depths.append(result.depth)
    print(
        f"chess: STS, {len(depths)} positions at {seconds:g} s: {points} of {best} points,"
        f" {points / best:.1%}; mean depth {statistics.mean(depths):.1f}"
    )


def xiangqi_time(depth: int) -> None:
    game = get_rules("xiangqi")
    middle = [("middle game", position) for position in middle_games(game, 5)]
    for name, position in [("start", game.initial()), *middle]:
        searcher = native_searcher("xiangqi", TABLE_MB)
        began = time.perf_counter()
        result = searcher.think(position, depth, None, StopFlag())
        ours_s = time.perf_counter() - began
        print(f"xiangqi, {name}: depth {depth} in {1e3 * ours_s:.0f} ms, {result.nodes / 1e3:.0f} k nodes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0, help="seconds for the depth reached")
    parser.add_argument(
        "--sts-seconds", type=float, default=0.2, help="seconds for each position of the Strategic Test Suite"
    )
    parser.add_argument("--every", type=int, default=10, help="use every N-th position of the STS")
    arguments = parser.parse_args()
    depth_in("chess", arguments.seconds)
    mates_in_two()
    strategic(arguments.sts_seconds, arguments.every)
    depth_in("xiangqi", arguments.seconds)
    xiangqi_time(XIANGQI_DEPTH)


if __name__ == "__main__":
    main()
