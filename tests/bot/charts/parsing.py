"""Reads drawings back, as plain numbers and texts."""

import re
from itertools import groupby
from xml.etree import ElementTree

from bot.charts.markup import text_width

SVG = "{http://www.w3.org/2000/svg}"
Element = ElementTree.Element
_TOKEN = re.compile(r"([A-Za-z])|(-?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?)")


def parsed(markup: str) -> Element:
    """The elements of some markup, which must be well-formed, below a root of their own."""
    return ElementTree.fromstring(f"<root>{markup}</root>")


def with_class(root: Element, name: str) -> list[Element]:
    return [each for each in root.iter() if name in each.get("class", "").split()]


def texts(root: Element) -> list[str]:
    return ["".join(each.itertext()) for each in root.iter("text")]


def table_of(root: Element) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the first table."""
    (table, *_) = root.iter("table")
    head, *rows = [["".join(cell.itertext()) for cell in row] for row in table.iter("tr")]
    return head, rows


def polylines(path: str) -> list[list[tuple[float, float]]]:
    """The stretches of a path of M, l and Z, in absolute coordinates; h0 after a stretch says nothing."""
    tokens = [(letter, float(number or 0)) for letter, number in _TOKEN.findall(path)]
    found: list[list[tuple[float, float]]] = []
    numbers: list[float] = []
    command = ""
    for letter, number in [*tokens, ("Z", 0.0)]:
        if not letter:
            numbers.append(number)
            continue
        if command == "M":
            found.append([(numbers[0], numbers[1])])
        elif command == "l":
            x, y = found[-1][-1]
            found[-1].append((round(x + numbers[0], 1), round(y + numbers[1], 1)))
        else:
            assert command in ("", "Z", "h")
        command, numbers = letter, []
    return found


def numbers_of(root: Element) -> list[float]:
    """Every number in an attribute that places something."""
    names = ("d", "x", "y", "cx", "cy", "r", "width", "height", "viewBox", "points", "transform", "data-span")
    values = [each.get(name, "") for each in root.iter() for name in names]
    assert not [value for value in values if re.search(r"nan|inf", value, re.IGNORECASE)]
    return [float(number) for value in values for _, number in _TOKEN.findall(value) if number]


def runs(values: list[str]) -> list[list[str]]:
    """The stretches of cells that are not empty."""
    return [list(run) for is_empty, run in groupby(values, lambda text: not text) if not is_empty]


def strays(svg: Element) -> list[tuple[str, float, float]]:
    """Texts that begin, end or lie outside their drawing, by an estimate of their widths."""
    left, top, width, height = map(float, svg.get("viewBox", "").split())
    found = []
    for each in svg.iter("text"):
        x, y, kinds = float(each.get("x", "")), float(each.get("y", "")), each.get("class", "").split()
        length = text_width(each.text or "", 12)
        start = x - length * (1 if "end" in kinds else 0.5 if "mid" in kinds else 0)
        if not (left - 1 <= start and start + length <= left + width + 1 and top + 8 <= y <= top + height):
            found.append((each.text or "", x, y))
    return found
