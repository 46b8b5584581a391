"""Our strong xiangqi player against a UCCI program (ElephantEye, say) at equal time: paired games.

    python -m bench.xiangqi_match --engine PATH [--seconds 0.1] [--pairs 20] [--seed 2006]

Each pair starts from the same nearly balanced position after six random plies, once with either colour.
Games end by the rules, when ours has seen for some moves that one side is far ahead, or as draws after very
many moves.  The clock is that on the wall: the machine had better be idle.  It tells what the other has used.
"""

import argparse
import random
import re
import statistics
import subprocess
import time
from typing import Any

from bench.chess_match import elo
from engine.games import get_game
from engine.searchers import NativeSearcher, make_searcher
from engine.stop import StopFlag

GAME = get_game("xiangqi")
RANDOM_PLIES, BALANCED_CENTI, BALANCED_DEPTH = 6, 60, 8
FAR_AHEAD_CENTI, AGREED_MOVES, MOST_PLIES = 900, 3, 300


def shifted(move: str, by: int) -> str:
    """A move with its ranks counted from 1 + `by`: UCCI counts from 0, UCI from 1."""
    squares = re.findall(r"[a-i]\d+", move)
    return "".join(square[0] + str(int(square[1:]) + by) for square in squares)


class Theirs:
    """A UCCI program."""

    def __init__(self, path: str, seconds: float) -> None:
        self._program = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._milliseconds = round(1000 * seconds)
        self.used_s: list[float] = []
        self._say("ucci", "ucciok")
        self._say("setoption usebook false")

    def _say(self, line: str, until: str = "") -> str:
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        print(line, file=self._program.stdin, flush=True)
        while until:
            answer = self._program.stdout.readline()
            if not answer:
                raise SystemExit("the other engine has ended")
            if answer.startswith((until, "nobestmove")):
                return answer
        return ""

    def choose(self, position: Any) -> str | None:
        """Its move in our notation; None: it gives up."""
        fen, _, moves = GAME.position_text(position).partition(" moves ")
        board, side = fen.split()[:2]
        line = f"position fen {board} {side} - - 0 1"
        if moves:
            line += " moves " + " ".join(shifted(move, -1) for move in moves.split())
        began = time.perf_counter()
        self._say(line)
        answer = self._say(f"go time {self._milliseconds} movestogo 1", "bestmove").split()
        self.used_s.append(time.perf_counter() - began)
        return shifted(answer[1], 1) if answer[0] == "bestmove" and "resign" not in answer else None

    def close(self) -> None:
        self._program.kill()
        self._program.wait()


def opening(rng: random.Random, judge: NativeSearcher) -> Any:
    while True:
        position = GAME.initial()
        for _ in range(RANDOM_PLIES):
            position = GAME.play(position, rng.choice(GAME.legal_moves(position)))
        if GAME.legal_moves(position):
            thought = judge.think(position, BALANCED_DEPTH, None, StopFlag())
            if abs(thought.score_centi) <= BALANCED_CENTI:
                return position


def points(ours: NativeSearcher, theirs: Theirs, position: Any, our_side: int, seconds: float) -> float:
    """Of one game for us."""
    agreed = 0
    for _ in range(MOST_PLIES):
        moves = GAME.legal_moves(position)
        if not moves:
            result = GAME.result_centi(position) * (1 if GAME.side_to_move(position) == our_side else -1)
            return 0.5 if result == 0 else float(result > 0)
        if GAME.side_to_move(position) == our_side:
            thought = ours.think(position, GAME.deepest_search, seconds, StopFlag())
            move = thought.move
            side = (thought.score_centi > FAR_AHEAD_CENTI) - (thought.score_centi < -FAR_AHEAD_CENTI)
            agreed = 0 if side == 0 else agreed + side if agreed * side >= 0 else side
            if abs(agreed) >= AGREED_MOVES:
                return float(agreed > 0)
        else:
            answer = theirs.choose(position)
            if answer is None:
                return 1.0
            move = answer
        position = GAME.play(position, GAME.parse_move(position, move))
    return 0.5


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--engine", required=True, metavar="PATH", help="a UCCI program")
    parser.add_argument("--seconds", type=float, default=0.1, help="per move, for both")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=2006)
    options = parser.parse_args()
    rng, results = random.Random(options.seed), list[float]()
    for number in range(options.pairs):
        judge, ours = make_searcher("xiangqi", 64), make_searcher("xiangqi", 64)
        assert isinstance(judge, NativeSearcher)
        assert isinstance(ours, NativeSearcher)
        start = opening(rng, judge)
        for our_side in (0, 1):
            theirs = Theirs(options.engine, options.seconds)
            results.append(points(ours, theirs, start, our_side, options.seconds))
            used_s = statistics.mean(theirs.used_s) if theirs.used_s else 0.0
            theirs.close()
        wins, losses = results.count(1.0), results.count(0.0)
        print(
            f"pair {number + 1}: +{wins} ={len(results) - wins - losses} -{losses}, "
            f"Elo {elo(statistics.mean(results)):+.0f}; they used {1e3 * used_s:.0f} ms a move, last game",
            flush=True,
        )
    mean = statistics.mean(results)
    error = statistics.stdev(results) / len(results) ** 0.5 if len(results) > 1 else 0.0
    print(
        f"{len(results)} games: {mean:.1%}, Elo {elo(mean):+.0f} "
        f"(95 %: {elo(mean - 1.96 * error):+.0f} to {elo(mean + 1.96 * error):+.0f})"
    )


if __name__ == "__main__":
    main()
