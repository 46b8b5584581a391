"""Measures how much Othello scores depend on the parity of the search's depth.

    python -m bench.odd_even [WEIGHTS] [--positions 150] [--empties 26 32 38]

Searches an odd and the next even number of plies at full width, in positions of games of the strong search
against itself after eight random plies.  An evaluation with a sense of tempo scores both alike: the mean
difference should be at most 0.3 discs.  WEIGHTS is a file of `engine.training.othello_patterns`; without it,
the program's own weights are measured.
"""

import argparse
import lzma
import math
import random
import statistics
from pathlib import Path

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


def gaps(evaluation: OthelloEvaluation, empties: list[int], count: int) -> dict[int, list[float]]:
    """Differences of the scores of the odd and the even depth in discs, by empty squares; one a game."""
    rng = random.Random(2006)
    play, search = (OthelloSearch(TABLE_MB, evaluation) for _ in range(2))
    found: dict[int, list[float]] = {number: [] for number in empties}
    while min(map(len, found.values())) < count:
        for position in positions_of_game(play, rng, min(empties)):
            here = found.get(empties_of(position))
            if here is None or len(here) == count:
                continue
            discs = (position.mover, position.waiter)
            odd, even = (
                search.search(discs, depth, -INFINITY, INFINITY, StopFlag())
                for depth in (ODD_DEPTH, ODD_DEPTH + 1)
            )
            if max(abs(odd), abs(even)) < DECIDED_CENTI:
                here.append((odd - even) / 100)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("weights", type=Path, nargs="?")
    parser.add_argument("--positions", type=int, default=150)
    parser.add_argument("--empties", type=int, nargs="+", default=[26, 32, 38])
    arguments = parser.parse_args()
    if arguments.positions < 2 or not all(ODD_DEPTH < number <= 52 for number in arguments.empties):
        parser.error(f"--positions must be 2 or more, --empties {ODD_DEPTH + 1} .. 52")
    evaluation = othello_evaluation()
    if arguments.weights is not None:
        evaluation = OthelloEvaluation(lzma.decompress(arguments.weights.read_bytes()))
    print(f"empties  mean of depth {ODD_DEPTH} less depth {ODD_DEPTH + 1} in discs, and its 95 % interval")
    for number, found in gaps(evaluation, arguments.empties, arguments.positions).items():
        half = 1.96 * statistics.stdev(found) / math.sqrt(len(found))
        print(f"{number:>7}  {statistics.mean(found):+.2f} +- {half:.2f}")


if __name__ == "__main__":
    main()
