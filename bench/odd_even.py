"""Measures how much Othello scores depend on the parity of the search's depth.

    python -m bench.odd_even [WEIGHTS] [--positions 150] [--empties 26 32 38]

Searches an odd and the next even number of plies at full width, in positions of games of the strong search
against itself after eight random plies.  An evaluation with a sense of tempo scores both alike: the mean
difference should be at most 0.3 discs.  The mean absolute difference also has what a further ply finds out,
which no evaluation can take away; for comparison, that of two odd depths, between which tempo plays no part.
WEIGHTS is a file of `lab.training.othello_patterns`; without it,
the program's own weights are measured.
"""

import argparse
import lzma
import math
import random
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from engine._native import INFINITY, OthelloEvaluation, OthelloSearch, StopFlag
from engine.games.othello import Othello, OthelloPosition
from engine.search.searchers import othello_evaluation

TABLE_MB = 16
RANDOM_PLIES = 8
PLAY_NODES = 20_000
PLAY_CONFIDENCE = 73
ODD_DEPTH = 9
DECIDED_CENTI = 4_000
_GAME = Othello()


def empties_of(position: OthelloPosition) -> int:
    return 64 - (position.mover | position.waiter).bit_count()


def positions_of_game(search: OthelloSearch, rng: random.Random, least: int) -> list[OthelloPosition]:
    """Positions of one game after its random plies, down to so many empty squares."""
    position, found = _GAME.initial(), list[OthelloPosition]()
    for ply in range(60):
        moves = _GAME.legal_moves(position)
        if not moves or empties_of(position) < least:
            break
        if ply < RANDOM_PLIES:
            move = rng.choice(moves)
        else:
            found.append(position)
            discs = (position.mover, position.waiter)
            move, *_ = search.think(discs, 60, 0, PLAY_CONFIDENCE, 1, 0, StopFlag(), PLAY_NODES)
        position = _GAME.play(position, move)
    return found


class Gap(NamedTuple):
    """Differences of scores in one position, in discs."""

    parity: float
    """Of the odd depth less the even one, a ply deeper."""
    two_plies: float
    """Of the odd depth less the next odd one."""


def gaps(evaluation: OthelloEvaluation, empties: list[int], count: int) -> dict[int, list[Gap]]:
    """Differences of the scores of the depths, by empty squares; at most one position a game each."""
    rng = random.Random(2006)
    play, search = (OthelloSearch(TABLE_MB, evaluation) for _ in range(2))
    found: dict[int, list[Gap]] = {number: [] for number in empties}
    while min(map(len, found.values())) < count:
        for position in positions_of_game(play, rng, min(empties)):
            here = found.get(empties_of(position))
            if here is None or len(here) == count:
                continue
            discs = (position.mover, position.waiter)
            odd, even, next_odd = (
                search.search(discs, depth, -INFINITY, INFINITY, StopFlag())
                for depth in range(ODD_DEPTH, ODD_DEPTH + 3)
            )
            if max(abs(odd), abs(even), abs(next_odd)) < DECIDED_CENTI:
                here.append(Gap((odd - even) / 100, (odd - next_odd) / 100))
    return found


def mean_text(values: Sequence[float], sign: str = "") -> str:
    """Mean and 95 % interval."""
    half = 1.96 * statistics.stdev(values) / math.sqrt(len(values))
    return f"{statistics.mean(values):{sign}.2f} +- {half:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("weights", type=Path, nargs="?")
    parser.add_argument("--positions", type=int, default=150)
    parser.add_argument("--empties", type=int, nargs="+", default=[26, 32, 38])
    arguments = parser.parse_args()
    if arguments.positions < 2 or not all(ODD_DEPTH + 2 <= number <= 52 for number in arguments.empties):
        parser.error(f"--positions must be 2 or more, --empties {ODD_DEPTH + 2} .. 52")
    evaluation = othello_evaluation()
    if arguments.weights is not None:
        evaluation = OthelloEvaluation(lzma.decompress(arguments.weights.read_bytes()))
    print(f"Depth {ODD_DEPTH} less depth {ODD_DEPTH + 1}, in discs, with 95 % intervals")
    print(f"empties  mean            mean absolute   of depth {ODD_DEPTH} less {ODD_DEPTH + 2}")
    for number, found in gaps(evaluation, arguments.empties, arguments.positions).items():
        parity = [gap.parity for gap in found]
        absolute, two_plies = ([abs(each) for each in column] for column in zip(*found, strict=True))
        print(f"{number:>7}  {mean_text(parity, '+'):<14}  {mean_text(absolute):<14}  {mean_text(two_plies)}")


if __name__ == "__main__":
    main()
