"""Trains a network that predicts people's moves, or measures one: `python -m lab.training.people --help`.

A run saves its state in ``--checkpoint`` every two minutes and continues from that file if it exists, so
that the same command resumes after any interruption. Ctrl-C ends training early and exports the network;
``--export-only`` exports the checkpoint without training on. Training needs PyTorch (``pip install
'desdemona[train]'``); ``--evaluate`` does not.
"""

import argparse
import json
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.human.model import BadModel
from engine.human.onnx import OnnxNetwork, read_model_file
from lab.training.othello_patterns import natural, positive, say
from lab.training.people import measure
from lab.training.people.collection import Collection
from lab.training.people.games import read_collection
from lab.training.people.positions import UnusableGames
from lab.training.people.shapes import KIND, SHAPES, NetworkSize

if TYPE_CHECKING:
    from lab.training.people.export import TrainedNetwork
    from lab.training.people.training import TrainingRun

_DEFAULT_MINUTES = 120.0


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog="python -m lab.training.people",
        description="Train a network that predicts people's moves by rating, or measure one.",
    )
    p.add_argument("--game", required=True, choices=tuple(SHAPES))
    p.add_argument(
        "--games",
        type=Path,
        nargs="+",
        required=True,
        metavar="PATH",
        help="othello: folder of WTHOR files; xiangqi: .tsv or .tsv.gz; chess: .pgn or .pgn.zst",
    )
    p.add_argument("--out", type=Path, metavar="FILE", help="the network (.onnx); its card is beside it")
    p.add_argument("--channels", type=positive, default=64)
    p.add_argument("--blocks", type=positive, default=6)
    p.add_argument(
        "--person-planes", type=natural, default=0, metavar="N", help="planes for a person's vector (othello)"
    )
    budget = p.add_mutually_exclusive_group()
    budget.add_argument("--minutes", type=float, help=f"how long to train (default: {_DEFAULT_MINUTES:g})")
    budget.add_argument("--steps", type=positive, help="how long to train, in steps: reproducible")
    p.add_argument("--batch", type=positive, default=256, help="positions per step (default: %(default)s)")
    p.add_argument("--positions", type=natural, default=20_000_000, help="read at most this many (chess)")
    p.add_argument("--seed", type=natural, default=1)
    p.add_argument("--threads", type=positive, default=1)
    p.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    p.add_argument("--checkpoint", type=Path, metavar="FILE", help="saves and continues the run")
    p.add_argument("--export-only", action="store_true", help="export the checkpoint's network")
    p.add_argument("--evaluate", type=Path, metavar="FILE", help="only measure this network")
    p.add_argument(
        "--images",
        type=int,
        choices=range(1, measure.ALL_IMAGES + 1),
        default=measure.ALL_IMAGES,
        help="images of an Othello position to measure with (default: %(default)s; quick predictions use 1)",
    )
    p.add_argument(
        "--measured", type=natural, default=50_000, metavar="N", help="positions to measure on (0: all)"
    )
    return p


def main() -> None:
    options = parser().parse_args()
    try:
        if options.minutes is not None and not 0 < options.minutes < 1e6:
            raise ValueError(f"--minutes must be more than 0, not {options.minutes:g}")
        if options.person_planes and options.game != "othello":
            raise ValueError("--person-planes needs --game othello")
        if options.evaluate is None and options.out is None:
            raise ValueError("--out FILE is missing")
        if options.export_only and (options.checkpoint is None or not options.checkpoint.exists()):
            raise ValueError("--export-only needs a --checkpoint FILE that exists")
        collection = read_collection(options.game, options.games, options.positions)
        measuring = int(collection.held_out.sum())
        say(f"{len(collection.positions):,} positions, {measuring:,} to measure ({collection.split})")
        if options.evaluate is not None:
            _evaluate(options, collection)
        else:
            _train(options, collection)
    except (UnusableGames, BadModel, ValueError) as error:
        raise SystemExit(f"people: {error}") from None
    except OSError as error:
        raise SystemExit(f"people: {error.filename}: {error.strerror}") from None


def _train(options: argparse.Namespace, collection: Collection) -> None:
    try:
        from lab.training.people.export import export
        from lab.training.people.training import TrainingRun, choose_device
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "onnx"):
            raise
        raise ValueError("training needs PyTorch: pip install 'desdemona[train]'") from None
    import torch

    torch.set_num_threads(options.threads)
    learned = collection.positions.of(~collection.held_out)
    if not len(learned):
        raise UnusableGames("no games to learn from")
    device, precision = choose_device(options.device)
    run = TrainingRun(_settings(options, int(learned.person.max(initial=0))), device, precision)
    if options.checkpoint is not None and options.checkpoint.exists():
        run.resume(options.checkpoint)
        say(f"continues from step {run.steps:,}")
    if not options.export_only:
        with _interrupted() as is_stopped:
            run.train(learned, say, options.checkpoint, is_stopped=is_stopped)
    export(_trained(run, str(precision)), collection, options.out, options.measured, say)


def _settings(options: argparse.Namespace, persons: int) -> Any:
    from lab.training.people.training import TrainingSettings

    size = NetworkSize(options.game, options.channels, options.blocks, options.person_planes)
    minutes = None if options.steps is not None else options.minutes or _DEFAULT_MINUTES
    vectors = persons if options.person_planes else 0
    return TrainingSettings(size, options.seed, options.batch, options.steps, minutes, vectors)


def _trained(run: "TrainingRun", precision: str) -> "TrainedNetwork":
    import torch

    from lab.training.people.export import TrainedNetwork, command_line

    settings = run.settings
    learning = {
        "command": command_line(),
        "seed": settings.seed,
        "steps": run.steps,
        "positions_shown": run.steps * settings.batch,
        "minutes": round(run.elapsed_s / 60, 1),
        "share_of_the_budget": round(min(1.0, run.fraction), 4),
        "device": run.device,
        "precision": precision.removeprefix("torch."),
        "torch": str(torch.__version__),
    }
    return TrainedNetwork(run.averaged(), settings.size, run.averaged_vectors(), learning)


def _evaluate(options: argparse.Namespace, collection: Collection) -> None:
    content = read_model_file(options.evaluate)
    OnnxNetwork(content, str(options.evaluate)).require(KIND, options.game)
    held_out = measure.sample_of_games(collection.positions.of(collection.held_out), options.measured)
    card = measure.measured_card(content, SHAPES[options.game], held_out, say, images=options.images)
    say(json.dumps(card, indent=2))


@contextmanager
def _interrupted() -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C (or SIGTERM) ends training after the current step; the second ends the program."""
    pressed = False

    def note(_signal: int, _frame: object) -> None:
        nonlocal pressed
        pressed = True
        for number, before in zip(signals, handlers, strict=True):
            signal.signal(number, before)

    signals = (signal.SIGINT, signal.SIGTERM)
    handlers = [signal.signal(number, note) for number in signals]
    try:
        yield lambda: pressed
    finally:
        for number, before in zip(signals, handlers, strict=True):
            signal.signal(number, before)


if __name__ == "__main__":
    main()
