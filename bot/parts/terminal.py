"""Renders the parts of a view as sentences and tables for a terminal."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table as RichTable
from rich.text import Text

from bot.base.log import printable
from bot.charts.bars import StackedBars, bar_table
from bot.charts.figure import DataTable
from bot.charts.intervals import IntervalChart, interval_table
from bot.charts.lines import LineChart
from bot.parts.values import (
    Beside,
    BoardPart,
    Card,
    Cards,
    Chart,
    ChartPart,
    ControlsPart,
    Heading,
    Links,
    ListedMoves,
    Note,
    Pager,
    Part,
    Story,
    TableCell,
    TablePart,
    Tiles,
    VerdictPart,
    as_cell,
)

_BARS = "▁▂▃▄▅▆▇█"
_MAX_BARS = 30
_MAX_MEASURED_WIDTH = 10_000
_MIN_TURNED, _MAX_BESIDE = 4, 4
"""Minimum number of columns for a table to be transposed, and maximum number of rows that a transposed table
shows side by side."""


def terminal(parts: Iterable[Part]) -> Iterator[RenderableType]:
    """Render the parts of a view in order, without links that change the address."""
    for part in parts:
        match part:
            case TablePart():
                yield from _table(part)
            case ChartPart():
                yield from _figure(part)
            case Cards():
                yield from _lines(part.title, *map(_card, part.cards))
            case Heading():
                way = " · ".join(words for words, _ in part.crumbs)
                words = (part.state[0], part.emphasis, part.text, part.detail)
                pills = "; ".join(pill.text for pill in part.pills)
                yield from _lines(way, " ".join(filter(None, words)), pills, part.lead)
            case Note():
                yield from _lines(f"{part.title}: {part.text}" if part.title else part.text)
            case Pager() if part.earlier or part.later:
                of = "" if part.pages is None else f" of {part.pages}"
                yield f"Page {part.page}{of}; use --page to show another."
            case Beside():
                yield from terminal(part.parts)
            case VerdictPart():
                yield from _lines(part.warning, part.headline, *part.evidence, *part.others, part.about)
            case BoardPart() if part.board is not None:
                yield from _lines(*("  " + " ".join(row) for row in part.board.rows))
            case Story():
                facts = (f"{term} {move}: {text}." for _, term, move, text in part.facts)
                yield Text(_printable(f"{part.before}\n{part.title}."), style="bold")
                yield from _lines(" ".join((*part.paragraphs, *facts)))
            case ListedMoves():
                turns = (f"{n}. {' '.join(move.name for move in pair)}" for n, pair in part.rows)
                yield from _lines(" ".join(turns))
            case Links() if part.is_list:
                yield from _lines(*(f"{n:2}. {words}" for n, (words, _) in enumerate(part.links, 1)))
            case Tiles():
                yield from _lines("; ".join(f"{value} {words}" for value, words, _ in part.tiles))
            case ControlsPart() if part.controls:
                told = (" ".join(filter(None, (c.tag[0], c.name, c.small, c.text))) for c in part.controls)
                yield from _lines(f"{part.title}:", *told)
            case _:
                pass


def bars(values: Sequence[float]) -> str:
    """Draw a curve as at most `_MAX_BARS` text bars, each showing the last value of its interval."""
    count = min(len(values), _MAX_BARS)
    shown = [values[(at + 1) * len(values) // count - 1] for at in range(count)]
    least, room = min(values), (max(values) - min(values)) or 1
    return "".join(_BARS[round((value - least) / room * (len(_BARS) - 1))] for value in shown)


def _printable(text: str) -> str:
    """The text without characters that could control the terminal or change the text's direction."""
    return "\n".join(printable(re.sub("[\u2066-\u2069]", "", line)) for line in text.splitlines())


def _lines(*texts: str) -> Iterator[RenderableType]:
    yield from (Text(_printable(each)) for each in texts if each)


def _table(part: TablePart) -> Iterator[RenderableType]:
    title = f"{part.title} ({part.aside})" if part.aside else part.title
    if not part.rows:
        yield from _lines(f"{title}: {part.nothing}" if title else part.nothing)
        return
    columns = [(each.head, each.is_text or at == 0) for at, each in enumerate(part.columns)]
    yield _grid(title, columns, [[_text(as_cell(each)) for each in row] for row in part.rows])
    yield from _lines(part.note)


def _card(card: Card) -> str:
    who = " ".join(filter(None, (card.name, card.detail)))
    head = ", ".join(filter(None, (who, card.about, card.link[0], card.tag[0])))
    return " ".join((f"{head}:", *(text for text, _ in card.said), card.link[1])).strip()


def _text(cell: TableCell) -> str:
    small = f" ({cell.small})" if cell.small and cell.text else cell.small
    return cell.text + "".join(f" ({words})" for words, _ in cell.tags) + small


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
            yield Text(_printable(f"{title}, {line.name}: {bars(known)} {last} ({least} to {most})"))


def _grid(title: str, columns: Sequence[tuple[str, bool]], rows: Sequence[Sequence[str]]) -> "_WideTable":
    heads = [(head[:1].lower() + head[1:], is_left) for head, is_left in columns]
    return _WideTable(_printable(title), heads, [[_printable(cell) for cell in row] for row in rows])


@dataclass(frozen=True, slots=True)
class _WideTable:
    """A table that is transposed if the terminal is too narrow: each row becomes a column."""

    title: str
    columns: Sequence[tuple[str, bool]]
    """The heading of each column, and whether the column is left-aligned."""
    rows: Sequence[Sequence[str]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        def fits(table: RichTable) -> bool:
            whole = options.update(max_width=_MAX_MEASURED_WIDTH)  # or the measure would never exceed it
            return Measurement.get(console, whole, table).minimum <= options.max_width

        whole = self._table(self.columns, self.rows)
        if fits(whole) or len(self.columns) < _MIN_TURNED:
            yield whole
            return
        beside = _MAX_BESIDE
        while beside > 1 and not fits(self._turned(0, beside)):
            beside -= 1
        for start in range(0, len(self.rows), beside):
            yield self._turned(start, beside)

    def _turned(self, start: int, beside: int) -> RichTable:
        """Transpose a few rows, starting at `start`."""
        names, *cells = zip(*self.rows[start : start + beside], strict=True)
        columns = [(self.columns[0][0], True), *((name, False) for name in names)]
        heads = (head for head, _ in self.columns[1:])
        rows = [(head, *row) for head, row in zip(heads, cells, strict=True)]
        return self._table(columns, rows, unbroken=beside if beside > 1 else 0)

    def _table(
        self, columns: Sequence[tuple[str, bool]], rows: Sequence[Sequence[str]], unbroken: int = 0
    ) -> RichTable:
        """Build a table; the first column and the next `unbroken` columns do not wrap."""
        table = RichTable(
            title=Text(self.title) if self.title else None,
            title_justify="left",
            box=None,
            pad_edge=False,
            padding=(0, 2, 0, 0),
        )
        for at, (head, is_left) in enumerate(columns):
            justify: JustifyMethod = "left" if is_left else "right"
            width = max(map(cell_len, (head, *(row[at] for row in rows)))) if at <= unbroken else None
            table.add_column(
                Text(head), justify=justify, no_wrap=at <= unbroken, min_width=width, overflow="fold"
            )
        for row in rows:
            table.add_row(*map(Text, row))
        return table
