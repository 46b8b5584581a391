"""Reads the operator's games for books and statistics: WTHOR, GGF, or one transcript per line."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from engine.formats import wthor
from engine.formats.files import GameFormat, read
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
    """Read the games of a file: WTHOR if its name ends in ``.wtb``, GGF if it contains GGF games, or else
    transcripts.

    Games from another start position are skipped.

    Raises:
        BadGameFile: The file cannot be read, or is not in the expected format.
    """
    try:
        if path.suffix.lower() == ".wtb":
            yield from _wthor(path.read_bytes())
            return
        text = path.read_text(encoding="utf-8")
        form = GameFormat.GGF if "(;" in text else GameFormat.TRANSCRIPT
        for number, game in enumerate(read(text.splitlines(), form), start=1):
            if isinstance(game, BadGame):
                raise BadGame(f"game {number}: {game}")
            if game.start is None:
                squares = tuple(SQUARES.index(move) for move in game.moves if move != "pass")
                yield TrainingGame(squares, game.margin)
    except OSError as error:
        raise BadGameFile(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadGameFile(f"{path}: neither a .wtb file nor text") from None
    except BadGame as error:
        raise BadGameFile(f"{path}: {error}") from None


def _wthor(data: bytes) -> Iterator[TrainingGame]:
    for game in wthor.parse_games(data).games():
        if isinstance(game, BadGame):
            raise game
        yield TrainingGame(game.squares, game.margin)
