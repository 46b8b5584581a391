"""Cost of another engine's trap profiles, relative to one search of the root that shows every move.

    python -m bench.uci_profile [--engine stockfish] [--depth 10] [--window 50] [--positions 20] [--all]

Both are timed in the same run on the same positions: middlegames that the engine plays against itself, each
move drawn with a fixed seed from the three best of a shallow search.  With ``--all`` every move is analysed,
as without the window.
"""

import argparse
import math
import random
import time
from collections.abc import Iterator
from typing import Any

from engine.games import get_game
from engine.params import TrapParams
from engine.protocols.engine_source import EngineSource, open_link
from engine.protocols.link import Link, Patience, SearchRequest
from engine.protocols.score_settings import EngineSettings
from engine.stop import StopFlag
from engine.time_management import Limits

GAME = get_game("chess")
PATIENT = Patience(StopFlag(), math.inf)
OPENING_PLIES = 24
SHALLOW = 4


def middle_games(link: Link, count: int) -> Iterator[Any]:
    """One position from each of this many games."""
    for seed in range(count):
        rng = random.Random(seed)
        position = GAME.initial()
        for _ in range(OPENING_PLIES):
            answer = link.search(SearchRequest(GAME.position_text(position), SHALLOW, 3), PATIENT)
            moves = [line.variation[0] for line in answer.lines if line.depth == SHALLOW]
            position = GAME.play(position, GAME.parse_move(position, rng.choice(moves)))
        yield position


def measure(link: Link, source: EngineSource, positions: list[Any], depth: int) -> None:
    """Print nodes and time of the root alone, of the whole profiles, and their ratio."""
    root_s = root_nodes = profile_s = profile_nodes = analysed = 0.0
    for position in positions:
        lines = len(GAME.legal_moves(position))
        began = time.perf_counter()
        root_nodes += link.search(SearchRequest(GAME.position_text(position), depth, lines), PATIENT).nodes
        root_s += time.perf_counter() - began
        began = time.perf_counter()
        found = source.analyse(position, TrapParams(), Limits(depth), StopFlag())
        if found is None:
            raise SystemExit(f"the engine failed: {source.trouble}")
        profile_s += time.perf_counter() - began
        profile_nodes += found.info.nodes
        analysed += sum(not candidate.raw_is_bound for candidate in found.candidates)
    n = len(positions)
    print(f"{'':24}{'nodes':>12}{'seconds':>10}")
    print(f"{'root, every move':24}{root_nodes / n:12,.0f}{root_s / n:10.3f}")
    print(f"{'whole profiles':24}{profile_nodes / n:12,.0f}{profile_s / n:10.3f}")
    print(f"{'ratio':24}{profile_nodes / root_nodes:12.2f}{profile_s / root_s:10.2f}")
    print(f"moves analysed: {analysed / n:.1f} of {sum(map(moves_of, positions)) / n:.1f}")


def moves_of(position: Any) -> int:
    return len(GAME.legal_moves(position))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--engine", default="stockfish", help="program of a chess engine with MultiPV")
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--window", type=int, default=50, help="centipawns")
    parser.add_argument("--positions", type=int, default=20)
    parser.add_argument("--all", action="store_true", help="analyse every move")
    options = parser.parse_args()
    settings = EngineSettings(
        game="chess",
        command=(options.engine,),
        depth=options.depth,
        window_centi=10**6 if options.all else options.window,
        candidates=500 if options.all else 8,
        silence_s=3600.0,
    )
    link, source = open_link(settings), EngineSource(settings)
    try:
        source.open()
        positions = list(middle_games(link, options.positions))
        print(f"{link.name}, depth {options.depth}, {len(positions)} positions")
        measure(link, source, positions, options.depth)
    finally:
        link.close()
        source.close()


if __name__ == "__main__":
    main()
