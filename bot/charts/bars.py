"""Stacked bars: each shows how a row's cases are distributed over the chart's categories."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from markupsafe import Markup

from bot.base.rounding import percent
from bot.charts.figure import (
    NARROW_WIDTH,
    TEXT_SIZE,
    ChartSize,
    DataTable,
    drawing,
    figure,
    legend,
    texture,
)
from bot.charts.markup import cut_to_width, tag, text_width

_ROW, _LABEL, _BAR = 58.0, 20.0, 28.0
"""Heights of a row, of its label and of its bar."""
_RADIUS = 7.0
_PART_GAP = 2.0
"""Gap between two parts of a bar."""
_TEXT = TEXT_SIZE + 1


class BarKind(StrEnum):
    """A category's kind, which determines its colour and texture."""

    GOOD = "good"
    TRAP = "trap"
    SLIP = "slip"


@dataclass(frozen=True, slots=True)
class BarCategory:
    """One part of every bar."""

    name: str
    kind: BarKind


@dataclass(frozen=True, slots=True)
class BarRow:
    """One bar."""

    label: str
    counts: tuple[int, ...]
    """Number of cases per category, in the order of the categories."""


@dataclass(frozen=True, slots=True)
class StackedBars:
    """Stacked bars."""

    title: str
    description: str
    """A sentence about the chart's contents for screen readers."""
    row_name: str
    """Heading of the table's label column."""
    categories: tuple[BarCategory, ...]
    """The categories; their kinds must all differ, so that readers can distinguish them."""
    rows: tuple[BarRow, ...]
    total_name: str
    """Name of the counted cases, for instance ``answered``."""
    size: ChartSize = ChartSize.HALF
    nothing: str = "Nothing to count yet."


def stacked_bars(chart: StackedBars) -> Markup:
    """Stacked bars with their legend and table."""
    drawings = [
        _drawing(chart, "wide", chart.size.width),
        _drawing(chart, "narrow", NARROW_WIDTH),
    ]
    return figure(
        bar_table(chart),
        chart.size,
        drawings,
        legend=legend(*((f"bar-{each.kind}", each.name) for each in chart.categories)),
        nothing=chart.nothing,
    )


def bar_table(chart: StackedBars) -> DataTable:
    """The bars' counts and percentages as a table."""
    head = (chart.row_name, *(each.name for each in chart.categories), chart.total_name)
    rows = []
    for row in chart.rows:
        total = sum(row.counts)
        shares = (f"{count:,} ({percent(count / total)})" if total else "0" for count in row.counts)
        rows.append((row.label, *shares, f"{total:,}"))
    return DataTable(chart.title, head, tuple(rows))


def _drawing(chart: StackedBars, kind: str, width: float) -> Markup:
    rows = (_row(chart, row, width, _ROW * number) for number, row in enumerate(chart.rows))
    height = _ROW * len(chart.rows) - (_ROW - _LABEL - _BAR)
    return drawing(width, max(height, 1), kind, chart.title, chart.description, *rows)


def _row(chart: StackedBars, row: BarRow, width: float, top: float) -> Markup:
    count = sum(row.counts)
    total = f"{count:,} {chart.total_name.removesuffix('s') if count == 1 else chart.total_name}"
    room = width - text_width(total, TEXT_SIZE) - 10
    return tag(
        "g",
        tag("text", cut_to_width(row.label, _TEXT, room), class_="row-total", x=0, y=top + 13),
        tag("text", total, class_="tick end", x=width, y=top + 13),
        *_bar(chart, row, width, top + _LABEL),
    )


def _bar(chart: StackedBars, row: BarRow, width: float, top: float) -> Iterator[Markup]:
    total = sum(row.counts)
    if not total:
        yield tag("path", class_="bar-none", d=_shape(0, width, top, is_first=True, is_last=True))
        return
    before = 0
    for category, count in zip(chart.categories, row.counts, strict=True):
        left, right = width * before / total, width * (before + count) / total
        before += count
        if not count:
            continue
        is_last = before == total
        right -= 0 if is_last else min(_PART_GAP, (right - left) / 2)
        kind, share = f"bar-{category.kind}", percent(count / total)
        middle = top + _BAR / 2
        parts = [tag("title", f"{category.name}: {count:,} ({share})")]
        parts.append(
            tag("path", class_=kind, d=_shape(left, right, top, is_first=left == 0, is_last=is_last))
        )
        inset = _RADIUS if right - left > 3 * _RADIUS else 0.0
        parts += texture(kind, left + inset, right - inset, middle, _BAR)
        if text_width(share, _TEXT) + 8 <= right - left:
            at = (left + right) / 2
            parts.append(tag("text", share, class_=f"{kind}-text mid", x=at, y=middle + 4.5))
        yield tag("g", *parts)


def _shape(left: float, right: float, top: float, *, is_first: bool, is_last: bool) -> str:
    """SVG path of one part of a bar: a rectangle, rounded only where it forms an end of the bar."""
    radius = min(_RADIUS, (right - left) / 2)
    a, b = (radius if is_first else 0.0), (radius if is_last else 0.0)
    bottom = top + _BAR
    return (
        f"M{left + a:.1f} {top:g}H{right - b:.1f}q{b:.1f} 0 {b:.1f} {b:.1f}V{bottom - b:.1f}"
        f"q0 {b:.1f} -{b:.1f} {b:.1f}H{left + a:.1f}q-{a:.1f} 0 -{a:.1f} -{a:.1f}V{top + a:.1f}"
        f"q0 -{a:.1f} {a:.1f} -{a:.1f}Z"
    )
