"""Our strong chess player against another engine at equal time: paired games, score and Elo difference.

    python -m bench.chess_match [--engine "gnuchess -u"] [--protocol uci] [--seconds 0.1] [--pairs 50]

Each pair of games starts from the same nearly balanced position after six to eight random plies, once with
either colour.  Games that are not over by the rules end when both engines have agreed for some moves who is
far ahead, or as draws after very many moves.  The clock is that on the wall: the machine had better be idle.
"""

import argparse
import math
import random
import shlex
import statistics
import time

import chess
import chess.engine

from engine.games import get_game
from engine.searchers import NativeSearcher, make_searcher
from engine.stop import StopFlag

GAME = get_game("chess")
BALANCED_CENTI = 60
BALANCED_DEPTH = 10
FAR_AHEAD_CENTI = 900
AGREED_PLIES = 6
MOST_PLIES = 400
MOST_DEATHS = 10


class Ours:
    """The strong search of the core."""

    name = "ours"

    def __init__(self, seconds: float, table_mb: int, threads: int) -> None:
        self._searcher, self._seconds, self._threads = make(table_mb), seconds, threads
        self.used_s: list[float] = []
        self.depths: list[int] = []

    def choose(self, start: str, board: chess.Board) -> tuple[chess.Move, int | None]:
        """A move, and what it thinks of the position (centipawns)."""
        moves = " ".join(move.uci() for move in board.move_stack)
        position = GAME.parse_position(f"{start} moves {moves}" if moves else start)
        began = time.perf_counter()
        thought = self._searcher.think(
            position, GAME.deepest_search, self._seconds, StopFlag(), threads=self._threads
        )
        self.used_s.append(time.perf_counter() - began)
        self.depths.append(thought.depth)
        return chess.Move.from_uci(thought.move), thought.score_centi


class Theirs:
    """Another program, which python-chess talks to."""

    name = "theirs"

    def __init__(self, command: str, protocol: str, seconds: float) -> None:
        simple = chess.engine.SimpleEngine
        self._start = simple.popen_xboard if protocol == "xboard" else simple.popen_uci
        self._command = shlex.split(command)
        self.engine = self._start(self._command)
        self._limit = chess.engine.Limit(time=seconds)
        self.used_s: list[float] = []
        self.depths: list[int] = []

    def restart(self) -> None:
        """Another process, after this one has died."""
        self.engine.close()
        self.engine = self._start(self._command)

    def choose(self, start: str, board: chess.Board) -> tuple[chess.Move, int | None]:
        """See `Ours.choose`."""
        # No more of the game than repetitions are about: some programs cannot read long lines.
        board = board.copy(stack=board.halfmove_clock)
        began = time.perf_counter()
        played = self.engine.play(
            board, self._limit, game=start, info=chess.engine.INFO_BASIC | chess.engine.INFO_SCORE
        )
        self.used_s.append(time.perf_counter() - began)
        self.depths.append(played.info.get("depth", 0))
        if played.move is None:
            raise SystemExit(f"the other engine has no move in {board.fen()}")
        score = played.info.get("score")
        return played.move, None if score is None else score.relative.score(mate_score=100_000)


def make(table_mb: int) -> NativeSearcher:
    searcher = make_searcher("chess", table_mb)
    assert isinstance(searcher, NativeSearcher)
    return searcher


def opening(rng: random.Random, judge: NativeSearcher) -> str:
    """A position in which neither side is ahead: elsewhere a pair says little about its players."""
    while True:
        board = chess.Board()
        for _ in range(rng.randint(6, 8)):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(rng.choice(moves))
        if board.is_game_over():
            continue
        thought = judge.think(GAME.parse_position(board.fen()), BALANCED_DEPTH, None, StopFlag())
        if abs(thought.score_centi) <= BALANCED_CENTI:
            return board.fen()


def points(white: Ours | Theirs, black: Ours | Theirs, start: str) -> float:
    """Of one game for white."""
    board = chess.Board(start)
    agreed, leader = 0, 0
    while not board.is_game_over(claim_draw=True) and len(board.move_stack) < MOST_PLIES:
        side = white if board.turn == chess.WHITE else black
        move, score = side.choose(start, board)
        ahead = 0
        if score is not None and abs(score) >= FAR_AHEAD_CENTI:
            ahead = 1 if (score > 0) == (board.turn == chess.WHITE) else -1
        agreed = agreed + 1 if ahead != 0 and ahead == leader else int(ahead != 0)
        leader = ahead
        if agreed >= AGREED_PLIES:
            return (1 + leader) / 2
        board.push(move)
    result = board.outcome(claim_draw=True)
    return 0.5 if result is None or result.winner is None else float(result.winner == chess.WHITE)


def elo(score: float) -> float:
    return -400 * math.log10(1 / min(max(score, 1e-3), 1 - 1e-3) - 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--engine", default="gnuchess -u", help="its command line")
    parser.add_argument("--protocol", choices=("uci", "xboard"), default="uci")
    parser.add_argument("--seconds", type=float, default=0.1, help="per move, for both")
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--threads", type=int, default=1, help="of our search")
    parser.add_argument("--table-mb", type=int, default=64, help="of our search")
    parser.add_argument("--seed", type=int, default=2006)
    arguments = parser.parse_args()
    if arguments.pairs < 2:
        parser.error("--pairs must be 2 or more")
    rng, judge = random.Random(arguments.seed), make(16)
    ours = Ours(arguments.seconds, arguments.table_mb, arguments.threads)
    theirs = Theirs(arguments.engine, arguments.protocol, arguments.seconds)
    games: list[float] = []
    pairs: list[float] = []
    deaths = 0
    while len(pairs) < arguments.pairs and deaths < MOST_DEATHS:
        start = opening(rng, judge)
        try:
            pair = [points(ours, theirs, start), 1 - points(theirs, ours, start)]
        except chess.engine.EngineTerminatedError:  # GNU Chess 6 does now and then, on a busy machine
            deaths += 1
            theirs.restart()
            continue
        games += pair
        pairs.append(sum(pair) / 2)
    theirs.engine.quit()
    if len(pairs) < 2:
        raise SystemExit(f"the other engine died {deaths} times")
    score = statistics.mean(pairs)
    # Games of a pair share their opening, so pairs are what is independent.
    error = 1.96 * statistics.stdev(pairs) / math.sqrt(len(pairs))
    print(
        f"against {arguments.engine}: +{games.count(1)} ={games.count(0.5)} -{games.count(0)}, {score:.1%};"
        f" Elo {elo(score):+.0f}, 95 % interval {elo(score - error):+.0f} to {elo(score + error):+.0f}"
    )
    if deaths:
        print(f"left out: {deaths} pairs in which the other engine died")
    for side in (ours, theirs):
        print(
            f"{side.name:>6}: mean depth {statistics.mean(side.depths):.1f},"
            f" {1e3 * statistics.mean(side.used_s):.0f} ms a move, longest {1e3 * max(side.used_s):.0f}"
        )


if __name__ == "__main__":
    main()
