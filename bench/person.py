"""The cost of an opponent model: nodes and time of a decision relative to plain search of equal depth.

    python -m bench.person [--game othello chess] [--depth 8] [--positions 12] [--models data/models]

Positions are middlegames from random openings and strong play (`bench.games`).  Each decision starts with an
empty table.
"""

import argparse
import statistics
import time
from collections.abc import Sequence
from typing import Any

from bench.games import middle_games
from engine.game import Game
from engine.games import get_game
from engine.human.registry import ModelRegistry, ModelSettings
from engine.move_chooser import MoveChooser
from engine.params import TrapParams
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.time_management import Limits

KINDS = ("standard", "trappy", "opponent_model", "calibrated")
_DEPTHS = {"othello": 10, "chess": 6, "xiangqi": 5, "connect4": 12}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--game", nargs="+", default=["othello", "chess"])
    parser.add_argument("--depth", type=int)
    parser.add_argument("--positions", type=int, default=12)
    parser.add_argument("--models", nargs="*", default=[])
    options = parser.parse_args()
    registry = ModelRegistry(ModelSettings(models=tuple(options.models)))
    for name in options.game:
        game, depth = get_game(name), options.depth or _DEPTHS[name]
        positions = middle_games(game, options.positions)
        with registry.lend(name) as models:
            odds = "none" if models.odds is None else models.odds.info.name
            asked = f"people: {models.human.info.name}, odds: {odds}"
            print(f"{name}, depth {depth}, {len(positions)} positions; {asked}")
        _compare(game, depth, positions, registry)


def _compare(game: Game[Any], depth: int, positions: Sequence[Any], registry: ModelRegistry) -> None:
    plain: list[tuple[int, float]] = []
    for kind in KINDS:
        rows, within = [], []
        for position in positions:
            with registry.lend(game.name) as models:
                player = MoveChooser(
                    strategy_named(kind), game, TrapParams(), make_searcher(game.name, 64), models=models
                )
                began = time.perf_counter()
                decision = player.choose(position, Limits(depth), StopFlag())
                rows.append((decision.nodes, time.perf_counter() - began))
            within.append(sum(c.value is not None for c in decision.candidates))
        plain = plain or rows
        nodes = [mine[0] / other[0] for mine, other in zip(rows, plain, strict=True)]
        times = [mine[1] / other[1] for mine, other in zip(rows, plain, strict=True)]
        median_ms = 1000 * statistics.median(took_s for _, took_s in rows)
        total = sum(mine[0] for mine in rows) / sum(other[0] for other in plain)
        print(
            f"  {kind:15} nodes x{statistics.median(nodes):.2f} (worst {max(nodes):.2f}, all {total:.2f}), "
            f"time x{statistics.median(times):.2f} (median {median_ms:.0f} ms), "
            f"moves within the budget {statistics.mean(within):.1f}"
        )


if __name__ == "__main__":
    main()
