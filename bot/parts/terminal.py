"""Renders the parts of a view as sentences and tables for a terminal."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from rich.console import RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from bot.base.log import printable
from bot.charts.bars import StackedBars, bar_table
from bot.charts.figure import DataTable
from bot.charts.intervals import IntervalChart, interval_table
from bot.charts.lines import LineChart
from bot.parts.values import (
    Beside,
    BoardsPart,
    Chart,
    ChartPart,
    Gallery,
    Heading,
    Note,
    Pager,
    Part,
    TableCell,
    TablePart,
    VerdictPart,
)

_BARS = "▁▂▃▄▅▆▇█"
_BARS_SHOWN = 30


def terminal(parts: Iterable[Part]) -> Iterator[RenderableType]:
    """The parts of a view, one after the other; choices of the address are left out."""
    for part in parts:
        match part:
            case TablePart():
                yield from _table(part)
            case ChartPart():
                yield from _figure(part)
            case Gallery():
                yield from _table(part.table)
            case BoardsPart():
                yield from _lines(part.title, *(f"{caption} ({where})" for _, caption, where in part.boards))
            case Heading():
                yield from _lines(f"{part.emphasis} {part.text}".strip(), part.lead)
            case Note():
                yield from _lines(f"{part.title}: {part.text}" if part.title else part.text)
            case Pager() if part.earlier or part.later:
                of = "" if part.pages is None else f" of {part.pages}"
                yield f"Page {part.page}{of}; --page shows another one."
            case Beside():
                yield from terminal(part.parts)
            case VerdictPart():
                yield from _lines(part.warning, part.headline, *part.evidence, *part.others, part.about)
            case _:
                pass


def bars(values: Sequence[float]) -> str:
    """A curve as bars of text, at most `_BARS_SHOWN`, each the last value of its part."""
    count = min(len(values), _BARS_SHOWN)
    shown = [values[(at + 1) * len(values) // count - 1] for at in range(count)]
    least, room = min(values), (max(values) - min(values)) or 1
    return "".join(_BARS[round((value - least) / room * (len(_BARS) - 1))] for value in shown)


def _lines(*texts: str) -> Iterator[RenderableType]:
    yield from (Text(printable(each)) for each in texts if each)


def _table(part: TablePart) -> Iterator[RenderableType]:
    title = f"{part.title} ({part.aside})" if part.aside else part.title
    if not part.rows:
        yield Text(printable(f"{title}: {part.nothing}"))
        return
    columns = [(each.head, each.is_text or at == 0) for at, each in enumerate(part.columns)]
    yield _grid(title, columns, [[_text(each) for each in row] for row in part.rows])
    yield from _lines(part.note)


def _text(content: TableCell | str) -> str:
    if isinstance(content, str):
        return content
    small = f" ({content.small})" if content.small and content.text else content.small
    return content.text + (f" ({content.tag})" if content.tag else "") + small


def _figure(part: ChartPart) -> Iterator[RenderableType]:
    yield from _lines(part.before)
    data = _data(part.chart)
    if data is not None and data.rows:
        columns = [(head, at == 0) for at, head in enumerate(data.head)]
        yield _grid(part.title, columns, data.rows)
    elif isinstance(part.chart, LineChart):
        yield from _curves(part.title, part.chart)
    yield from _lines(part.note)


def _data(chart: Chart) -> DataTable | None:
    match chart:
        case IntervalChart():
            return interval_table(chart)
        case StackedBars():
            return bar_table(chart)
        case _:
            return None


def _curves(title: str, chart: LineChart) -> Iterator[RenderableType]:
    for line in chart.lines:
        values = np.array(line.y, np.float64)
        known = values[~np.isnan(values)].tolist()
        if known:
            least, most, last = (chart.y_style.text(each) for each in (min(known), max(known), known[-1]))
            yield Text(printable(f"{title}, {line.name}: {bars(known)} {last} ({least} to {most})"))


def _grid(title: str, columns: Iterable[tuple[str, bool]], rows: Iterable[Sequence[str]]) -> RichTable:
    """A table; of each column the head and whether it is aligned to the left."""
    table = RichTable(
        title=Text(printable(title)), title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0)
    )
    for head, is_left in columns:
        table.add_column(head.lower() if head.istitle() else head, justify="left" if is_left else "right")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table
