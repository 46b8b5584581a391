"""Positions a second of the readers that training people's networks uses: `python -m bench.people.games`.

Chess games of random moves with ratings and clocks are written as ``.pgn.zst``, as lichess.org publishes
them, and read as a stream. For comparison, python-chess reads some of them.
"""

import argparse
import io
import random
import sys
import tempfile
import time
from pathlib import Path

import chess
import chess.pgn

from lab.training.people.chess_games import read_chess

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_TAGS = (
    '[Event "Rated Blitz game"]', '[Site "https://lichess.org/abcdefgh"]', '[White "a"]', '[Black "b"]',
    '[Result "1-0"]', '[UTCDate "2021.10.01"]', '[UTCTime "00:00:00"]', '[WhiteElo "1512"]',
    '[BlackElo "1498"]', '[WhiteRatingDiff "+6"]', '[BlackRatingDiff "-6"]', '[ECO "A00"]',
    '[Opening "x"]', '[TimeControl "180+0"]', '[Termination "Normal"]',
)  # fmt: skip


def game_text(rng: random.Random, plies: int) -> str:
    """A game at random, in the form of lichess.org's files."""
    board, words = chess.Board(), []
    for ply in range(plies):
        moves = list(board.legal_moves)
        if not moves:
            break
        move = rng.choice(moves)
        dots = "." if ply % 2 == 0 else "..."
        words.append(
            f"{ply // 2 + 1}{dots} {board.san(move)} {{ [%clk 0:{2 - ply // 80:02}:{59 - ply % 60:02}] }}"
        )
        board.push(move)
    return "\n".join([*_TAGS, "", " ".join([*words, "1-0"]), "", ""])


def python_chess_positions(text: str) -> int:
    """Read the same games with python-chess; the number of positions."""
    stream, count = io.StringIO(text), 0
    while (game := chess.pgn.read_game(stream)) is not None:
        count += sum(1 for _ in game.mainline_moves())
    return count


def main() -> None:
    """Print positions a second of processor time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=2000)
    parser.add_argument("--plies", type=int, default=70)
    parser.add_argument("--file", type=Path, help="read this file (.pgn or .pgn.zst) instead")
    parser.add_argument("--positions", type=int, default=2_000_000, help="read at most this many")
    options = parser.parse_args()
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        file = options.file
        if file is None:
            text = "\n".join(game_text(rng, options.plies) for _ in range(options.games))
            file = Path(folder) / "games.pgn.zst"
            file.write_bytes(zstd.compress(text.encode()))
        began, wall = time.process_time(), time.perf_counter()
        count = len(read_chess([file], options.positions).positions)
        spent, waited = time.process_time() - began, time.perf_counter() - wall
    print(f"{count:,} positions; {count / spent:,.0f} a second of processor time")
    print(f"{count / waited:,.0f} a second of wall time")
    if options.file is None:
        few = "\n".join(game_text(rng, options.plies) for _ in range(min(200, options.games)))
        began = time.process_time()
        count = python_chess_positions(few)
        print(f"python-chess: {count / (time.process_time() - began):,.0f} positions a second")


if __name__ == "__main__":
    main()
