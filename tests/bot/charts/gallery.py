"""Every chart and board on one page: ``python -m tests.bot.charts.gallery FOLDER`` writes it."""

import shutil
import sys
from dataclasses import replace
from pathlib import Path

from markupsafe import Markup

from bot.charts.bars import stacked_bars
from bot.charts.boards import board_shapes, board_svg
from bot.charts.figure import ChartSize
from bot.charts.files import STYLE
from bot.charts.intervals import interval_rows
from bot.charts.line_chart import line_chart
from bot.charts.lines import LineChart
from bot.charts.markup import join_markup, tag
from bot.charts.sparkline import sparkline
from tests.bot.charts import samples

STATIC = STYLE.parent
# The page's own colours, which charts.css takes from it; the dashboard has the same.
COLOURS = """
:root { color-scheme: light dark; --page: #f6f3ec; --card: #fffdf8; --sunken: #efeae0; --ink: #1c2320;
  --muted: #5b665f; --line: #ddd6c8; --accent: #17694a; --trap: #b02a45; --slip: #97620a;
  --shadow: 0 1px 2px rgb(40 30 10 / 8%), 0 8px 24px rgb(40 30 10 / 7%);
  --sans: system-ui, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif; }
@media (prefers-color-scheme: dark) { :root { --page: #101513; --card: #191f1c; --sunken: #232a26;
  --ink: #e9ede9; --muted: #9aa79f; --line: #303a34; --accent: #46bd88; --trap: #ff8090; --slip: #f0bd5b;
  --shadow: 0 1px 2px rgb(0 0 0 / 40%), 0 10px 30px rgb(0 0 0 / 30%); } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 var(--sans); }
main { max-width: 1180px; margin: 0 auto; padding: 20px; display: grid; gap: 22px;
  grid-template-columns: minmax(0, 1fr); }
section { background: var(--card); border: 1px solid var(--line); border-radius: 14px; padding: 16px 20px;
  box-shadow: var(--shadow); display: grid; gap: 12px; align-content: start; min-width: 0; }
h2 { margin: 0; font-size: 0.8rem; letter-spacing: 0.06em; text-transform: uppercase; color: var(--muted); }
.columns, .boards, .tiles { display: grid; gap: 22px; grid-template-columns: minmax(0, 1fr); }
@media (min-width: 940px) { .columns { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .uneven { grid-template-columns: minmax(0, 1.55fr) minmax(0, 1fr); }
  .boards, .tiles { grid-template-columns: repeat(4, minmax(0, 1fr)); } }
"""
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'"
)


def page() -> str:
    """The whole page."""
    named = {game: samples.rows_after(game, moves) for game, moves in samples.MOVES.items()}
    small = [
        board_svg(game, rows, title=game, last_move=last, marks=samples.MARKS[game])
        for game, (rows, last) in named.items()
    ]
    large = [
        board_svg(game, rows, title=game, side=1, last_move=last, marks=samples.MARKS[game], is_large=True)
        for game, (rows, last) in named.items()
    ]
    noughts = board_svg("tictactoe", ("x.o", ".x.", "..o"), title="tictactoe", last_move=("c3",))
    tiles = [
        _card("a day", sparkline(samples.falls_by_day(is_alert=alert)))
        for alert in (False, False, False, True)
    ]
    empty = replace(samples.performance(), lines=())
    parts = (
        tag("div", *(_card(game, board) for game, board in zip(named, small, strict=True)), class_="boards"),
        tag("div", *tiles, class_="tiles"),
        _card("Trappy scores more", line_chart(samples.difference_by_games())),
        tag(
            "div",
            _card("Time to move", line_chart(samples.time_to_move())),
            _card("Nothing yet", line_chart(empty)),
            class_="columns uneven",
        ),
        tag(
            "div",
            _card("For whom?", interval_rows(samples.groups())),
            _card("Outcomes of the traps", stacked_bars(samples.trap_outcomes())),
            _card("Performance by week", line_chart(samples.performance())),
            _card("All of 25,000 games", line_chart(_many())),
            class_="columns",
        ),
        tag("div", *(_card(game, board) for game, board in zip(named, large, strict=True)), class_="columns"),
        tag("div", _card("letters", noughts), class_="boards"),
    )
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Gallery</title>'
        '<link rel="icon" href="data:,"><link rel="stylesheet" href="page.css">'
        '<link rel="stylesheet" href="charts.css"><link rel="stylesheet" href="pieces.css">'
        '<script src="charts.js" defer></script>'
        '<script src="boards.js" defer></script>'
    )
    body = join_markup(board_shapes(samples.MOVES), tag("main", *parts))
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>'


def _many() -> LineChart:
    return replace(samples.difference_by_games(25_000, 5), size=ChartSize.HALF)


def _card(heading: str, content: Markup) -> Markup:
    return tag("section", tag("h2", heading), content)


def write(folder: Path) -> Path:
    """Write the page and its files into a folder; returns the page's path."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in STATIC.glob("*s"):
        shutil.copy(path, folder)
    (folder / "page.css").write_text(COLOURS)
    target = folder / "index.html"
    target.write_text(page(), encoding="utf-8")
    return target


if __name__ == "__main__":
    write(Path(sys.argv[1]))
