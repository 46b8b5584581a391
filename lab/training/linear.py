"""Learns the weights of a linear evaluation by self-play, given only the rules.

The shared part of `lab.training.chess` and `lab.training.xiangqi`.  Each generation plays games with the
current weights and the strong search, after random openings. The label of each position is a weighted mean of
the search's score, the scores of the following positions (with decreasing weights) and the game's result.
Positions reached by one or two random moves from the game, many with hanging pieces, are labelled with the
search's score alone. Adam fits the weights to these labels by minimising the log-loss of the expected results
1 / (1 + exp(-evaluation / s)); weights are pulled towards plain material and neighbouring weights. The next
generation plays with the new weights, and learns from its own positions and those of the previous generation.

Finally, s is fitted to the results of games played with the final weights and a deeper search. After each
generation the weights are written to a JSON file that also documents how they were produced. The same seed
gives the same weights, regardless of the number of threads.
"""

import argparse
import json
import re
import shlex
import signal
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.games.linear_weights import BadWeights, Groups, from_card, group_offsets
from lab._training import AnyTrainer
from lab.training.othello_patterns import natural, numbers, positive, say
from lab.training.othello_result import Fit, Sample, fitted, log_loss

_MAX_SAMPLES = 20_000
"""Number of positions used to fit s."""
_MIDDLE = 64
_SCALES = 100.0, 600.0
"""Bounds on s for the labels; needed because results hardly depend on scores while the weights are poor."""


@dataclass(frozen=True)
class Subject:
    """A game whose evaluation is learned."""

    program: str
    """Module of the program, for instance ``lab.training.chess``."""
    out: Path
    """Path of the file with the weights."""
    trainer: Callable[[int, int], AnyTrainer]
    """Creates a trainer from a seed and a number of threads."""
    groups: Groups
    material: Mapping[str, int]
    """Initial weights in centi-units, by group; all other groups start at 0."""
    anchor: tuple[str, range, int]
    """A group, some of its features, and the mean that their weights have after scaling."""
    shapes: Mapping[str, tuple[int, int]]
    """Rows and columns of each group whose neighbouring features should have similar weights."""
    unit: str
    """Name of the unit, which is 100 centi-units."""


def start_weights(subject: Subject) -> bytes:
    """The initial weights: plain material."""
    pairs = array("h")
    for name, size in subject.groups.items():
        pairs.extend([subject.material.get(name, 0)] * (2 * size))
    return pairs.tobytes()


def neighbours(subject: Subject) -> list[tuple[int, int]]:
    """Pairs of features that should have similar weights."""
    first = group_offsets(subject.groups)

    def pairs_of(name: str, rows: int, columns: int) -> Iterator[tuple[int, int]]:
        base = first[name]
        for row in range(rows):
            for column in range(columns):
                feature = base + columns * row + column
                if column + 1 < columns:
                    yield feature, feature + 1
                if row + 1 < rows:
                    yield feature, feature + columns

    return [pair for name, shape in subject.shapes.items() for pair in pairs_of(name, *shape)]


def scaled(weights: bytes, factor: float) -> bytes:
    return array("h", [round(weight * factor) for weight in array("h", weights)]).tobytes()


def unit_scale_factor(subject: Subject, weights: bytes) -> float:
    """The factor that scales the weights to the game's unit (`Subject.unit`)."""
    name, places, worth = subject.anchor
    first = group_offsets(subject.groups)[name]
    pairs = array("h", weights)
    held = [pairs[2 * (first + place) + half] for place in places for half in (0, 1)]
    mean = sum(held) / len(held)
    return worth / mean if mean > 0 else 1.0


def accept_weights(trainer: AnyTrainer, subject: Subject) -> float:
    """Replace the old weights with the fitted ones, scaled to the game's unit, without a test match.

    Returns:
        The factor by which the fitted weights are scaled.
    """
    factor = unit_scale_factor(subject, trainer.weights)
    trainer.weights = scaled(trainer.weights, factor)
    return factor


def samples_of(scored: Sequence[tuple[int, int, int]]) -> list[Sample]:
    """Samples for `lab.training.othello_result`, with the game phase in place of the empty squares."""
    step = max(1, len(scored) // _MAX_SAMPLES)
    return [Sample(score, middle, result / 2) for score, middle, result in scored[::step]]


def parser(subject: Subject) -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog=f"python -m {subject.program}", description="Learn an evaluation from the rules alone."
    )
    p.add_argument("--out", type=Path, default=subject.out, help="file for the weights")
    p.add_argument("--start", type=Path, help="initial weights (default: plain material)")
    p.add_argument(
        "--games", type=numbers, default=[1000, 1500, 1500, 1500], metavar="N,N,...",
        help="number of games in each generation (default: 1000,1500,1500,1500)",
    )  # fmt: skip
    p.add_argument(
        "--depths", type=numbers, default=[4, 4, 5, 6], metavar="N,N,...",
        help="plies searched in each generation (default: 4,4,5,6)",
    )  # fmt: skip
    p.add_argument(
        "--asides",
        type=natural,
        default=1,
        help="positions off the game's line for each position in the game",
    )
    p.add_argument(
        "--random-plies", type=natural, nargs=2, default=[4, 14], metavar=("FROM", "TO"),
        help="number of random moves in an opening (default: 4 14)",
    )  # fmt: skip
    p.add_argument("--seed", type=natural, default=1)
    p.add_argument("--threads", type=positive, default=2)
    p.add_argument("--epochs", type=positive, default=30, help="passes over the positions")
    p.add_argument("--first-rate", type=float, default=4.0)
    p.add_argument("--last-rate", type=float, default=0.1)
    p.add_argument(
        "--trace", type=float, default=0.95, help="weight of the next position's label in a position's label"
    )
    p.add_argument(
        "--pull",
        type=float,
        default=2.0,
        metavar="N",
        help="strength of the pull towards plain material, in equivalent positions",
    )
    p.add_argument(
        "--smooth",
        type=float,
        default=50.0,
        metavar="N",
        help="strength of the pull towards neighbouring weights, in equivalent positions",
    )
    p.add_argument(
        "--match-games",
        type=natural,
        default=40,
        help="match games of each generation against the previous one",
    )
    p.add_argument("--match-nodes", type=positive, default=2000, help="nodes per move in these matches")
    p.add_argument(
        "--scale-games", type=positive, default=200, help="games for fitting s in the expected result"
    )
    p.add_argument("--scale-depth", type=positive, default=8, help="plies searched in these games")
    return p


def _rounded(figures: Iterable[float], digits: int = 4) -> list[float]:
    return [round(figure, digits) for figure in figures]


def train(subject: Subject, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the card, complete except for the command, after each generation and at the end.

    Raises:
        ValueError: A setting is out of range, or the initial weights belong to a different evaluation.
    """
    if len(options.games) != len(options.depths):
        raise ValueError("--depths and --games must have the same length")
    trainer = subject.trainer(options.seed, options.threads)
    trainer.set_start(start_weights(subject))
    if options.start is not None:
        try:
            trainer.weights = from_card(json.loads(options.start.read_text()), subject.groups).to_bytes()
        except (BadWeights, KeyError) as exc:
            raise ValueError(f"{options.start}: {exc}") from None
    pairs = neighbours(subject)
    random_plies = (options.random_plies[0], options.random_plies[1])
    generations: list[dict[str, Any]] = []
    matches: list[dict[str, Any]] = []
    facts = {
        "seed": options.seed,
        "data": "games that the program played against itself; nothing else",
        "unit": f"1/100 {subject.unit}",
        "generations": generations,
        "matches": matches,
    }
    began = time.monotonic()
    for number, (games, depth) in enumerate(zip(options.games, options.depths, strict=True), start=1):
        since = time.monotonic()
        old = trainer.weights
        trainer.forget()
        positions, held_out = trainer.play(games, depth, options.asides, random_plies)
        say(f"generation {number}: {games} games, {positions} positions, {time.monotonic() - since:.0f} s")
        samples = samples_of(trainer.scored())
        scale = max(_SCALES[0], min(_SCALES[1], fitted(samples, linear=False).a))
        before = trainer.error(scale, options.trace)
        after = trainer.fit(
            options.epochs, scale, options.trace, options.first_rate, options.last_rate, options.pull,
            options.smooth, pairs,
        )  # fmt: skip
        factor = accept_weights(trainer, subject)
        say(
            f"  s {scale:.0f}; log-loss {before[0]:.4f} -> {after[0]:.4f},"
            f" rms {before[1]:.4f} -> {after[1]:.4f}; unit x {factor:.2f}; {time.monotonic() - since:.0f} s"
        )
        generations.append(
            {
                "games": games,
                "depth": depth,
                "positions": positions,
                "held_out": held_out,
                "log_loss_before_after": _rounded((before[0], after[0])),
                "rms_before_after": _rounded((before[1], after[1])),
            }
        )
        if options.match_games:
            wins, draws, losses = trainer.match(old, options.match_games, options.match_nodes)
            say(f"  against the previous weights: {wins} wins, {draws} draws, {losses} losses")
            matches.append(
                {
                    "of": f"generation {number} against {number - 1}",
                    "nodes": options.match_nodes,
                    "wins": wins,
                    "draws": draws,
                    "losses": losses,
                }
            )
        yield {**facts, **expected_scale(samples), "weights": to_groups(trainer.weights, subject.groups)}
    trainer.play(options.scale_games, options.scale_depth, 0, random_plies)
    expected = expected_scale(samples_of(trainer.scored()))
    say(f"expected result: {expected}; {time.monotonic() - began:.0f} s in total")
    yield {**facts, **expected, "weights": to_groups(trainer.weights, subject.groups)}


def expected_scale(samples: Sequence[Sample]) -> dict[str, Any]:
    """The card's entry for s: its values in the endgame and in the middlegame, and the quality of the fit."""
    if not samples:
        raise ValueError("too few games to fit the expected result")
    fit, constant = fitted(samples), fitted(samples, linear=False)
    if fit.a < 1 or fit.a + _MIDDLE * fit.b < 1:  # too few games to tell the phases apart
        fit = Fit(constant.a, 0.0)
    return {
        "expected_scale_centi": {"end": round(fit.a, 1), "middle": round(fit.a + _MIDDLE * fit.b, 1)},
        "expected_scale_fit": {
            "positions": len(samples),
            "log_loss": round(log_loss(fit, samples), 4),
            "log_loss_of_one_s": round(log_loss(constant, samples), 4),
        },
    }


def to_groups(pairs: bytes, groups: Groups) -> dict[str, dict[str, list[int]]]:
    """The ``weights`` part of a card, from bytes as `LinearWeights.to_bytes` returns them."""
    pair_of = np.frombuffer(pairs, "<i2").reshape(sum(groups.values()), 2)
    halves = {
        name: pair_of[first : first + groups[name]].T.tolist()
        for name, first in group_offsets(groups).items()
    }
    return {name: {"middle": middle, "end": end} for name, (middle, end) in halves.items()}


def card_text(card: Mapping[str, Any]) -> str:
    """JSON with each list of numbers on one line."""
    text = json.dumps(card, indent=2)
    return re.sub(r"\[\n\s+([^][{}]*?)\n\s+\]", lambda found: f"[{' '.join(found[1].split())}]", text) + "\n"


def main(subject: Subject, arguments: Sequence[str]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the core would only look at it between two steps
    p = parser(subject)
    options = p.parse_args(arguments)
    if not options.out.parent.is_dir():
        p.error(f"{options.out.parent} is not a folder")
    command = shlex.join(["python", "-m", subject.program, *arguments])
    try:
        for card in train(subject, options):
            options.out.write_text(card_text({"command": command, **card}))
    except (ValueError, OSError) as exc:
        p.error(str(exc))
