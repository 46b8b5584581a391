"""Measures the speed-up of the strong search by several threads.

    python -m bench.threads [--threads 2] [--positions 60] [--only othello endings chess xiangqi]

Each position is searched to the same depth by one thread and by several, in turn; an ending is solved.  The
ratio of the two times is the speed-up. It varies widely, and searches with several threads are not
repeatable: many short searches say more than a few long ones. The scores of solved endings must be equal. The
depth is the one that a single thread reaches in about --seconds. Times are wall-clock times: the machine must
be idle and have a core for each thread.
"""

import argparse
import math
import statistics
import sys
import time
from typing import Any

from bench.suites import balanced_positions, middle_games, native_searcher
from engine.game import Game
from engine.games import get_rules
from engine.games.othello import Othello, OthelloPosition
from engine.search.result import SearchResult
from engine.stop import StopFlag

TABLE_MB = 64
ENDING_EMPTIES = 23
WARM_DEPTH = {"othello": 20, "chess": 12, "xiangqi": 12}  # touches most of the table
KINDS = ("othello", "endings", "chess", "xiangqi")


def searched(game: str, position: Any, depth: int, threads: int) -> tuple[float, SearchResult]:
    """Seconds and result of a search whose searcher has searched something else before, as in a game."""
    searcher = native_searcher(game, TABLE_MB)
    # A first search also makes the helpers and touches the tables' memory, which is not what we measure.
    searcher.think(get_rules(game).initial(), WARM_DEPTH[game], None, StopFlag(), threads=threads)
    began = time.perf_counter()
    result = searcher.think(position, depth, None, StopFlag(), threads=threads)
    return time.perf_counter() - began, result


def depth_for(game: str, position: Any, seconds: float) -> int:
    """The first depth that takes a single thread this long."""
    searcher = native_searcher(game, TABLE_MB)
    result = searcher.think(position, 60, 2 * seconds, StopFlag())
    return max(2, result.depth)


def endings(count: int) -> list[OthelloPosition]:
    """Balanced positions, played on quickly down to a given number of empty squares."""
    game, positions = Othello(), []
    searcher = native_searcher("othello", TABLE_MB)
    for position in balanced_positions(3 * count):
        while game.legal_moves(position) and _empties(position) > ENDING_EMPTIES:
            move = game.parse_move(position, searcher.think(position, 8, None, StopFlag()).move)
            position = game.play(position, move)
        if game.legal_moves(position) and _empties(position) == ENDING_EMPTIES:
            positions.append(position)
        if len(positions) == count:
            break
    return positions


def _empties(position: OthelloPosition) -> int:
    mover, waiter = Othello().native_position(position)
    return 64 - (mover | waiter).bit_count()


def report(kind: str, count: int, threads: int, seconds: float) -> bool:
    """Prints the speed-ups; False: a solved ending has a different score with several threads."""
    name = "othello" if kind in ("othello", "endings") else kind
    game: Game[Any] = get_rules(name)
    positions: list[Any]
    if kind == "endings":
        positions = endings(count)
    elif kind == "othello":
        positions = balanced_positions(count)
    else:
        positions = middle_games(game, count)
    times, speeds, agree = list[tuple[float, float]](), [], True
    for position in positions:
        depth = 60 if kind == "endings" else depth_for(name, position, seconds)
        alone_s, alone = searched(name, position, depth, 1)
        together_s, together = searched(name, position, depth, threads)
        times.append((alone_s, together_s))
        speeds.append(together.nodes / together_s / (alone.nodes / alone_s))
        if kind == "endings":
            agree = agree and alone.score_centi == together.score_centi
    print(
        f"{kind}: {len(times)} positions, {threads} threads: {speed_up(times)};"
        f" {statistics.median(speeds):.2f} times the nodes a second{'' if agree else '; SCORES DIFFER'}"
    )
    return agree


def speed_up(times: list[tuple[float, float]]) -> str:
    """In words, from the times alone and together of at least two positions."""
    logs = [math.log(alone_s / together_s) for alone_s, together_s in times]
    ratios = [math.exp(log) for log in logs]
    low, middle, high = statistics.quantiles(ratios)
    error = statistics.stdev(logs) / math.sqrt(len(logs))
    mean = math.exp(statistics.mean(logs))
    total = sum(alone_s for alone_s, _ in times) / sum(together_s for _, together_s in times)
    return (
        f"{middle:.2f} times as fast in the median (quartiles {low:.2f} and {high:.2f},"
        f" {min(ratios):.2f} to {max(ratios):.2f}), geometric mean {mean:.2f} +-{mean * error:.2f},"
        f" total {total:.2f}"
    )


def main() -> None:
    p = argparse.ArgumentParser(prog="python -m bench.threads", description=__doc__.splitlines()[0])
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--positions", type=int, default=60)
    p.add_argument("--seconds", type=float, default=0.2)
    p.add_argument("--only", nargs="+", choices=KINDS, default=list(KINDS))
    options = p.parse_args()
    # A list: all are measured, whatever the first one shows.
    agree = [report(kind, options.positions, options.threads, options.seconds) for kind in options.only]
    if not all(agree):
        sys.exit(1)


if __name__ == "__main__":
    main()
