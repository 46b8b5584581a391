"""Games that the operator gives: files of the WTHOR base (``.wtb``) and texts with a game on each line.

WTHOR is the French Othello Federation's base of tournament games: a header of 16 bytes, then 68 bytes for
each game, little-endian; neither passes nor times (http://www.ffothello.org/wthor/Format_WThor.pdf).
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from engine.game import IllegalMove, replay
from engine.games.othello import SQUARES, Othello, parse_transcript

_HEADER, _RECORD = 16, 68


class BadGames(ValueError):
    """A file that holds no games, or an impossible one; the message names the file and the place."""


class GameRecord(NamedTuple):
    """A game as far as books and statistics need it."""

    squares: tuple[int, ...]
    """The discs as placed from the usual start; passes are left out.  Not yet checked against the rules."""
    margin: int | None
    """Black's final score less white's, the empty squares given to the winner; None: it was not finished."""


def read_games(path: Path) -> Iterator[GameRecord]:
    """The games of a file: WTHOR if its name ends in ``.wtb``, else text.

    Raises:
        BadGames: The file cannot be read, or is not what its name says.
    """
    try:
        if path.suffix.lower() == ".wtb":
            yield from _wthor(path, path.read_bytes())
        else:
            yield from _texts(path, path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadGames(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadGames(f"{path}: neither a .wtb file nor text") from None


def _wthor(path: Path, data: bytes) -> Iterator[GameRecord]:
    if len(data) < _HEADER:
        raise BadGames(f"{path}: {len(data)} bytes are no WTHOR file")
    (count,) = struct.unpack_from("<I", data, 4)
    if data[12] not in (0, 8):
        raise BadGames(f"{path}: games on a board of {data[12]} x {data[12]}")
    if len(data) != _HEADER + _RECORD * count:
        raise BadGames(f"{path}: {len(data)} bytes; {count} games are {_HEADER + _RECORD * count}")
    for number in range(count):
        record = data[_HEADER + _RECORD * number :][:_RECORD]
        placed = record[8:].rstrip(b"\0")  # 10 * row + column, both from 1
        if any(not (1 <= place // 10 <= 8 and 1 <= place % 10 <= 8) for place in placed) or record[6] > 64:
            raise BadGames(f"{path}: game {number + 1} has a square or score that is none")
        yield GameRecord(tuple(place // 10 * 8 + place % 10 - 9 for place in placed), 2 * record[6] - 64)


def _texts(path: Path, text: str) -> Iterator[GameRecord]:
    """Games as `parse_transcript` reads them; empty lines, comments (#) and tags ([) are skipped."""
    game = Othello()
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip()[0] in "#[":
            continue
        try:
            moves = parse_transcript(line)
            end = replay(game, moves)
        except IllegalMove as error:
            raise BadGames(f"{path}, line {number}: {error}") from None
        if not moves:
            raise BadGames(f"{path}, line {number}: no move in {line!r:.60}")
        margin = None
        if not game.legal_moves(end):
            margin = game.margin_discs(end) * (1 if end.side == 0 else -1)
        yield GameRecord(tuple(SQUARES.index(move) for move in moves if move != "pass"), margin)
