"""The price of a trappy or tempting decision over plain search at the same depth, in nodes.

    python -m bench.trap_price [--games othello chess xiangqi] [--depths 6 7] [--positions 20] [--each]
                               [--columns median best last tempting]

Node counts do not depend on the machine or on what else it does.  Every decision begins with an empty table,
and counts the iterations before the last.  For each assessment of the trappy player, and for the tempting
one: mean, median and worst of the ratios of all positions.  `--each` also prints the ratios of each position.
"""

import argparse
from collections.abc import Sequence
from statistics import mean, median
from typing import Any

from bench.games import middle_games
from bench.suites import midgames
from engine.game import Game
from engine.games import get_game
from engine.move_chooser import MoveChooser
from engine.params import Assessment, TrapParams
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.time_management import Limits

TABLE_MB = 64
COLUMNS = {
    **{str(assessment): ("trappy", TrapParams(assessment)) for assessment in Assessment},
    "tempting": ("tempting", TrapParams()),
}
"""A player's kind and parameters for each column."""
DEPTHS = {"othello": (10, 12), "chess": (6, 7, 8), "xiangqi": (6, 7, 8)}


def positions_of(game: Game[Any], count: int) -> Sequence[Any]:
    return midgames(count)[1] if game.name == "othello" else middle_games(game, count)


def nodes_of(kind: str, game: Game[Any], params: TrapParams, position: Any, depth: int) -> int:
    """Nodes of one decision."""
    player = MoveChooser(strategy_named(kind), game, params, make_searcher(game.name, TABLE_MB))
    return player.choose(position, Limits(depth), StopFlag()).nodes


def print_prices(
    game: Game[Any], depth: int, positions: Sequence[Any], columns: Sequence[str], each: bool
) -> None:
    plain = [nodes_of("standard", game, TrapParams(), position, depth) for position in positions]
    print(f"{game.name:<8} {depth:>5} {mean(plain) / 1e6:8.3f}", end="", flush=True)
    ratios: dict[str, list[float]] = {}
    for column in columns:
        kind, params = COLUMNS[column]
        found = [nodes_of(kind, game, params, position, depth) for position in positions]
        ratios[column] = [nodes / least for nodes, least in zip(found, plain, strict=True)]
        of = ratios[column]
        print(f" |        {mean(of):5.2f} {median(of):6.2f} {max(of):5.2f}", end="", flush=True)
    print()
    for number in range(len(positions)) if each else ():
        print(f"  {number:>2}: " + "  ".join(f"{ratios[column][number]:5.2f}" for column in columns))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", nargs="*", default=list(DEPTHS), choices=list(DEPTHS))
    parser.add_argument("--depths", type=int, nargs="*", help="instead of each game's own")
    parser.add_argument("--positions", type=int, default=20)
    parser.add_argument("--columns", nargs="+", default=list(COLUMNS), choices=list(COLUMNS))
    parser.add_argument("--each", action="store_true", help="print each position's ratios")
    options = parser.parse_args()
    titles = "".join(f" | {column[:6]:>6}: mean median worst" for column in options.columns)
    print(f"{'game':<8} depth  plain M{titles}")
    for name in options.games:
        game = get_game(name)
        positions = positions_of(game, options.positions)
        for depth in options.depths or DEPTHS[name]:
            print_prices(game, depth, positions, options.columns, options.each)


if __name__ == "__main__":
    main()
