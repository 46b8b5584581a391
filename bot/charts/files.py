"""The files that pages with charts have: colours come from `bot.base.colours`."""

from pathlib import Path

STYLE = Path(__file__).parent / "static" / "charts.css"
CHART_FILES = (STYLE, STYLE.with_suffix(".js"), STYLE.with_name("boards.js"))
