"""Forest plots: estimates for several groups with their intervals, one below the other."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from bot.charts.figure import (
    NARROW_WIDTH,
    TEXT_SIZE,
    ChartSize,
    DataTable,
    drawing,
    figure,
)
from bot.charts.markup import cut_to_width, tag, text_width
from bot.charts.numbers import DIFFERENCE, Axis, NumberStyle, Ticks, span_of, ticks_within

_ROW, _TALL_ROW = 34.0, 48.0
"""Heights of a normal row, and of a tall row with the label above the interval."""
_FOOT = 24.0
_LABEL_GAP = 14.0
_MIN_TICK_WIDTH = 64.0
_AXIS_MARGIN_SHARE = 0.03
"""Share of the axis left free beyond the outermost intervals."""


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """One group."""

    label: str
    count: int
    """Number of games behind the estimate."""
    value: float | None = None
    """The estimate; None if there is none yet."""
    low: float | None = None
    """Lower end of the interval; None if `value` is None."""
    high: float | None = None
    link: str = ""
    """The label's link, a path or a query on this site; empty if there is no link."""
    is_total: bool = False
    """Whether the row is the total of the other rows; a total is shown in bold."""


@dataclass(frozen=True, slots=True)
class IntervalChart:
    """Estimates with intervals."""

    title: str
    description: str
    """A sentence about the chart's contents for screen readers."""
    group_name: str
    """Heading of the column of labels in the table."""
    value_name: str
    interval_name: str
    count_name: str
    rows: tuple[IntervalRow, ...]
    style: NumberStyle = DIFFERENCE
    neutral: float = 0.0
    """The value that means no difference; intervals that exclude it are coloured."""
    size: ChartSize = ChartSize.HALF
    nothing: str = "No group has a game yet."


def interval_rows(chart: IntervalChart) -> Markup:
    """A chart of estimates with intervals, and the same numbers as a table.

    Raises:
        ValueError: A number is not finite.
    """
    drawings = [
        _drawing(chart, chart.size.width, is_narrow=False),
        _drawing(chart, NARROW_WIDTH, is_narrow=True),
    ]
    return figure(interval_table(chart), chart.size, drawings, nothing=chart.nothing)


def interval_table(chart: IntervalChart) -> DataTable:
    """The chart's numbers as a table with a row for each group."""
    head = (chart.group_name, chart.value_name, chart.interval_name, chart.count_name)
    rows = tuple((row.label, *_texts(chart, row), f"{row.count:,}") for row in chart.rows)
    return DataTable(chart.title, head, rows)


def _texts(chart: IntervalChart, row: IntervalRow) -> tuple[str, str]:
    if row.value is None or row.low is None or row.high is None:
        return "", ""
    return chart.style.text(row.value), chart.style.interval(row.low, row.high)


def _drawing(chart: IntervalChart, width: float, *, is_narrow: bool) -> Markup:
    row_height = _TALL_ROW if is_narrow else _ROW
    bottom = row_height * len(chart.rows)
    ticks, axis = _axis(chart, width, is_narrow=is_narrow)
    rows = [
        _row(chart, row, axis, width, row_height * number, is_narrow=is_narrow)
        for number, row in enumerate(chart.rows)
    ]
    # Lines must not cross the labels of tall rows.
    stretches = (
        [(_TALL_ROW * n + 24, _TALL_ROW * n + 44) for n in range(len(chart.rows))]
        if is_narrow
        else [(0.0, bottom)]
    )
    return drawing(
        width,
        bottom + _FOOT,
        "narrow" if is_narrow else "wide",
        chart.title,
        chart.description,
        *_grid(chart, ticks, axis, bottom, stretches),
        *rows,
        has_links=any(row.link for row in chart.rows),
    )


def _axis(chart: IntervalChart, width: float, *, is_narrow: bool) -> tuple[Ticks, Axis]:
    ends = [each for row in chart.rows for each in (row.low, row.high) if each is not None]
    low, high = span_of([*ends, chart.neutral])
    low, high = low - _AXIS_MARGIN_SHARE * (high - low), high + _AXIS_MARGIN_SHARE * (high - low)
    counts = max((text_width(f"{row.count:,}", TEXT_SIZE) for row in chart.rows), default=0.0)
    if is_narrow:
        start, end = _LABEL_GAP, width - _LABEL_GAP
    else:
        labels = max((text_width(row.label, TEXT_SIZE + 1) for row in chart.rows), default=0.0)
        start, end = min(labels, width * 0.5) + 2 * _LABEL_GAP, width - counts - 2 * _LABEL_GAP
    max_ticks = max(3, int((end - start) / _MIN_TICK_WIDTH))
    ticks = ticks_within(low, high, max_ticks, is_whole=chart.style.is_whole)
    return ticks, Axis(low, high, start, end)


def _grid(
    chart: IntervalChart, ticks: Ticks, axis: Axis, bottom: float, stretches: Sequence[tuple[float, float]]
) -> Iterator[Markup]:
    """Tick labels, and vertical lines of the given extents at the ticks and at the neutral value."""

    def lines(values: Iterable[float]) -> str:
        return "".join(f"M{axis.at(value):.1f} {a:g}V{b:g}" for value in values for a, b in stretches)

    yield tag("path", class_="grid", d=lines(ticks.values))
    yield tag("path", class_="axis", d=lines([chart.neutral]))
    for value in ticks.values:
        label = chart.style.text(value, ticks.decimals)
        yield tag("text", label, class_="tick mid", x=axis.at(value), y=bottom + 17)


def _row(
    chart: IntervalChart, row: IntervalRow, axis: Axis, width: float, top: float, *, is_narrow: bool
) -> Markup:
    count = f"{row.count:,}"
    room = width - text_width(count, TEXT_SIZE) - _LABEL_GAP if is_narrow else axis.start - _LABEL_GAP
    text_at, line_at = (top + 17, top + 34) if is_narrow else (top + _ROW / 2 + 4, top + _ROW / 2)
    label = tag(
        "text",
        cut_to_width(row.label, TEXT_SIZE + 1, room),
        class_="row-total" if row.is_total else "row-label",
        x=0,
        y=text_at,
    )
    if row.link:
        label = tag("a", label, href=row.link)
    value, interval = _texts(chart, row)
    said = f"{value} ({interval})" if value else "no estimate yet"
    return tag(
        "g",
        tag("title", f"{row.label}: {said}, {count} {chart.count_name}"),
        label,
        *_interval(chart, row, axis, line_at),
        tag("text", count, class_="tick end", x=width, y=text_at),
    )


def _interval(chart: IntervalChart, row: IntervalRow, axis: Axis, y: float) -> Iterator[Markup]:
    """An interval and its value: a dot if the interval is above neutral, a diamond if below, else a ring."""
    if row.value is None or row.low is None or row.high is None:
        yield tag("text", "too few to say", class_="tick start", x=axis.at(chart.neutral) + 6, y=y + 4)
        return
    kind = "more" if row.low > chart.neutral else "less" if row.high < chart.neutral else "open"
    path = f"M{axis.at(row.low):.1f} {y:g}H{axis.at(row.high):.1f}"
    yield tag("path", class_=f"interval-{kind}", d=path)
    x, size = axis.at(row.value), 6.0 if row.is_total else 5.0
    if kind == "less":
        size += 1
        diamond = f"M{x - size:.1f} {y:g}l{size:g} -{size:g} {size:g} {size:g} -{size:g} {size:g}z"
        yield tag("path", class_="value-less", d=diamond)
    else:
        yield tag("circle", class_=f"value-{kind}", cx=x, cy=y, r=size)
