"""One benchmark for all games of the core: perft, full-width search, and the relative cost of trap analysis.

    python -m bench.games [--games chess xiangqi connect4] [--depths 4 6 7 8] [--naive 4] [--positions 12]

The middlegames come from games of the core against itself (`bench.suites.middle_games`).  Times are CPU
seconds of one processor core; `bench.full_width` describes the columns.
"""

import argparse
from collections.abc import Sequence

import chess

from bench.full_width import print_full_width, timed
from bench.suites import middle_games
from engine import _native
from engine.games import get_rules
from engine.search.searchers import NATIVE_GAMES, make_searcher

TABLE_MB = 64
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"


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
    """Time perft without bulk counting, in both implementations."""
    print(f"perft, playing every leaf (code for {_native.UNIT})")
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
    print(f"\n{game.title}: full-width search of {count} middlegames: plain, and trappy relative to plain")
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
        "--naive", type=int, nargs="*", default=[4], help="depths at which to compute the full table"
    )
    parser.add_argument("--positions", type=int, default=12)
    options = parser.parse_args()
    print_perft()
    for name in options.games:
        print_search(name, options.depths, options.naive, options.positions)


if __name__ == "__main__":
    main()
