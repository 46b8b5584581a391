"""Boards of any even size with Othello's rules, apart from the bot's own, in both ways that GGS writes."""

import random
from dataclasses import dataclass
from typing import Self

PASSES = ("pa", "PA", "pass", "PASS")
"""What the server takes for a pass; ``Pa`` is a corrupt move to it."""

Square = tuple[int, int]
"""Column and row, from 0 at a1."""

_AROUND = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if (dx, dy) != (0, 0)]


class BadMove(Exception):
    """A move that the server refuses; the text is its word for it."""


@dataclass(slots=True)
class Board:
    """``*`` is black, ``O`` is white, ``-`` is empty."""

    cells: list[list[str]]
    to_move: str

    @classmethod
    def usual(cls, size: int) -> Self:
        """The start of every game that is not a random one."""
        cells = [["-"] * size for _ in range(size)]
        low = size // 2 - 1
        cells[low][low] = cells[low + 1][low + 1] = "O"
        cells[low][low + 1] = cells[low + 1][low] = "*"
        return cls(cells, "*")

    @classmethod
    def random(cls, size: int, discs: int, chance: random.Random) -> Self:
        """Discs near the middle, about half of each colour; their parity tells who is to move."""
        cells = [["-"] * size for _ in range(size)]
        # Rings round the middle, without the corners and the squares beside them.
        edge = {0, 1, size - 2, size - 1}
        rings = sorted(
            ((x, y) for x in range(size) for y in range(size) if not (x in edge and y in edge)),
            key=lambda square: (
                max(abs(2 * square[0] - size + 1), abs(2 * square[1] - size + 1)),
                chance.random(),
            ),
        )
        most_games = rings[:discs]
        spread = discs // 2 // 3
        white = discs // 2 + chance.randint(-spread, spread)
        chance.shuffle(most_games)
        for number, (x, y) in enumerate(most_games):
            cells[y][x] = "O" if number < white else "*"
        return cls(cells, "O" if discs % 2 else "*")

    @classmethod
    def read(cls, text: str) -> Self:
        """From a tag BO's value, such as ``8 -------- ... *``."""
        size, *rows, to_move = text.split()
        return cls([list(row) for row in rows[: int(size)]], to_move)

    @property
    def size(self) -> int:
        return len(self.cells)

    def copy(self) -> Self:
        return type(self)([row[:] for row in self.cells], self.to_move)

    def flips(self, at: Square, disc: str) -> list[Square]:
        """What a disc there would turn over; nothing: it may not be put there."""
        x, y = at
        cells, size = self.cells, self.size
        if cells[y][x] != "-":
            return []
        other = "O" if disc == "*" else "*"
        found: list[Square] = []
        for dx, dy in _AROUND:
            line: list[Square] = []
            cx, cy = x + dx, y + dy
            while 0 <= cx < size and 0 <= cy < size and cells[cy][cx] == other:
                line.append((cx, cy))
                cx, cy = cx + dx, cy + dy
            if line and 0 <= cx < size and 0 <= cy < size and cells[cy][cx] == disc:
                found += line
        return found

    def moves(self, disc: str | None = None) -> list[Square]:
        """Squares where a side may put a disc: the side to move's, unless told otherwise."""
        who = disc or self.to_move
        return [at for at in self._empty if self.flips(at, who)]

    @property
    def _empty(self) -> list[Square]:
        return [(x, y) for y, row in enumerate(self.cells) for x, cell in enumerate(row) if cell == "-"]

    @property
    def is_finished(self) -> bool:
        return not any(self.flips(at, disc) for at in self._empty for disc in "*O")

    def play(self, text: str) -> None:
        """Put the disc, or pass.

        Raises:
            BadMove: ``corrupt move`` or ``illegal move``.
        """
        other = "O" if self.to_move == "*" else "*"
        if text in PASSES:
            if self.moves():
                raise BadMove("illegal move")
            self.to_move = other
            return
        column, row = ord(text[:1].upper() or "?") - ord("A"), text[1:]
        # The server's tables are 14 wide whatever the board is.
        if not (0 <= column < 14 and row.isdecimal() and 0 < int(row) <= 14):
            raise BadMove("corrupt move")
        at = (column, int(row) - 1)
        turned = self.flips(at, self.to_move) if max(at) < self.size else []
        if not turned:
            raise BadMove("illegal move")
        for x, y in [*turned, at]:
            self.cells[y][x] = self.to_move
        self.to_move = other

    @property
    def blacks_result(self) -> int:
        """Of a finished game, in discs; the empty squares are the winner's."""
        black, white, empty = (sum(row.count(disc) for row in self.cells) for disc in "*O-")
        lead = black - white
        return lead + (empty if lead > 0 else -empty if lead < 0 else 0)

    @property
    def ggf(self) -> str:
        """Value of a tag BO."""
        return " ".join([str(self.size), *("".join(row) for row in self.cells), self.to_move])

    @property
    def lines(self) -> list[str]:
        """The text board of ``client -``, down to the side to move."""
        head = "   " + " ".join("ABCDEFGHIJKLMN"[: self.size])
        body = [f"{y:2} {' '.join(row)} {y} " for y, row in enumerate(self.cells, start=1)]
        return [head, *body, head, "", f"{self.to_move} to move"]


def name(at: Square) -> str:
    """A square as people write it."""
    return "abcdefghijklmn"[at[0]] + str(at[1] + 1)
