"""Learns the weights of the Othello evaluation: `python -m lab.training.othello_patterns`.

Needs only the rules of the game; the method is *backward minimax sweeps* (K. Engel, "Learning a Reversi Board
Evaluator with Minimax").  A sweep first plays games with the current weights on both sides.  Then it learns
the game's sixty stages, one for each number of empty squares, from the end backwards: positions near the end
are labelled with their exact results, all others with a short full-width search whose leaves fall into stages
just learned. These labels are far less noisy than the results of games, but results look further ahead, so
the result of a well-played game contributes to the labels of its positions. In the first sweep, games are
played by rules of thumb; each later sweep has better games and so more realistic positions.

Finally, each stage gets a constant such that searches of odd and of even depth agree on average, because
scores of both kinds are compared after a pass and with results of other depths.

The weights are written to ``engine/games/othello_weights.xz`` (LZMA of little-endian 16-bit integers, stage
after stage in the layout of ``engine/native/othello/patterns.hpp``), with a card in the same folder that
documents how they were produced. The same seed gives the same weights, regardless of the number of threads.
"""

import argparse
import json
import lzma
import math
import shlex
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import engine
from lab import _training

WEIGHTS = Path(engine.__file__).parent / "games" / "othello_weights.xz"
STAGES = 60
PHASES = {f"{least + 1}-{least + 10}": range(least, least + 10) for least in range(0, STAGES, 10)}
"""Stages grouped by number of empty squares, for the card."""
SETTINGS = ("sweeps", "play_depth", "well_played", "result_share", "label_depth", "exact_empties", "epochs",
            "first_rate", "last_rate", "shrink", "neighbours", "parity_games", "parity_depth")  # fmt: skip
"""Options whose values the card records, including default values."""
# Weights are two bytes each; telling LZMA so makes the file a tenth smaller than its strongest preset.
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6, "lc": 3, "lp": 1, "pb": 1}]


def say(text: str) -> None:
    """Print a line of progress."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def natural(text: str, least: int = 0) -> int:
    number = int(text)
    if number < least:
        raise argparse.ArgumentTypeError(f"must be {least} or more, not {number}")
    return number


def positive(text: str) -> int:
    return natural(text, 1)


def odd(text: str) -> int:
    number = int(text)
    if number not in range(1, 12, 2):
        raise argparse.ArgumentTypeError(f"must be odd, 1 .. 11, not {number}")
    return number


def numbers(text: str) -> list[int]:
    return [positive(part) for part in text.split(",")]


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog="python -m lab.training.othello_patterns",
        description="Learn the weights of the Othello evaluation from the rules alone.",
    )
    p.add_argument(
        "--out",
        type=Path,
        default=WEIGHTS,
        help="output file for the weights; the card is written to the same folder",
    )
    p.add_argument("--start", type=Path, help="initial weights (default: rules of thumb)")
    p.add_argument(
        "--sweeps", type=numbers, default=[50_000, 150_000, 300_000], metavar="N,N,...",
        help="positions per stage, for each sweep (default: 50000,150000,300000)",
    )  # fmt: skip
    p.add_argument("--seed", type=natural, default=1)
    p.add_argument("--threads", type=positive, default=2)
    p.add_argument("--play-depth", type=positive, default=2, help="search depth of the players, in plies")
    p.add_argument(
        "--well-played", type=float, default=0.5, metavar="SHARE",
        help="fraction of games with only 8 to 14 random plies and a search two plies deeper",
    )  # fmt: skip
    p.add_argument(
        "--result-share", type=float, default=0.4, metavar="SHARE",
        help="weight of a well-played game's final margin in labels that are not exact",
    )  # fmt: skip
    p.add_argument(
        "--label-depth", type=int, default=4,
        help="search depth for labels, at least 3 plies; every other label uses one ply less",
    )  # fmt: skip
    p.add_argument(
        "--exact-empties",
        type=int,
        default=12,
        help="labels are exact up to this many empty squares, 4 .. 24",
    )
    p.add_argument("--epochs", type=positive, default=12, help="passes over a stage's positions")
    p.add_argument("--first-rate", type=float, default=0.008)
    p.add_argument("--last-rate", type=float, default=0.0003)
    p.add_argument(
        "--shrink", type=float, default=150.0, metavar="N",
        help="strength of the pull of each weight towards its initial value, in equivalent positions",
    )  # fmt: skip
    p.add_argument(
        "--neighbours", type=float, default=0.5, help="fraction of each neighbouring stage's positions to add"
    )
    p.add_argument(
        "--parity-games", type=natural, default=200, metavar="N",
        help="games in which searches of odd and of even depth are compared at the end; 0: none",
    )  # fmt: skip
    p.add_argument(
        "--parity-depth", type=odd, default=7, metavar="PLIES",
        help="the odd depth; the even depth is one ply more",
    )  # fmt: skip
    p.add_argument(
        "--checks", type=natural, default=200, metavar="N",
        help="positions to compare with exact results at the end; 0: none",
    )  # fmt: skip
    p.add_argument(
        "--check-empties", type=numbers, default=[14, 16, 18, 20], metavar="N,N,...",
        help="numbers of empty squares in these positions (default: 14,16,18,20)",
    )  # fmt: skip
    return p


def error_by_phase(held_out: Sequence[int], errors: Sequence[float]) -> dict[str, float]:
    """Root mean square error on held-out positions, in discs, by number of empty squares."""
    phases = {}
    for name, stages in PHASES.items():
        count = sum(held_out[s] for s in stages)
        if count:
            phases[name] = round(math.sqrt(sum(held_out[s] * errors[s] ** 2 for s in stages) / count), 2)
    return phases


def compared(pairs: Sequence[tuple[int, int]]) -> dict[str, float]:
    """Errors, in discs, of evaluations compared with exact results; `pairs` contains both in centidiscs."""
    n = len(pairs)
    mean_x, mean_y = (sum(pair[i] for pair in pairs) / n for i in (0, 1))
    sxx = sum((x - mean_x) ** 2 for x, _ in pairs)
    syy = sum((y - mean_y) ** 2 for _, y in pairs)
    sxy = sum((x - mean_x) * (y - mean_y) for x, y in pairs)
    rest = syy - (sxy * sxy / sxx if sxx else 0.0)
    return {
        "positions": n,
        "mean_absolute_error": round(sum(abs(x - y) for x, y in pairs) / n / 100, 2),
        "rms_error": round(math.sqrt(sum((x - y) ** 2 for x, y in pairs) / n) / 100, 2),
        "rms_error_rescaled": round(math.sqrt(max(0.0, rest) / n) / 100, 2),
    }


def train(options: argparse.Namespace) -> tuple[bytes, dict[str, Any]]:
    """Return the weights as `OthelloEvaluation` reads them, and the card's description of their training.

    Raises:
        ValueError: A setting is out of range, or the initial weights have the wrong length.
    """
    settings = (
        options.label_depth, options.exact_empties, options.epochs, options.first_rate, options.last_rate,
        options.shrink, options.neighbours, options.result_share,
    )  # fmt: skip
    # With nothing to learn from, this only checks the settings, before the first sweep's games are played.
    _training.OthelloTrainer(options.seed, 1).learn(0, *settings)
    trainer = _training.OthelloTrainer(options.seed, options.threads)
    if options.start is not None:
        trainer.set_weights(lzma.decompress(options.start.read_bytes()))
    learned = []
    began = time.monotonic()
    for number, per_stage in enumerate(options.sweeps, start=1):
        since = time.monotonic()
        games = trainer.play(per_stage, options.play_depth, options.well_played)
        say(f"sweep {number}: {games} games in {time.monotonic() - since:.0f} s")
        positions: list[int] = []
        held_out: list[int] = []
        for stage in range(STAGES):
            count, held, error, label_s, descent_s = trainer.learn(stage, *settings)
            positions.append(count)
            held_out.append(held)
            say(
                f"  {stage + 1:2} empty: {count:7} positions, error {error:5.2f} discs,"
                f" labels {label_s:.1f} s, descent {descent_s:.1f} s"
            )
        learned.append(
            {
                "games": games,
                "positions": sum(positions),
                "held_out": sum(held_out),
                "rms_error_by_empties": error_by_phase(
                    held_out, [trainer.error(stage) for stage in range(STAGES)]
                ),
            }
        )
        say(f"sweep {number}: error by empty squares {learned[-1]['rms_error_by_empties']}")
    constants: list[float] = []
    if options.parity_games:
        constants = trainer.settle_parity(options.parity_games, options.parity_depth)
        shown = ", ".join(f"{empties}: {constants[empties]:.2f}" for empties in range(5, 61, 5))
        say(f"parity constants in discs by empty squares: {shown}")
    checks = {}
    for empties in options.check_empties if options.checks else ():
        checks[str(empties)] = compared(trainer.check(empties, options.checks))
        say(f"{empties} empty, against exact results: {checks[str(empties)]}")
    say(f"{time.monotonic() - began:.0f} s in total")
    return trainer.weights, {
        "seed": options.seed,
        "data": "positions of games that the program played against itself, and their results; nothing else",
        "settings": {name: getattr(options, name) for name in SETTINGS},
        "sweeps": learned,
        "parity_constants_by_empties": [round(constant, 3) for constant in constants],
        "against_exact_results": checks,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the core would only handle it between two stages
    arguments = sys.argv[1:] if arguments is None else arguments
    p = parser()
    options = p.parse_args(arguments)
    if not options.out.parent.is_dir():
        p.error(f"{options.out.parent} is not a folder")
    try:
        weights, facts = train(options)
    except (ValueError, OSError, lzma.LZMAError) as exc:
        p.error(str(exc))
    packed = lzma.compress(weights, filters=FILTERS)
    options.out.write_bytes(packed)
    command = shlex.join(["python", "-m", "lab.training.othello_patterns", *arguments])
    card = {"command": command, **facts, "units": "1/25 disc", "matches": []}
    options.out.with_suffix(".json").write_text(json.dumps(card, indent=2) + "\n")
    say(f"{options.out}: {len(packed) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
