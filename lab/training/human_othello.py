"""Trains the human-move model for Othello: `python -m lab.training.human_othello --wthor FOLDER`.

Reads the WTHOR games (the ``.wtb`` files of the French Othello Federation) and trains a small network to
predict the probability of each move (`lab.training.human_othello_graph` describes its architecture).  The
network is written as ONNX, with its card in the same folder.  Games of the years 2016-2019 are never used
for training: they are the validation set.

Training needs PyTorch (``pip install 'desdemona[train]'``) and ends after ``--minutes``; longer training
gives a better network. Ctrl-C ends it early and writes the current network; ``--resume`` continues from the
checkpoint, optionally with a larger ``--minutes``. ``--evaluate FILE`` only measures a network; it does not
need PyTorch.
"""

import argparse
import hashlib
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from engine.human.model import BadModel
from engine.human.onnx import OnnxNetwork
from engine.human.othello import DEFAULT_FILE, OthelloHumanModel
from lab.training.human_othello_data import (
    VALIDATION,
    NoUsableGames,
    Positions,
    measure,
    openings_of,
    read_wthor,
    replay,
    report,
)
from lab.training.human_othello_graph import to_onnx
from lab.training.othello_patterns import natural, positive, say

NAME = "othello-wthor"
LICENCE = "GPL-3.0-or-later"
_REPORT_INTERVAL_S = 20.0


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog="python -m lab.training.human_othello",
        description="Train a model of human Othello moves on WTHOR games, or measure a network.",
    )
    p.add_argument("--wthor", type=Path, required=True, metavar="FOLDER", help="the .wtb files")
    p.add_argument(
        "--out",
        type=Path,
        default=DEFAULT_FILE,
        help="output file for the network; its card is written to the same folder",
    )
    p.add_argument("--minutes", type=_minutes, default=75.0, help="how long to train (default: %(default)g)")
    p.add_argument("--batch", type=positive, default=512, help="positions per step (default: %(default)s)")
    p.add_argument("--seed", type=natural, default=1)
    p.add_argument(
        "--threads", type=positive, default=1, help="threads for the network (default: %(default)s)"
    )
    p.add_argument(
        "--checkpoint",
        type=Path,
        metavar="FILE",
        help="file in which to save the state every three minutes, and at the end",
    )
    p.add_argument("--resume", action="store_true", help="continue from the checkpoint")
    p.add_argument(
        "--evaluate", type=Path, metavar="FILE", help="only measure this network, on the games of 2016-2019"
    )
    p.add_argument(
        "--games", type=natural, default=0, metavar="N", help="measure on this many random games (0: all)"
    )
    p.add_argument(
        "--without-openings", action="store_true", help="measure the network without its table of openings"
    )
    p.add_argument("--card", action="store_true", help="with --evaluate: write the results into the card")
    return p


def _minutes(text: str) -> float:
    minutes = float(text)
    if not 0 < minutes < 1e6:
        raise argparse.ArgumentTypeError(f"must be more than 0, not {text}")
    return minutes


def main() -> None:
    options = parser().parse_args()
    try:
        if options.evaluate is not None:
            _evaluate(options)
        else:
            _learn(options)
    except (NoUsableGames, BadModel, ValueError) as error:
        raise SystemExit(f"human_othello: {error}") from None
    except KeyboardInterrupt:
        raise SystemExit("human_othello: interrupted; nothing was written") from None
    except OSError as error:
        raise SystemExit(f"human_othello: {error.filename}: {error.strerror}") from None


def _learn(options: argparse.Namespace) -> None:
    if options.resume and options.checkpoint is None:
        raise ValueError("--resume needs --checkpoint FILE")
    try:
        import torch

        from lab.training.human_othello_net import Budget, TrainingState, learn
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ValueError("training needs PyTorch: pip install 'desdemona[train]'") from None
    started = time.monotonic()
    games = read_wthor(options.wthor)
    positions = replay(games)
    known = ~np.isin(positions.year, VALIDATION)
    learned = positions.of(known & (positions.moves > 1))
    if not len(learned):
        raise NoUsableGames(f"{options.wthor}: no games to train on")
    del positions
    count, years = len(np.unique(learned.game)), (int(learned.year.min()), int(learned.year.max()))
    say(
        f"{count:,} games of {years[0]}-{years[1]} excluding {VALIDATION[0]}-{VALIDATION[-1]}, "
        f"{len(learned):,} positions with a choice ({time.monotonic() - started:.0f} s)"
    )
    state = TrainingState.resume(options.checkpoint) if options.resume else TrainingState.fresh(options.seed)
    budget = Budget(options.minutes, options.batch, options.threads)
    whole = learn(state, learned, budget, options.checkpoint, say)
    openings = openings_of(learned)
    text = f"Predicts human Othello moves. Trained on {count} games of WTHOR, {years[0]}-{years[1]}."
    content = to_onnx(state.averaged(), NAME, LICENCE, text, openings)
    options.out.write_bytes(content)
    say(f"{options.out}: {len(content):,} bytes{'' if whole else ' (interrupted)'}")
    card = {
        "name": NAME,
        "file": options.out.name,
        "licence": LICENCE,
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
        "data": {
            "source": "WTHOR, the database of tournament games of the French Othello Federation",
            "learned_from": f"{years[0]}-{years[1]}, without {VALIDATION[0]}-{VALIDATION[-1]}",
            "games": count,
            "positions_with_a_choice": len(learned),
            "openings": len(openings.keys),
        },
        "learning": {
            "command": (
                f"python -m lab.training.human_othello --wthor FOLDER --minutes {options.minutes:g} "
                f"--batch {options.batch} --seed {options.seed} --threads {options.threads}"
            ),
            "seed": options.seed,
            "steps": state.steps,
            "positions_shown": state.seen,
            "minutes": round(state.elapsed_s / 60, 1),
            "core_minutes": round(state.cpu_s / 60, 1),
            "to_the_end": whole,
            "torch": str(torch.__version__),
        },
    }
    _write_card(options.out, card)
    _show_report(options.out, _measured(options, options.out), options.out)


def _evaluate(options: argparse.Namespace) -> None:
    if options.card and options.without_openings:
        raise ValueError("--card describes the whole model: omit --without-openings")
    found = _measured(options, options.evaluate)
    _show_report(options.evaluate, found, options.evaluate if options.card else None)


def _measured(options: argparse.Namespace, file: Path) -> dict[str, Any]:
    """Measure a network on the games of the validation years, or on a sample of these games."""
    model = OthelloHumanModel(OnnxNetwork.open(file), openings=not options.without_openings)
    positions = replay(read_wthor(options.wthor, VALIDATION))
    if options.games:
        positions = some_games(positions, options.games)
    shown_s = time.monotonic()

    def progress(done: int) -> None:
        nonlocal shown_s
        if time.monotonic() - shown_s >= _REPORT_INTERVAL_S:
            shown_s = time.monotonic()
            say(f"measured on {done:,} of {len(positions):,} positions")

    found = report(measure(model, positions, progress), positions)
    return {"sha256": model.info.sha256, "years": f"{VALIDATION[0]}-{VALIDATION[-1]}", **found}


def some_games(positions: Positions, count: int) -> Positions:
    """The positions of a fixed sample of games."""
    games = np.unique(positions.game)
    chosen = np.random.default_rng(0).permutation(games)[:count]
    return positions.of(np.isin(positions.game, chosen))


def _show_report(file: Path, found: dict[str, Any], card_of: Path | None) -> None:
    say(f"{file}, games of {found['years']} (never used for training): {found['games']:,}")
    say(f"{'':>18} {'positions':>9} {'top-1':>7} {'95 %':>15} {'top-3':>7} {'log-loss':>8}")
    rows = [("with a choice", found["with_a_choice"]), ("forced moves too", found["forced_moves_too"])]
    rows += [(f"year {year}", row) for year, row in found["by_year"].items()]
    rows += [(f"plies {plies}", row) for plies, row in found["by_ply"].items()]
    for name, row in rows:
        low, high = row["top1_interval"]
        say(
            f"{name:>18} {row['positions']:9,} {row['top1']:7.4f} {low:7.4f}-{high:.4f} {row['top3']:7.4f} "
            f"{row['log_loss']:8.4f}"
        )
    if card_of is not None:
        card = json.loads(card_path(card_of).read_text(encoding="utf-8"))
        if card.get("sha256") != found["sha256"]:
            raise BadModel(f"{card_path(card_of)}: this is the card of another file, not of {card_of}")
        card["validation"] = {key: value for key, value in found.items() if key != "sha256"}
        _write_card(card_of, card)


def card_path(file: Path) -> Path:
    """Path of a network's card."""
    return file.with_suffix(".json")


def _write_card(file: Path, card: dict[str, Any]) -> None:
    card_path(file).write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
