"""Latency of stopping a search by its flag, from another thread.

    python -m bench.stop_latency [--times 200] [--threads 1 2] [--games othello chess xiangqi]

Each search would run for a very long time.  The thread that stops it after a moment measures the time until
it has ended.  The limit to compare with is 10 ms.  Only the strong player searches with several threads; the
others are measured once.  Times are wall-clock times: the machine must be idle.
"""

import argparse
import random
import threading
import time
from typing import Any

from engine.game import Game
from engine.games import get_game
from engine.params import TrapParams
from engine.player_kinds import OWN_KINDS, PLAYER_KINDS
from engine.players import Player, StrongOptions
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.time_management import Limits

LIMIT_S = 0.010
TABLE_MB = 64


def delay_s(player: Player, game: Game[Any], after_s: float) -> float:
    """Start an endless search, stop it after a while, and return the time that stopping took."""
    stop, ended = StopFlag(), threading.Event()

    def search() -> None:
        player.choose(game.initial(), Limits(60), stop)
        ended.set()

    threading.Thread(target=search).start()
    time.sleep(after_s)
    told = time.perf_counter()
    stop.set()
    ended.wait()
    return time.perf_counter() - told


def report(game: Game[Any], kind: str, threads: int, times: int) -> None:
    strong = StrongOptions(threads=threads)
    player = Player(kind, game, TrapParams(), make_searcher(game.name, TABLE_MB), strong)
    rng = random.Random(1)
    delays = sorted(delay_s(player, game, rng.uniform(0.01, 0.08)) for _ in range(times))
    print(
        f"{game.name:<8} {kind:<15} {threads} thread{'s' if threads > 1 else ' '}"
        f"  median {delays[len(delays) // 2] * 1e3:.2f} ms"
        f"  95 % {delays[len(delays) * 95 // 100] * 1e3:.2f} ms  worst {delays[-1] * 1e3:.2f} ms"
        f"  worst / limit {delays[-1] / LIMIT_S:.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--games", nargs="+", default=["othello", "chess", "xiangqi"])
    arguments = parser.parse_args()
    for name in arguments.games:
        game = get_game(name)
        for kind in OWN_KINDS:
            for threads in arguments.threads if PLAYER_KINDS[kind].searches_selectively else [1]:
                report(game, kind, threads, arguments.times)


if __name__ == "__main__":
    main()
