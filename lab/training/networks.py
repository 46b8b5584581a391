"""Trains a network that corrects the evaluation of chess or xiangqi: `python -m lab.training.networks`.

The data are games that the program played against itself (`lab.training.self_play`). The target for a quiet
position is a weighted mean of two numbers: the expected result given the search's score, and the game's
result. The prediction uses the linear evaluation and the network together; the loss is the squared error.
Needs PyTorch (``pip install 'desdemona[train]'``).
"""

import argparse
import hashlib
import json
import lzma
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from lab.training.network_samples import Samples
from lab.training.othello_patterns import natural, positive, say
from lab.training.self_play import GAMES

FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9, "lc": 0, "lp": 1, "pb": 1}]


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog="python -m lab.training.networks",
        description="Learn a correction of the evaluation from games that the program played against itself.",
    )
    p.add_argument("game", choices=sorted(GAMES))
    p.add_argument("files", type=Path, nargs="+", help="files of games written by lab.training.self_play")
    p.add_argument(
        "--out",
        type=Path,
        required=True,
        help="output file for the network; the card is written to the same folder",
    )
    p.add_argument("--epochs", type=positive, default=4, help="passes over the positions")
    p.add_argument("--batch", type=positive, default=8192)
    p.add_argument("--rate", type=float, default=1.5e-3, help="peak learning rate")
    p.add_argument(
        "--result-share", type=float, default=0.1, help="weight of the game's result in the target, 0 .. 1"
    )
    p.add_argument("--seed", type=natural, default=1)
    p.add_argument("--device", default="", help="PyTorch device (default: a graphics card if there is one)")
    p.add_argument("--threads", type=positive, help="number of PyTorch threads on the processor")
    return p


def main(arguments: Sequence[str] | None = None) -> None:
    arguments = sys.argv[1:] if arguments is None else arguments
    p = parser()
    options = p.parse_args(arguments)
    try:
        from lab.training.network_descent import learn
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise SystemExit("networks: learning needs PyTorch: pip install 'desdemona[train]'") from None
    game = GAMES[options.game]
    try:
        samples = Samples(game, options.files)
        say(f"{len(samples.scores):,} positions, {int(samples.held_out.sum()):,} of them held out")
        weights, facts = learn(game, samples, options, say)
    except (OSError, ValueError) as exc:
        p.error(str(exc))
    packed = lzma.compress(weights, format=lzma.FORMAT_XZ, filters=FILTERS)
    options.out.write_bytes(packed)
    card = {
        "command": shlex.join(["python", "-m", "lab.training.networks", *arguments]),
        "data": "games that the program played against itself; nothing else",
        "games": samples.files,
        "positions": len(samples.scores),
        "seed": options.seed,
        **facts,
        "evaluation_sha256": hashlib.sha256(game.linear().to_bytes()).hexdigest(),
        "sha256": hashlib.sha256(weights).hexdigest(),
    }
    options.out.with_suffix(".json").write_text(json.dumps(card, indent=2) + "\n")
    say(f"{options.out}: {len(packed) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
