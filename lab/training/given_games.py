"""Reads the operator's games for books and statistics: WTHOR, GGF, or one transcript per line."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from engine.formats import ggf, transcripts, wthor
from engine.formats.record import BadGame
from engine.formats.record import GameRecord as Record
from engine.games.othello import SQUARES


class BadGameFile(ValueError):
    """A file without games, or with an impossible one; the message names the file and the place."""


class TrainingGame(NamedTuple):
    """The parts of a game that books and statistics need."""

    squares: tuple[int, ...]
    """The discs as placed from the usual start, without passes.  Not yet checked against the rules."""
    margin: float | None
    """Black's final score less white's, the empty squares given to the winner; None: unfinished."""


def read_games(path: Path) -> Iterator[TrainingGame]:
    """The games of a file: WTHOR if its name ends in ``.wtb``, GGF if it contains GGF games, else
    transcripts.

    Games from another start position are skipped.

    Raises:
        BadGameFile: The file cannot be read, or does not match its name.
    """
    try:
        if path.suffix.lower() == ".wtb":
            yield from _wthor(path.read_bytes())
            return
        text = path.read_text(encoding="utf-8")
        yield from _ggf(text) if "(;" in text else _transcripts(text)
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


def _ggf(text: str) -> Iterator[TrainingGame]:
    for number, game in enumerate(ggf.find(text), start=1):
        try:
            if isinstance(game, BadGame):
                raise game
            record = ggf.to_record(game)
        except BadGame as error:
            raise BadGame(f"game {number}: {error}") from None
        if record.start is None:
            yield _short(record)


def _transcripts(text: str) -> Iterator[TrainingGame]:
    for number, line in enumerate(text.splitlines(), start=1):
        if transcripts.is_remark(line):
            continue
        try:
            yield _short(transcripts.parse(line))
        except BadGame as error:
            raise BadGame(f"line {number}: {error}") from None


def _short(record: Record) -> TrainingGame:
    squares = tuple(SQUARES.index(move) for move in record.moves if move != "pass")
    return TrainingGame(squares, record.margin)
