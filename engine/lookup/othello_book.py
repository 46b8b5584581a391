"""Our opening book for Othello: opening positions with their good moves and scores.

Positions that the board's eight symmetries map to one another share the entry of the smallest of them (the
*canonical* one); moves are mapped accordingly. Colours do not matter: an entry is from the side to move's
point of view. ``python -m lab.training.othello_book`` builds books; none is bundled with the program.

The file is gzipped text, one JSON value per line: it is small, ``zcat`` can show it, and gzip's checksum
detects damage. (A database would be several times larger, and nothing else in the engine needs a database.)
The first line is the header::

    {"format": "desdemona book", "version": 1, "game": "othello", "entries": 2, "made": {...}}

and each further line is an entry: the canonical board from a1 to h8 (X the side to move, O the other, -
empty), then its moves, each with score, depth and, in books from games, number of games and mean result::

    ["------...", [["d3", 12, 16], ["c4", 12, 16, 523, 0.511]]]
"""

import gzip
import json
import random
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from engine._native import INFINITY, othello_moves_mask
from engine.decision import DirectMove, SearchMode
from engine.game import Move
from engine.games.othello import SQUARES, OthelloPosition, flips_mask
from engine.games.othello_evaluation import turned
from engine.lookup.source import BadSource, LookupMove

FORMAT = "desdemona book"
VERSION = 1

BookKey = tuple[int, int]
"""Discs of the side to move and of the other side, in canonical form."""

_MAX_LOSS_CENTI = 50
"""Maximum loss of a played move compared with the best move."""
_MAX_PLIES, _MAX_GAMES = 1_000, 10**12

_NUMBER = {name: square for square, name in enumerate(SQUARES)}
_MOVER, _WAITER = str.maketrans("XO-", "100"), str.maketrans("XO-", "010")
_INVERSE_SYMMETRY = (0, 1, 2, 3, 4, 6, 5, 7)  # the symmetry that undoes each one


class BadBook(BadSource):
    """The file is not a book or is damaged; the message names the file, the fault and its location."""


class BookMove(NamedTuple):
    """A move of the book, with its score."""

    move: Move
    score_centi: int
    """In centidiscs, for the side to move."""
    depth: int
    """Depth of the search that produced the score, in plies from the position."""
    games: int = 0
    """Number of games in which the move was played; 0 in a book that is not built from games."""
    mean_result: float | None = None
    """Mean result of those games for the side to move (1 won, 0 lost); None if no game was finished."""


def turned_board(board: int, symmetry: int) -> int:
    """A bitboard under one of the symmetries, numbered as in `engine.games.othello_evaluation.turned`."""
    if symmetry & 1:  # mirror the columns
        board = (board >> 1 & 0x5555555555555555) | (board & 0x5555555555555555) << 1
        board = (board >> 2 & 0x3333333333333333) | (board & 0x3333333333333333) << 2
        board = (board >> 4 & 0x0F0F0F0F0F0F0F0F) | (board & 0x0F0F0F0F0F0F0F0F) << 4
    if symmetry & 2:  # mirror the rows
        board = int.from_bytes(board.to_bytes(8, "little"), "big")
    if symmetry & 4:  # transpose: swap blocks of 4, 2 and 1 squares across the diagonal from a1
        for step, mask in ((28, 0x0F0F0F0F00000000), (14, 0x3333000033330000), (7, 0x5500550055005500)):
            swap = mask & (board ^ board << step)
            board ^= swap | swap >> step
    return board


def canonical(mover: int, waiter: int) -> tuple[BookKey, tuple[int, ...]]:
    """The canonical form of a position and every symmetry that maps the position to it.

    A position that is itself symmetric, like the start position, has more than one such symmetry.
    """
    images = [(turned_board(mover, symmetry), turned_board(waiter, symmetry)) for symmetry in range(8)]
    least = min(images)
    return least, tuple(symmetry for symmetry, image in enumerate(images) if image == least)


class Book:
    """An immutable book in memory, shared by all players."""

    def __init__(self, entries: Mapping[BookKey, tuple[BookMove, ...]]) -> None:
        self._entries = entries

    @classmethod
    def open(cls, path: Path) -> "Book":
        """Read a complete book.

        Raises:
            BadBook: The file is missing, truncated, damaged, or not a book that this version can read.
        """
        number = 0
        entries: dict[BookKey, tuple[BookMove, ...]] = {}
        try:
            if path.is_fifo():  # opening it would block
                raise OSError(0, "not a file")
            with gzip.open(path, "rt", encoding="ascii", newline="\n") as lines:
                header: dict[str, Any] = {}
                for number, line in enumerate(lines, start=1):
                    if number == 1:
                        header = _header(line)
                        continue
                    key, moves = _entry(line)
                    if key in entries:
                        raise BadBook("this position occurs twice")
                    entries[key] = moves
            if number == 0:
                raise BadBook("it is empty")
            if len(entries) != header["entries"]:
                raise BadBook(f"it ends after {len(entries)} of {header['entries']} entries")
        except gzip.BadGzipFile as error:
            what = f"damaged after line {number}" if number else "not a book"
            raise BadBook(f"{path}: {what}: {error}") from None
        except OSError as error:
            raise BadBook(f"{path}: cannot be read: {error.strerror or error}") from None
        except (EOFError, zlib.error) as error:
            what = "truncated" if isinstance(error, EOFError) else "damaged"
            raise BadBook(f"{path}: {what} after line {number}") from None
        except UnicodeDecodeError:
            raise BadBook(f"{path}: damaged after line {number}: not text") from None
        except BadBook as error:
            raise BadBook(f"{path}, line {number}: {error}") from None
        except ValueError as error:  # a name that no file can have
            raise BadBook(f"{path}: cannot be read: {error}") from None
        return cls(entries)

    def __len__(self) -> int:
        return len(self._entries)

    def moves(self, position: OthelloPosition) -> tuple[BookMove, ...]:
        """The book's moves for the position, best first, ties by move number; empty if there are none."""
        key, symmetries = canonical(position.mover, position.waiter)
        back = _INVERSE_SYMMETRY[symmetries[0]]
        moves = [move._replace(move=turned(move.move, back)) for move in self._entries.get(key, ())]
        return tuple(sorted(moves, key=lambda move: (-move.score_centi, move.move)))

    @property
    def description(self) -> str:
        return f"a book of {len(self)} positions"

    def choose(self, position: OthelloPosition, rng: random.Random) -> LookupMove | None:
        """Choose a random move nearly as good as the book's best (see `engine.lookup.source.RootSource`).

        A move's weight falls linearly with its loss relative to the best move and, in books from games, grows
        with the number of games. Moves to equivalent positions share one weight.
        """
        moves = self.moves(position)
        good = [move for move in moves if moves[0].score_centi - move.score_centi <= _MAX_LOSS_CENTI]
        if not good:
            return None
        keys = [_after(position, move.move) for move in good]
        weights = []
        for move, key in zip(good, keys, strict=True):
            nearness = _MAX_LOSS_CENTI + 1 - (good[0].score_centi - move.score_centi)
            weights.append(nearness * max(1, move.games) / keys.count(key))
        chosen = rng.choices(good, weights)[0]
        return LookupMove(
            chosen.move, SearchMode.BOOK, DirectMove(chosen.score_centi, chosen.depth, 0, False)
        )


def parse_board(text: Any) -> BookKey:
    """The inverse of `lab.training.othello_book.board_text`.

    Raises:
        BadBook: The text is not a canonical board.
    """
    if not isinstance(text, str) or len(text) != 64 or text.strip("XO-"):
        raise BadBook(f"not a board of 64 squares: {text!r:.80}")
    key = int(text[::-1].translate(_MOVER), 2), int(text[::-1].translate(_WAITER), 2)
    if canonical(*key)[0] != key:
        raise BadBook(f"not the board's canonical form: {text}")
    return key


def _after(position: OthelloPosition, move: Move) -> BookKey:
    flipped = flips_mask(position.mover, position.waiter, move)
    return canonical(position.waiter & ~flipped, position.mover | flipped | 1 << move)[0]


def _json(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise BadBook(f"not JSON: {line!r:.60}") from None


def _header(line: str) -> dict[str, Any]:
    header = _json(line)
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise BadBook("not the header of a book")
    if header.get("version") != VERSION:
        raise BadBook(f"version {header.get('version')!r} of the format; this program reads {VERSION}")
    if header.get("game") != "othello":
        raise BadBook(f"a book for {header.get('game')!r}, not for Othello")
    entries = header.get("entries")
    if not (isinstance(entries, int) and entries >= 0 and isinstance(header.get("made"), dict)):
        raise BadBook("the header lacks `entries` or `made`")
    return header


def _entry(line: str) -> tuple[BookKey, tuple[BookMove, ...]]:
    match _json(line):
        case [board, [_, *_] as rows]:
            key = parse_board(board)
        case _:
            raise BadBook(f"not an entry: {line!r:.60}")
    legal = othello_moves_mask(*key)
    moves = tuple(_move(row, legal) for row in rows)
    if len({move.move for move in moves}) < len(moves):
        raise BadBook("a move occurs twice")
    return key, moves


def _move(row: Any, legal: int) -> BookMove:
    match row:
        case [str(name), int(score), int(depth)]:
            games, mean = 0, None
        case [str(name), int(score), int(depth), int(games), (float() | int() | None) as mean]:
            pass
        case _:
            raise BadBook(f"not a move, score and depth: {row!r:.60}")
    square = _NUMBER.get(name)
    if square is None or not legal >> square & 1:
        raise BadBook(f"{name!r:.20} is not a legal move there")
    if (
        abs(score) > INFINITY
        or not 1 <= depth <= _MAX_PLIES
        or not 0 <= games <= _MAX_GAMES
        or (mean is not None and not 0 <= mean <= 1)
    ):
        raise BadBook(f"a number is out of range: {row!r:.60}")
    return BookMove(square, score, depth, games, mean)
