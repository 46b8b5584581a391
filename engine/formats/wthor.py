"""WTHOR, the French Othello Federation's database of tournament games: ``.wtb``, ``.jou``, ``.trn``.

Each file has a header of 16 bytes and records of fixed length, little-endian: games of 68 bytes (``.wtb``),
player names of 20 (``.jou``), tournament names of 26 (``.trn``).  A game refers to its tournament and players
by record number, and has neither passes nor times (http://www.ffothello.org/wthor/Format_WThor.pdf).
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.formats.record import BadGame, GameRecord, black_margin, clean, margin_points, squares_to_moves

_HEADER = struct.Struct("<4BIHH4B")
_GAME = struct.Struct("<3H2B60s")
GAME_BYTES = _GAME.size
_NAME_BYTES = {".jou": 20, ".trn": 26}  # of a player, of a tournament
_DEFAULT_DEPTH = 22
SCORE_TAG = "TheoreticalScore"
"""Tag of a `GameRecord`: Black's final disc count with perfect play from `WthorFile.depth` empty squares."""


class BadWthor(BadGame):
    """The file's kind does not match its name, or a game is impossible; the message says where."""


@dataclass(frozen=True)
class WthorGame:
    """One record of a ``.wtb`` file.  The squares are valid; legality is not checked."""

    tournament: int
    """Record number in the file of tournaments, from 0."""
    black: int
    white: int
    black_score: int
    """Black's discs at the end, 0 to 64; empty squares count for the winner."""
    theoretical_score: int
    """Black's final disc count with perfect play, starting at `WthorFile.depth` empty squares."""
    squares: tuple[int, ...]
    """The squares in the order of placement from the starting position, 0 for a1, 1 for b1; no passes."""

    @property
    def margin(self) -> int:
        """Black's discs minus white's."""
        return 2 * self.black_score - 64


@dataclass(frozen=True)
class WthorFile:
    """Header of a ``.wtb`` file, and its games as bytes, which `games` parses."""

    year: int
    """Year in which the games were played."""
    depth: int
    """Number of empty squares from which the theoretical scores assume perfect play."""
    count: int
    _data: bytes

    @property
    def trailing_bytes(self) -> int:
        """Number of bytes after the last game."""
        return len(self._data) - _HEADER.size - _GAME.size * self.count

    def games(self) -> Iterator[WthorGame | BadWthor]:
        """Every game in order; in place of a game with an invalid square or score, the reason."""
        for number in range(self.count):
            tournament, black, white, score, theoretical, moves = _GAME.unpack_from(
                self._data, _HEADER.size + _GAME.size * number
            )
            placed_at = moves.rstrip(b"\0")  # 10 * row + column, both from 1
            if score > 64 or any(not (1 <= at // 10 <= 8 and 1 <= at % 10 <= 8) for at in placed_at):
                yield BadWthor(f"game {number + 1} has an invalid square or score")
                continue
            squares = tuple(at // 10 * 8 + at % 10 - 9 for at in placed_at)
            yield WthorGame(tournament, black, white, score, theoretical, squares)


def parse_games(data: bytes) -> WthorFile:
    """Parse a ``.wtb`` file.

    Raises:
        BadWthor: The data is not a valid ``.wtb`` file, or its board is not 8 x 8.
    """
    count, _, year, size, _, depth = _header(data)
    if size not in (0, 8):
        raise BadWthor(f"games on a board of {size} x {size}")
    if not is_wthor(data, len(data)):
        raise BadWthor(f"{len(data)} bytes; {count} games are {_HEADER.size + _GAME.size * count}")
    return WthorFile(year, depth or _DEFAULT_DEPTH, count, data)


def is_wthor(data: bytes, length: int) -> bool:
    """Whether the first bytes and the length of a file are those of a ``.wtb`` file.

    A few bytes after the last game are allowed.
    """
    if len(data) < _HEADER.size:
        return False
    count, _, _, size, _, _ = _header(data)
    trailing = length - _HEADER.size - _GAME.size * count
    return size in (0, 8) and (trailing == 0 or (count > 0 and 0 < trailing < _GAME.size))


def to_record(
    game: WthorGame, file: WthorFile, players: Sequence[str] = (), tournaments: Sequence[str] = ()
) -> GameRecord:
    """The game with its names; record numbers replace missing names.

    Raises:
        BadGame: A move is illegal.
    """
    moves, end = squares_to_moves(game.squares)
    over = black_margin(end)
    margin = game.margin if over is None else over
    return GameRecord(
        game="othello",
        players=(_name(players, game.black), _name(players, game.white)),
        moves=moves,
        points=margin_points(margin),
        margin=margin,
        event=_name(tournaments, game.tournament),
        date=str(file.year) if file.year else "",
        tags=((SCORE_TAG, f"{game.theoretical_score} at {file.depth}"),),
    )


def _header(data: bytes) -> tuple[int, int, int, int, int, int]:
    """The header: number of games, number of names, year, board size, solitaires (0 or 1), depth."""
    if len(data) < _HEADER.size:
        raise BadWthor(f"{len(data)} bytes are not a WTHOR file")
    _, _, _, _, games, names, year, size, solitaires, depth, _ = _HEADER.unpack_from(data)
    return games, names, year, size, solitaires, depth


def parse_names(data: bytes, suffix: str) -> tuple[str, ...]:
    """The names of a ``.jou`` file (players) or a ``.trn`` file (tournaments), by record number.

    Raises:
        BadWthor: The data is not a valid file of this kind.
    """
    count, length = _header(data)[1], _NAME_BYTES[suffix]
    if len(data) != _HEADER.size + length * count:
        raise BadWthor(f"{len(data)} bytes; {count} names are {_HEADER.size + length * count}")
    fields = (data[at : at + length] for at in range(_HEADER.size, len(data), length))
    return tuple(clean(field.partition(b"\0")[0].decode("latin-1")) for field in fields)


def _name(names: Sequence[str], number: int) -> str:
    return names[number] if number < len(names) else f"#{number}"
