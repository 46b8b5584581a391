"""What the network is worth to the strong search: paired games with and without it, and the Elo difference.

    python -m bench.matches.networks [--game chess] [--pairs 50] [--seconds 0.05 | --nodes 20000]
        [--network FILE] [--against FILE]

A player is the strong search with the program's own network, with one from a FILE (as
`lab.training.networks` writes it), or with ``none``; by default the program's own plays against none.
Each pair of games starts from the same nearly balanced position after random moves, once with either colour.
Times are wall-clock times, so the machine should be idle; the result says when moves had no time for a
search.
"""

import argparse
from pathlib import Path

from bench.matches.duel import BareSearch, duel
from engine import _native
from engine.games import networks
from engine.games.standard_chess import StandardChess
from engine.games.xiangqi import Xiangqi
from engine.search.searchers import NativeSearcher
from lab.training.self_play import GAMES

TABLE_MB = 16


class NetworkSearch(BareSearch):
    """The strong search with a network, or without one."""

    def __init__(self, game_name: str, network: str, nodes: int | None) -> None:
        """
        Args:
            game_name: ``chess`` or ``xiangqi``.
            network: A file, ``own`` or ``none``.
            nodes: Node limit for each move, in place of its time; None: the time.

        Raises:
            OSError: The file cannot be read.
            ValueError: It is no network of the game.
        """
        super().__init__(game_name, nodes=nodes)
        self.name = f"network {network}"
        game = GAMES[game_name]
        weights = networks.weights(game_name) if network == "own" else None
        if network not in ("own", "none"):
            weights = networks.read(Path(network))
        evaluation = game.evaluation(game.weights())
        made = None if weights is None else game.network(weights)
        if game_name == "chess":
            core = _native.ChessSearch(TABLE_MB, evaluation, made)
            self._searcher = NativeSearcher(StandardChess(), core)
        else:
            self._searcher = NativeSearcher(Xiangqi(), _native.XiangqiSearch(TABLE_MB, evaluation, made))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--game", choices=sorted(GAMES), default="chess")
    parser.add_argument("--network", default="own")
    parser.add_argument("--against", default="none")
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=0.05, help="per move")
    parser.add_argument("--nodes", type=int, help="per move, instead of seconds")
    parser.add_argument("--seed", type=int, default=2006)
    options = parser.parse_args()
    try:
        sides = [
            NetworkSearch(options.game, name, options.nodes) for name in (options.network, options.against)
        ]
    except (OSError, ValueError) as exc:
        parser.error(str(exc))
    print(duel(options.game, *sides, pairs=options.pairs, seconds=options.seconds, seed=options.seed))


if __name__ == "__main__":
    main()
