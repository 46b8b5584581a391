"""Reads the operator's games of Othello for books and statistics."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bot.base.game_files import game_sources
from engine.formats import wthor
from engine.formats.record import BadGame
from engine.games.othello import SQUARES


class BadGameFile(ValueError):
    """A file contains no games or an invalid game; the message gives the file and the place in it."""


class TrainingGame(NamedTuple):
    """The part of a game's data that books and statistics need."""

    squares: tuple[int, ...]
    """The squares in the order of play from the standard start, without passes. The moves may be illegal."""
    margin: float | None
    """Black's final score minus White's, with empty squares counted for the winner; None if unfinished."""


def read_games(path: Path) -> Iterator[TrainingGame]:
    """Read the games of Othello in a file: WTHOR if its name ends in ``.wtb``, otherwise any other format.

    Games from another start position are skipped.

    Raises:
        BadGameFile: The file cannot be read, or is not in the expected format.
    """
    try:
        if path.suffix.lower() == ".wtb":
            yield from _wthor(path.read_bytes())
            return
        for source in game_sources(path, game="othello"):
            for number, record in enumerate(source, start=1):
                if isinstance(record, BadGame):
                    raise BadGame(f"game {number}: {record}")
                if record.game != "othello":
                    raise BadGame(f"game {number} is a game of {record.game}")
                if record.start is None:
                    squares = tuple(SQUARES.index(move) for move in record.moves if move != "pass")
                    yield TrainingGame(squares, record.margin)
    except OSError as error:
        raise BadGameFile(f"{path}: cannot be read: {error.strerror}") from None
    except BadGame as error:
        raise BadGameFile(f"{path}: {error}") from None


def _wthor(data: bytes) -> Iterator[TrainingGame]:
    for game in wthor.parse_games(data).games():
        if isinstance(game, BadGame):
            raise game
        yield TrainingGame(game.squares, game.margin)
