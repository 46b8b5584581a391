"""Latency of stopping a search by its flag, from another thread.

    python -m bench.stop_latency [--times 200]

Each search would run for a very long time.  The thread that stops it after a moment measures the time until
it has ended.  The limit to compare with is 10 ms.
"""

import argparse
import random
import threading
import time

from engine.games.othello import Othello
from engine.params import TrapParams
from engine.player_kinds import PLAYER_KINDS
from engine.players import Player
from engine.search.searchers import NativeOthelloSearcher
from engine.stop import StopFlag
from engine.time_management import Limits

LIMIT_S = 0.010


def delay_s(player: Player, after_s: float) -> float:
    """Start an endless search, stop it after a while, and return the time that stopping took."""
    stop, ended = StopFlag(), threading.Event()

    def search() -> None:
        player.choose(Othello().initial(), Limits(60), stop)
        ended.set()

    threading.Thread(target=search).start()
    time.sleep(after_s)
    told = time.perf_counter()
    stop.set()
    ended.wait()
    return time.perf_counter() - told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--times", type=int, default=200)
    arguments = parser.parse_args()
    rng = random.Random(1)
    for kind in PLAYER_KINDS:
        player = Player(kind, Othello(), TrapParams(), NativeOthelloSearcher(64))
        delays = sorted(delay_s(player, rng.uniform(0.01, 0.08)) for _ in range(arguments.times))
        print(
            f"{kind:<8}  median {delays[len(delays) // 2] * 1e3:.2f} ms"
            f"  95 % {delays[len(delays) * 95 // 100] * 1e3:.2f} ms  worst {delays[-1] * 1e3:.2f} ms"
            f"  worst / limit {delays[-1] / LIMIT_S:.2f}"
        )


if __name__ == "__main__":
    main()
