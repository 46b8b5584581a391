"""Renders the parts of a view as HTML, each kind by its macro of the same name in templates/parts.html."""

import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.environment import TemplateModule
from markupsafe import Markup, escape

from bot.charts.bars import StackedBars, stacked_bars
from bot.charts.boards import board_shapes, board_svg
from bot.charts.intervals import IntervalChart, interval_rows
from bot.charts.line_chart import line_chart
from bot.charts.markup import join_markup, tag
from bot.charts.sparkline import sparkline
from bot.parts.values import MOVE_MARKS, Board, Chart, Part, as_cell

_TEMPLATES = Path(__file__).parent / "templates"
PARTS_STYLE = _TEMPLATES.with_name("static") / "parts.css"
"""The parts' style sheet; its colours come from `bot.base.colours`."""
_MARKS = {"bait": "the bait", "good": "the good reply", "played": "played instead"}


def html_of(part: Part, csv: Callable[[str], str]) -> Markup:
    """Render one part.

    Args:
        part: The part to render.
        csv: Takes the name of a set of rows and returns the URL of those rows as CSV.
    """
    return Markup(getattr(_macros(), type(part).__name__)(part, csv))  # noqa: S704 - the macros escape


def environment(*folders: Path) -> Environment:
    """Return a template environment that escapes every value except `Markup` and rejects undefined names.

    Args:
        folders: The template folders; templates can also import parts.html.
    """
    made = Environment(
        loader=FileSystemLoader([*folders, _TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(
        board=_board,
        drawn=chart_html,
        html_of=html_of,
        marks=_MARKS,
        marks_on=_marks_on,
        move_marks=MOVE_MARKS,
        shapes=_shapes,
        sparkline=sparkline,
    )
    made.filters.update(
        as_cell=as_cell, html_of=html_of, key_of=_key_of, unbroken=_unbroken, with_code=with_code
    )
    return made


@cache
def _macros() -> TemplateModule:
    return environment().get_template("parts.html").module


def chart_html(chart: Chart) -> Markup:
    """Render a chart as SVG with its table."""
    match chart:
        case IntervalChart():
            return interval_rows(chart)
        case StackedBars():
            return stacked_bars(chart)
        case _:
            return line_chart(chart)


def with_code(text: str) -> Markup:
    """Convert text to HTML, turning parts in backticks into code."""
    parts = enumerate(text.split("`"))
    return Markup().join(tag("code", part) if number % 2 else escape(part) for number, part in parts)


def _board(board: Board, *, is_large: bool = False) -> Markup:
    """Render a position as SVG."""
    return board_svg(
        board.game,
        board.rows,
        title=board.title,
        side=board.side,
        last_move=board.last_move,
        marks=board.marks,
        is_large=is_large,
    )


def _shapes(boards: Iterable[Board | None]) -> Markup:
    """The SVG shapes that the given boards use; None items are ignored."""
    return board_shapes({board.game for board in boards if board is not None})


def _marks_on(board: Board) -> dict[str, str]:
    """The meaning of each kind of mark that occurs on the board, keyed by kind."""
    kinds = {mark.kind for mark in board.marks}
    return {kind: words for kind, words in _MARKS.items() if kind in kinds}


def _key_of(title: str) -> str:
    """Make an anchor from a title."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def _unbroken(text: str) -> str:
    """Prevent line breaks inside an interval in brackets."""
    number, bracket, interval = text.partition(" (")
    if not bracket or not interval.endswith(")"):
        return text
    return join_markup(number, " ", tag("span", f"({interval}", class_="nobreak"))
