"""The shapes of pieces and boards, which a page defines once and then reuses.

One unit is one square; the shapes of chess pieces use 100 units per square.
"""

from collections.abc import Iterator
from itertools import product

from markupsafe import Markup

from bot.charts.markup import join_markup, tag

_FOOT = "M20 90v-4c0-5 4-8 9-8h42c5 0 9 3 9 8v4z"
FIGURES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "pawn": (
        (
            "M41 52c0 12-6 18-13 26h44c-7-8-13-14-13-26z",
            "M36 44h28a4.5 4.5 0 0 1 0 9h-28a4.5 4.5 0 0 1 0-9z",
            "M50 17a14.5 14.5 0 1 0 .01 0z",
            _FOOT,
        ),
        (),
    ),
    "knight": (
        (
            "M33 78c-1-14 13-19 15-31-4 3-10 4-15 6-2 4-5 7-9 6-6-1-9-8-7-14 5-8 11-12 14-20 2-5 6-8 11-9"
            "l5-9 7 8c18 2 28 20 27 43l-2 20z",
            _FOOT,
        ),
        (
            "M58 23c10 7 14 22 13 44",
            "M41 32.5a1.6 1.6 0 1 0 .01 0z",
            "M23.5 48.5a.7.7 0 1 0 .01 0z",
            "M31 52c2-1 3-2 4-4",
        ),
    ),
    "bishop": (
        (
            "M43 64c0 6-6 10-13 14h40c-7-4-13-8-13-14z",
            "M50 24c12 9 19 19 17 28-1 5-5 8-9 10h-16c-4-2-8-5-9-10-2-9 5-19 17-28z",
            "M37 60h26a3.5 3.5 0 0 1 0 7h-26a3.5 3.5 0 0 1 0-7z",
            "M50 13a5.5 5.5 0 1 0 .01 0z",
            _FOOT,
        ),
        ("M58 34l-9 12",),
    ),
    "rook": (
        (
            "M36 44l-2 26-6 8h44l-6-8-2-26z",
            "M26 19h11v8h7.5v-8h11v8h7.5v-8h11v18l-8 8h-32l-8-8z",
            _FOOT,
        ),
        ("M36 45h28", "M34.5 69h31"),
    ),
    "queen": (
        (
            "M18 36l11 24 3 18h36l3-18 11-24-14 16-4-24-9 23-5-26-5 26-9-23-4 24z",
            "M17 28a4.5 4.5 0 1 0 .01 0z",
            "M35.5 20a4.5 4.5 0 1 0 .01 0z",
            "M50 16a4.5 4.5 0 1 0 .01 0z",
            "M64.5 20a4.5 4.5 0 1 0 .01 0z",
            "M83 28a4.5 4.5 0 1 0 .01 0z",
            _FOOT,
        ),
        ("M29.5 62c13-4 28-4 41 0", "M31.5 71c12-3 25-3 37 0"),
    ),
    "king": (
        (
            "M46.5 8h7v6.5h7v7h-7v9h-7v-9h-7v-7h7z",
            "M50 38c5-11 33-12 33 7 0 13-12 20-15 33h-36c-3-13-15-20-15-33 0-19 28-18 33-7z",
            _FOOT,
        ),
        ("M50 38v25", "M31 68c12-4 26-4 38 0"),
    ),
}
"""Paths of the chess pieces, keyed by kind: the outlines, and the lines and dots inside."""

_MARKED_POINTS = (
    *product((1, 7), (2, 7)),
    *product((0, 2, 4, 6, 8), (3, 6)),
)
"""Files and ranks (counted from the top) of the starting points of cannons and soldiers."""

_BALLS = {
    "black": ((0, "#59615d"), (0.45, "#262b29"), (1, "#101312")),
    "white": ((0, "#ffffff"), (0.5, "#f6f2e8"), (1, "#d3cbb8")),
    "red": ((0, "#ff8d7c"), (0.45, "#d8392b"), (1, "#a3231a")),
    "yellow": ((0, "#fff3b0"), (0.45, "#f3c62f"), (1, "#c9970f")),
    "wood": ((0, "#fffaf0"), (0.55, "#f6e8cb"), (1, "#dfc494")),
}
"""Gradients of discs, keyed by colour: pairs of a distance from the highlight and the colour there."""


def ball(colour: str) -> Markup:
    """The gradient of a disc, with the id ``ball-COLOUR``."""
    stops = (tag("stop", offset=offset, stop_color=shade) for offset, shade in _BALLS[colour])
    return tag("radialGradient", *stops, id=f"ball-{colour}", cx=0.34, cy=0.28, r=0.8)


def disc(id_: str, colour: str) -> Markup:
    """A disc on the square at the origin."""
    return join_markup(
        ball(colour), tag("circle", id=id_, cx=0.5, cy=0.5, r=0.41, fill=f"url(#ball-{colour})")
    )


def chessman(id_: str, kind: str, side: str) -> Markup:
    """A ``light`` or ``dark`` chess piece on the square at the origin."""
    outlines, lines = FIGURES[kind]
    # A single path would leave holes where outlines overlap.
    shapes = [tag("path", d=outline) for outline in outlines]
    if lines:
        shapes.append(tag("path", class_="within", d="".join(lines)))
    return tag("g", *shapes, id=id_, class_=f"figure-{side}", transform="translate(.04 .04)scale(.0092)")


def stone(id_: str, han: str, latin: str, side: str) -> Markup:
    """A ``red`` or ``black`` xiangqi piece, an inscribed disc, on the square at the origin.

    A small Latin letter is below the Chinese character, and replaces it on devices without a Chinese font.
    """
    return tag(
        "g",
        tag("circle", class_="rim", cx=0.5, cy=0.5, r=0.44),
        tag("circle", class_="ring", cx=0.5, cy=0.5, r=0.37),
        tag("text", han, class_="han", x=0.5, y=0.5, lang="zh-Hant"),
        tag("text", latin, class_="latin", x=0.5, y=0.77),
        tag("text", latin, class_="latin-only", x=0.5, y=0.52),
        id=id_,
        class_=f"stone-{side}",
    )


def felt(id_: str, columns: int, rows: int) -> Markup:
    """A green board of squares; an 8 by 8 board has the four dots of a wooden Othello board."""
    lines = "".join(f"M{x} 0v{rows}" for x in range(1, columns))
    lines += "".join(f"M0 {y}h{columns}" for y in range(1, rows))
    dots = "".join(f"M{x} {y}h0" for x, y in product((2, 6), (2, 6))) if columns == rows == 8 else ""
    return tag(
        "g",
        tag("rect", class_="felt", width=columns, height=rows),
        tag("path", class_="felt-lines", d=lines),
        tag("path", class_="felt-dots", d=dots) if dots else "",
        id=id_,
    )


def checks(id_: str, columns: int, rows: int) -> Markup:
    """A board of light and dark squares; the top left square is light."""
    dark = "".join(f"M{x} {y}h1v1h-1z" for y, x in product(range(rows), range(columns)) if (x + y) % 2)
    return tag(
        "g",
        tag("rect", class_="light", width=columns, height=rows),
        tag("path", class_="dark", d=dark),
        id=id_,
    )


def river(id_: str) -> Markup:
    """The xiangqi board: nine files, ten ranks, a river and two palaces.  Points are centres of squares."""
    return tag(
        "g",
        tag("rect", class_="wood", width=9, height=10),
        tag("path", class_="river-lines", d="".join(_river_lines()), transform="translate(.5 .5)"),
        tag("rect", class_="river-frame", x=0.4, y=0.4, width=8.2, height=9.2),
        tag("text", "楚河", class_="river", x=2.5, y=5.02, lang="zh-Hant"),
        tag("text", "漢界", class_="river", x=6.5, y=5.02, lang="zh-Hant"),
        id=id_,
    )


def _river_lines() -> Iterator[str]:
    yield from (f"M0 {rank}h8" for rank in range(10))
    yield from (f"M{file} 0v4M{file} 5v4" if file % 8 else f"M{file} 0v9" for file in range(9))
    yield "M3 0l2 2M5 0l-2 2M3 7l2 2M5 7l-2 2"
    for file, rank in _MARKED_POINTS:
        for x, y in product((-1, 1), (-1, 1)):
            if 0 <= file + x <= 8:
                yield f"M{file + x * 0.28:g} {rank + y * 0.09:g}h{-x * 0.19:g}v{y * 0.19:g}"
