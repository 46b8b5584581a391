"""Opening books for chess and its variants in Polyglot's format, read by python-chess.

The format has moves and weights but no scores, so a decision from a book has no score. Positions
are identified by their squares, side to move, castling rights and en passant square; so a book also covers
Chess960 games that reach its positions.
"""

import random
import struct
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Any

import chess.polyglot

from engine.decision import DirectMove, SearchMode
from engine.games import get_rules
from engine.games.standard_chess import ChessPosition
from engine.lookup.source import BadSource, LookupMove

_KEY = struct.Struct(">Q8x")


class BookChoice(StrEnum):
    """How to choose among a book's moves."""

    WEIGHTED = "weighted"
    """At random, in proportion to the weights."""
    BEST = "best"
    """The move with the largest weight; among equal weights, the first in the book."""
    EVEN = "even"
    """At random, with equal probability."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BookMoveChoice:
    """When and how a book is used."""

    game: str = "chess"
    """The game: chess or one of its variants."""
    side: int | None = None
    """Side for which to use the book (0: White, 1: Black); None for both sides."""
    choice: BookChoice = BookChoice.WEIGHTED
    max_ply: int | None = None
    """Number of plies at the start of a game in which to use the book; None for no limit."""
    min_weight: int = 1
    """Moves with a lower weight are ignored; books use weight 0 for moves that must not be played."""


class PolyglotBook:
    """A book on disk; it is immutable, so all players can share it."""

    def __init__(self, reader: chess.polyglot.MemoryMappedReader, use: BookMoveChoice, name: str) -> None:
        self._reader = reader
        self._use = use
        self._name = name
        self._game: Any = get_rules(use.game)

    @classmethod
    def open(cls, path: Path, use: BookMoveChoice | None = None) -> "PolyglotBook":
        """Open a book and check its format.

        Args:
            path: The book.
            use: When and how to use the book; None to use it always, at random by weight.

        Raises:
            BadSource: The file is missing, truncated, or not a book (its positions are not in order).
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
        return cls(reader, use or BookMoveChoice(), path.name)

    @property
    def description(self) -> str:
        return f"a Polyglot book of {len(self._reader)} moves"

    def choose(self, position: ChessPosition, rng: random.Random) -> LookupMove | None:
        """A move from the book if the settings allow the book here; see `engine.lookup.source.RootSource`."""
        use, board = self._use, position.board
        if use.side not in (None, self._game.side_to_move(position)):
            return None
        if use.max_ply is not None and board.ply() >= use.max_ply:
            return None
        least = max(1, use.min_weight)
        entries = list(self._reader.find_all(board.copy(stack=False), minimum_weight=least))
        if not entries:
            return None
        weights = [entry.weight for entry in entries]
        match use.choice:
            case BookChoice.WEIGHTED:
                entry = rng.choices(entries, weights)[0]
            case BookChoice.BEST:
                entry = max(entries, key=lambda entry: entry.weight)
            case BookChoice.EVEN:
                entry = rng.choice(entries)
        move = self._game.parse_move(position, entry.move.uci())
        origin = f"{self._name}, {use.choice}: weight {entry.weight} of {sum(weights)}"
        return LookupMove(
            move, SearchMode.BOOK, DirectMove(None, depth=0, confidence=0, solved=False, origin=origin)
        )
