"""The picture that other sites show beside a link to a game: its board, at the beginning or at the end."""

from collections.abc import Sequence
from functools import lru_cache, partial
from string import ascii_lowercase

from bot.arena.public.canvas import Canvas, Stamp, at_points, colour, moved, path
from bot.charts.looks import GameLook, PieceLook, Surface, look_of
from bot.charts.pieces import FIGURES

WIDTH, HEIGHT = 1200, 630
"""What messengers and networks ask for."""
_BOARD = 560  # the longer side of the board, in pixels
_PAGE = colour("#f6f3ec")
_FRAMES = {Surface.FELT: "#22352c", Surface.CHECKS: "#22352c", Surface.POINTS: "#4a3120"}
_FELT, _FELT_LINES = colour("#2b7d58"), colour("#17523a")
_LIGHT, _DARK, _LAST = colour("#efe8d6"), colour("#7f9f88"), colour("#dba84e")
_WOOD, _WOOD_LINES = colour("#ead0a0"), colour("#6b4a2b")
_DISCS = {
    "black": ("#161a18", "#3c4441"),
    "white": ("#d9d2c2", "#fbf8f0"),
    "red": ("#96221a", "#c8392e"),
    "yellow": ("#c99710", "#f2c94c"),
}
"""The rim and the face of a disc."""
_STONES = {"red": colour("#b3221a"), "black": colour("#1d3328")}
_LETTERS: dict[str, tuple[tuple[tuple[float, float], ...], ...]] = {
    "A": (((-0.8, 1), (0, -1), (0.8, 1)), ((-0.5, 0.3), (0.5, 0.3))),
    "C": (((0.75, -0.65), (0.35, -0.95), (-0.25, -0.95), (-0.7, -0.5), (-0.7, 0.5), (-0.25, 0.95),
           (0.35, 0.95), (0.75, 0.65)),),
    "E": (((0.65, -1), (-0.6, -1), (-0.6, 1), (0.65, 1)), ((-0.6, 0), (0.45, 0))),
    "H": (((-0.7, -1), (-0.7, 1)), ((0.7, -1), (0.7, 1)), ((-0.7, 0), (0.7, 0))),
    "K": (((-0.6, -1), (-0.6, 1)), ((0.65, -1), (-0.6, 0.25)), ((-0.2, -0.1), (0.7, 1))),
    "P": (((-0.6, 1), (-0.6, -1), (0.25, -1), (0.65, -0.7), (0.65, -0.2), (0.25, 0.1), (-0.6, 0.1)),),
    "R": (((-0.6, 1), (-0.6, -1), (0.25, -1), (0.65, -0.7), (0.65, -0.2), (0.25, 0.1), (-0.6, 0.1)),
          ((0.1, 0.1), (0.7, 1))),
}  # fmt: skip
"""The letters of xiangqi's pieces as lines, from -1 to 1."""


def preview(game: str, rows: Sequence[str], last_squares: Sequence[str] = ()) -> bytes:
    """A position as a PNG file.

    Args:
        game: The game's name.
        rows: The position as `Game.board_rows` gives it.
        last_squares: Squares of the last move.
    """
    return _Picture(look_of(game), rows).png(last_squares)


class _Picture:
    """A board in the middle of the page's colour."""

    def __init__(self, look: GameLook, rows: Sequence[str]) -> None:
        self._look, self._rows = look, rows
        self._columns = len(rows[0])
        self._size = _BOARD // max(len(rows), self._columns)
        self._left = (WIDTH - self._size * self._columns) // 2
        self._top = (HEIGHT - self._size * len(rows)) // 2
        self._canvas = Canvas(WIDTH, HEIGHT, _PAGE)

    def png(self, last_squares: Sequence[str]) -> bytes:
        edge = self._size // 4
        across, down = self._size * self._columns, self._size * len(self._rows)
        frame = colour(_FRAMES[self._look.surface])
        self._canvas.rectangle(self._left - edge, self._top - edge, across + 2 * edge, down + 2 * edge, frame)
        self._surface()
        places = [self._place(name) for name in last_squares]
        if self._look.surface is Surface.CHECKS:
            for row, column in places:
                x, y = self._corner(row, column)
                self._canvas.rectangle(x, y, self._size, self._size, _LAST)
        for row, line in enumerate(self._rows):
            for column, letter in enumerate(line):
                if letter in self._look.pieces:
                    stamp = _stamp(self._look.pieces[letter], self._size)
                    self._canvas.stamp(*self._corner(row, column), stamp)
                elif letter != ".":  # a game without pictures
                    self._canvas.disc(*self._centre(row, column), self._size * 0.3, _DARK)
        if self._look.surface is not Surface.CHECKS:
            for row, column in places[-1:]:
                place = self._centre(row, column)
                if self._look.surface is Surface.POINTS:  # a dot would hide the letter
                    self._canvas.ring(*place, self._size * 0.47, 3, colour("#ff5470"))
                else:
                    self._canvas.disc(*place, self._size * 0.1, colour("#ff5470"))
        return self._canvas.png()

    def _corner(self, row: int, column: int) -> tuple[int, int]:
        return self._left + column * self._size, self._top + row * self._size

    def _centre(self, row: float, column: float) -> tuple[float, float]:
        return self._left + (column + 0.5) * self._size, self._top + (row + 0.5) * self._size

    def _place(self, name: str) -> tuple[int, int]:
        number = int(name[1:])
        row = number - 1 if self._look.starts_at_top else len(self._rows) - number
        return row, ascii_lowercase.index(name[0])

    # --- The board --------------------------------------------------------------------------------------

    def _surface(self) -> None:
        size, rows, columns = self._size, len(self._rows), self._columns
        match self._look.surface:
            case Surface.CHECKS:
                for row in range(rows):
                    for column in range(columns):
                        x, y = self._corner(row, column)
                        self._canvas.rectangle(x, y, size, size, _DARK if (row + column) % 2 else _LIGHT)
            case Surface.FELT:
                self._canvas.rectangle(self._left, self._top, size * columns, size * rows, _FELT)
                for row in range(1, rows):
                    self._canvas.rectangle(
                        self._left, self._top + row * size - 1, size * columns, 2, _FELT_LINES
                    )
                for column in range(1, columns):
                    self._canvas.rectangle(
                        self._left + column * size - 1, self._top, 2, size * rows, _FELT_LINES
                    )
            case Surface.POINTS:
                self._canvas.rectangle(self._left, self._top, size * columns, size * rows, _WOOD)
                self._river()

    def _river(self) -> None:
        last_row, last_column = len(self._rows) - 1, self._columns - 1
        for row in range(last_row + 1):
            self._stroke((row, 0), (row, last_column))
        for column in range(last_column + 1):
            if column in (0, last_column):
                self._stroke((0, column), (last_row, column))
            else:
                self._stroke((0, column), (4, column))
                self._stroke((5, column), (last_row, column))
        for top in (0, 7):
            self._stroke((top, 3), (top + 2, 5))
            self._stroke((top, 5), (top + 2, 3))

    def _stroke(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        self._canvas.line(at_points(*self._centre(*start), *self._centre(*end)), 2, _WOOD_LINES)


@lru_cache(maxsize=64)
def _stamp(piece: PieceLook, size: int) -> Stamp:
    """A piece on a square of this size."""
    draw = _stone if piece.letter else _chessman if piece.name else _disc
    return Stamp(size, size, partial(draw, piece=piece, size=size))


def _disc(canvas: Canvas, piece: PieceLook, size: int) -> None:
    rim, face = map(colour, _DISCS[piece.side])
    middle = size / 2
    canvas.disc(middle + 1, middle + 3, size * 0.41, (0, 0, 0), 0.3)
    canvas.disc(middle, middle, size * 0.41, rim)
    canvas.disc(middle, middle - 1, size * 0.36, face)


def _stone(canvas: Canvas, piece: PieceLook, size: int) -> None:
    paint, middle = _STONES[piece.side], size / 2
    canvas.disc(middle + 1, middle + 3, size * 0.44, (0, 0, 0), 0.3)
    canvas.disc(middle, middle, size * 0.44, colour("#f7e3b8"))
    canvas.ring(middle, middle, size * 0.43, 1.5, _WOOD_LINES)
    canvas.ring(middle, middle, size * 0.36, 2, paint)
    for line in _LETTERS[piece.letter]:
        canvas.line(moved(line, size * 0.17, middle, middle), size * 0.075, paint)


def _chessman(canvas: Canvas, piece: PieceLook, size: int) -> None:
    is_light = piece.side == "white"
    fill, edge = map(colour, ("#fdfaf2", "#2d332f") if is_light else ("#3a423e", "#141816"))
    within = edge if is_light else colour("#dfe5df")
    scale, corner = size * 0.0092, size * 0.04
    outlines, lines = FIGURES[piece.name]
    for text in outlines:
        for points, _ in path(text, scale, corner, corner):
            canvas.outline(points, fill)
            canvas.line(points, scale * 4, edge, is_closed=True)
    for text in lines:
        for points, is_closed in path(text, scale, corner, corner):
            canvas.line(points, scale * 4, within, is_closed=is_closed)
