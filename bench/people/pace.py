"""How people use their time at chess, and how many take a mate in one: the numbers in `engine.person`.

    python -m bench.people.pace GAMES.pgn

For moves with clocks in the file: the logarithm of the time that a move took over its even share of the clock
(`engine.person.pace.even_share_s`) by moves made, and its spread. For positions with a mate in one: how many
take it, by rating, with a logistic fit.
"""

import argparse
import math
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from engine.formats.record import GameRecord, steps
from engine.games import get_rules
from engine.person.pace import MIN_CLOCK_S, even_share_s
from lab.analysis.recorded_games import read_games

GAME = get_rules("chess")
SHORTEST_S = 0.3
"""Time of a move that took less than a second by the file's clock."""


class Move(NamedTuple):
    """One move of a person."""

    rating: float
    ply: int
    clock_s: float | None
    """The person's time before the move; None if unknown."""
    increment_s: float
    time_s: float | None
    mates: bool | None
    """Whether the move was a mate in one; None: there was none."""


def moves_of(record: GameRecord) -> Iterator[Move]:
    """The moves of a game's rated players."""
    initial, _, increment = record.clocks[0].partition("+")
    if not initial.isdecimal():
        return
    clocks: list[float | None] = [float(initial), float(initial)]
    for ply, (position, move) in enumerate(steps(record)):
        side, rating = ply % 2, record.ratings[ply % 2]
        after_s = record.clocks_s[ply] if record.clocks_s else None
        before_s = clocks[side]
        spent_s = None
        if before_s is not None and after_s is not None:
            spent_s = max(0.0, before_s - after_s + float(increment or 0))
        clocks[side] = after_s
        if rating is None:
            continue
        legal = GAME.legal_moves(position)
        after = [(each, GAME.play(position, each)) for each in legal]
        mating = [each for each, next_ in after if not GAME.legal_moves(next_) and GAME.result_centi(next_)]
        mates = move in mating if mating else None
        yield Move(rating, ply, before_s, float(increment or 0), spent_s, mates)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("games", type=Path, nargs="+")
    arguments = parser.parse_args()
    moves = [move for each in read_games(arguments.games, "chess") for move in moves_of(each.record)]
    print_mates([each for each in moves if each.mates is not None])
    print_pace(moves)


def print_mates(found: list[Move]) -> None:
    """Print the share of mates taken by rating, and a logistic fit by Newton's method."""
    by: dict[int, list[bool]] = defaultdict(list)
    for each in found:
        by[int(each.rating // 300) * 300].append(bool(each.mates))
    for low, taken in sorted(by.items()):
        print(f"rated {low} to {low + 299}: {sum(taken)} of {len(taken)} mates in one taken")
    x = np.array([[1.0, (each.rating - 1500) / 400] for each in found])
    y = np.array([float(bool(each.mates)) for each in found])
    w = np.zeros(2)
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ w))
        w += np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + 1e-3 * np.eye(2), x.T @ (y - p))
    print(f"logit of taking it: {w[0]:.2f} + {w[1]:.2f} for each 400 points above 1500")


def print_pace(moves: list[Move]) -> None:
    """Print mean and spread of ln(time / even share) by moves made and time left."""
    by: dict[tuple[int, str], list[float]] = defaultdict(list)
    for each in moves:
        if each.time_s is None or each.clock_s is None or each.clock_s < MIN_CLOCK_S:
            continue
        share_s = even_share_s(each.clock_s, each.increment_s)
        speed = "short of time" if each.clock_s + 40 * each.increment_s < 120 else "slower"
        by[min(each.ply // 20, 4), speed].append(math.log(max(each.time_s, SHORTEST_S) / share_s))
    for (stage, speed), logs in sorted(by.items()):
        quantiles = ", ".join(f"{q:.2f}" for q in np.quantile(logs, [0.05, 0.25, 0.5, 0.75, 0.95]))
        print(
            f"moves {10 * stage + 1} to {10 * stage + 10}, {speed}: n {len(logs)}, mean {np.mean(logs):.2f}, "
            f"sd {np.std(logs):.2f}, quantiles {quantiles}"
        )


if __name__ == "__main__":
    main()
