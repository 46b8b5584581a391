"""Fits the win probability as a function of the score: `python -m lab.training.othello_result`.

Fits the expected result 1 / (1 + exp(-score / s)), with s = a + b * empty squares, to positions with known
results.  The positions come from the operator's games, or from self-play: a random opening, then the same
full-width search for both sides, then a solved endgame. Copy the fit printed at the end into
``engine/games/othello_result.py``.

A fifth of the games is held out to measure log-loss (a draw counts as half a win) and reliability.  The same
seed gives the same numbers.
"""

import argparse
import math
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from engine._native import othello_moves_mask
from engine.game import WIN_CENTI
from engine.games.othello import Othello, OthelloPosition, flips_mask
from engine.search.reference import INFINITY, Searcher, exact_score
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from lab.training.given_games import BadGameFile, read_games
from lab.training.othello_patterns import natural, positive, say

_GAME = Othello()
_HELD_OUT_ONE_IN = 5  # every fifth game
_MIN_SCALE = 10.0
_PROGRESS_INTERVAL_S = 10.0


class Sample(NamedTuple):
    """A position of a game whose result is known."""

    score_centi: int
    """Score for the side to move, by a search of the chosen depth."""
    empties: int
    result: float
    """Result for the side to move: 1, 1/2 or 0."""


class Fit(NamedTuple):
    """s = a + b * empties."""

    a: float
    b: float

    def expected(self, sample: Sample) -> float:
        scale = max(_MIN_SCALE, self.a + self.b * sample.empties)
        return 1.0 / (1.0 + math.exp(-max(-500.0, min(500.0, sample.score_centi / scale))))


def empties_of(position: OthelloPosition) -> int:
    return 64 - (position.mover | position.waiter).bit_count()


def result_of(score_centi: float) -> float:
    return 1.0 if score_centi > 0 else 0.5 if score_centi == 0 else 0.0


def best_child(searcher: Searcher, position: OthelloPosition, depth: int) -> tuple[int, OthelloPosition]:
    """The score of a full-width search, and the position after the first of the best moves."""
    best, chosen = -INFINITY, position
    for move in _GAME.legal_moves(position):
        child = _GAME.play(position, move)
        score = -searcher.search(child, depth - 1, -INFINITY, -best, StopFlag())
        if score > best:
            best, chosen = score, child
    return best, chosen


def random_opening(rng: random.Random, plies: int) -> OthelloPosition | None:
    """A position after this many random moves; None if the game ended earlier."""
    position = _GAME.initial()
    for _ in range(plies):
        moves = _GAME.legal_moves(position)
        if not moves:
            return None
        position = _GAME.play(position, rng.choice(moves))
    return position


def played_game(searcher: Searcher, start: OthelloPosition, depth: int, solved_empties: int) -> list[Sample]:
    """Play both sides at one depth until the endgame is solved; return the earlier, undecided positions."""
    seen: list[tuple[int, int, int]] = []
    position = start
    while _GAME.legal_moves(position) and empties_of(position) > solved_empties:
        if not othello_moves_mask(position.mover, position.waiter):
            position = _GAME.play(position, _GAME.legal_moves(position)[0])
            continue
        score, child = best_child(searcher, position, depth)
        if abs(score) < WIN_CENTI:
            seen.append((score, empties_of(position), position.side))
        position = child
    end = exact_score(searcher, position, _GAME.most_plies_left(position), StopFlag())
    return [
        Sample(score, empties, result_of(end if side == position.side else -end))
        for score, empties, side in seen
    ]


def self_play(searcher: Searcher, options: argparse.Namespace) -> Iterator[list[Sample]]:
    rng = random.Random(options.seed)  # noqa: S311  (openings, not secrets)
    for _ in range(options.games):
        start = None
        while start is None:
            start = random_opening(rng, rng.randint(*options.random_plies))
        yield played_game(searcher, start, options.depth, options.solved_empties)


def given_games(searcher: Searcher, options: argparse.Namespace) -> Iterator[list[Sample]]:
    """Positions of the operator's finished games, scored by a full-width search.

    Raises:
        BadGameFile: See `lab.training.given_games.read_games`.
        ValueError: A game contains an illegal move.
    """
    rng = random.Random(options.seed)  # noqa: S311
    records = [record for path in options.from_games for record in read_games(path)]
    finished = [record for record in records if record.margin is not None]
    for record in rng.sample(finished, min(options.games, len(finished))):
        position, samples = _GAME.initial(), list[Sample]()
        for square in record.squares:
            if not othello_moves_mask(position.mover, position.waiter):
                position = OthelloPosition(position.waiter, position.mover, 1 - position.side)
            if empties_of(position) <= options.solved_empties:
                break
            score = exact_score(searcher, position, options.depth, StopFlag())
            if abs(score) < WIN_CENTI:
                margin = record.margin or 0
                samples.append(
                    Sample(score, empties_of(position), result_of(margin if position.side == 0 else -margin))
                )
            if not flips_mask(position.mover, position.waiter, square):
                raise ValueError(f"a game has an illegal move at disc {60 - empties_of(position) + 1}")
            position = _GAME.play(position, square)
        yield samples


def log_loss(fit: Fit, samples: Sequence[Sample]) -> float:
    """Mean negative logarithm of the probability given to the actual result, in nats."""
    total = 0.0
    for sample in samples:
        p = min(1 - 1e-12, max(1e-12, fit.expected(sample)))
        total -= sample.result * math.log(p) + (1 - sample.result) * math.log(1 - p)
    return total / len(samples)


def fitted(samples: Sequence[Sample], linear: bool = True) -> Fit:
    """The fit with the lowest log-loss, by Fisher scoring with step halving."""
    fit = Fit(500.0, 0.0)
    loss = log_loss(fit, samples)
    for _ in range(50):
        ga = gb = haa = hab = hbb = 0.0
        for sample in samples:
            scale = max(_MIN_SCALE, fit.a + fit.b * sample.empties)
            p = fit.expected(sample)
            da = -sample.score_centi / scale**2  # of the logit, by a
            db = da * sample.empties
            w = p * (1 - p)
            ga += (sample.result - p) * da
            gb += (sample.result - p) * db
            haa += w * da * da
            hab += w * da * db
            hbb += w * db * db
        det = haa * hbb - hab * hab
        if haa <= 0 or (linear and det <= 1e-12 * haa * hbb):
            break  # degenerate: no scores, or all at one number of empty squares
        step = Fit((ga * hbb - gb * hab) / det, (gb * haa - ga * hab) / det) if linear else Fit(ga / haa, 0)
        for shorter in range(20):
            tried = Fit(fit.a + step.a / 2**shorter, fit.b + step.b / 2**shorter)
            tried_loss = log_loss(tried, samples)
            if tried_loss < loss:
                break
        else:
            break
        gained, fit, loss = loss - tried_loss, tried, tried_loss
        if gained < 1e-10:
            break
    return fit


def reliability(fit: Fit, samples: Sequence[Sample]) -> list[tuple[float, float, int]]:
    """Mean expected result, mean result and count, for each of ten equal ranges of expected results."""
    tenths: list[list[tuple[float, float]]] = [[] for _ in range(10)]
    for sample in samples:
        p = fit.expected(sample)
        tenths[min(9, int(10 * p))].append((p, sample.result))
    return [
        (sum(p for p, _ in tenth) / len(tenth), sum(r for _, r in tenth) / len(tenth), len(tenth))
        for tenth in tenths
        if tenth
    ]


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog="python -m lab.training.othello_result",
        description="Fit the expected result of a game as a function of the score.",
    )
    p.add_argument(
        "--games",
        type=positive,
        default=2000,
        help="games to play, or to sample with --from-games (default: 2000)",
    )
    p.add_argument("--depth", type=positive, default=6, help="plies searched (default: 6)")
    p.add_argument(
        "--random-plies", type=natural, nargs=2, default=[4, 16], metavar=("FROM", "TO"),
        help="number of random moves in an opening (default: 4 16)",
    )  # fmt: skip
    p.add_argument(
        "--solved-empties", type=natural, default=12,
        help="solve games from this many empty squares on; solved positions are not used (default: 12)",
    )  # fmt: skip
    p.add_argument(
        "--from-games",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="sample these games instead (.wtb or text files)",
    )
    p.add_argument("--seed", type=natural, default=1)
    return p


def report(train: Sequence[Sample], held_out: Sequence[Sample]) -> Fit:
    """Fit the scale s, and print the quality of the fit."""
    fit, constant = fitted(train), fitted(train, linear=False)
    base = -math.log(0.5)
    say(f"s = {fit.a:.1f} + {fit.b:.2f} * empties centidiscs")
    say(
        f"log-loss on held-out games: {log_loss(fit, held_out):.4f} (in training: {log_loss(fit, train):.4f})"
    )
    say(
        f"  with a constant s = {constant.a:.1f}: {log_loss(constant, held_out):.4f}; without scores: "
        f"{base:.4f}"
    )
    say("by empty squares: separately fitted s, log-loss with this s and with the overall fit, positions")
    for low in range(0, 60, 8):
        here = [s for s in train if low <= s.empties < low + 8]
        there = [s for s in held_out if low <= s.empties < low + 8]
        if len(here) > 100 and there:
            own = fitted(here, linear=False)
            say(
                f"  {low:2}-{low + 7:2}: {own.a:6.1f}  {log_loss(own, there):.4f}"
                f" {log_loss(fit, there):.4f}  {len(there)}"
            )
    say("reliability on held-out games: expected, observed, positions")
    for expected, observed, count in reliability(fit, held_out):
        say(f"  {expected:.3f}  {observed:.3f}  {count}")
    return fit


def main(arguments: Sequence[str] | None = None) -> None:
    p = parser()
    options = p.parse_args(arguments)
    low, high = options.random_plies
    if not low <= high <= 40:
        p.error("--random-plies must be FROM <= TO <= 40")
    if options.solved_empties > 24:
        p.error("--solved-empties must be 24 or less")
    searcher = make_searcher("othello", 16)
    games = given_games(searcher, options) if options.from_games else self_play(searcher, options)
    train: list[Sample] = []
    held_out: list[Sample] = []
    began = last = time.monotonic()
    count = 0
    try:
        for samples in games:
            count += 1
            (train if count % _HELD_OUT_ONE_IN else held_out).extend(samples)
            if time.monotonic() - last > _PROGRESS_INTERVAL_S:
                last = time.monotonic()
                say(f"  {count} of {options.games} games, {last - began:.0f} s")
    except (BadGameFile, ValueError) as error:
        p.error(str(error))
    if not train or not held_out:
        p.error("too few games")
    say(f"{count} games, {len(train)} positions to fit, {len(held_out)} held out")
    report(train, held_out)


if __name__ == "__main__":
    main()
