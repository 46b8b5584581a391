"""Draws line charts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from bot.charts.figure import (
    NARROW_WIDTH,
    TEXT_SIZE,
    drawing,
    figure,
    legend,
)
from bot.charts.lines import DrawnLine, LineChart, drawn_lines, line_table
from bot.charts.markup import path_of, tag, text_width
from bot.charts.numbers import PLAIN, Axis, Ticks, span_of, ticks_around, ticks_within, time_ticks
from bot.charts.thinning import LineSample, runs_of

_NARROW_HEIGHT = 230
_TOP, _BOTTOM = 14.0, 28.0
_LABEL_GAP = 8.0
"""Gap between an axis and its labels."""
_MIN_TICK_HEIGHT = 44.0
"""Minimum vertical distance between two y ticks."""
_LINE_HEIGHT = 16.0
_TRIMMED_SHARE = 0.05
_SINGLE_TIME_TOLERANCE_S = 10
_SINGLE_TIME_S = 86_400
"""Length of the time axis, in seconds, if all times nearly coincide; the axis ends at the last time."""


def line_chart(chart: LineChart) -> Markup:
    """A line chart with its legend and table.

    Raises:
        ValueError: A number is not finite, or sequences differ in length.
    """
    wide = [line.thinned(chart.size.width) for line in drawn_lines(chart)]
    narrow = [line.thinned(NARROW_WIDTH) for line in wide]  # the same samples, so that the table has them
    table = line_table(chart, wide)
    drawings = [
        _drawing(chart, lines, kind, width, height)
        for lines, kind, width, height in (
            (wide, "wide", chart.size.width, chart.size.height),
            (narrow, "narrow", NARROW_WIDTH, _NARROW_HEIGHT),
        )
        if lines
    ]
    return figure(
        table, chart.size, drawings, legend=_legend(wide), nothing=chart.nothing, has_crosshair=True
    )


def _legend(lines: Sequence[DrawnLine]) -> Markup:
    entries = []
    for number, line in enumerate(lines, start=1):
        entries.append((f"line-{number}", line.name))
        if line.band:
            entries.append((f"band-{number}", line.band))
    return legend(*entries)


@dataclass(frozen=True, slots=True)
class _Plot:
    """The layout of one drawing."""

    x: Axis
    y: Axis
    y_ticks: Ticks
    x_ticks: tuple[tuple[float, str], ...]
    width: float
    height: float


def _drawing(chart: LineChart, lines: Sequence[DrawnLine], kind: str, width: float, height: float) -> Markup:
    plot = _plot(chart, lines, width, height)
    x, y = plot.x, plot.y
    curves = [_band(plot, line.samples, number) for number, line in enumerate(lines, start=1)]
    curves += [_curve(plot, line.samples, number) for number, line in enumerate(lines, start=1)]
    # A nested drawing cuts off what lies outside the axes; a clip path would need an id.
    inside = tag(
        "svg",
        *curves,
        x=x.start,
        y=y.end,
        width=x.end - x.start,
        height=y.start - y.end,
        viewBox=f"{x.start:g} {y.end:g} {x.end - x.start:g} {y.start - y.end:g}",
    )
    cross = tag("path", class_="cross", d=f"M0 {y.end:g}V{y.start:g}")
    parts = (
        *_grid(chart, plot),
        *_references(chart, plot),
        inside,
        *_ends(chart, lines, plot),
        cross,
    )
    span = f"{x.start:g} {x.end:g} {x.low:.12g} {x.high:.12g}"
    return drawing(width, height, kind, chart.title, chart.description, *parts, span=span)


# --- Layout ------------------------------------------------------------------------------------------------


def _plot(chart: LineChart, lines: Sequence[DrawnLine], width: float, height: float) -> _Plot:
    bottom = height - _BOTTOM
    y_ticks = _y_ticks(chart, lines, int((bottom - _TOP) / _MIN_TICK_HEIGHT))
    y = Axis(y_ticks.values[0], y_ticks.values[-1], bottom, _TOP)
    labels = [chart.y_style.text(value, y_ticks.decimals) for value in y_ticks.values]
    left = max(text_width(label, TEXT_SIZE) for label in labels) + _LABEL_GAP
    right = max(text_width(label, TEXT_SIZE + 2) for _, label in _end_labels(chart, lines)) + 2 * _LABEL_GAP
    low, high = span_of(sample.x for line in lines for sample in line.samples)
    times = {sample.x for line in lines for sample in line.samples}
    if chart.is_over_time and max(times) - min(times) < _SINGLE_TIME_TOLERANCE_S:
        low, high = max(times) - _SINGLE_TIME_S, max(times)
    x = Axis(low, high, min(left, width / 3), width - min(right, width / 3))
    return _Plot(x, y, y_ticks, _x_ticks(chart, x), width, height)


def _y_ticks(chart: LineChart, lines: Sequence[DrawnLine], most: int) -> Ticks:
    is_whole = chart.y_style.is_whole
    if chart.limits is not None:
        return ticks_around(*span_of(chart.limits), most, is_whole=is_whole)
    samples = [sample for line in lines for sample in line.samples]
    lows = sorted(sample.low for sample in samples if sample.low is not None)
    highs = sorted(sample.high for sample in samples if sample.high is not None)
    cut = int(len(lows) * _TRIMMED_SHARE) if chart.trims_bands else 0
    values = [sample.y for sample in samples if sample.y is not None]
    values += [*lows[cut:], *highs[: len(highs) - cut], *chart.references]
    return ticks_around(*span_of(values), most, is_whole=is_whole)


def _x_ticks(chart: LineChart, x: Axis) -> tuple[tuple[float, str], ...]:
    length = x.end - x.start
    if chart.is_over_time:
        return time_ticks(x.low, x.high, max(3, int(length / 72)))
    widest = max(text_width(PLAIN.text(value), TEXT_SIZE) for value in (x.low, x.high))
    # An axis that is not of times counts plies, games or the like.
    ticks = ticks_within(x.low, x.high, max(2, int(length / (widest + 60))), is_whole=True)
    return tuple((value, PLAIN.text(value, ticks.decimals)) for value in ticks.values)


def _end_labels(chart: LineChart, lines: Sequence[DrawnLine]) -> list[tuple[LineSample, str]]:
    """A label at each line's last value: the value, or the line's name if there are several lines."""
    end_labels = []
    for line in lines:
        last = next(sample for sample in reversed(line.samples) if sample.y is not None)
        end_labels.append((last, line.name if len(lines) > 1 else chart.y_style.text(last.y or 0.0)))
    return end_labels


# --- Parts -----------------------------------------------------------------------------------------------


def _grid(chart: LineChart, plot: _Plot) -> Iterator[Markup]:
    x, y = plot.x, plot.y
    lines = "".join(f"M{x.start:.1f} {y.at(value):.1f}H{x.end:.1f}" for value in plot.y_ticks.values)
    yield tag("path", class_="grid", d=lines)
    for value in plot.y_ticks.values:
        label = chart.y_style.text(value, plot.y_ticks.decimals)
        yield tag("text", label, class_="tick end", x=x.start - _LABEL_GAP, y=y.at(value) + 4)
    for value, label in plot.x_ticks:
        half = text_width(label, TEXT_SIZE) / 2
        at = min(max(x.at(value), half), plot.width - half)
        yield tag("text", label, class_="tick mid", x=at, y=y.start + 20)


def _references(chart: LineChart, plot: _Plot) -> Iterator[Markup]:
    x, y = plot.x, plot.y
    for at in map(y.at, chart.references):
        if y.end <= at <= y.start:  # not beyond the limits that the chart's author has set
            yield tag("path", class_="axis", d=f"M{x.start:.1f} {at:.1f}H{x.end:.1f}")


def _band(plot: _Plot, samples: Sequence[LineSample], number: int) -> Markup:
    paths = []
    for run in runs_of(samples, "low"):
        there = [_point(plot, sample.x, sample.high) for sample in run]
        back = [_point(plot, sample.x, sample.low) for sample in reversed(run)]
        if len(run) == 1:  # an interval at one place: a bar three pixels wide
            centre = plot.x.at(run[0].x)
            edges = plot.y.at(run[0].high or 0.0), plot.y.at(run[0].low or 0.0)
            paths.append(f"M{centre - 1.5:.1f} {edges[0]:.1f}h3V{edges[1]:.1f}h-3Z")
        else:
            paths.append(path_of(there + back) + "Z")
    return tag("path", class_=f"band-{number}", d="".join(paths)) if paths else Markup()


def _curve(plot: _Plot, samples: Sequence[LineSample], number: int) -> Markup:
    paths = []
    for run in runs_of(samples, "y"):
        path = path_of(_point(plot, sample.x, sample.y) for sample in run)
        # A line of no length is drawn as a dot, thanks to its round ends.
        paths.append(path if len(run) > 1 else path + "h0")
    return tag("path", class_=f"line-{number}", d="".join(paths))


def _point(plot: _Plot, x: float, y: float | None) -> tuple[float, float]:
    return plot.x.at(x), plot.y.at(y or 0.0)


def _ends(chart: LineChart, lines: Sequence[DrawnLine], plot: _Plot) -> Iterator[Markup]:
    labels = _end_labels(chart, lines)
    heights = [min(max(plot.y.at(last.y or 0.0), plot.y.end), plot.y.start) for last, _ in labels]
    places = list(heights)
    if len(places) > 1 and abs(places[0] - places[1]) < _LINE_HEIGHT:
        # Side by side they would cover each other: the same distance up and down from their middle.
        middle, upper = sum(places) / 2, 0 if places[0] <= places[1] else 1
        places[upper], places[1 - upper] = middle - _LINE_HEIGHT / 2, middle + _LINE_HEIGHT / 2
    for number, ((last, text), height, at) in enumerate(zip(labels, heights, places, strict=True), start=1):
        yield tag("circle", class_=f"dot-{number}", cx=plot.x.at(last.x), cy=height, r=5)
        yield tag("text", text, class_=f"end-{number}", x=plot.x.end + _LABEL_GAP + 3, y=at + 4.5)
