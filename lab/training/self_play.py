"""Generates self-play games for training a network: `python -m lab.training.self_play`.

Each game begins with some random moves; then the search plays both sides with a fixed number of nodes per
move. The moves and their scores are appended to a file, four bytes per ply
(lab/native/self_play.hpp); `lab.training.networks` learns from such files. The seed and the first game's
number determine the games, regardless of the number of threads.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine import _native
from engine.games import chess_evaluation, networks, xiangqi_evaluation
from engine.games.linear_weights import LinearWeights
from lab import _training
from lab.training.othello_patterns import natural, positive, say

_GAMES_PER_WRITE = 500
"""Number of games that are written to the file at a time."""


@dataclass(frozen=True)
class NetworkGame:
    """A game for which a network can be trained."""

    name: str
    inputs: int
    """Number of inputs of the network."""
    play: Callable[..., bytes]
    """`lab._training.chess_self_play`, or the counterpart for another game."""
    samples: Callable[[bytes, Any], tuple[bytes, bytes, bytes, bytes, bytes]]
    """`lab._training.chess_samples`, or the counterpart for another game."""
    linear: Callable[[], LinearWeights]
    """Loads the weights of the linear evaluation."""
    evaluation: Callable[[], Any]
    """Creates the core's linear evaluation."""
    network: Callable[[bytes], Any]
    """Creates the core's network from its bytes."""


GAMES = {
    "chess": NetworkGame(
        "chess",
        networks.INPUTS["chess"],
        _training.chess_self_play,
        _training.chess_samples,
        chess_evaluation.weights,
        chess_evaluation.native_evaluation,
        _native.ChessNetwork,
    ),
    "xiangqi": NetworkGame(
        "xiangqi",
        networks.INPUTS["xiangqi"],
        _training.xiangqi_self_play,
        _training.xiangqi_samples,
        xiangqi_evaluation.weights,
        xiangqi_evaluation.native_evaluation,
        _native.XiangqiNetwork,
    ),
}


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog="python -m lab.training.self_play",
        description="Let the strong search play against itself, to generate games for training a network.",
    )
    p.add_argument("game", choices=sorted(GAMES))
    p.add_argument("--out", type=Path, required=True, help="file to append the games to")
    p.add_argument("--games", type=positive, default=10_000)
    p.add_argument("--first", type=natural, default=0, help="number of the first game")
    p.add_argument("--nodes", type=positive, default=1000, help="nodes searched for each move")
    p.add_argument("--network", type=Path, help="network to play with (default: the program's own)")
    p.add_argument("--linear", action="store_true", help="play without a network")
    p.add_argument(
        "--random-plies", type=natural, nargs=2, default=[6, 13], metavar=("FROM", "TO"),
        help="minimum and maximum number of random moves in an opening (default: 6 13)",
    )  # fmt: skip
    p.add_argument("--seed", type=natural, default=1)
    p.add_argument("--threads", type=positive, default=2)
    p.add_argument("--minutes", type=float, help="start no new games after this many minutes")
    return p


def _network(game: NetworkGame, options: argparse.Namespace) -> Any:
    if options.linear:
        return None
    weights = networks.read(options.network) if options.network else networks.weights(game.name)
    return None if weights is None else game.network(weights)


def main(arguments: Sequence[str] | None = None) -> None:
    p = parser()
    options = p.parse_args(arguments)
    game = GAMES[options.game]
    began = time.monotonic()
    try:
        network = _network(game, options)
        evaluation = game.evaluation()
        with options.out.open("ab") as file:
            for first in range(options.first, options.first + options.games, _GAMES_PER_WRITE):
                if options.minutes is not None and time.monotonic() - began > 60 * options.minutes:
                    break
                count = min(_GAMES_PER_WRITE, options.first + options.games - first)
                records = game.play(
                    evaluation, network, options.seed, first, count, options.nodes,
                    (options.random_plies[0], options.random_plies[1]), options.threads,
                )  # fmt: skip
                file.write(records)
                file.flush()
                seconds = time.monotonic() - began
                say(f"games {first} to {first + count - 1}: {len(records)} bytes, {seconds:.0f} s")
    except (OSError, ValueError) as exc:
        p.error(str(exc))


if __name__ == "__main__":
    main(sys.argv[1:])
