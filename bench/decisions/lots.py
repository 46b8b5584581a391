"""How often a lot decides between two moves: `python -m bench.decisions.lots othello --seconds 1`.

The player `randomised` against an opponent who plays a search of three plies, and in one move of five any
move.  Every decision is verified.
"""

import argparse
import json
import random
import time
from typing import Any

from engine.games import get_game
from engine.move_chooser import MoveChooser
from engine.params import Scale, TrapParams
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.registry import STRATEGIES
from engine.strategies.standard import STANDARD
from engine.time_management import Limits
from engine.verification import verify

OPPONENT_PLIES = 3
RANDOM_SHARE = 0.2
PLIES = 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game")
    parser.add_argument("--seconds", type=float, help="For a move; by default only the depth limits it.")
    parser.add_argument("--depth", type=int, default=20)
    parser.add_argument("--games", type=int, default=10)
    parser.add_argument("--scale", type=Scale, default=Scale.PAPER)
    options = parser.parse_args()
    game, rng = get_game(options.game), random.Random(1)
    (kind,) = (each for each in STRATEGIES.values() if each.draws_decisions)
    player = MoveChooser(kind, game, TrapParams(scale=options.scale), make_searcher(options.game, 16))
    other = MoveChooser(STANDARD, game, TrapParams(), make_searcher(options.game, 1))
    limits = Limits(options.depth, options.seconds)
    decisions = lots = traps = 0
    depths, sizes, took_s = 0, 0, 0.0
    for _ in range(options.games):
        position: Any = game.initial()
        for _ in range(rng.randrange(2, 8)):
            position = game.play(position, rng.choice(game.legal_moves(position)))
        for _ in range(PLIES // 2):
            if not game.legal_moves(position):
                break
            began = time.monotonic()
            made = player.choose(position, limits, StopFlag(), seed=rng.getrandbits(64))
            took_s = max(took_s, time.monotonic() - began)
            verify(made)
            decisions, depths = decisions + 1, depths + made.depth
            if made.trial_draw is not None:
                lots, traps = lots + 1, traps + (made.move == made.trial_draw.trap)
                sizes += len(json.dumps(made.to_record()))
            position = game.play(position, game.parse_move(position, made.move))
            moves = game.legal_moves(position)
            if moves and rng.random() < RANDOM_SHARE:
                position = game.play(position, rng.choice(moves))
            elif moves:
                reply = other.choose(position, Limits(OPPONENT_PLIES), StopFlag()).move
                position = game.play(position, game.parse_move(position, reply))
    print(
        f"{options.game}: {options.games} games, {decisions} decisions, mean depth {depths / decisions:.1f}, "
        f"longest {took_s:.2f} s; {lots} by lot, {traps} of them for the trap; "
        f"mean record {sizes // max(1, lots):,} characters"
    )


if __name__ == "__main__":
    main()
