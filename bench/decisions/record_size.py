"""Measures the size of the trappy player's records, in bytes of JSON; on disk: `bench.decisions.disk_size`.

    python -m bench.decisions.record_size [--games othello chess xiangqi] [--depth D]
                                          [--positions 100] [--list]

A decision is stored when its move is chosen, and again with the chosen move's whole profile, by which the
reply is judged.  The positions are those of `bench.decisions.exactness`; `--list` prints them instead, a line
each with the game before a tab, for a comparison with another revision.
"""

import argparse
import json
import statistics
from typing import Any

from bench.decisions.exactness import TABLE_MB, random_position
from bench.suites import native_searcher
from engine.completion import complete
from engine.decision import Decision
from engine.game import Game
from engine.games import get_rules
from engine.move_chooser import MoveChooser
from engine.params import TrapParams
from engine.search.searchers import NATIVE_GAMES
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.time_management import Limits

DEPTHS = {"othello": 10, "chess": 6, "xiangqi": 6, "connect4": 10}
"""The default depth, or what the default time is often enough for."""


def size(decision: Decision) -> int:
    """Bytes of the record as JSON, with spaces."""
    return len(json.dumps(decision.to_record()).encode())


def measure(game: Game[Any], positions: list[Any], depth: int) -> None:
    searcher = native_searcher(game.name, TABLE_MB)
    chosen, whole = [], []
    for position in positions:
        player = MoveChooser(strategy_named("trappy"), game, TrapParams(), searcher)
        decision = player.choose(position, Limits(depth), StopFlag())
        chosen.append(size(decision))
        whole.append(size(complete(decision, searcher, StopFlag())))
    print(
        f"{game.title}, depth {depth}, {len(positions)} positions: mean {statistics.mean(chosen):.0f} bytes"
        f" when chosen (largest {max(chosen)}), {statistics.mean(whole):.0f} with the profile ({max(whole)})",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--games", nargs="+", default=["othello", "chess", "xiangqi"], choices=list(NATIVE_GAMES)
    )
    parser.add_argument("--positions", type=int, default=100)
    parser.add_argument("--depth", type=int, help=f"by default {DEPTHS}")
    parser.add_argument("--list", action="store_true", help="print the positions")
    options = parser.parse_args()
    for name in options.games:
        game, searcher = get_rules(name), native_searcher(name, TABLE_MB)
        positions = [random_position(game, searcher, number) for number in range(options.positions)]
        if options.list:
            print("\n".join(f"{name}\t{game.position_text(position)}" for position in positions))
        else:
            measure(game, positions, options.depth or DEPTHS[name])


if __name__ == "__main__":
    main()
