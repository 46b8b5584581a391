"""One benchmark for every game of the core: perft, full-width search, and the relative cost of trap analysis.

    python -m bench.games [--games chess xiangqi connect4] [--depths 4 6 7 8] [--naive 4] [--positions 12]

The core itself plays the middlegames (random openings, then strong play), from fixed seeds.  Times are
processor seconds of one core; `bench.full_width` describes the columns.
"""

import argparse
import random
from collections.abc import Sequence
from typing import Any

import chess

from bench.full_width import print_full_width, timed
from engine import _native
from engine.game import Game
from engine.games import get_rules
from engine.search.searchers import NATIVE_GAMES, NativeSearcher, make_searcher
from engine.stop import StopFlag

TABLE_MB = 64
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
RANDOM_PLIES, STRONG_PLIES, STRONG_DEPTH = 6, 14, 6


def middle_games(game: Game[Any], count: int) -> list[Any]:
    """Positions after some random and some strong moves; the same on every machine."""
    searcher = make_searcher(game.name, 16)
    assert isinstance(searcher, NativeSearcher)
    positions: list[Any] = []
    seed = 0
    while len(positions) < count:
        rng, position = random.Random(seed), game.initial()
        seed += 1
        for ply in range(RANDOM_PLIES + rng.randrange(STRONG_PLIES)):
            moves = game.legal_moves(position)
            if not moves:
                break
            if ply < RANDOM_PLIES:
                position = game.play(position, rng.choice(moves))
            else:
                best = searcher.think(
                    position, STRONG_DEPTH, None, StopFlag(), confidence_percent=100, threads=1
                )
                position = game.play(position, game.parse_move(position, best.move))
        if len(game.legal_moves(position)) > 1:
            positions.append(position)
    return positions


def python_chess_perft(board: chess.Board, depth: int) -> int:
    if depth == 0:
        return 1
    leaves = 0
    for move in board.legal_moves:
        board.push(move)
        leaves += python_chess_perft(board, depth - 1)
        board.pop()
    return leaves


def print_perft() -> None:
    """Time perft with every leaf played: no bulk counting, on either side."""
    print(f"perft, every leaf played ({_native.UNIT} is in use)")
    for name, text, depth, slow in (("start", chess.STARTING_FEN, 6, 3), ("Kiwipete", KIWIPETE, 5, 3)):
        seconds, leaves = min(timed(_native.chess_perft, text, depth) for _ in range(3))
        slow_s, slow_leaves = timed(python_chess_perft, chess.Board(text), slow)
        rate, slow_rate = leaves / seconds, slow_leaves / slow_s
        print(
            f"  chess {name:<9} depth {depth} {rate / 1e6:6.1f} M/s; python-chess depth {slow} "
            f"{slow_rate / 1e6:.3f} M/s: {rate / slow_rate:.0f} x"
        )
    seconds, leaves = min(timed(_native.xiangqi_perft, "startpos", 5) for _ in range(3))
    print(f"  xiangqi start   depth 5 {leaves / seconds / 1e6:6.1f} M/s")


def print_search(name: str, depths: Sequence[int], naive_depths: Sequence[int], count: int) -> None:
    game = get_rules(name)
    print(f"\n{game.title}: full width on {count} middle games: plain, and trappy over plain")
    positions = middle_games(game, count)
    print_full_width(game, positions, lambda: make_searcher(name, TABLE_MB), depths, naive_depths)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--games", nargs="*", default=["chess", "xiangqi", "connect4"], choices=list(NATIVE_GAMES)
    )
    parser.add_argument("--depths", type=int, nargs="*", default=[4, 6, 7, 8])
    parser.add_argument(
        "--naive", type=int, nargs="*", default=[4], help="depths at which to fill the whole table"
    )
    parser.add_argument("--positions", type=int, default=12)
    options = parser.parse_args()
    print_perft()
    for name in options.games:
        print_search(name, options.depths, options.naive, options.positions)


if __name__ == "__main__":
    main()
