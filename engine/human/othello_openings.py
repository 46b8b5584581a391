"""A table of openings as people have played them, for what a network forgets.

A position that many games went through needs no guess: what was played there is known.  The table has the
positions that were met often enough, each in its upright orientation (`engine.human.othello_boards.upright`),
with how often each move was played.  It travels as a text among an ONNX file's metadata: 64-bit keys, numbers
of moves, squares and counts, one array after the other, packed.
"""

import base64
import lzma
import struct
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from engine.human.model import BadModel
from engine.human.othello_boards import SQUARES, Boards

NETWORK_GAMES = 5.0
"""The network's word counts for as much as so many games that went through the position.

Anything from 2 to 20 does as well on the years of validation, to a thousandth of the log-loss.
"""
_COUNT = struct.Struct("<II")
_MOST_BYTES = 4 << 20
_FACTORS = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_FOLD = np.uint64(29)


def keys_of(own: Boards, other: Boards) -> Boards:
    """A number for each position; two of a table's positions have one by a chance of one in 10^11."""
    mixed = own * _FACTORS[0]
    mixed = (mixed ^ (mixed >> _FOLD)) * _FACTORS[1] + other
    mixed = (mixed ^ (mixed >> _FOLD)) * _FACTORS[0]
    return mixed ^ (mixed >> _FOLD)


@dataclass(frozen=True)
class OpeningTable:
    """The table; every array may be empty."""

    keys: Boards
    """Of the positions, in ascending order."""
    first: NDArray[np.int64]
    """Where each position's moves begin among all; one more at the end."""
    squares: NDArray[np.uint8]
    games: NDArray[np.uint16]
    """So many games, older ones counted for less, went on with the move."""

    @classmethod
    def none(cls) -> Self:
        return cls(
            np.zeros(0, np.uint64), np.zeros(0, np.int64), np.zeros(0, np.uint8), np.zeros(0, np.uint16)
        )

    @classmethod
    def counted(
        cls, keys: Boards, squares: NDArray[np.integer], weights: NDArray[np.floating], least: int
    ) -> Self:
        """The table of some games.

        Args:
            keys: Of each position that a move was played in.
            squares: The moves.
            weights: What each counts for.
            least: Positions that were met less often are left out.
        """
        known, place, met = np.unique(keys, return_inverse=True, return_counts=True)
        often = met >= least
        number = np.cumsum(often) - 1
        kept = often[place]
        rows = number[place[kept]]
        games = np.zeros((int(often.sum()), SQUARES))
        np.add.at(games, (rows, squares[kept]), weights[kept])
        games = np.minimum(np.rint(games), np.iinfo(np.uint16).max)
        position, square = np.nonzero(games)
        first = np.concatenate([[0], np.cumsum((games > 0).sum(axis=1))]).astype(np.int64)
        return cls(known[often], first, square.astype(np.uint8), games[position, square].astype(np.uint16))

    def text(self) -> str:
        """For `read`; the same table gives the same text."""
        moves = np.diff(self.first).astype("<u1")
        arrays = (self.keys.astype("<u8"), moves, self.squares, self.games.astype("<u2"))
        data = _COUNT.pack(len(self.keys), len(self.squares)) + b"".join(part.tobytes() for part in arrays)
        return base64.b64encode(lzma.compress(data)).decode()

    @classmethod
    def read(cls, text: str, where: str) -> Self:
        """From a text; nothing gives an empty table.

        Raises:
            BadModel: It is none; the message begins with ``where``.
        """
        if not text:
            return cls.none()
        try:
            unpacker = lzma.LZMADecompressor()
            data = unpacker.decompress(base64.b64decode(text, validate=True), _MOST_BYTES)
            count, moves = _COUNT.unpack_from(data)
            ends = np.cumsum([_COUNT.size, 8 * count, count, moves, 2 * moves])
            if not unpacker.eof or len(data) != ends[-1]:
                raise ValueError("of another length than it says")
            keys, sizes, squares, games = (
                np.frombuffer(data[start:end], dtype=kind)
                for start, end, kind in zip(ends[:-1], ends[1:], ("<u8", "<u1", "<u1", "<u2"), strict=True)
            )
            first = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
            if first[-1] != moves or (squares >= SQUARES).any() or (keys[1:] <= keys[:-1]).any():
                raise ValueError("with moves or positions that cannot be")
        except (ValueError, struct.error, lzma.LZMAError) as error:
            raise BadModel(f"{where}: its openings are unreadable: {error}") from None
        return cls(keys.astype(np.uint64), first, squares, games.astype(np.uint16))

    def corrected(self, keys: Boards, chances: NDArray[np.float64]) -> NDArray[np.float64]:
        """What a network says, corrected by what was played in positions of the table.

        Args:
            keys: Of upright positions.
            chances: Of their squares, shape (n, 64), each adding up to 1.
        """
        if not len(self.keys):
            return chances
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        found = chances.copy()
        for row in np.flatnonzero(self.keys[place] == keys):
            moves = slice(*self.first[place[row] : place[row] + 2])
            mean = NETWORK_GAMES * chances[row]
            mean[self.squares[moves]] += self.games[moves]
            found[row] = mean / mean.sum()
        return found
