"""A table of the moves that people have played in openings, which corrects a network's predictions.

A position that occurred in many games needs no estimate, because the counts of its moves are known. The table
has the positions that occurred often enough, each in its upright orientation
(`engine.human.othello_boards.upright`), with the count of each move. An ONNX file's metadata stores the table
as compressed text: arrays of keys, of the number of moves per position, and of the moves' squares and counts.
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

NETWORK_WEIGHT_GAMES = 5.0
"""Weight of the network's prediction, expressed as a number of games that reached the position.

On the validation years, any weight from 2 to 20 gives the same log-loss to within a thousandth.
"""
_COUNT = struct.Struct("<II")
_MAX_BYTES = 4 << 20
_FACTORS = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_FOLD = np.uint64(29)


def keys_of(own: Boards, other: Boards) -> Boards:
    """A hash key for each position; the probability that any two positions in a table collide is 10^-11."""
    mixed = own * _FACTORS[0]
    mixed = (mixed ^ (mixed >> _FOLD)) * _FACTORS[1] + other
    mixed = (mixed ^ (mixed >> _FOLD)) * _FACTORS[0]
    return mixed ^ (mixed >> _FOLD)


@dataclass(frozen=True)
class OpeningTable:
    """The table of opening moves; every array may be empty."""

    keys: Boards
    """Keys of the positions, ascending."""
    first: NDArray[np.int64]
    """Index of each position's first move, followed by the total number of moves."""
    squares: NDArray[np.uint8]
    games: NDArray[np.uint16]
    """Number of games that continued with the move, with older games weighted less."""

    @classmethod
    def none(cls) -> Self:
        return cls(
            np.zeros(0, np.uint64), np.zeros(0, np.int64), np.zeros(0, np.uint8), np.zeros(0, np.uint16)
        )

    @classmethod
    def from_weighted_moves(
        cls, keys: Boards, squares: NDArray[np.integer], weights: NDArray[np.floating], least: int
    ) -> Self:
        """Build the table from the moves of games.

        Args:
            keys: The key of the position before each move.
            squares: The square of each move.
            weights: The weight of each move.
            least: Minimum number of moves played in a position; positions with fewer are dropped.
        """
        known, place, met = np.unique(keys, return_inverse=True, return_counts=True)
        often = met >= least
        number = np.cumsum(often) - 1
        is_known = often[place]
        rows = number[place[is_known]]
        games = np.zeros((int(often.sum()), SQUARES))
        np.add.at(games, (rows, squares[is_known]), weights[is_known])
        games = np.minimum(np.rint(games), np.iinfo(np.uint16).max)
        position, square = np.nonzero(games)
        first = np.concatenate([[0], np.cumsum((games > 0).sum(axis=1))]).astype(np.int64)
        return cls(known[often], first, square.astype(np.uint8), games[position, square].astype(np.uint16))

    def text(self) -> str:
        """The text form that `read` parses; equal tables give equal texts."""
        moves = np.diff(self.first).astype("<u1")
        arrays = (self.keys.astype("<u8"), moves, self.squares, self.games.astype("<u2"))
        data = _COUNT.pack(len(self.keys), len(self.squares)) + b"".join(part.tobytes() for part in arrays)
        return base64.b64encode(lzma.compress(data)).decode()

    @classmethod
    def read(cls, text: str, where: str) -> Self:
        """Parse the text form; an empty string gives an empty table.

        Raises:
            BadModel: The text is malformed; the message begins with ``where``.
        """
        if not text:
            return cls.none()
        try:
            unpacker = lzma.LZMADecompressor()
            data = unpacker.decompress(base64.b64decode(text, validate=True), _MAX_BYTES)
            count, moves = _COUNT.unpack_from(data)
            ends = np.cumsum([_COUNT.size, 8 * count, count, moves, 2 * moves])
            if not unpacker.eof or len(data) != ends[-1]:
                raise ValueError("the length differs from the stated length")
            keys, sizes, squares, games = (
                np.frombuffer(data[start:end], dtype=kind)
                for start, end, kind in zip(ends[:-1], ends[1:], ("<u8", "<u1", "<u1", "<u2"), strict=True)
            )
            first = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
            if first[-1] != moves or (squares >= SQUARES).any() or (keys[1:] <= keys[:-1]).any():
                raise ValueError("some moves or positions are impossible")
        except (ValueError, struct.error, lzma.LZMAError) as error:
            raise BadModel(f"{where}: its openings are unreadable: {error}") from None
        return cls(keys.astype(np.uint64), first, squares, games.astype(np.uint16))

    def blend(self, keys: Boards, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
        """A network's prediction, corrected by the moves played in the table's positions.

        Args:
            keys: Keys of positions in upright orientation.
            probabilities: The network's probability of each square, shape (n, 64); each row sums to 1.
        """
        if not len(self.keys):
            return probabilities
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        corrected = probabilities.copy()
        for row in np.flatnonzero(self.keys[place] == keys):
            moves = slice(*self.first[place[row] : place[row] + 2])
            mean = NETWORK_WEIGHT_GAMES * probabilities[row]
            mean[self.squares[moves]] += self.games[moves]
            corrected[row] = mean / mean.sum()
        return corrected
