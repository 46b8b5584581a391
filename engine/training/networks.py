"""Learns an evaluation network for chess or xiangqi: `python -m engine.training.networks`.

It learns from games that the program played against itself (`engine.training.self_play`).  The target for a
quiet position is a mean of the expected result that the search's score promised and of the game's result; the
loss is the squared error.  Needs PyTorch (``pip install 'desdemona[train]'``); fast on a graphics card.
"""

import argparse
import hashlib
import json
import lzma
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.training.othello_patterns import natural, positive, say
from engine.training.self_play import GAMES, NetworkGame

HELD_OUT = 50
"""One game in so many is not learned from."""
_CHUNK = 8_000_000
"""Bytes of records expanded at a time."""
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9, "lc": 0, "lp": 1, "pb": 1}]


class Samples:
    """Positions to learn from.

    Attributes:
        inputs: Shape (n, 2, 32): the mover's view, then the other's; filled up with the number of inputs.
        scores: Centi-units, for the mover.
        results: 0, 1, 2.
        held_out: Whether the position's game is not learned from.
    """

    def __init__(self, game: NetworkGame, files: Sequence[Path]) -> None:
        """Reads all games of some files.

        Raises:
            OSError: A file cannot be read.
            ValueError: A file does not hold such games.
        """
        parts: list[tuple[NDArray[np.uint16], NDArray[np.int16], NDArray[np.uint8], NDArray[np.bool_]]] = []
        for path in files:
            for number, records in enumerate(_pieces(path.read_bytes(), path)):
                try:
                    inputs, scores, results, games = game.samples(records)
                except ValueError as exc:
                    raise ValueError(f"{path}: {exc}") from None
                places = np.frombuffer(games, np.uint32)
                parts.append(
                    (
                        np.frombuffer(inputs, np.uint16).reshape(-1, 2, 32),
                        np.frombuffer(scores, np.int16),
                        np.frombuffer(results, np.uint8),
                        (places + number) % HELD_OUT == 0,
                    )
                )
        if not parts or not sum(len(part[1]) for part in parts):
            raise ValueError("there are no positions to learn from")
        self.inputs, self.scores, self.results, self.held_out = (
            np.concatenate([part[i] for part in parts]) for i in range(4)
        )


def _pieces(records: bytes, path: Path) -> list[bytes]:
    """Records in chunks of whole games."""
    pieces = []
    start = end = 0
    while end < len(records):
        plies = int.from_bytes(records[end : end + 2], "little")
        end += 6 + 4 * plies
        if end > len(records):
            raise ValueError(f"{path}: the last game is cut off")
        if end - start >= _CHUNK or end == len(records):
            pieces.append(records[start:end])
            start = end
    return pieces


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog="python -m engine.training.networks",
        description="Learn an evaluation network from games that the program played against itself.",
    )
    p.add_argument("game", choices=sorted(GAMES))
    p.add_argument("files", type=Path, nargs="+", help="games, as engine.training.self_play writes them")
    p.add_argument("--out", type=Path, required=True, help="file for the network; the card goes beside it")
    p.add_argument("--epochs", type=positive, default=40, help="rounds through the positions")
    p.add_argument("--batch", type=positive, default=16_384)
    p.add_argument("--rate", type=float, default=1e-3, help="first learning rate")
    p.add_argument(
        "--result-share", type=float, default=0.3, help="share of the game's result in the target; 0 .. 1"
    )
    p.add_argument("--seed", type=natural, default=1)
    p.add_argument("--device", default="", help="of PyTorch; default: a graphics card if there is one")
    p.add_argument("--seconds", type=float, default=1e9, help="shorten the rounds to take about this long")
    return p


def main(arguments: Sequence[str] | None = None) -> None:
    arguments = sys.argv[1:] if arguments is None else arguments
    p = parser()
    options = p.parse_args(arguments)
    try:
        from engine.training.network_descent import learn
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
        "command": shlex.join(["python", "-m", "engine.training.networks", *arguments]),
        "data": "games that the program played against itself; nothing else",
        "positions": len(samples.scores),
        "seed": options.seed,
        **facts,
        "sha256": hashlib.sha256(weights).hexdigest(),
    }
    options.out.with_suffix(".json").write_text(json.dumps(card, indent=2) + "\n")
    say(f"{options.out}: {len(packed) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
