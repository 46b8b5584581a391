"""Compares full-width search and the trap analysis in time and nodes, for `bench.native` and `bench.games`.

Times are processor seconds of one core; plain and trappy players search the same positions in the same run,
each with its own table. The columns median, best and last give the time and nodes for the trap assessment of
that name, relative to plain search. "same choice" counts the decisions in which the full table gives the same
move with the same adjusted value.
"""

import time
from collections.abc import Callable, Collection, Sequence
from typing import Any

from engine.completion import complete
from engine.decision import Decision
from engine.game import Game
from engine.move_chooser import MoveChooser
from engine.params import Assessment, TrapParams
from engine.search.profiles import Profiler
from engine.search.reference import Searcher
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.strategies.trappy import TRAPPY
from engine.time_management import Limits
from engine.trappy import is_swindle, with_trap

PLAIN = "plain"


def timed(work: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """Return the processor seconds that a call took, and the call's result."""
    began = time.process_time()
    result = work(*arguments)
    return time.process_time() - began, result


def print_full_width(
    game: Game[Any],
    positions: Sequence[Any],
    new_searcher: Callable[[], Searcher],
    depths: Sequence[int],
    naive_depths: Collection[int],
) -> None:
    """Print a line for each depth; at the depths in `naive_depths`, also compute the full table."""
    count = len(positions)
    print(f"{'depth':>5}  {'plain s':>8} {'M nodes':>8} {'Mnps':>5}", end="")
    for assessment in Assessment:
        print(f" | {assessment:>6}: time nodes worst", end="")
    print(" | naive time")
    searchers = {kind: new_searcher() for kind in (PLAIN, *Assessment)}
    for depth in depths:
        seconds: dict[str, list[float]] = {kind: [] for kind in searchers}
        nodes = dict.fromkeys(searchers, 0)
        decisions: dict[str, list[Decision]] = {kind: [] for kind in searchers}
        for position in positions:
            for kind, searcher in searchers.items():
                params = TrapParams() if kind == PLAIN else TrapParams(Assessment(kind))
                player = MoveChooser(
                    strategy_named("standard" if kind == PLAIN else "trappy"), game, params, searcher
                )
                took, decision = timed(player.choose, position, Limits(depth), StopFlag())
                seconds[kind].append(took)
                nodes[kind] += decision.nodes
                decisions[kind].append(decision)
        total = sum(seconds[PLAIN])
        rate = nodes[PLAIN] / total / 1e6
        print(f"{depth:>5}  {total / count:8.4f} {nodes[PLAIN] / 1e6 / count:8.3f} {rate:5.1f}", end="")
        for kind in Assessment:
            worst = max(t / p for t, p in zip(seconds[kind], seconds[PLAIN], strict=True))
            ratio = sum(seconds[kind]) / total
            print(f" | {ratio:12.2f} {nodes[kind] / nodes[PLAIN]:5.2f} {worst:5.1f}", end="", flush=True)
        if depth in naive_depths:
            print(f" | {_whole_table(game, positions, new_searcher(), depth, decisions, total)}")
        else:
            print(" | -")


def _whole_table(
    game: Game[Any],
    positions: Sequence[Any],
    searcher: Searcher,
    depth: int,
    decisions: dict[str, list[Decision]],
    plain_s: float,
) -> str:
    """Return the full table's time relative to plain search, and the number of equal choices."""
    table_s, same = 0.0, 0
    for number, position in enumerate(positions):
        profiler = Profiler(game, searcher, position, TrapParams(), StopFlag())
        took, table = timed(profiler.naive_candidates, depth)
        table_s += took
        for kind in Assessment:
            params = TrapParams(kind)
            candidates = [with_trap(c, params, is_swindle(table, params)) for c in table]
            move = TRAPPY.best_move(candidates, params)
            adjusted = next(c.adjusted_centi for c in candidates if c.move == move)
            lazy = complete(decisions[kind][number], searcher, StopFlag())
            same += (move, adjusted) == (lazy.move, lazy.chosen.adjusted_centi)
    return f"{table_s / plain_s:.1f}, same choice {same} of {len(positions) * len(Assessment)}"
