"""The preview image for links to a game: its board, at the start or at the end of the game."""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from markupsafe import Markup

from bot.base.colours import COLOURS
from bot.charts.boards import board_shapes, board_svg
from bot.charts.files import FONT, SHAPES_STYLE, STYLE
from bot.charts.markup import tag

WIDTH, HEIGHT = 1200, 630
"""The image size that messengers and social networks expect."""
_MARGIN = 20  # pixels above and below the board
_DRAW = """
import json, os, sys
from resvg_py import svg_to_bytes
os.nice(10)
sys.stdout.buffer.write(svg_to_bytes(**json.load(sys.stdin)))
"""
"""Program for a separate drawing process; in our own process, resvg would block all threads for 0.1 s."""
_FAMILY = "Noto Serif CJK TC"
"""Family of the bundled font, which replaces all other fonts."""
_VARIABLE = re.compile(r"(--[\w-]+): ([^;]+);")
_USE = re.compile(r"var\((--[\w-]+)(?:, ([^)]*))?\)")


def preview(game: str, rows: Sequence[str], last_squares: Sequence[str] = ()) -> bytes:
    """A position as a PNG file.

    Args:
        game: The game's name.
        rows: The position as returned by `Game.board_rows`.
        last_squares: Squares of the last move.

    Raises:
        ValueError: The rows are not a board of the game, or a square is not on the board.
        subprocess.CalledProcessError: The drawing process failed.
    """
    drawing = tag(
        "svg",
        tag("rect", width=WIDTH, height=HEIGHT, fill=_variables()["--page"]),
        board_shapes([game]),
        # The board takes the whole height of what is around it, and the middle of its width.
        tag(
            "svg",
            board_svg(game, rows, title=game, last_move=last_squares),
            y=_MARGIN,
            width=WIDTH,
            height=HEIGHT - 2 * _MARGIN,
        ),
        xmlns="http://www.w3.org/2000/svg",
        width=WIDTH,
        height=HEIGHT,
    )
    return _png(drawing)


def _png(drawing: Markup) -> bytes:
    # Servers often have no font at all, and few have one with Chinese letters.
    options = {
        "svg_string": drawing,
        "style_sheet": _style(),
        "skip_system_fonts": True,
        "font_files": [str(FONT)],
        "sans_serif_family": _FAMILY,
    }
    drawn = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-I", "-c", _DRAW],
        input=json.dumps(options).encode(),
        stdout=subprocess.PIPE,
        check=True,
    )
    return drawn.stdout


@cache
def _variables() -> dict[str, str]:
    """Values of the style sheets' variables in the light theme, whose definitions come first."""
    return dict(reversed(_VARIABLE.findall(_texts(COLOURS, STYLE, SHAPES_STYLE))))


@cache
def _style() -> str:
    """The style sheet of charts and boards, with values in place of variables (resvg has no variables)."""
    style = _texts(STYLE, SHAPES_STYLE)
    return _USE.sub(lambda use: use[2] or _variables().get(use[1], ""), style)


def _texts(*files: Path) -> str:
    return "".join(each.read_text("utf-8") for each in files)
