"""The static files for pages with charts; colours come from `bot.base.colours`."""

from pathlib import Path

STYLE = Path(__file__).parent / "static" / "charts.css"
SHAPES_STYLE = STYLE.with_name("pieces.css")
CHART_FILES = (STYLE, SHAPES_STYLE, STYLE.with_suffix(".js"), STYLE.with_name("boards.js"))
FONT = STYLE.with_name("pieces.otf")
"""Font with the characters shown on pieces and boards, for drawing images without system fonts.

Made with ``pyftsubset NotoSerifCJK-Bold.ttc --font-number=3 --no-hinting --layout-features=
--name-languages=* --name-IDs=0,1,2,4,6,13,14 --text=LETTERS``, where LETTERS are the characters in
`bot.charts.themes` and `bot.charts.pieces`, A to Z and 0 to 9.
"""
