"""Builds HTML and SVG elements; every text and attribute is escaped, and every number is finite and short."""

import math
from collections.abc import Iterable
from unicodedata import east_asian_width

from markupsafe import Markup, escape

_WITHOUT_CONTENT = frozenset({"circle", "line", "path", "rect", "stop", "use"})
_MEAN_WIDTH = 0.56
"""Mean width of a character, in units of the font size; a wide (Chinese) character has width 1."""


def tag(name: str, /, *children: str, **attributes: str | float | None) -> Markup:
    """An element.

    Args:
        name: The element's name.
        children: The element's contents: text is escaped, markup is not.
        attributes: Trailing underscores are removed (``class_``), other underscores become hyphens
            (``aria_hidden``); attributes with the value None are omitted.

    Raises:
        ValueError: A number is not finite.
    """
    start = name
    for key, value in attributes.items():
        if value is not None:
            text = value if isinstance(value, str) else short_number(value)
            start += f' {key.rstrip("_").replace("_", "-")}="{escape(text)}"'
    if name in _WITHOUT_CONTENT and not children:
        return Markup(f"<{start}/>")  # noqa: S704 - all parts are escaped
    return Markup(f"<{start}>{join_markup(*children)}</{name}>")  # noqa: S704 - all parts are escaped


def join_markup(*parts: str) -> Markup:
    """Concatenate text and markup; text is escaped, markup is not."""
    return Markup("").join(parts)


def short_number(value: float) -> str:
    """Format a coordinate with at most two decimals, without trailing zeros.

    Raises:
        ValueError: The number is not finite.
    """
    if not math.isfinite(value):
        raise ValueError(f"a coordinate is {value}")
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def path_of(points: Iterable[tuple[float, float]]) -> str:
    """Lines through points, as a path's ``d``: one absolute point, then relative ones, rounded to 0.1.

    Relative coordinates are a third shorter than absolute ones. Rounding errors do not accumulate.

    Raises:
        ValueError: A coordinate is not finite.
    """
    text, x, y = "", 0, 0
    for point in points:
        if not (math.isfinite(point[0]) and math.isfinite(point[1])):
            raise ValueError(f"a coordinate is {point}")
        next_x, next_y = round(point[0] * 10), round(point[1] * 10)
        text += f"{'l' if text else 'M'}{_tenths(next_x - x)}{_separated(_tenths(next_y - y))}"
        x, y = next_x, next_y
    return text


def _tenths(count: int) -> str:
    whole, tenth = divmod(abs(count), 10)
    digits = f"{whole or ''}.{tenth}" if tenth else f"{whole}"
    return f"-{digits}" if count < 0 else digits


def _separated(number: str) -> str:
    return number if number.startswith("-") else f" {number}"


def text_width(text: str, size: float) -> float:
    """Return the estimated width of a text at this font size."""
    return size * sum(1.0 if east_asian_width(each) in "FW" else _MEAN_WIDTH for each in text)


def cut_to_width(text: str, size: float, width: float) -> str:
    """Return the text, shortened with an ellipsis if it is too wide."""
    if text_width(text, size) <= width:
        return text
    while text and text_width(text + "…", size) > width:
        text = text[:-1]
    return text.rstrip() + "…"
