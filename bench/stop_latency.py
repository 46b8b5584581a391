"""Measures how long a search runs on after another thread has set its stop flag.

    python -m bench.stop_latency [--times 200] [--threads 1 2] [--games othello chess xiangqi]
                                 [--kinds strong ...] [--earliest 0.01] [--models MAIA ...]

Each search has a limit that it never reaches. Another thread stops the search after a delay, and measures
the time until the search has ended and the processor time that all threads of the process used in that
time. The target is at most 10 ms. Only the strategy `strong` searches with several threads; the others are
measured with one. Strategies with a model of people use the models that come with the program, and those
given with `--models`. A busy machine lengthens wall-clock times, but not processor times.
"""

import argparse
import gc
import random
import threading
import time
from collections.abc import Iterable
from typing import Any

from engine.game import Game
from engine.games import get_rules
from engine.human.opponent_model_search import GameModels
from engine.human.registry import ModelRegistry, ModelSettings
from engine.move_chooser import MoveChooser
from engine.params import TrapParams
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.move_context import StrongOptions
from engine.strategies.registry import STRATEGIES, own_strategies, strategy_named
from engine.time_management import Limits

MAX_STOP_LATENCY_S = 0.010
SPREAD_S = 0.07
TABLE_MB = 64


def delay_s(player: MoveChooser, game: Game[Any], after_s: float) -> tuple[float, float]:
    """Start an endless search and stop it later; return the wall-clock and processor time of the stop."""
    stop, ended = StopFlag(), threading.Event()

    def search() -> None:
        player.choose(game.initial(), Limits(60), stop)
        ended.set()

    threading.Thread(target=search).start()
    time.sleep(after_s)
    stopped, used = time.perf_counter(), time.process_time()
    stop.set()
    ended.wait()
    return time.perf_counter() - stopped, time.process_time() - used


def summary(delays: Iterable[float]) -> str:
    """Median, 95th percentile and maximum of the given times."""
    ordered = sorted(delays)
    chosen = (ordered[len(ordered) // 2], ordered[len(ordered) * 95 // 100], ordered[-1])
    times = " / ".join(f"{1e3 * each:.2f}" for each in chosen)
    return f"{times} ms ({ordered[-1] / MAX_STOP_LATENCY_S:.2f} of the limit)"


def report(
    game: Game[Any], kind: str, threads: int, times: int, earliest_s: float, models: GameModels
) -> None:
    strong, searcher = StrongOptions(threads=threads), make_searcher(game.name, TABLE_MB)
    player = MoveChooser(strategy_named(kind), game, TrapParams(), searcher, strong, models=models)
    player.choose(game.initial(), Limits(2), StopFlag())  # networks are loaded when they are first asked
    gc.freeze()  # as `bot.daemon.program` does when it has started
    rng = random.Random(1)
    delays = [delay_s(player, game, rng.uniform(earliest_s, earliest_s + SPREAD_S)) for _ in range(times)]
    walls, processors = zip(*delays, strict=True)
    print(
        f"{game.name:<8} {kind:<15} {threads} thread{'s' if threads > 1 else ' '}"
        f"  median / 95 % / worst: {summary(walls)}; processor: {summary(processors)}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--games", nargs="+", default=["othello", "chess", "xiangqi"])
    parser.add_argument("--kinds", nargs="+", default=own_strategies(), choices=own_strategies())
    parser.add_argument(
        "--earliest", type=float, default=0.01, help="minimum number of seconds before a stop"
    )
    parser.add_argument("--models", nargs="*", default=[], help="human-move models")
    arguments = parser.parse_args()
    registry = ModelRegistry(ModelSettings(models=tuple(arguments.models)))
    for name in arguments.games:
        game, models = get_rules(name), registry.models(name)
        for kind in arguments.kinds:
            for threads in arguments.threads if STRATEGIES[kind].searches_selectively else [1]:
                report(game, kind, threads, arguments.times, arguments.earliest, models)


if __name__ == "__main__":
    main()
