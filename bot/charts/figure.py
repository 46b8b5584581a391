"""Common parts of all charts: two drawings (CSS shows the one that fits), a legend and a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from markupsafe import Markup, escape

from bot.charts.markup import tag

NARROW_WIDTH = 300
"""Width of the drawing for phones, where a card is 280 to 320 px wide; the same for all chart sizes."""
TEXT_SIZE = 12.0
"""Font size of the text in a drawing, in the drawing's units; must match charts.css."""


class ChartSize(Enum):
    """The size of a chart on a wide page: a name, and the width and height in pixels."""

    FULL = ("full", 1090, 300)
    """The full width of the page."""
    HALF = ("half", 520, 260)

    def __init__(self, key: str, width: int, height: int) -> None:
        self.key = key
        self.width = width
        self.height = height


@dataclass(frozen=True, slots=True)
class DataTable:
    """A chart's data as a table of text cells."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """The rows; each has as many cells as `head`."""
    positions: tuple[float, ...] = ()
    """The position of each row on the x axis; empty if rows have no positions."""


def figure(
    table: DataTable,
    size: ChartSize,
    drawings: Sequence[Markup],
    *,
    legend: Markup | None = None,
    nothing: str = "",
    has_crosshair: bool = False,
) -> Markup:
    """A chart with its legend and its table.

    Args:
        table: The chart's numbers.
        size: The chart's size on a wide page.
        drawings: The wide and the narrow drawing.
        legend: The result of the function `legend`, if any.
        nothing: Text shown instead of drawings and table when the table has no rows.
        has_crosshair: Whether charts.js shows the values of the row at the pointer.
    """
    if not table.rows:
        said = tag("p", nothing, class_="chart-nothing")
        return tag("figure", said, class_=f"chart size-{size.key}")
    readout = tag("output", class_="chart-readout", aria_live="polite") if has_crosshair else ""
    plot = tag("div", *drawings, readout, class_="chart-plot", role="group", aria_label=table.caption)
    live = " chart-live" if has_crosshair else ""
    return tag("figure", plot, legend or "", table_details(table), class_=f"chart size-{size.key}{live}")


def drawing(
    width: float,
    height: float,
    kind: str,
    title: str,
    description: str,
    *parts: str,
    span: str | None = None,
    has_links: bool = False,
) -> Markup:
    """One drawing of a chart.

    Args:
        width: Width of the drawing in its own coordinates, which the page scales.
        height: Height of the drawing in its own coordinates.
        kind: ``wide`` or ``narrow``.
        title: The drawing's title.
        description: A sentence that describes the drawing to screen readers.
        parts: The elements of the drawing.
        span: For charts.js: the left and right ends of the x axis, as coordinates and as values.
        has_links: Whether the drawing contains links; if so, its role is not ``img``, which would hide links.
    """
    return tag(
        "svg",
        tag("title", title),
        tag("desc", description),
        *parts,
        class_=f"drawing-{kind}",
        viewBox=f"0 0 {width:g} {height:g}",
        role="group" if has_links else "img",
        data_span=span,
    )


def legend(*entries: tuple[str, str]) -> Markup:
    """Return a legend; each entry is a pair: the CSS class of the sample, and the text beside it."""
    items = []
    for sample, text in entries:
        swatch = tag("svg", *_swatch(sample), class_="swatch", viewBox="0 0 24 12", aria_hidden="true")
        items.append(tag("li", swatch, text))
    return tag("ul", *items, class_="chart-legend")


def _swatch(sample: str) -> tuple[Markup, ...]:
    if sample.startswith(("line", "limit")):
        return (tag("path", class_=sample, d="M1 6H23"),)
    filled = tag("rect", class_=sample, x=1, y=1, width=22, height=10, rx=2)
    return (filled, *texture(sample, 1, 23, 6, 10))


def texture(kind: str, left: float, right: float, middle: float, height: float) -> tuple[Markup, ...]:
    """Return a texture that distinguishes bars without colour: stripes, or a dotted line.

    The texture is one line with wide dashes; a pattern would need an id that is unique on the page.
    """
    path = f"M{left:.1f} {middle:g}H{right:.1f}"
    if kind == "bar-trap":
        return (tag("path", class_="stripes", d=path, stroke_width=height),)
    if kind == "bar-slip":
        return (tag("path", class_="dots", d=path),)
    return ()


def table_details(table: DataTable) -> Markup:
    """A collapsed section with the chart's data as a table."""
    return tag(
        "details",
        tag("summary", "as a table"),
        tag(
            "div",
            html_table(table),
            class_="chart-scroll",
            tabindex="0",
            role="group",
            aria_label=f"{table.caption}, as a table",
        ),
        class_="chart-table",
    )


def html_table(table: DataTable, class_: str | None = None) -> Markup:
    """The HTML table of a chart's data."""
    head = tag("tr", *(tag("th", text, scope="col") for text in table.head))
    rows = []
    for index, (first, *others) in enumerate(table.rows):
        # Most of a page's elements: by `tag` they would take three times as long.
        cells = "".join(f"<td>{escape(text)}</td>" for text in others)
        place = f' data-x="{table.positions[index]:.12g}"' if table.positions else ""
        rows.append(Markup(f'<tr{place}><th scope="row">{escape(first)}</th>{cells}</tr>'))  # noqa: S704
    return tag(
        "table",
        tag("caption", table.caption),
        tag("thead", head),
        tag("tbody", *rows),
        class_=class_,
    )
