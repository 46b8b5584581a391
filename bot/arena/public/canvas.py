"""A small canvas: filled and stroked outlines with smooth edges on an array of pixels, written as PNG.

Shapes are outlines of points.  The distance of each pixel from the outline says how much of it is covered.
"""

import math
import re
import struct
import zlib
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Colour = tuple[int, int, int]
Points = NDArray[np.float64]
Mask = NDArray[np.float64]

_CURVE_POINTS = 8
_ARC_POINTS = 40  # of a whole circle
_TOKEN = re.compile(r"[MmLlHhVvCcAaZz]|-?(?:\d+\.?\d*|\.\d+)")
_ARGUMENTS = {"m": 2, "l": 2, "h": 1, "v": 1, "c": 6, "a": 7, "z": 0}


def colour(text: str) -> Colour:
    """``#2b7d58`` as red, green and blue."""
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)


class Canvas:
    """Pixels of one colour to begin with.

    Args:
        width: In pixels.
        height: In pixels.
        ground: The colour.
    """

    def __init__(self, width: int, height: int, ground: Colour) -> None:
        self.width, self.height = width, height
        self.pixels = np.empty((height, width, 3), np.float64)
        self.pixels[:] = ground

    def rectangle(self, left: float, top: float, width: float, height: float, fill: Colour) -> None:
        """A filled rectangle; its edges are rounded to whole pixels."""
        x, y = round(left), round(top)
        self.pixels[max(0, y) : round(top + height), max(0, x) : round(left + width)] = fill

    def disc(self, x: float, y: float, radius: float, fill: Colour, opacity: float = 1.0) -> None:
        """A filled circle."""
        box = self._box(x - radius - 1, y - radius - 1, x + radius + 1, y + radius + 1)
        across, down = _centres(box)
        self._blend(box, radius - np.hypot(across - x, down - y) + 0.5, fill, opacity)

    def ring(self, x: float, y: float, radius: float, width: float, stroke: Colour) -> None:
        """A circle's line."""
        reach = radius + width + 1
        box = self._box(x - reach, y - reach, x + reach, y + reach)
        across, down = _centres(box)
        self._blend(box, width / 2 - np.abs(np.hypot(across - x, down - y) - radius) + 0.5, stroke, 1.0)

    def outline(self, points: Points, fill: Colour) -> None:
        """A filled outline."""
        box = self._around(points, 1.0)
        across, down = _centres(box)
        distance = _distance(points, across, down, is_closed=True)
        sign = np.where(_is_inside(points, across, down), 1.0, -1.0)
        self._blend(box, sign * distance + 0.5, fill, 1.0)

    def line(
        self, points: Points, width: float, stroke: Colour, *, is_closed: bool = False, opacity: float = 1.0
    ) -> None:
        """A line through points, with round ends and corners."""
        box = self._around(points, width + 1)
        across, down = _centres(box)
        distance = _distance(points, across, down, is_closed=is_closed)
        self._blend(box, width / 2 - distance + 0.5, stroke, opacity)

    def stamp(self, left: int, top: int, stamp: "Stamp") -> None:
        """Put a stamp somewhere, as a whole."""
        height, width, _ = stamp.paint.shape
        part = self.pixels[top : top + height, left : left + width]
        part *= stamp.left_over
        part += stamp.paint

    def png(self) -> bytes:
        """The picture as a PNG file."""
        rows = np.clip(np.rint(self.pixels), 0, 255).astype(np.uint8).reshape(self.height, -1)
        # Filter 0 before each row: pictures of few colours need no other.
        raw = np.concatenate([np.zeros((self.height, 1), np.uint8), rows], axis=1).tobytes()
        head = struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)
        parts = (_chunk(b"IHDR", head), _chunk(b"IDAT", zlib.compress(raw, 6)), _chunk(b"IEND", b""))
        return b"\x89PNG\r\n\x1a\n" + b"".join(parts)

    def _around(self, points: Points, room: float) -> tuple[int, int, int, int]:
        low, high = points.min(axis=0) - room, points.max(axis=0) + room
        return self._box(low[0], low[1], high[0], high[1])

    def _box(self, left: float, top: float, right: float, bottom: float) -> tuple[int, int, int, int]:
        x, y = max(0, math.floor(left)), max(0, math.floor(top))
        return x, y, min(self.width, math.ceil(right)), min(self.height, math.ceil(bottom))

    def _blend(self, box: tuple[int, int, int, int], cover: Mask, paint: Colour, opacity: float) -> None:
        left, top, right, bottom = box
        share = (np.clip(cover, 0.0, 1.0) * opacity)[..., None]
        part = self.pixels[top:bottom, left:right]
        part += (np.array(paint, np.float64) - part) * share


class Stamp:
    """A small drawing that is put into pictures many times.

    Args:
        width: In pixels.
        height: In pixels.
        draw: Draws it on a canvas of that size.
    """

    def __init__(self, width: int, height: int, draw: Callable[[Canvas], None]) -> None:
        black, white = Canvas(width, height, (0, 0, 0)), Canvas(width, height, (255, 255, 255))
        draw(black)
        draw(white)
        self.paint = black.pixels
        self.left_over = (white.pixels - black.pixels) / 255
        """The share of the ground that shines through."""


def path(text: str, scale: float, x: float, y: float) -> list[tuple[Points, bool]]:
    """The outlines of an SVG path, each with whether it is closed.

    Only what our own pieces are made of: lines, cubic curves, and arcs of circles.

    Args:
        text: The path's ``d``.
        scale: Pixels of its unit.
        x: Where its origin comes to lie.
        y: The same.
    """
    found: list[tuple[list[tuple[float, float]], bool]] = []
    tokens = _TOKEN.findall(text)
    at, here, command = 0, (0.0, 0.0), ""
    while at < len(tokens):
        if tokens[at].isalpha():
            command = tokens[at]
            at += 1
        kind = command.lower()
        given = [float(each) for each in tokens[at : at + _ARGUMENTS[kind]]]
        at += len(given)
        base = here if command.islower() else (0.0, 0.0)
        if kind == "z":
            found[-1] = (found[-1][0], True)
            here = found[-1][0][0]
            continue
        if kind == "m":
            here = (base[0] + given[0], base[1] + given[1])
            found.append(([here], False))
            command = "l" if command == "m" else "L"
            continue
        points = found[-1][0]
        match kind:
            case "h":
                here = (base[0] + given[0], here[1])
            case "v":
                here = (here[0], base[1] + given[0])
            case "c":
                ends = [(base[0] + given[i], base[1] + given[i + 1]) for i in (0, 2, 4)]
                points += _curve(here, *ends)
                here = ends[2]
            case "a":
                end = (base[0] + given[5], base[1] + given[6])
                points += _arc(here, end, given[0], is_large=bool(given[3]), is_clockwise=bool(given[4]))
                here = end
            case _:
                here = (base[0] + given[0], base[1] + given[1])
        points.append(here)
    place = np.array([x, y])
    return [(np.array(points, np.float64) * scale + place, is_closed) for points, is_closed in found]


def _curve(
    start: tuple[float, float],
    first: tuple[float, float],
    second: tuple[float, float],
    end: tuple[float, float],
) -> list[tuple[float, float]]:
    """Points of a cubic curve between its ends."""
    found = []
    for step in range(1, _CURVE_POINTS):
        t = step / _CURVE_POINTS
        a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
        x, y = (a * start[i] + b * first[i] + c * second[i] + d * end[i] for i in (0, 1))
        found.append((x, y))
    return found


def _arc(
    start: tuple[float, float],
    end: tuple[float, float],
    radius: float,
    *,
    is_large: bool,
    is_clockwise: bool,
) -> list[tuple[float, float]]:
    """Points of an arc of a circle between its ends."""
    across, down = end[0] - start[0], end[1] - start[1]
    chord = math.hypot(across, down)
    height = math.sqrt(max(0.0, radius * radius - chord * chord / 4))
    side = 1 if is_large != is_clockwise else -1
    x = (start[0] + end[0]) / 2 - side * height * down / chord
    y = (start[1] + end[1]) / 2 + side * height * across / chord
    begin = math.atan2(start[1] - y, start[0] - x)
    turn = (math.atan2(end[1] - y, end[0] - x) - begin) % math.tau
    if not is_clockwise:
        turn -= math.tau
    steps = max(2, round(_ARC_POINTS * abs(turn) / math.tau))
    angles = (begin + turn * step / steps for step in range(1, steps))
    return [(x + radius * math.cos(angle), y + radius * math.sin(angle)) for angle in angles]


def _centres(box: tuple[int, int, int, int]) -> tuple[Mask, Mask]:
    left, top, right, bottom = box
    across, down = np.meshgrid(np.arange(left, right) + 0.5, np.arange(top, bottom) + 0.5)
    return across, down


def _sides(points: Points, *, is_closed: bool) -> tuple[Points, Points]:
    ends = np.roll(points, -1, axis=0)
    return (points, ends) if is_closed else (points[:-1], ends[:-1])


def _distance(points: Points, across: Mask, down: Mask, *, is_closed: bool) -> Mask:
    """Of each pixel from the nearest point of an outline."""
    nearest = np.full(across.shape, np.inf)
    for (x, y), (to_x, to_y) in zip(*_sides(points, is_closed=is_closed), strict=True):
        long_x, long_y = to_x - x, to_y - y
        square = long_x * long_x + long_y * long_y
        t = np.zeros_like(across)
        if square > 0:
            t = np.clip(((across - x) * long_x + (down - y) * long_y) / square, 0.0, 1.0)
        nearest = np.minimum(nearest, (across - x - t * long_x) ** 2 + (down - y - t * long_y) ** 2)
    distance: Mask = np.sqrt(nearest)
    return distance


def _is_inside(points: Points, across: Mask, down: Mask) -> NDArray[np.bool_]:
    """Whether each pixel lies within an outline: a ray to the right crosses it an odd number of times."""
    inside = np.zeros(across.shape, bool)
    for (x, y), (to_x, to_y) in zip(*_sides(points, is_closed=True), strict=True):
        if y != to_y:
            crosses = (y > down) != (to_y > down)
            inside ^= crosses & (across < (to_x - x) * (down - y) / (to_y - y) + x)
    return inside


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def at_points(*places: float) -> Points:
    """Points from x, y, x, y ..."""
    found: Points = np.array(places, np.float64).reshape(-1, 2)
    return found


def moved(points: Sequence[tuple[float, float]], scale: float, x: float, y: float) -> Points:
    """Points of a shape of unit size, scaled and put somewhere."""
    found: Points = np.array(points, np.float64) * scale + np.array([x, y])
    return found
