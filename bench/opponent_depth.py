"""Whether opponents of fixed depth are recognised by their replies (`engine.opponents.search_depth`).

    python -m bench.opponent_depth [--games othello chess xiangqi] [--series 10] [--of 3] [--depth 6]

Our trappy player meets opponents that search 1 .. D - 1 plies: the program's own full-width searches, and
noisy ones, which reply at random once in ten times and otherwise choose by a softmax of their expected scores
(`NOISE` hundredths of a per cent). Each series is some games from different random openings, ended after
`MOST_PLIES` plies. The benchmark prints, for each depth, what depth the replies were found to be like.
"""

import argparse
import math
import random
from collections import Counter
from typing import Any

from bench.suites import native_searcher
from bot.match.openings import position_after, random_opening
from engine.completion import complete
from engine.expected import WHOLE, expected_score
from engine.game import Game
from engine.games import get_rules
from engine.move_chooser import MoveChooser
from engine.opponents.search_depth import SeenReply, depth_estimate
from engine.params import TrapParams
from engine.search.profiles import scores_after
from engine.search.searchers import NativeSearcher
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.time_management import Limits
from storage.evidence.intervals import share

NOISE, RANDOM = 300, 0.1
NOISY_DEPTHS = 3
MOST_PLIES = 80
WITHIN = 1
"""A depth is recognised if the estimate is at most this far from it."""


class Opponent:
    """Replies by full-width searches of a fixed depth; among equal replies it chooses at random."""

    def __init__(self, game: Game[Any], depth: int, rng: random.Random, *, is_noisy: bool) -> None:
        self._game, self._depth, self._rng, self._is_noisy = game, depth, rng, is_noisy
        self._searcher = native_searcher(game.name, 16)

    def reply(self, position: Any) -> int:
        root = self._game.for_search(position)
        moves = self._game.legal_moves(root)
        if len(moves) == 1 or (self._is_noisy and self._rng.random() < RANDOM):
            return self._rng.choice(moves)
        plies = self._depth - 1
        scores = [
            -each[0]
            for each in scores_after(self._game, self._searcher, root, moves, plies, plies, StopFlag())
        ]
        if not self._is_noisy:
            best = max(scores)
            return self._rng.choice([m for m, score in zip(moves, scores, strict=True) if score == best])
        scale = self._game.expected_scale_centi(root)
        weights = [math.exp((expected_score(score, scale) - WHOLE) / NOISE) for score in scores]
        return self._rng.choices(moves, weights)[0]


def play(
    game: Game[Any], opponent: Opponent, depth: int, number: int, seed: int, searcher: NativeSearcher
) -> list[SeenReply]:
    """Play one game; return what its replies say."""
    _, position = position_after(game, random_opening(game.name, seed, number))
    chooser = MoveChooser(strategy_named("trappy"), game, TrapParams(), searcher)
    found, decision = [], None
    our_side = number % 2
    for _ in range(MOST_PLIES):
        moves = game.legal_moves(position)
        if not moves:
            break
        if game.side_to_move(position) == our_side:
            decision = chooser.choose(position, Limits(depth), StopFlag())
            decision = complete(decision, searcher, StopFlag())
            move = game.parse_move(position, decision.move)
        else:
            move = opponent.reply(position)
            if decision is not None:
                seen = SeenReply.of(decision, game.move_text(move))
                found += [] if seen is None else [seen]
        position = game.play(position, move)
    return found


def measure(game: Game[Any], depth: int, arguments: argparse.Namespace) -> tuple[int, int]:
    """Print a line for each kind of opponent; return how many series are recognised, of how many."""
    searcher = native_searcher(game.name, 16)
    hits = series = 0
    kinds = [(d, False) for d in range(1, depth)] + [(d, True) for d in range(1, NOISY_DEPTHS + 1)]
    for plies, is_noisy in kinds:
        found, shown, replies, agreement = Counter[int](), 0, 0, 0.0
        for at in range(arguments.series):
            rng = random.Random(f"{arguments.seed} {game.name} {plies} {is_noisy} {at}")
            opponent = Opponent(game, plies, rng, is_noisy=is_noisy)
            seen = []
            for number in range(arguments.of):
                seen += play(game, opponent, depth, at * arguments.of + number, arguments.seed, searcher)
            estimate = depth_estimate(seen)
            assert estimate is not None
            found[estimate.depth] += 1
            shown += estimate.is_shown
            replies += estimate.replies
            agreement += estimate.agreement
        near = sum(count for each, count in found.items() if abs(each - plies) <= WITHIN)
        hits, series = hits + near, series + arguments.series
        told = ", ".join(f"{each}: {found[each]}" for each in sorted(found))
        print(
            f"  {'noisy ' if is_noisy else ''}{plies} plies: found {told}; within a ply {near} of"
            f" {arguments.series}; shown {shown}; {replies / arguments.series:.0f} replies,"
            f" agreement {100 * agreement / arguments.series:.0f} %",
            flush=True,
        )
    return hits, series


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", nargs="+", default=["othello", "chess", "xiangqi"])
    parser.add_argument("--series", type=int, default=10)
    parser.add_argument("--of", type=int, default=3, help="games in a series")
    parser.add_argument("--depth", type=int, default=6, help="D, the depth of our player")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    for name in arguments.games:
        print(f"{name}, series of {arguments.of} games, our depth {arguments.depth}", flush=True)
        hits, series = measure(get_rules(name), arguments.depth, arguments)
        interval = share(hits, series)
        assert interval.low is not None
        assert interval.high is not None
        print(
            f"  recognised within a ply: {hits} of {series} = {100 * hits / series:.1f} %"
            f" ({100 * interval.low:.1f} to {100 * interval.high:.1f})",
            flush=True,
        )


if __name__ == "__main__":
    main()
