"""Read a whole WTHOR base and replay every game: `python -m bench.wthor FOLDER`.

Prints a line for each file and the sums.  The exit status is 1 when a game cannot be read or breaks the
rules, or a finished game has another score than the base says.
"""

import argparse
import sys
import time
from pathlib import Path

from engine.formats import wthor
from engine.formats.record import BadGame, black_margin, placed


def main() -> int:
    parser = argparse.ArgumentParser(description="Replay every game of a WTHOR base.")
    parser.add_argument("folder", type=Path, help="where the .wtb, .jou and .trn files are")
    folder = parser.parse_args().folder
    files = {path: path.suffix.lower() for path in sorted(folder.iterdir())}
    for path, suffix in files.items():
        if suffix in (".jou", ".trn"):
            parse = wthor.parse_players if suffix == ".jou" else wthor.parse_tournaments
            print(f"{path.name}: {len(parse(path.read_bytes()))} names")
    total, finished, passes, wrong = 0, 0, 0, 0
    began = time.monotonic()
    bases = [path for path, suffix in files.items() if suffix == ".wtb"]
    for path in bases:
        base = wthor.parse_games(path.read_bytes())
        ended = 0
        for number, game in enumerate(base.games(), start=1):
            try:
                if isinstance(game, BadGame):
                    raise game
                moves, end = placed(game.squares)
            except BadGame as error:
                wrong += 1
                print(f"{path.name}: game {number}: {error}")
                continue
            passes += moves.count("pass")
            margin = black_margin(end)
            ended += margin is not None
            if margin not in (None, game.margin):
                wrong += 1
                print(f"{path.name}: game {number}: {margin:+} by the moves, {game.margin:+} in the base")
        print(f"{path.name}: {base.count} games of {base.year}, {ended} finished")
        total += base.count
        finished += ended
    took_s = time.monotonic() - began
    print(
        f"{len(bases)} files, {total} games, {finished} finished, {passes} passes, {wrong} wrong; "
        f"{took_s:.1f} s, {1000 * took_s / max(1, total):.2f} ms a game"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
