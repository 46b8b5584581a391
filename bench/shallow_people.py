"""Predicts people's moves from short searches: fits the numbers of `engine.human.shallow`.

    python -m bench.shallow_people [--data ../shared/data] [--moves 1500] [--seed 1]

Uses four random positions from each of some random games (chess: a day at Lichess, PGN; Othello: WTHOR, 1995
to 2014).  For each number of plies it fits the temperature and the uniform share that make the moves played
most likely, and prints the program's own for comparison.
"""

import argparse
import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.expected import WHOLE, expected_score
from engine.formats import pgn, wthor
from engine.formats.record import BadGame, GameRecord, steps
from engine.game import Game
from engine.games import get_game
from engine.human.shallow import ShallowOptions
from engine.search.reference import Searcher, exact_score
from engine.search.searchers import make_searcher
from engine.stop import StopFlag

_PLIES = 4
_EACH = 4  # positions of a game
_A_YEAR = 40
_PERCENTS = (4.0, 4.5, 5.0, 5.5, 6.0, 6.5, 7.0, 8.0, 10.0)
_SHARES = (0.0, 0.02, 0.05, 0.1)

Row = tuple[int, list[list[float]]]
"""The index of the move played; for each move the scores of searches of 1, 2 .. plies, in points of expected
score."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--moves", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for name in ("chess", "othello"):
        rng = random.Random(options.seed)
        records = _chess(options.data) if name == "chess" else _othello(options.data, rng)
        rng.shuffle(records)
        rows = list(_rows(name, records, options.moves, rng))
        alike = sum(math.log(len(seen)) for _, seen in rows) / len(rows)
        print(f"{name}: {len(rows)} moves, {alike:.3f} nats when all replies are equally likely")
        for plies in range(1, _PLIES + 1):
            nats, percent, share = min(
                (_nats(rows, plies, percent, share), percent, share)
                for percent in _PERCENTS
                for share in _SHARES
            )
            print(f"  {plies} plies: {nats:.3f} nats at {percent:g} points, {100 * share:g} % uniform")
        ours = ShallowOptions()
        nats = _nats(rows, ours.plies, ours.percent, ours.share_percent / 100)
        print(f"  as it is: {nats:.3f} nats at {ours.plies} plies, {ours.percent:g} points")


def _chess(data: Path) -> list[GameRecord]:
    lines = (data / "chess-games" / "lichess_2021-10-01.pgn").read_text().splitlines()
    return [pgn.parse(text) for text in pgn.split(lines)]


def _othello(data: Path, rng: random.Random) -> list[GameRecord]:
    records = []
    for year in range(1995, 2015):
        file = wthor.parse_games((data / "wthor" / f"WTH_{year}.wtb").read_bytes())
        games = [game for game in file.games() if not isinstance(game, BadGame)]
        records += [wthor.to_record(game, file) for game in rng.sample(games, min(_A_YEAR, len(games)))]
    return records


def _rows(name: str, records: list[GameRecord], most: int, rng: random.Random) -> Iterator[Row]:
    game, searcher, found = get_game(name), make_searcher(name, 8), 0
    for record in records:
        made = list(steps(record))
        for position, move in rng.sample(made, min(_EACH, len(made))):
            if len(game.legal_moves(position)) > 1:
                found += 1
                yield _row(game, searcher, position, move)
        if found >= most:
            return


def _row(game: Game[Any], searcher: Searcher, position: Any, played: int) -> Row:
    root, stop = game.for_search(position), StopFlag()
    scale_centi = game.expected_scale_centi(root)
    legal = game.legal_moves(root)
    seen = []
    for move in legal:
        after = game.play(root, move)
        scores = [-exact_score(searcher, after, depth, stop) for depth in range(_PLIES)]
        seen.append([100 * expected_score(score, scale_centi) / WHOLE for score in scores])
    return legal.index(played), seen


def _nats(rows: list[Row], plies: int, percent: float, share: float) -> float:
    """Mean negative log-likelihood of the moves played, in nats."""
    total = 0.0
    for played, seen in rows:
        means = [math.fsum(each[:plies]) / plies for each in seen]
        best = max(means)
        weights = [math.exp((mean - best) / percent) for mean in means]
        total -= math.log((1 - share) * weights[played] / math.fsum(weights) + share / len(weights))
    return total / len(rows)


if __name__ == "__main__":
    main()
