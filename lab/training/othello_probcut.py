"""Measures the score differences that ProbCut relies on: `python -m lab.training.othello_probcut`.

ProbCut (``engine/native/search/strong.hpp``) replaces a deep search with a shallow one if the shallow score
is far enough outside the window. The necessary margin depends on how much the current evaluation's scores at
the two depths differ, so run this program again after learning new weights.

Positions come from self-play with random openings and an occasional random move.  Each position is searched
at full width to every depth up to ``--depth``. For depths of equal parity (odd and even depths also differ by
a constant), the differences are distributed as if each further ply added an independent error of decreasing
size:

    variance = k(empty squares)^2 * ln((deep + 1) / (shallow + 1))

and ln k is well approximated by a parabola.  The table of k is written to
``engine/native/othello/probcut.hpp``; the program prints the measured and the fitted spreads.
"""

import argparse
import math
import random
import shlex
import sys
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import engine
from engine.game import margin_centi
from engine.games.othello import Othello, OthelloPosition
from engine.search.reference import exact_score
from engine.search.searchers import NativeOthelloSearcher
from engine.stop import StopFlag

HEADER = Path(engine.__file__).parent / "native" / "othello" / "probcut.hpp"
EMPTIES = range(14, 56, 2)
"""Numbers of empty squares in the positions to search."""
RANDOM_PLIES = (4, 14)
RANDOM_MOVE_PROBABILITY = 0.12
"""Probability of a random move after the opening."""
PER_GAME = 4
DEPTHS_LEFT = 2
"""Minimum distance of a search from the end of the game, in plies; searches to the end are not measured,
because they are exact."""
MAX_DIFFERENCE_CENTI = 2_000
"""Larger differences are clipped to this value: a wipe-out that only one search sees is not typical."""
ALL_BUT_DECIDED_CENTI = 4_000

Pair = tuple[int, int, int]  # empty squares, deep, shallow
Parabola = tuple[float, float, float]


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def empties_of(position: OthelloPosition) -> int:
    return 64 - (position.mover | position.waiter).bit_count()


def positions(rng: random.Random, searcher: NativeOthelloSearcher) -> list[OthelloPosition]:
    """Play a game and return some of its positions with more than one legal move."""
    game, never = Othello(), StopFlag()
    position, positions = game.initial(), []
    at_random = rng.randint(*RANDOM_PLIES)
    while moves := game.legal_moves(position):
        if at_random > 0 or rng.random() < RANDOM_MOVE_PROBABILITY:
            move = rng.choice(moves)
        else:
            move = max(moves, key=lambda m: -exact_score(searcher, game.play(position, m), 1, never))
        at_random -= 1
        position = game.play(position, move)
        if len(game.legal_moves(position)) > 1 and empties_of(position) in EMPTIES:
            positions.append(position)
    return positions


def measure(count: int, most: int, seed: int) -> dict[Pair, float]:
    """Measure the root mean square difference between the scores of each pair of depths, in centidiscs.

    Args:
        count: Number of positions for each number of empty squares.
        most: Maximum search depth.
        seed: Seed of the games.
    """
    rng, searcher, never = random.Random(seed), NativeOthelloSearcher(64), StopFlag()  # noqa: S311
    wanted = dict.fromkeys(EMPTIES, count)
    squares: dict[Pair, list[float]] = defaultdict(list)
    while any(wanted.values()):
        some = [p for p in positions(rng, searcher) if wanted[empties_of(p)] > 0]
        for position in rng.sample(some, min(PER_GAME, len(some))):
            empties = empties_of(position)
            wanted[empties] -= 1
            depths = range(min(most, empties - DEPTHS_LEFT) + 1)
            scores = [margin_centi(exact_score(searcher, position, depth, never)) for depth in depths]
            for deep in depths:
                for shallow in range(deep % 2, deep, 2):
                    if abs(scores[shallow]) < ALL_BUT_DECIDED_CENTI:
                        difference = min(MAX_DIFFERENCE_CENTI, abs(scores[deep] - scores[shallow]))
                        squares[empties, deep, shallow].append(difference**2)
    return {pair: math.sqrt(sum(found) / len(found)) for pair, found in squares.items() if len(found) > 10}


def spread(deep: int, shallow: int) -> float:
    return math.sqrt(math.log((deep + 1) / (shallow + 1)))


def parabola(points: Sequence[tuple[float, float]]) -> Parabola:
    """Fit a parabola by least squares; return the coefficients of 1, x and x^2."""
    rows = [
        [sum(x ** (i + j) for x, _ in points) for j in range(3)] + [sum(y * x**i for x, y in points)]
        for i in range(3)
    ]
    for i in range(3):  # Gauss-Jordan
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for j in range(3):
            if j != i:
                rows[j] = [a - rows[j][i] * b for a, b in zip(rows[j], rows[i], strict=True)]
    return rows[0][3], rows[1][3], rows[2][3]


def fit(measured: dict[Pair, float]) -> list[int]:
    """k in centidiscs, by number of empty squares from 0 to 64; held constant outside the measured range."""
    # A search of depth 0 has its own error, which is largest in the opening, and is left out.
    points = [
        (empties / 60, math.log(error / spread(deep, shallow)))
        for (empties, deep, shallow), error in measured.items()
        if shallow > 0 and error > 0
    ]
    a, b, c = parabola(points)
    inside = [min(max(n, EMPTIES[0]), EMPTIES[-1]) / 60 for n in range(65)]
    return [round(math.exp(a + b * x + c * x * x)) for x in inside]


def header(deviations: Sequence[int], command: str) -> str:
    """Content of the C++ file with the table."""
    lines = "\n".join(
        "    " + ", ".join(map(str, deviations[i : i + 16])) + ("," if i + 16 < len(deviations) else "};")
        for i in range(0, len(deviations), 16)
    )
    return f"""\
// ProbCut's error model for Othello: how much scores of different depths differ (strong.hpp).
//
// Written by
//     {command}
// on {datetime.now(UTC):%Y-%m-%d}; strong.hpp explains the numbers.
#pragma once

namespace desdemona::othello::probcut {{

// Standard deviation in centidiscs by number of empty squares, for depths of which one is e times the other.
constexpr short kDeviation[65] = {{
{lines}

}}  // namespace desdemona::othello::probcut
"""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m lab.training.othello_probcut",
        description="Measure how much Othello scores of different depths differ.",
    )
    parser.add_argument(
        "--positions", type=int, default=100, help="positions for each even number of empty squares"
    )
    parser.add_argument("--depth", type=int, default=10, help="maximum search depth, 4 or more")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=HEADER, help="the header to write")
    arguments = sys.argv[1:] if arguments is None else arguments
    options = parser.parse_args(arguments)
    if options.positions < 20 or options.depth < 4:
        parser.error("--positions must be 20 or more, and --depth 4 or more")
    measured = measure(options.positions, options.depth, options.seed)
    deviations = fit(measured)
    say("deep shallow  measured/fitted spread in discs, by empty squares")
    shown = EMPTIES[:: max(1, len(EMPTIES) // 7)]
    say("              " + "".join(f"{n:>12}" for n in shown))
    for deep, shallow in sorted({(deep, shallow) for _, deep, shallow in measured}):
        cells = [
            f"{measured[n, deep, shallow] / 100:5.2f}/{deviations[n] * spread(deep, shallow) / 100:.2f}"
            if (n, deep, shallow) in measured
            else "-"
            for n in shown
        ]
        say(f"{deep:>4} {shallow:>7}  " + "".join(f"{cell:>12}" for cell in cells))
    options.out.write_text(
        header(deviations, shlex.join(["python", "-m", "lab.training.othello_probcut", *arguments]))
    )
    say(f"{options.out} has been written; rebuild the core")


if __name__ == "__main__":
    main()
