"""How much stronger the selective search is than the exact one, at equal time: paired Othello games.

    python -m bench.strong_match [--pairs 50] [--seconds 0.05 | --nodes 500000] [--against PERCENT]

Each pair of games starts from the same nearly balanced position after ten random plies, once with either
side.  A side is the strong search (`think`) or iterative deepening of the exact one (`search`); with
--against PERCENT the second side is the strong search as well, at that confidence.  The clock is that on
the wall, so the machine had better be idle; --nodes does not mind, but nodes of the two searches do
not cost the same.
"""

import argparse
import math
import random
import statistics
import time

from engine.game import WIN_CENTI
from engine.games.othello import Othello, OthelloPosition
from engine.search import INFINITY, exact_score
from engine.searchers import NativeOthelloSearcher
from engine.stop import StopFlag, Stopped

TABLE_MB = 64
RANDOM_PLIES = 10
BALANCED_CENTI = 300
GAME = Othello()


class Side:
    """Chooses moves within a budget, and keeps count of what it used."""

    def __init__(self, kind: str, seconds: float | None, nodes: int | None) -> None:
        self.kind = kind
        self.used_s = 0.0
        self.depths: list[int] = []
        self._seconds, self._nodes = seconds, nodes
        self._searcher = NativeOthelloSearcher(TABLE_MB)

    def choose(self, position: OthelloPosition) -> int:
        stop = StopFlag()
        if self._seconds is not None:
            stop.set_deadline(self._seconds)
        if self._nodes is not None:
            stop.set_node_limit(self._nodes)
        began = time.process_time()
        if self.kind == "exact":
            move, depth = self._deepen(position, stop)
        else:
            percent = int(self.kind)
            try:
                thought = self._searcher.think(position, 60, self._seconds, stop, confidence_percent=percent)
            except Stopped:  # the machine was busy with something else all the time
                thought = self._searcher.think(position, 1, None, StopFlag(), confidence_percent=percent)
            move, depth = GAME.parse_move(position, thought.move), thought.depth
        self.used_s += time.process_time() - began
        self.depths.append(depth)
        return move

    def _deepen(self, position: OthelloPosition, stop: StopFlag) -> tuple[int, int]:
        """The best move of the deepest iteration that the flag allows, or of a part of it."""
        moves = list(GAME.legal_moves(position))
        depth = 0
        try:
            while depth < GAME.most_plies_left(position):
                best = -INFINITY
                for move in tuple(moves):
                    child = GAME.play(position, move)
                    score = -self._searcher.search(child, depth, -INFINITY, -best, stop)
                    if score > best:
                        best = score
                        moves.remove(move)
                        moves.insert(0, move)
                depth += 1
        except Stopped:
            pass
        return moves[0], depth


def margin_discs(sides: tuple[Side, Side], position: OthelloPosition) -> int:
    """Play a game to its end; the margin of the side that began it."""
    turn = 0
    while moves := GAME.legal_moves(position):
        move = moves[0] if len(moves) == 1 else sides[turn].choose(position)
        position = GAME.play(position, move)
        turn = 1 - turn
    result = GAME.result_centi(position)
    margin = (abs(result) - WIN_CENTI) // 100 if result else 0
    return margin if (result > 0) == (turn == 0) else -margin


def opening(rng: random.Random, judge: NativeOthelloSearcher) -> OthelloPosition:
    """A position in which neither side is far ahead: elsewhere a pair says little about its players."""
    while True:
        position = GAME.initial()
        for _ in range(RANDOM_PLIES):
            position = GAME.play(position, rng.choice(GAME.legal_moves(position)))
        if abs(exact_score(judge, position, 8, StopFlag())) <= BALANCED_CENTI:
            return position


def elo(score: float) -> float:
    return -400 * math.log10(1 / min(max(score, 1e-6), 1 - 1e-6) - 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--seconds", type=float, help="per move (default: 0.05)")
    parser.add_argument("--nodes", type=int, help="per move, instead of seconds")
    parser.add_argument("--confidence", type=int, default=73)
    parser.add_argument("--against", default="exact", help="exact, or a confidence in percent")
    parser.add_argument("--seed", type=int, default=2006)
    arguments = parser.parse_args()
    if arguments.pairs < 2:
        parser.error("--pairs must be 2 or more")
    seconds = arguments.seconds or (None if arguments.nodes else 0.05)
    ours, theirs = (Side(k, seconds, arguments.nodes) for k in (str(arguments.confidence), arguments.against))
    rng, judge = random.Random(arguments.seed), NativeOthelloSearcher(TABLE_MB)
    margins: list[int] = []
    points: list[float] = []  # of each pair, 0 to 1
    for _ in range(arguments.pairs):
        position = opening(rng, judge)
        pair = (margin_discs((ours, theirs), position), -margin_discs((theirs, ours), position))
        margins += pair
        points.append(sum((1 + (m > 0) - (m < 0)) / 4 for m in pair))
    wins, losses = sum(m > 0 for m in margins), sum(m < 0 for m in margins)
    score = statistics.mean(points)
    # Games of a pair share their opening, so pairs are what is independent.
    error = statistics.stdev(points) / math.sqrt(len(points))
    disc_error = statistics.stdev(margins) / math.sqrt(len(margins))
    print(
        f"{ours.kind} % against {theirs.kind}: +{wins} ={len(margins) - wins - losses} -{losses}, {score:.1%}"
    )
    low, high = score - 1.96 * error, score + 1.96 * error
    print(f"Elo {elo(score):+.0f}, 95 % interval {elo(low):+.0f} to {elo(high):+.0f}")
    print(f"discs {statistics.mean(margins):+.2f} +- {1.96 * disc_error:.2f} a game")
    for side in (ours, theirs):
        print(
            f"{side.kind:>6}: mean depth {statistics.mean(side.depths):.1f},"
            f" {1e3 * side.used_s / len(side.depths):.1f} ms a move"
        )


if __name__ == "__main__":
    main()
