"""Speed of Maia's networks, and how well they predict people's moves.

    python -m bench.human_models MODELS [--games FILE.pgn] [--positions 5000] [--only speed|accuracy]

MODELS is the folder that ``desdemona lab import-model`` wrote.

* Speed: all positions after the moves of one position, as in a player's query; first for an even sample of
  positions from games, then for three crowded middlegames, by parts: the input (encode), inference (infer),
  and the rules (play the moves, find the legal ones).  Processor time of one thread, and wall-clock time, for
  which the machine should be idle.
* Accuracy: an even sample of people's games, from the tenth ply on.  How often the move played is the
  network's first (top-1) and its mean negative log-likelihood (NLL), with the game's history and from the
  board alone; by the mover's rating; and for all networks together, the one nearest the rating and
  interpolated.
"""

import argparse
import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import chess.pgn
import numpy as np

from engine.decision import Person
from engine.game import Move
from engine.games.standard_chess import ChessPosition, StandardChess
from engine.human.maia import MaiaFamily, MaiaModel
from engine.human.maia_planes import HISTORY, encode, places
from engine.human.model import HumanModel, PredictionQuery
from engine.human.model_files import open_model
from engine.human.onnx import OnnxNetwork

GAMES = Path(__file__).parents[2] / "shared" / "data" / "chess-games" / "lichess_2021-10-01.pgn"
FIRST_PLY = 10
BATCH = 64
REPEATS = 30
TYPICAL, TYPICAL_REPEATS = 200, 5
"""Positions from games, and how often each is timed."""
LIMIT_MS = 15
"""Target for encoding and inference at a typical move, on one core."""
LEAST = 1e-9
"""Lower limit on a move's probability in the logarithm."""
MIDDLE_GAMES = (
    "e2e4 e7e5 g1f3 b8c6 f1c4 g8f6 d2d3 f8c5 c2c3 d7d6 e1g1 a7a6 a2a4 c5a7 h2h3 e8g8",
    "d2d4 g8f6 c2c4 e7e6 g1f3 d7d5 b1c3 f8e7 c1f4 e8g8 e2e3 c7c5 d4c5 e7c5 d1c2 b8c6 a2a3 d8a5",
    "e2e4 c7c5 g1f3 d7d6 d2d4 c5d4 f3d4 g8f6 b1c3 a7a6 c1e3 e7e5 d4b3 c8e6 f2f3 f8e7 d1d2 e8g8 e1c1 b8d7",
)
GAME = StandardChess()


@dataclass(frozen=True, slots=True)
class Played:
    """A position of a game, and the move played."""

    history: tuple[ChessPosition, ...]
    move: Move
    rating: int


def read_games(path: Path) -> list[Played]:
    """All positions from the tenth ply on with a choice of moves and a known rating."""
    found = []
    with path.open(encoding="utf-8") as file:
        while (game := chess.pgn.read_game(file)) is not None:
            ratings = [game.headers.get(f"{side}Elo", "") for side in ("White", "Black")]
            if game.errors or game.headers.get("Variant", "Standard") != "Standard" or "FEN" in game.headers:
                continue
            positions = [GAME.initial()]
            for ply, made in enumerate(game.mainline_moves()):
                position = positions[-1]
                if not position.legal:
                    break
                move = GAME.parse_move(position, made.uci())
                if ply >= FIRST_PLY and len(position.legal) > 1 and ratings[ply % 2].isdigit():
                    found.append(Played(tuple(positions[-HISTORY:]), move, int(ratings[ply % 2])))
                positions.append(GAME.play(position, move))
    return found


def sample(found: Sequence[Played], count: int) -> list[Played]:
    """An even sample."""
    if count >= len(found):
        return list(found)
    return [found[index * len(found) // count] for index in range(count)]


@dataclass(frozen=True, slots=True)
class Judged:
    """A model's predictions for some positions."""

    p: list[float]
    """Probability of the move played."""
    first: list[bool]
    """Whether the move played was the likeliest."""
    masses: list[float]
    """Total probability of the legal moves; empty: unknown."""

    def text(self) -> str:
        top = statistics.fmean(self.first)
        error = 1.96 * math.sqrt(top * (1 - top) / len(self.first))
        nll = statistics.fmean(-math.log(max(p, LEAST)) for p in self.p)
        return f"top-1 {top:6.1%} +-{error:.1%}, NLL {nll:.3f}"


def judge(model: HumanModel, played: Sequence[Played], *, with_history: bool = True) -> Judged:
    judged = Judged([], [], [])
    for start in range(0, len(played), BATCH):
        part = played[start : start + BATCH]
        histories = [one.history if with_history else (board_alone(one.history[-1]),) for one in part]
        if isinstance(model, MaiaModel):
            answers, masses = model.ask(histories)
            judged.masses.extend(masses)
        else:
            asks = zip(histories, part, strict=True)
            answers = model.predict([PredictionQuery(history, Person(one.rating)) for history, one in asks])
        for one, answer in zip(part, answers, strict=True):
            p = answer[one.history[-1].legal.index(one.move)]
            judged.p.append(p)
            judged.first.append(p == max(answer))
    return judged


def board_alone(position: ChessPosition) -> ChessPosition:
    return GAME.parse_position(GAME.board_text(position))


def accuracy(folder: Path, path: Path, count: int) -> None:
    everything = read_games(path)
    played = sample(everything, count)
    print(f"{len(played)} of {len(everything)} positions, {path.name}, ply {FIRST_PLY} on")
    by_net = {}
    for model in networks(folder):
        judged = judge(model, played)
        by_net[model.rating or 0] = judged
        alone = judge(model, played, with_history=False)
        mass = f"legal moves: mean {statistics.fmean(judged.masses):.4f}, least {min(judged.masses):.4f}"
        print(f"{model.info.name}: {judged.text()}; without history {alone.text()}; {mass}", flush=True)
    family = judge(MaiaFamily(networks(folder)), played)
    print(f"interpolated by rating: {family.text()}")
    opened = open_model(folder)
    print(f"{opened.info.name}, as the bot opens the folder: {judge(opened, played).text()}")
    near = [min(by_net, key=lambda net, one=one: abs(net - one.rating)) for one in played]  # type: ignore[misc]
    nearest = Judged(
        [by_net[net].p[index] for index, net in enumerate(near)],
        [by_net[net].first[index] for index, net in enumerate(near)],
        [],
    )
    print(f"the nearest to the rating: {nearest.text()}")
    for low in range(800, 2400, 200):
        inside = [index for index, one in enumerate(played) if low <= one.rating < low + 200]
        if len(inside) < 100:
            continue
        tops = {net: statistics.fmean(judged.first[i] for i in inside) for net, judged in by_net.items()}
        both = statistics.fmean(family.first[i] for i in inside)
        row = "  ".join(f"{net} {top:.3f}" for net, top in tops.items())
        print(f"{low}-{low + 199}, {len(inside):5} positions: {row}  interpolated {both:.3f}")


def networks(folder: Path) -> list[MaiaModel]:
    return [MaiaModel(OnnxNetwork.open(path, start=False)) for path in sorted(folder.glob("*.onnx"))]


def timed(work: Callable[[], object]) -> str:
    wall, own = [], []
    for _ in range(REPEATS):
        wall_began, own_began = time.perf_counter(), time.thread_time()
        work()
        wall.append(time.perf_counter() - wall_began)
        own.append(time.thread_time() - own_began)
    return (
        f"{1e3 * min(own):6.2f} ms (median {1e3 * statistics.median(own):.2f}; "
        f"wall clock {1e3 * min(wall):.2f}, {1e3 * statistics.median(wall):.2f})"
    )


def speed(model: MaiaModel, path: Path) -> None:
    if path.exists():
        typical(model, path)
    else:
        print(f"no games at {path}: no sample of typical positions")
    for line in MIDDLE_GAMES:
        positions = [GAME.initial()]
        for text in line.split():
            positions.append(GAME.play(positions[-1], GAME.parse_move(positions[-1], text)))
        asks = asks_of(positions)
        seen = [ask.positions for ask in asks]
        planes = encode(seen)
        print(f"{len(asks)} positions after the moves of one:")
        print(f"  encode         {timed(lambda: (encode(seen), places([one[-1] for one in seen])))}")  # noqa: B023
        print(f"  infer          {timed(lambda: model.moves(planes))}")  # noqa: B023
        print(f"  encode + infer {timed(lambda: model.predict(asks))}")  # noqa: B023
        print(f"  rules          {timed(lambda: asks_of(positions))}")  # noqa: B023
        one = asks[:1]
        print(f"  one position   {timed(lambda: model.predict(one))}")  # noqa: B023


def asks_of(positions: Sequence[ChessPosition]) -> list[PredictionQuery]:
    """A player's queries at the last position: all positions after its moves that have a choice."""
    root = GAME.for_search(positions[-1])
    before = tuple(positions[-HISTORY + 1 : -1])
    after = [GAME.play(root, move) for move in root.legal]
    return [PredictionQuery((*before, root, position)) for position in after if len(position.legal) > 1]


def typical(model: MaiaModel, path: Path) -> None:
    """Time encoding and inference at positions from games, several times each."""
    best, middle, counts = [], [], []
    for one in sample(read_games(path), TYPICAL):
        if not (asks := asks_of(one.history)):
            continue
        times = []
        for _ in range(TYPICAL_REPEATS):
            began = time.perf_counter()
            model.predict(asks)
            times.append(1e3 * (time.perf_counter() - began))
        best.append(min(times))
        middle.append(statistics.median(times))
        counts.append(len(asks))
    under = sum(ms < LIMIT_MS for ms in middle)
    print(
        f"{len(counts)} positions of {path.name}, ply {FIRST_PLY} on, with {statistics.fmean(counts):.1f} "
        f"positions after their moves (median {statistics.median(counts):g}, most {max(counts)}):"
    )
    print(
        f"  encode + infer, wall clock: mean {statistics.fmean(middle):.2f} ms (at best "
        f"{statistics.fmean(best):.2f}), median {statistics.median(middle):.2f} ms (at best "
        f"{statistics.median(best):.2f}); under {LIMIT_MS} ms at {under} of {len(counts)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", type=Path)
    parser.add_argument("--games", type=Path, default=GAMES)
    parser.add_argument("--positions", type=int, default=5000)
    parser.add_argument("--only", choices=("speed", "accuracy"))
    options = parser.parse_args()
    np.seterr(all="raise")
    if options.only != "accuracy":
        speed(networks(options.models)[0], options.games)
    if options.only == "speed":
        return
    if options.games.exists():
        accuracy(options.models, options.games, options.positions)
    else:
        print(f"no games at {options.games}")


if __name__ == "__main__":
    main()
