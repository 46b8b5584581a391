"""The data of a line chart: its thinned lines and its table."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bot.charts.figure import ChartSize, DataTable
from bot.charts.numbers import PLAIN, NumberStyle, time_text
from bot.charts.thinning import LineSample, SampleColumns, samples_of, thin

_DAY_S = 86_400
_Y = 1
"""Index of the y column."""


Floats = NDArray[np.float64]
Values = tuple[float | None, ...] | Floats


@dataclass(frozen=True, slots=True, eq=False)
class ChartLine:
    """A chart's line. All sequences have the length of `x`; without intervals, `low` and `high` are empty."""

    name: str
    x: tuple[float, ...] | tuple[datetime, ...] | Floats
    """Counts (plies, games) or timezone-aware times, in non-decreasing order."""
    y: Values
    """None (or NaN in an array) marks a missing value, where the line has a gap."""
    low: Values = ()
    """Lower ends of the intervals; None or NaN at points without an interval."""
    high: Values = ()
    band: str = ""
    """The intervals' name in the legend, for instance ``95 % at every moment``."""


@dataclass(frozen=True, slots=True)
class LineChart:
    """A line chart."""

    title: str
    description: str
    """A sentence about the chart's contents for screen readers."""
    x_name: str
    """Name of the x axis, for instance ``games played``."""
    lines: tuple[ChartLine, ...]
    """The chart's lines, at most two."""
    y_style: NumberStyle = PLAIN
    references: tuple[float, ...] = ()
    """Values of horizontal reference lines."""
    limits: tuple[float, float] | None = None
    """The range of the y axis, extended only to the next ticks; None to cover all values and references."""
    trims_bands: bool = False
    """Whether the axis may cut off the outermost 5 % of the intervals' ends; ignored if `limits` is set."""
    size: ChartSize = ChartSize.HALF
    nothing: str = "Nothing to show yet."
    """The text shown if there are no values."""

    @property
    def is_over_time(self) -> bool:
        """Whether the x values are times."""
        return any(isinstance(x, datetime) for line in self.lines for x in line.x[:1])


@dataclass(frozen=True, eq=False)
class DrawnLine:
    """The points and labels of a line as drawn."""

    name: str
    band: str
    """Empty if the line has no intervals."""
    columns: SampleColumns

    @cached_property
    def samples(self) -> tuple[LineSample, ...]:
        """The samples of the line."""
        return samples_of(self.columns)

    def thinned(self, width: int) -> "DrawnLine":
        """The line for a drawing of this width, thinned to one bucket per eight pixels (see `thin`).

        A line with at most one sample per two pixels is not thinned.
        """
        if len(self.columns) <= width / 2:
            return self
        return DrawnLine(self.name, self.band, thin(self.columns, width // 8))


def drawn_lines(chart: LineChart) -> tuple[DrawnLine, ...]:
    """Convert the lines of a chart to plain numbers; lines without values are omitted."""
    found = (DrawnLine(line.name, line.band if len(line.low) else "", _columns(line)) for line in chart.lines)
    return tuple(line for line in found if not np.isnan(line.columns[:, _Y]).all())


def _columns(line: ChartLine) -> SampleColumns:
    missing = np.full(len(line.x), np.nan)
    x = line.x if isinstance(line.x, np.ndarray) else [place(x) for x in line.x]
    bands = (each if len(each) else missing for each in (line.low, line.high))
    return np.ascontiguousarray(np.array([x, line.y, *bands], np.float64).T)


def place(x: float | datetime) -> float:
    """Convert an x value to a number; times become POSIX times."""
    return x.timestamp() if isinstance(x, datetime) else x


def line_table(chart: LineChart, lines: Sequence[DrawnLine]) -> DataTable:
    """Return a table of the lines' numbers, with a row for each x value."""
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
        x = time_text(key[0], is_daily=is_daily) if is_over_time else PLAIN.text(key[0])
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
