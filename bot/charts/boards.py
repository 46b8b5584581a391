"""Draws a position with the last move, the bait and the good reply, and describes the position in words.

A page contains the shapes for its games once (`board_shapes`), and each board refers to them.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from string import ascii_lowercase

from markupsafe import Markup

from bot.charts.markup import tag
from bot.charts.themes import GameTheme, Surface, shapes, surface, theme_of

_SIZES = {"othello": (8, 8), "connect4": (7, 6), "xiangqi": (9, 10), "chess": (8, 8)}
"""Columns and rows of the boards that `board_shapes` supports, keyed by theme key."""
_FRAME, _LABELLED_FRAME = 0.25, 0.5
_HEAD, _START, _END = 0.34, 0.3, 0.12
"""Geometry of an arrow: the length of its head, and the distances of its ends from the squares' centres."""


class MarkKind(StrEnum):
    """Kinds of marks on the board."""

    BAIT = "bait"
    """The tempting reply: red and dashed."""
    GOOD = "good"
    """The best reply: green."""
    PLAYED = "played"
    """The reply played: white."""


@dataclass(frozen=True, slots=True)
class BoardMark:
    """A mark on the board: a ring if it has one square, otherwise an arrow from the first to the last."""

    kind: MarkKind
    squares: tuple[str, ...]
    """The squares from `Game.move_squares`; nothing is drawn if there are none (a pass)."""


@dataclass(frozen=True, slots=True)
class _Grid:
    """Coordinates of squares: in the order of `Game.board_rows`, or rotated by 180 degrees."""

    theme: GameTheme
    columns: int
    rows: int
    is_turned: bool

    def corner(self, row: int, column: int) -> tuple[int, int]:
        """Top left corner of a square, given by its row and column."""
        if self.is_turned:
            return self.columns - 1 - column, self.rows - 1 - row
        return column, row

    def name(self, row: int, column: int) -> str:
        number = row + 1 if self.theme.starts_at_top else self.rows - row
        return f"{ascii_lowercase[column]}{number}"

    def square(self, name: str) -> tuple[int, int]:
        """Top left corner of a square, given by its name.

        Raises:
            ValueError: The board has no square with this name.
        """
        column = ascii_lowercase.find(name[:1] or "-")
        number = int(name[1:]) if name[1:].isdecimal() else 0
        row = number - 1 if self.theme.starts_at_top else self.rows - number
        if not (0 <= column < self.columns and 0 <= row < self.rows):
            raise ValueError(f"{name!r} is not a square of a board of {self.columns} by {self.rows}")
        return self.corner(row, column)


def board_shapes(games: Iterable[str]) -> Markup:
    """The shapes for the boards on a page, invisible by themselves; each page with boards needs them once.

    Args:
        games: Names of the games whose boards are on the page; unknown games need no shapes.
    """
    themes = {theme.key: theme for theme in map(theme_of, games) if theme.key in _SIZES}
    parts = []
    for key, theme in sorted(themes.items()):
        parts += [surface(theme, f"{key}-board", *_SIZES[key]), shapes(theme)]
    # Not `display: none`: gradients inside would not be drawn.
    return tag("svg", tag("defs", *parts), class_="board-shapes", width="0", height="0", aria_hidden="true")


def board_svg(
    game: str,
    rows: Sequence[str],
    *,
    title: str,
    side: int = 0,
    last_move: Sequence[str] = (),
    marks: Sequence[BoardMark] = (),
    is_large: bool = False,
) -> Markup:
    """Return a drawing of a position; the page must contain the game's `board_shapes`.

    Args:
        game: The game's name.
        rows: The position as returned by `Game.board_rows`.
        title: The board's title for screen readers; the position in words follows it.
        side: The viewer's side, which is drawn at the bottom if the game's board can be rotated.
        last_move: Squares of the last move, as returned by `Game.move_squares`.
        marks: The marks; later ones are drawn on top of earlier ones.
        is_large: Whether to draw letters and numbers at the edges, and Latin letters on xiangqi pieces.

    Raises:
        ValueError: The rows are not a board of the game, or a square is not on the board.
    """
    theme = theme_of(game)
    columns = _columns(game, theme, rows)
    grid = _Grid(theme, columns, len(rows), theme.turns and side == 1)
    edge = _LABELLED_FRAME if is_large else _FRAME
    width, height = columns + 2 * edge, len(rows) + 2 * edge
    frame = tag("rect", class_=f"frame-{theme.surface}", x=-edge, y=-edge, width=width, height=height, rx=0.2)
    empty = (
        tag("use", href=f"#{theme.key}-board")
        if theme.key in _SIZES
        else surface(theme, "", columns, len(rows))
    )
    return tag(
        "svg",
        tag("title", title),
        tag("desc", board_description(game, rows, last_move=last_move, marks=marks)),
        frame,
        empty,
        *(_labels(grid) if is_large else ()),
        *_last(grid, last_move),
        *_pieces(grid, rows),
        *(drawn for mark in marks for drawn in _mark(grid, mark)),
        class_="board large" if is_large else "board",
        viewBox=f"{-edge:g} {-edge:g} {width:g} {height:g}",
        role="img",
    )


def board_description(
    game: str, rows: Sequence[str], *, last_move: Sequence[str] = (), marks: Sequence[BoardMark] = ()
) -> str:
    """A position in words: where each side's pieces stand, the last move and the marks.

    Takes the same arguments as `board_svg` and raises the same errors.
    """
    theme = theme_of(game)
    grid = _Grid(theme, _columns(game, theme, rows), len(rows), is_turned=False)
    places: dict[str, list[str]] = {}
    for row, line in enumerate(rows):
        for column, letter in enumerate(line):
            if letter != ".":
                places.setdefault(letter, []).append(grid.name(row, column))
    sides: dict[str, list[str]] = {}
    for letter in [*theme.pieces, *sorted(places.keys() - theme.pieces.keys())]:
        squares = " ".join(sorted(places.get(letter, ()), key=lambda name: (name[0], int(name[1:]))))
        piece = theme.pieces.get(letter)
        if squares and piece is None:
            sides.setdefault(letter, []).append(squares)
        elif squares and piece is not None:
            name = piece.name + "s" * (bool(piece.name) and len(places[letter]) > 1)
            sides.setdefault(piece.side, []).append(f"{name} {squares}".strip())
    said = [f"{side.capitalize()}: {', '.join(pieces)}." for side, pieces in sides.items()]
    marked = [("Last move", last_move), *((mark.kind.capitalize(), mark.squares) for mark in marks)]
    for what, touched in marked:
        for each in touched:
            grid.square(each)
        if touched:
            said.append(f"{what}: {' to '.join(dict.fromkeys([touched[0], touched[-1]]))}.")
    return " ".join(said)


def _columns(game: str, theme: GameTheme, rows: Sequence[str]) -> int:
    """The number of columns of a board, given its rows."""
    lengths = {len(row) for row in rows}
    size = (len(rows[0]) if rows else 0, len(rows))
    if len(lengths) != 1 or not 0 < size[0] <= len(ascii_lowercase) or size != _SIZES.get(theme.key, size):
        raise ValueError(f"not a board of {game}: {'/'.join(rows)[:200]!r}")
    return size[0]


def _labels(grid: _Grid) -> Iterator[Markup]:
    files = [grid.corner(0, column)[0] + 0.5 for column in range(grid.columns)]
    letters = ascii_lowercase[: grid.columns]
    across = " ".join(f"{x:g}" for x in files)
    for edge, y in (("top", -0.23), ("bottom", grid.rows + 0.27)):
        if edge in grid.theme.edges:
            is_far = (edge == "top") != grid.is_turned
            numbers = range(1, grid.columns + 1) if is_far else range(grid.columns, 0, -1)
            text = "".join(map(str, numbers)) if grid.theme.numbers_files else letters
            yield tag("text", text, class_="coordinate", x=across, y=f"{y:g}")
    if "left" in grid.theme.edges:
        for row in range(grid.rows):
            at = grid.corner(row, 0)[1] + 0.52
            yield tag("text", grid.name(row, 0)[1:], class_="coordinate", x=-0.25, y=at)


def _last(grid: _Grid, squares: Sequence[str]) -> Iterator[Markup]:
    for name in dict.fromkeys(squares):
        x, y = grid.square(name)
        if grid.theme.surface == Surface.POINTS:
            yield tag("circle", class_="last-points", cx=x + 0.5, cy=y + 0.5, r=0.48)
        elif grid.theme.surface == Surface.CHECKS:
            yield tag("rect", class_="last-checks", x=x, y=y, width=1, height=1)
        else:
            yield tag("rect", class_="last-felt", x=x + 0.04, y=y + 0.04, width=0.92, height=0.92)


def _pieces(grid: _Grid, rows: Sequence[str]) -> Iterator[Markup]:
    for row, line in enumerate(rows):
        for column, letter in enumerate(line):
            if letter == ".":
                continue
            x, y = grid.corner(row, column)
            if letter in grid.theme.pieces:
                yield tag("use", href=f"#{grid.theme.key}-{letter}", x=x, y=y)
            else:
                yield tag("text", letter.upper(), class_="letter", x=x + 0.5, y=y + 0.54)


def _mark(grid: _Grid, mark: BoardMark) -> Iterator[Markup]:
    if not mark.squares:
        return
    (x1, y1), (x2, y2) = grid.square(mark.squares[0]), grid.square(mark.squares[-1])
    if (x1, y1) == (x2, y2):
        # A dark ring below keeps the mark visible on squares of its own colour.
        yield tag("circle", class_="under", cx=x1 + 0.5, cy=y1 + 0.5, r=0.38)
        yield tag("circle", class_=f"ring-{mark.kind}", cx=x1 + 0.5, cy=y1 + 0.5, r=0.38)
        return
    length = math.hypot(x2 - x1, y2 - y1)
    ux, uy = (x2 - x1) / length, (y2 - y1) / length

    def at(along: float, aside: float) -> str:
        x = x1 + 0.5 + ux * along - uy * aside
        y = y1 + 0.5 + uy * along + ux * aside
        return f"{x:.2f} {y:.2f}"

    tip = length - _END
    shaft = f"M{at(_START, 0)}L{at(tip - _HEAD * 0.9, 0)}"
    head = f"M{at(tip, 0)}L{at(tip - _HEAD, _HEAD * 0.55)}L{at(tip - _HEAD, -_HEAD * 0.55)}Z"
    yield tag("path", class_="under", d=shaft + head)
    yield tag("path", class_=f"arrow-{mark.kind}", d=shaft)
    yield tag("path", class_=f"head-{mark.kind}", d=head)
