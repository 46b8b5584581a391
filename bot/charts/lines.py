"""The data of a line chart: its lines, checked and thinned, and its table."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bot.charts.figure import ChartSize, DataTable
from bot.charts.numbers import PLAIN, NumberStyle, moment_text, seconds
from bot.charts.thinning import LineSample, SampleColumns, samples_of, thin

MOST_LINES = 2
_DAY_S = 86_400
_Y = 1
"""The column of y."""


Floats = NDArray[np.float64]
Values = tuple[float | None, ...] | Floats


@dataclass(frozen=True, slots=True, eq=False)
class ChartLine:
    """One series. Its sequences are as long as `x`; absent intervals are empty."""

    name: str
    x: tuple[float, ...] | tuple[datetime, ...] | Floats
    """Never falling: numbers, or moments with a time zone."""
    y: Values
    """None, or NaN in an array: no value; the line has a gap there."""
    low: Values = ()
    """Lower ends of the intervals; None or NaN: there is none."""
    high: Values = ()
    band: str = ""
    """The intervals' name in the legend: ``95 % at every moment``."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A horizontal line to compare with."""

    y: float
    label: str = ""
    is_limit: bool = False
    """A limit that must not be crossed: red and dotted."""


@dataclass(frozen=True, slots=True)
class MarkedPoint:
    """A point with a caption."""

    x: float | datetime
    y: float
    caption: str
    detail: str = ""
    """A second line, in smaller type."""


@dataclass(frozen=True, slots=True)
class LineChart:
    """A line chart."""

    title: str
    description: str
    """A sentence about the chart's contents for screen readers."""
    x_name: str
    """What x counts: ``games played``."""
    lines: tuple[ChartLine, ...]
    """At most two."""
    y_style: NumberStyle = PLAIN
    x_style: NumberStyle = PLAIN
    """Format of numbers; moments are written in UTC."""
    references: tuple[Reference, ...] = ()
    mark: MarkedPoint | None = None
    limits: tuple[float, float] | None = None
    """The range of the y axis, extended only to the next ticks; None: all values and references."""
    trims_bands: bool = False
    """Without `limits`: the axis need not hold the outermost twentieth of the intervals' ends."""
    size: ChartSize = ChartSize.HALF
    nothing: str = "Nothing to show yet."
    """The text shown without any value."""

    @property
    def is_over_time(self) -> bool:
        """Whether x are moments; all are, or none."""
        return any(isinstance(x, datetime) for line in self.lines for x in line.x[:1])


@dataclass(frozen=True, eq=False)
class DrawnLine:
    """A line as it is drawn."""

    name: str
    band: str
    """Empty: it has no intervals."""
    columns: SampleColumns

    @cached_property
    def samples(self) -> tuple[LineSample, ...]:
        """Its samples one by one."""
        return samples_of(self.columns)

    def thinned(self, width: int) -> "DrawnLine":
        """The line for a drawing of this width: whole, or a bucket for each eight pixels; see `thin`.

        Whole where there is no more than a sample for each two pixels.
        """
        if len(self.columns) <= width / 2:
            return self
        return DrawnLine(self.name, self.band, thin(self.columns, width // 8))


def drawn_lines(chart: LineChart) -> tuple[DrawnLine, ...]:
    """The lines of a chart as plain numbers; those without any value are left out.

    Raises:
        ValueError: Too many lines, sequences of different lengths, a number that is not finite, an x that
            falls, moments among numbers or without a time zone, or an interval with one end or turned round.
            The message names the line and the index.
    """
    if len(chart.lines) > MOST_LINES:
        raise ValueError(
            f"{chart.title!r} has {len(chart.lines)} lines, at most {MOST_LINES} can be told apart"
        )
    found = (DrawnLine(line.name, line.band if len(line.low) else "", _columns(line)) for line in chart.lines)
    lines = tuple(line for line in found if not np.isnan(line.columns[:, _Y]).all())
    kinds = {isinstance(x, datetime) for line in chart.lines for x in _few(line.x)}
    if chart.mark is not None:
        kinds.add(isinstance(chart.mark.x, datetime))
    if len(kinds) > 1 and lines:
        raise ValueError(f"{chart.title!r} has moments among its numbers")
    return lines


def place(x: float | datetime) -> float:
    """An x as a number: POSIX time of a moment."""
    return seconds(x) if isinstance(x, datetime) else x


def _few(x: Sequence[float] | Sequence[datetime] | Floats) -> Sequence[float | datetime]:
    """All of them, or of an array, where they are alike, only the first."""
    return x[:1].tolist() if isinstance(x, np.ndarray) else x


def _columns(line: ChartLine) -> SampleColumns:
    missing = np.full(len(line.x), np.nan)
    given: tuple[tuple[str, Sequence[float | None] | Floats], ...] = (
        ("x", line.x if isinstance(line.x, np.ndarray) else [place(x) for x in line.x]),
        ("y", line.y),
        ("low", line.low if len(line.low) else missing),
        ("high", line.high if len(line.high) else missing),
    )
    for name, values in given:
        if len(values) != len(line.x):
            raise ValueError(f"line {line.name!r} has {len(values)} {name} for {len(line.x)} x")
    found = np.array([values for _, values in given], np.float64)
    for (name, values), column in zip(given, found, strict=True):
        may_be_nan = isinstance(values, np.ndarray) and name != "x"
        for index in _where(np.isinf(column) if may_be_nan else ~np.isfinite(column)):
            if values[index] is not None:
                raise ValueError(f"line {line.name!r}: {name}[{index}] is {values[index]}")
    x, _, low, high = found
    for index in _where(x[1:] < x[:-1]):
        raise ValueError(f"line {line.name!r}: x[{index + 1}] is less than the x before it")
    for index in _where(np.isnan(low) != np.isnan(high)):
        raise ValueError(f"line {line.name!r}: the interval at index {index} has one end")
    for index in _where(low > high):
        raise ValueError(f"line {line.name!r}: the interval at index {index} ends before it begins")
    return np.ascontiguousarray(found.T)


def _where(holds: NDArray[np.bool_]) -> list[int]:
    indices: list[int] = np.flatnonzero(holds).tolist()
    return indices


def line_table(chart: LineChart, lines: Sequence[DrawnLine]) -> DataTable:
    """The numbers of these lines: a row for each x."""
    head = [chart.x_name]
    for line in lines or chart.lines:
        head += [line.name, *([line.band] if line.band else [])]
    cells: dict[tuple[float, int], dict[int, tuple[str, ...]]] = {}
    for number, line in enumerate(lines):
        times: Counter[float] = Counter()  # an x may occur more than once
        for sample in line.samples:
            row = cells.setdefault((sample.x, times[sample.x]), {})
            row[number] = _cells(chart.y_style, sample, has_band=bool(line.band))
            times[sample.x] += 1
    is_over_time = chart.is_over_time
    empty = [("", "") if line.band else ("",) for line in lines]
    is_daily = all(x % _DAY_S == 0 for x, _ in cells)
    rows = []
    for key in sorted(cells):
        x = moment_text(key[0], is_daily=is_daily) if is_over_time else chart.x_style.text(key[0])
        values = (cells[key].get(number, empty[number]) for number in range(len(lines)))
        rows.append((x, *(text for pair in values for text in pair)))
    return DataTable(chart.title, tuple(head), tuple(rows), tuple(x for x, _ in sorted(cells)))


def _cells(style: NumberStyle, sample: LineSample, *, has_band: bool) -> tuple[str, ...]:
    value = "" if sample.y is None else style.text(sample.y)
    if not has_band:
        return (value,)
    if sample.low is None or sample.high is None:
        return value, ""
    return value, style.interval(sample.low, sample.high)
