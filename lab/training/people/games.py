"""Reads the collections of each game."""

from collections.abc import Sequence
from pathlib import Path

from lab.training.people.chess_games import read_chess
from lab.training.people.collection import Collection
from lab.training.people.shapes import CHESS, OTHELLO
from lab.training.people.wthor import read_othello
from lab.training.people.xiangqi_games import read_xiangqi


def read_collection(game: str, paths: Sequence[Path], most_positions: int) -> Collection:
    """Read the positions of a game's collections.

    Args:
        game: Name in `lab.training.people.shapes.SHAPES`.
        paths: Files, or for Othello folders.
        most_positions: Stop after about this many positions; for chess, whose collections are huge.

    Raises:
        UnusableGames: A file is unreadable, or there are no games.
    """
    if game == OTHELLO.name:
        return read_othello(paths)
    return read_chess(paths, most_positions) if game == CHESS.name else read_xiangqi(paths)
