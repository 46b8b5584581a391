"""Games of Othello by lot, and WTHOR files of them."""

import random
import struct
from collections.abc import Iterator
from pathlib import Path

from engine.games.othello import PASS, Othello, OthelloPosition

_GAME = Othello()


def random_game(rng: random.Random) -> Iterator[tuple[OthelloPosition, int]]:
    """Each position of a game at random with the move that was played, passes included."""
    position = _GAME.initial()
    while moves := _GAME.legal_moves(position):
        move = rng.choice(moves)
        yield position, move
        position = _GAME.play(position, move)


def played_positions(games: int, seed: int = 1) -> list[OthelloPosition]:
    """Every position with a disc to place, of some games at random."""
    rng = random.Random(seed)
    return [position for _ in range(games) for position, move in random_game(rng) if move != PASS]


def write_wthor(file: Path, year: int, games: list[list[int]]) -> None:
    """A ``.wtb`` file of games as squares from 0; results are not looked at by its readers here."""
    header = struct.pack("<4BIHH4B", 20, 26, 1, 1, len(games), 0, year, 8, 0, 22, 0)
    records = [
        struct.pack("<3H2B60s", 0, 0, 1, 32, 32, bytes(10 * (at // 8 + 1) + at % 8 + 1 for at in squares))
        for squares in games
    ]
    file.write_bytes(header + b"".join(records))


def random_games(count: int, seed: int = 1) -> list[list[int]]:
    """The discs as placed in some games at random."""
    rng = random.Random(seed)
    return [[move for _, move in random_game(rng) if move != PASS] for _ in range(count)]
