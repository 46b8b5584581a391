"""Opening books for chess in Polyglot's format, read by python-chess.

The format has moves and weights but no scores; so a decision from such a book has no score either.
"""

import random
import struct
from itertools import pairwise
from pathlib import Path

import chess.polyglot

from engine.decision import Pick
from engine.games.standard_chess import ChessPosition, StandardChess
from engine.lookup.source import BadSource, LookupMove

_KEY = struct.Struct(">Q8x")


class PolyglotBook:
    """A book on disk; immutable, so all players share it."""

    def __init__(self, reader: chess.polyglot.MemoryMappedReader) -> None:
        self._reader = reader
        self._game = StandardChess()

    @classmethod
    def open(cls, path: Path) -> "PolyglotBook":
        """Open a book and check its format.

        Raises:
            BadSource: It is missing, truncated, or not a book: its positions are not in order.
        """
        try:
            if not path.is_file():  # a pipe would block
                raise OSError(0, "no such file")
            if path.stat().st_size % _KEY.size:
                raise BadSource(f"{path}: truncated, or not a Polyglot book: its size is odd")
            reader = chess.polyglot.open_reader(path)
        except OSError as error:
            raise BadSource(f"{path}: cannot be read: {error.strerror or error}") from None
        if not len(reader):
            raise BadSource(f"{path}: it is empty")
        keys = (key for (key,) in _KEY.iter_unpack(reader.mmap))
        if any(before > after for before, after in pairwise(keys)):
            raise BadSource(f"{path}: not a Polyglot book: its positions are not in order")
        return cls(reader)

    @property
    def about(self) -> str:
        return f"a Polyglot book of {len(self._reader)} moves"

    def choose(self, position: ChessPosition, rng: random.Random) -> LookupMove | None:
        """A move of the book, drawn by the weights (see `engine.lookup.source.RootSource`).

        Books use weight 0 for moves that must not be played.
        """
        entries = list(self._reader.find_all(position.board.copy(stack=False)))
        if not entries:
            return None
        entry = rng.choices(entries, [entry.weight for entry in entries])[0]
        move = self._game.parse_move(position, entry.move.uci())
        return LookupMove(move, "book", Pick(score_centi=None, depth=0, confidence=0, solved=False))
