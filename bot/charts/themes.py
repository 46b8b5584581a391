"""The appearance of each game: board, pieces, names of the pieces, and labels along the board's edges.

The arena's page has the same names and labels in JavaScript (bot/arena/static/board/games.js); a test
compares the two.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from markupsafe import Markup

from bot.charts.markup import join_markup
from bot.charts.pieces import ball, checks, chessman, disc, felt, river, stone
from engine.games.chess_variants import CHESS_VARIANTS


class Surface(StrEnum):
    """The kinds of board."""

    FELT = "felt"
    CHECKS = "checks"
    POINTS = "points"


@dataclass(frozen=True, slots=True)
class PieceTheme:
    """The appearance of one kind of piece of one side."""

    side: str
    name: str
    """Name of the kind of piece; empty if each side has only one kind."""
    letter: str = ""
    """The Latin letter on a piece that also shows a Chinese character."""
    han: str = ""


@dataclass(frozen=True, slots=True)
class GameTheme:
    """The appearance of a game in drawings."""

    key: str
    """Prefix of the ids of the theme's shapes; games with the same theme share the shapes."""
    surface: Surface
    pieces: Mapping[str, PieceTheme] = field(default_factory=dict)
    """Pieces, keyed by their letters in `Game.board_rows`; any other letter is drawn as text."""
    edges: tuple[str, ...] = ()
    """Which edges have labels: ``top``, ``bottom``, ``left``."""
    starts_at_top: bool = False
    """Whether row 1 is the first row of `Game.board_rows`."""
    turns: bool = False
    """Whether the viewer's side is at the bottom; otherwise the board's orientation is fixed."""
    numbers_files: bool = False
    """Whether files are numbered instead of lettered; each side counts them from its own right."""


def _two_sides(kinds: Mapping[str, tuple[str, str, str]], first: str, second: str) -> dict[str, PieceTheme]:
    """Both sides' pieces; keys differ in case. A kind has a name, a letter and two Chinese characters."""
    pieces = {}
    for letter, (name, latin, han) in kinds.items():
        pieces[letter] = PieceTheme(first, name, latin, han[:1])
        pieces[letter.lower()] = PieceTheme(second, name, latin, han[1:])
    return pieces


_CHESS = GameTheme(
    key="chess",
    surface=Surface.CHECKS,
    pieces=_two_sides(
        {
            letter: (name, "", "")
            for letter, name in zip(
                "KQRBNP", ("king", "queen", "rook", "bishop", "knight", "pawn"), strict=True
            )
        },
        "white",
        "black",
    ),
    edges=("bottom", "left"),
    turns=True,
)
_THEMES = {
    "othello": GameTheme(
        key="othello",
        surface=Surface.FELT,
        pieces={"b": PieceTheme("black", ""), "w": PieceTheme("white", "")},
        edges=("top", "left"),
        starts_at_top=True,
    ),
    "xiangqi": GameTheme(
        key="xiangqi",
        surface=Surface.POINTS,
        pieces=_two_sides(
            {
                "K": ("general", "K", "帥將"),
                "A": ("advisor", "A", "仕士"),
                "B": ("elephant", "E", "相象"),
                "N": ("horse", "H", "傌馬"),
                "R": ("chariot", "R", "俥車"),
                "C": ("cannon", "C", "炮砲"),
                "P": ("soldier", "P", "兵卒"),
            },
            "red",
            "black",
        ),
        edges=("top", "bottom"),
        turns=True,
        numbers_files=True,
    ),
    "connect4": GameTheme(
        key="connect4",
        surface=Surface.FELT,
        pieces={"r": PieceTheme("red", ""), "y": PieceTheme("yellow", "")},
        edges=("top", "left"),
    ),
    **dict.fromkeys(["chess", *(game.name for game in CHESS_VARIANTS)], _CHESS),
}
_UNKNOWN = GameTheme(key="letters", surface=Surface.FELT, edges=("top", "left"), starts_at_top=True)


def theme_of(game: str) -> GameTheme:
    """Return a game's theme; a game without a theme is drawn as letters on a plain board."""
    return _THEMES.get(game, _UNKNOWN)


def shapes(theme: GameTheme) -> Markup:
    """The shapes of a game's pieces, each with the id ``KEY-LETTER``; excludes the board."""
    return join_markup(*_shapes(theme))


def _shapes(theme: GameTheme) -> Iterator[Markup]:
    if theme.surface == Surface.POINTS:
        yield ball("wood")
    for letter, piece in theme.pieces.items():
        id_ = f"{theme.key}-{letter}"
        if piece.han:
            yield stone(id_, piece.han, piece.letter, piece.side)
        elif piece.name:
            yield chessman(id_, piece.name, "light" if piece.side == "white" else "dark")
        else:
            yield disc(id_, piece.side)


def surface(theme: GameTheme, id_: str, columns: int, rows: int) -> Markup:
    """The empty board of a game."""
    match theme.surface:
        case Surface.POINTS:
            return river(id_)
        case Surface.CHECKS:
            return checks(id_, columns, rows)
        case Surface.FELT:
            return felt(id_, columns, rows)
