"""Positions for the benchmarks."""

import random
from pathlib import Path
from typing import Any, NamedTuple

from engine.game import Game
from engine.games.othello import Othello, OthelloPosition
from engine.search.reference import exact_score
from engine.search.searchers import NativeOthelloSearcher, NativeSearcher, make_searcher
from engine.stop import StopFlag

PLIES = 20
BALANCED_CENTI = 600
RANDOM_PLIES, QUICK_PLIES = 6, 18
NEARLY_EVEN_CENTI = 100
SHARED_MIDGAMES = Path(__file__).parents[2] / "shared" / "data" / "suites" / "othello_midgame_20.obf"


class Ending(NamedTuple):
    """A position of the FFO suite, the standard benchmark of Othello endgame solvers."""

    number: int
    position: str
    """The 64 squares, starting at a1 (X black, O white), then the side to move."""
    score: int
    """Final disc difference under best play, for the side to move."""
    best: tuple[str, ...]


ENDINGS = (
    Ending(40, "O--OOOOX-OOOOOOXOOXXOOOXOOXOOOXXOOOOOOXX---OOOOX----O--X-------- X", 38, ("a2",)),
    Ending(41, "-OOOOO----OOOOX--OOOOOO-XXXXXOO--XXOOX--OOXOXX----OXXO---OOO--O- X", 0, ("h4",)),
    Ending(42, "--OOO-------XX-OOOOOOXOO-OOOOXOOX-OOOXXO---OOXOO---OOOXO--OOOO-- X", 6, ("g2",)),
    Ending(
        43,
        "--XXXXX---XXXX---OOOXX---OOXXXX--OOXXXO-OOOOXOO----XOX----XXXXX- O",
        -12,
        (
            "g3",
            "c7",
        ),
    ),
    Ending(
        44,
        "--O-X-O---O-XO-O-OOXXXOOOOOOXXXOOOOOXX--XXOOXO----XXXX-----XXX-- O",
        -14,
        (
            "d2",
            "b8",
        ),
    ),
    Ending(45, "---XXXX-X-XXXO--XXOXOO--XXXOXO--XXOXXO---OXXXOO-O-OOOO------OO-- X", 6, ("b2",)),
    Ending(46, "---XXX----OOOX----OOOXX--OOOOXXX--OOOOXX--OXOXXX--XXOO---XXXX-O- X", -8, ("b3",)),
    Ending(47, "-OOOOO----OOOO---OOOOX--XXXXXX---OXOOX--OOOXOX----OOXX----XXXX-- O", 4, ("g2",)),
    Ending(48, "-----X--X-XXX---XXXXOO--XOXOOXX-XOOXXX--XOOXX-----OOOX---XXXXXX- O", 28, ("f6",)),
    Ending(49, "--OX-O----XXOO--OOOOOXX-OOOOOX--OOOXOXX-OOOOXX-----OOX----X-O--- X", 16, ("e1",)),
)
"""FFO endgame test positions 40 to 49 (20 to 27 empty squares), each with its published result."""


def native_searcher(name: str, table_mb: int) -> NativeSearcher:
    """Return the native searcher for a game."""
    searcher = make_searcher(name, table_mb)
    assert isinstance(searcher, NativeSearcher)
    return searcher


def midgames(count: int) -> tuple[str, list[OthelloPosition]]:
    """Return a description of the source, and balanced middlegames from it."""
    if SHARED_MIDGAMES.exists():
        lines = SHARED_MIDGAMES.read_text().splitlines()
        positions = [Othello().parse_position(line) for line in lines if line[:1] in ("-", "X", "O")]
        return SHARED_MIDGAMES.name, positions[:count]
    return "random openings", balanced_positions(count)


def balanced_positions(count: int) -> list[OthelloPosition]:
    """Balanced middlegames after random openings."""
    game, rng, positions = Othello(), random.Random(2006), list[OthelloPosition]()
    searcher = NativeOthelloSearcher(16)
    while len(positions) < count:
        position = game.initial()
        for _ in range(PLIES):
            moves = game.legal_moves(position)
            if not moves:
                break
            position = game.play(position, rng.choice(moves))
        else:
            if len(game.legal_moves(position)) > 1:
                score = exact_score(searcher, position, 6, StopFlag())
                if abs(score) < BALANCED_CENTI:
                    positions.append(position)
    return positions


def middle_games(game: Game[Any], count: int) -> list[Any]:
    """Return nearly even positions from quick self-play games after random openings."""
    rng, searcher, positions = random.Random(2006), native_searcher(game.name, 64), list[Any]()
    while len(positions) < count:
        position = game.initial()
        for ply in range(RANDOM_PLIES + QUICK_PLIES):
            moves = game.legal_moves(position)
            if not moves:
                break
            if ply < RANDOM_PLIES:
                move = rng.choice(moves)
            else:
                move = game.parse_move(position, searcher.think(position, 4, None, StopFlag()).move)
            position = game.play(position, move)
        if not game.legal_moves(position):
            continue
        if abs(searcher.think(position, 8, None, StopFlag()).score_centi) <= NEARLY_EVEN_CENTI:
            positions.append(position)
    return positions
