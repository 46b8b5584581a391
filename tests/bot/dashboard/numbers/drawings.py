"""Holds the numbers drawn in charts to the chart's own table."""

from itertools import pairwise

from tests.bot.charts.parsing import polylines
from tests.bot.dashboard.numbers.printed import Node, parsed

_MINUS = "\N{MINUS SIGN}"


def check_drawings(html: str) -> None:
    """Every text of a drawing is a tick on a straight scale, or stands in the chart's table, its legend or
    its title; and the first line is where the scale says that the table's numbers are."""
    (main,) = parsed(html).all("main")
    for figure in main.all("figure"):
        said = {
            text
            for name in ("td", "th", "li", "caption")
            for node in figure.all(name)
            for text in _parts(node)
        }
        for svg in figure.all("svg"):
            if svg.classes & {"drawing-wide", "drawing-narrow"}:
                _check(svg, figure, said)


def _parts(node: Node) -> list[str]:
    return [" ".join(node.text.split())]


def _check(svg: Node, figure: Node, said: set[str]) -> None:
    heights: list[tuple[float, float]] = []
    widths: list[tuple[float, float]] = []
    for text in svg.all("text"):
        value = _number(text.text)
        if text.classes == {"tick", "end"} and text.attributes["x"] != svg.attributes["viewbox"].split()[2]:
            assert value is not None, text.text
            heights.append((value, float(text.attributes["y"]) - 4))
        elif text.classes == {"tick", "mid"}:
            if value is not None:
                widths.append((value, float(text.attributes["x"])))
        elif any(each.isdigit() for each in text.text):
            begin = text.text.removesuffix("\N{HORIZONTAL ELLIPSIS}")
            assert any(begin in each or each in begin for each in said if each), text.text
    _check_straight(heights)
    if heights:
        _check_line(svg, figure, heights)


def _check_straight(places: list[tuple[float, float]]) -> None:
    slopes = [(b - y) / (a - x) for (x, y), (a, b) in pairwise(places)]
    assert all(abs(each - slopes[0]) <= 0.02 * abs(slopes[0]) + 0.01 for each in slopes), places


def _check_line(svg: Node, figure: Node, heights: list[tuple[float, float]]) -> None:
    (a, y), (b, z) = heights[0], heights[-1]
    path = next(node for node in svg.all("path") if "line-1" in node.classes and "d" in node.attributes)
    drawn = [height for line in polylines(path.attributes["d"]) for _, height in line]
    (table, *_) = figure.all("table")
    cells = [next(row.all("td")).text for row in [*table.all("tr")][1:]]
    values = [value for cell in cells if (value := _number(cell)) is not None]
    if len(drawn) != len(values):
        assert len(drawn) < len(values)  # the narrow drawing is thinned
        return
    unit = abs((z - y) / (b - a))
    for height, value in zip(drawn, values, strict=True):
        assert abs(height - (y + (value - a) / (b - a) * (z - y))) <= unit + 0.6, (height, value)


def _number(text: str) -> float | None:
    try:
        return float(text.replace(_MINUS, "-").replace(",", "").split(" ")[0])
    except ValueError:
        return None
