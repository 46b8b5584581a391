"""Where the weights of the Othello evaluation come from: a least-squares fit to tournament games.

    python -m bench.fit_evaluation FOLDER [--games 12000]

FOLDER holds WTHOR files (``WTH_*.wtb``).  Each feature's weight is a ramp over the number of empty
squares with joints at 0, 30 and 60; the target is the game's final score, side to move's view.  Prints the
joints, from which the weights in ``engine/games/othello.py`` are tempered, and how well those and a plain
disc count do on games that the fit has not seen (root mean square error in discs, each after the best
rescaling within its band of empty squares).
"""

import argparse
import random
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from engine.games.othello import PASS, Othello, OthelloPosition, _features

NAMES = ("moves", "moves to come", "corners", "X squares", "C squares", "anchored", "parity")
KNOTS = (0, 30, 60)
HEADER, RECORD = 16, 68


def games(folder: Path) -> list[bytes]:
    """Every game record of the folder's WTHOR files."""
    found = []
    for path in sorted(folder.glob("*.wtb")):
        data = path.read_bytes()
        (count,) = struct.unpack_from("<I", data, 4)
        found += [data[HEADER + RECORD * i :][:RECORD] for i in range(count)]
    return found


def positions(record: bytes) -> Iterator[tuple[OthelloPosition, int]]:
    """Positions of a game, each with the final score in centidiscs for its side to move."""
    game = Othello()
    position = game.initial()
    black_centi = 200 * (record[6] - 32)
    for move in record[8:]:
        if move == 0:
            return
        if game.legal_moves(position) == (PASS,):
            position = game.play(position, PASS)
        position = game.play(position, move // 10 * 8 + move % 10 - 9)
        yield position, black_centi if position.side == 0 else -black_centi


def table(records: list[bytes]) -> np.ndarray:
    """A row a position: empties, features, disc difference, evaluation, final score."""
    game = Othello()
    rows = []
    for record in records:
        for position, score in positions(record):
            if game.legal_moves(position):
                mover, waiter = position.mover, position.waiter
                rows.append(
                    (
                        64 - (mover | waiter).bit_count(),
                        *_features(mover, waiter),
                        mover.bit_count() - waiter.bit_count(),
                        game.evaluate_centi(position),
                        score,
                    )
                )
    return np.array(rows, dtype=float)


def design(rows: np.ndarray) -> np.ndarray:
    """Features times the hat function of each knot."""
    hats = [np.interp(rows[:, 0], KNOTS, np.eye(len(KNOTS))[k]) for k in range(len(KNOTS))]
    return np.hstack([rows[:, 1:8] * hat[:, None] for hat in hats])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--games", type=int, default=12_000)
    arguments = parser.parse_args()
    records = games(arguments.folder)
    random.Random(2006).shuffle(records)
    records = records[: arguments.games]
    fitted, unseen = table(records[:-2000]), table(records[-2000:])
    weights, *_ = np.linalg.lstsq(design(fitted), fitted[:, -1], rcond=None)
    print(f"{len(fitted)} positions; weights at {KNOTS} empty squares, centidiscs")
    for i, name in enumerate(NAMES):
        print(f"  {name:<14}" + "".join(f"{w:8.0f}" for w in weights[i::7]))
    print("error on unseen games, discs:  empties  discs only  in use  this fit  (correlation, in use)")
    predictions = {"discs": unseen[:, 8], "in use": unseen[:, 9], "fit": design(unseen) @ weights}
    for low in range(4, 54, 10):
        band = (unseen[:, 0] >= low) & (unseen[:, 0] < low + 10)
        target = unseen[band, -1]
        errors = []
        for prediction in predictions.values():
            guess = prediction[band]
            errors.append(np.sqrt(np.mean((guess * (guess @ target) / (guess @ guess) - target) ** 2)) / 100)
        correlation = np.corrcoef(predictions["in use"][band], target)[0, 1]
        print(f"{low:>36}-{low + 9:<3}" + "".join(f"{e:9.2f}" for e in errors) + f"   {correlation:.3f}")


if __name__ == "__main__":
    main()
