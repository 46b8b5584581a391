"""Sparklines: line charts the size of a word."""

from dataclasses import dataclass

from markupsafe import Markup

from bot.charts.figure import DataTable, html_table
from bot.charts.markup import join_markup, path_of, tag
from bot.charts.numbers import PLAIN, Axis, NumberStyle, span_of
from bot.charts.thinning import LineSample, runs_of

_WIDTH, _HEIGHT = 240.0, 32.0
_EDGE = 3.0
"""Margin that keeps the line and the dot at its last point from being cut off."""


@dataclass(frozen=True, slots=True)
class Sparkline:
    """A sparkline."""

    title: str
    label_name: str
    """Heading of the column of labels in the table, such as ``day``."""
    value_name: str
    labels: tuple[str, ...]
    """Labels, one for each value."""
    values: tuple[float | None, ...]
    """The values, equally spaced; None for a missing value."""
    style: NumberStyle = PLAIN
    is_alert: bool = False
    """Whether to draw the line in red, as a warning or because it shows baits taken."""


def sparkline(chart: Sparkline) -> Markup:
    """A sparkline, followed by a table that only screen readers see."""
    samples = [LineSample(float(at), value, None, None) for at, value in enumerate(chart.values)]
    table = html_table(sparkline_table(chart), "visually-hidden")
    known = [sample.y for sample in samples if sample.y is not None]
    x = Axis(0.0, max(1.0, len(chart.values) - 1.0), _EDGE, _WIDTH - _EDGE)
    y = Axis(*span_of(known), _HEIGHT - _EDGE, _EDGE)
    runs = runs_of(samples, "y")
    path = "".join(path_of((x.at(each.x), y.at(each.y or 0.0)) for each in run) + "h0" for run in runs)
    parts = [tag("title", chart.title), tag("desc", _description(chart, known))]
    if known:
        last = next(sample for sample in reversed(samples) if sample.y is not None)
        parts.append(tag("path", class_="line-1", d=path))
        parts.append(tag("circle", class_="dot-1", cx=x.at(last.x), cy=y.at(last.y or 0.0), r=_EDGE))
    kind = "sparkline alert" if chart.is_alert else "sparkline"
    drawn = tag("svg", *parts, class_=kind, viewBox=f"0 0 {_WIDTH:g} {_HEIGHT:g}", role="img")
    return join_markup(drawn, table)


def sparkline_table(chart: Sparkline) -> DataTable:
    """The sparkline's numbers as a table."""
    rows = []
    for label, value in zip(chart.labels, chart.values, strict=True):
        rows.append((label, "" if value is None else chart.style.text(value)))
    return DataTable(chart.title, (chart.label_name, chart.value_name), tuple(rows))


def _description(chart: Sparkline, known: list[float]) -> str:
    if not known:
        return "No values yet."
    least, most = (chart.style.text(value) for value in (min(known), max(known)))
    return f"Lowest {least}, highest {most}, last {chart.style.text(known[-1])}."
