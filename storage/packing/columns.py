"""Encodes lists of plain JSON values as columns of bytes that compress well, without loss.

A list of objects becomes a table: the names are written once, and all values of one name are written
together. A list of lists becomes the lengths of the inner lists and all their values. Numbers are stored as
differences between successive numbers: first the lowest byte of each, then the next byte of each, and so on.
Scores of moves are similar, so most of the higher bytes are zero.

A column begins with a byte for its kind:

==== =========================================================================================
byte what follows
==== =========================================================================================
``i`` whole numbers: the number of bytes for each (1 to 8), then the bytes
``f`` floats: a unit, the number of exceptions, the multiples of the unit as for ``i``, the exceptions'
      indices (each minus the previous one), and the exceptions in IEEE 754
``b`` booleans: one byte each
``s`` texts without line feeds: their total length in bytes, and the texts separated by line feeds
``l`` lists: their lengths, and a column of all their values, whose differences restart with each list
``t`` objects: the names, the number of sets of names, each set as indices of names, the set of each object,
      and a column for each name
``j`` anything else: the length of the JSON text in bytes, and the text
==== =========================================================================================

Counts are in base 128, lowest digit first, with 128 added to every digit but the last. The number of values
is known before the column is read, and each value takes at least a byte, so decoded data is never much larger
than its input.
"""

import json
import struct
import sys
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate, chain, islice
from typing import Any

_UNITS = (1, 2, 1_000_000)
"""Most floats are multiples of 1/unit: scores, means of two scores, probabilities with six digits."""
_MAX_INTEGER_BYTES = 8
_MAX_NAMES = 255
"""Maximum number of names in a table, and of sets of names; each index of either is a single byte."""


def to_json(value: object) -> bytes:
    """A value as JSON text without spaces.

    Raises:
        TypeError, ValueError: JSON cannot express the value.
    """
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def from_json(text: bytes) -> Any:
    """Parse a JSON text.

    Raises:
        ValueError: The text is not JSON.
        RecursionError: The text is nested too deeply.
    """
    return json.loads(text, parse_constant=_refuse)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def write_count(out: bytearray, count: int) -> None:
    """Append a number that is at least 0."""
    while count > 127:
        out.append(count & 127 | 128)
        count >>= 7
    out.append(count)


def write_text(out: bytearray, text: bytes) -> None:
    """Append the length of a text in bytes, then its bytes."""
    write_count(out, len(text))
    out += text


def write_column(out: bytearray, values: Sequence[Any], lengths: Sequence[int] = ()) -> None:
    """Append a column.

    Args:
        values: The column's values, one or more.
        lengths: If the values come from several lists, the lengths of these lists.

    Raises:
        TypeError, ValueError: JSON cannot express a value.
    """
    kinds = set(map(type, values))
    write = _WRITERS.get(kinds.pop()) if len(kinds) == 1 else None
    if kinds or write is None or not write(out, values, lengths):
        out += b"j"
        write_text(out, to_json(values))


def _write_whole(out: bytearray, values: Sequence[int], lengths: Sequence[int]) -> bool:
    written = _whole(values, lengths)
    if written is None:
        return False
    out += b"i"
    out += written
    return True


def _whole(values: Sequence[int], lengths: Sequence[int]) -> bytes | None:
    """Encode whole numbers; return None if a difference needs more than eight bytes."""
    before = [0, *values]
    for start in islice(accumulate(lengths), max(len(lengths) - 1, 0)):
        before[start] = 0
    # Differences without a sign: 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
    steps = [
        2 * step if (step := value - last) >= 0 else -2 * step - 1
        for value, last in zip(values, before, strict=False)
    ]
    width = (max(steps).bit_length() + 7) // 8 or 1
    if width > _MAX_INTEGER_BYTES:
        return None
    raw = _native(array("Q", steps)).tobytes()
    return bytes((width,)) + b"".join(raw[place::8] for place in range(width))


def _native(numbers: "array[int]") -> "array[int]":
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _write_floats(out: bytearray, values: Sequence[float], lengths: Sequence[int]) -> bool:
    exceptions: list[int] = []
    multiples: list[int] = []
    for unit in _UNITS:
        try:
            multiples = [round(value * unit) for value in values]
        except (OverflowError, ValueError):  # not finite
            return False
        again = [multiple / unit for multiple in multiples]
        exceptions = [index for index, value in enumerate(values) if value != again[index]]
        if 0.0 in values:  # -0.0 equals it
            exceptions = sorted({*exceptions, *(i for i, value in enumerate(values) if str(value) == "-0.0")})
        if 4 * len(exceptions) <= len(values):
            break
    for index in exceptions:
        multiples[index] = multiples[index - 1] if index else 0
    written = _whole(multiples, lengths)
    if written is None:
        return False
    out += b"f"
    write_count(out, unit)
    write_count(out, len(exceptions))
    out += written
    for index, last in zip(exceptions, [0, *exceptions], strict=False):
        write_count(out, index - last)
    out += struct.pack(f"<{len(exceptions)}d", *(values[index] for index in exceptions))
    return True


def _write_booleans(out: bytearray, values: Sequence[bool], _lengths: Sequence[int]) -> bool:
    out += b"b"
    out += bytes(values)
    return True


def _write_texts(out: bytearray, values: Sequence[str], _lengths: Sequence[int]) -> bool:
    text = "\n".join(values)
    if text.count("\n") != len(values) - 1:
        return False
    out += b"s"
    write_text(out, text.encode())
    return True


def _write_lists(out: bytearray, values: Sequence[Sequence[Any]], _lengths: Sequence[int]) -> bool:
    lengths = [len(value) for value in values]
    flat = list(chain.from_iterable(values))
    written = _whole(lengths, ())
    if written is None:
        return False
    out += b"l"
    out += written
    write_column(out, flat, lengths)
    return True


def _write_table(out: bytearray, rows: Sequence[dict[str, Any]], _lengths: Sequence[int]) -> bool:
    sets: dict[tuple[str, ...], int] = {}
    of_rows = [sets.setdefault(tuple(row), len(sets)) for row in rows]
    names = list(dict.fromkeys(chain.from_iterable(sets)))
    if not 0 < len(names) <= _MAX_NAMES or len(sets) > _MAX_NAMES:
        return False
    if any(type(name) is not str or "\n" in name for name in names):
        return False
    out += b"t"
    write_text(out, "\n".join(names).encode())
    write_count(out, len(sets))
    for each in sets:
        write_text(out, bytes(names.index(name) for name in each))
    out += bytes(of_rows)
    for name in names:
        write_column(out, [row[name] for row in rows if name in row])
    return True


_WRITERS: dict[type, Callable[[bytearray, Any, Sequence[int]], bool]] = {
    int: _write_whole,
    float: _write_floats,
    bool: _write_booleans,
    str: _write_texts,
    list: _write_lists,
    tuple: _write_lists,
    dict: _write_table,
}
"""Functions that write a column, by type of value; each returns False without writing if JSON is needed."""


class ColumnReader:
    """Reads columns from bytes.

    All methods raise ValueError, LookupError or RecursionError if the bytes are invalid.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, count: int) -> bytes:
        """Read the next bytes."""
        end = self._at + count
        if end > len(self._data):
            raise ValueError("it ends early")
        part = self._data[self._at : end]
        self._at = end
        return part

    def count(self) -> int:
        """Read a number that is at least 0."""
        value, shift = 0, 0
        while True:
            digit = self.take(1)[0]
            value |= (digit & 127) << shift
            if digit < 128:
                return value
            shift += 7
            if shift > 63:
                raise ValueError("a count is too long")

    def text(self) -> bytes:
        """Read a count, then that number of bytes."""
        return self.take(self.count())

    def end(self) -> None:
        """Raise an error if any bytes remain."""
        if self._at != len(self._data):
            raise ValueError("trailing bytes after the last field")

    def column(self, count: int, lengths: Sequence[int] = ()) -> list[Any]:
        """Read the values of a column.

        Args:
            count: Number of values.
            lengths: As for `write_column`.
        """
        kind = self.take(1)
        if kind == b"i":
            return self._whole(count, lengths)
        if kind == b"f":
            return self._floats(count, lengths)
        if kind == b"b":
            return self._booleans(count)
        if kind == b"s":
            return self._of_length(count, self.text().decode().split("\n"))
        if kind == b"l":
            return self._lists(count)
        if kind == b"t":
            return self._table(count)
        if kind == b"j":
            return self._of_length(count, from_json(self.text()))
        raise ValueError(f"unknown kind of column: {kind!r}")

    @staticmethod
    def _of_length(count: int, found: object) -> list[Any]:
        if not isinstance(found, list) or len(found) != count:
            raise ValueError(f"a column does not have {count} values")
        return found

    def _whole(self, count: int, lengths: Sequence[int]) -> list[int]:
        width = self.take(1)[0]
        if not 1 <= width <= _MAX_INTEGER_BYTES:
            raise ValueError(f"numbers with {width} bytes")
        planes = self.take(count * width)
        raw = bytearray(8 * count)
        for place in range(width):
            raw[place::8] = planes[place * count : (place + 1) * count]
        numbers = array("Q")
        numbers.frombytes(raw)
        steps = [step >> 1 if not step & 1 else ~(step >> 1) for step in _native(numbers)]
        if not lengths:
            return list(accumulate(steps))
        left = iter(steps)
        return list(chain.from_iterable(accumulate(islice(left, length)) for length in lengths))

    def _floats(self, count: int, lengths: Sequence[int]) -> list[float]:
        unit, exceptions = self.count(), self.count()
        if unit not in _UNITS or exceptions > count:
            raise ValueError(f"{exceptions} exceptions among {count} multiples of 1/{unit}")
        values = [multiple / unit for multiple in self._whole(count, lengths)]
        indices = list(accumulate(self.count() for _ in range(exceptions)))
        floats = struct.unpack(f"<{exceptions}d", self.take(8 * exceptions))
        for index, value in zip(indices, floats, strict=True):
            if value - value != 0:
                raise ValueError(f"{value} is not JSON")
            values[index] = value
        return values

    def _booleans(self, count: int) -> list[bool]:
        flags = self.take(count)
        if flags.strip(b"\0\1"):
            raise ValueError("neither true nor false")
        return list(map(bool, flags))

    def _lists(self, count: int) -> list[list[Any]]:
        lengths = self._whole(count, ())
        # Check before summing: no column can have more values than there are bytes.
        if min(lengths) < 0 or max(lengths) > len(self._data):
            raise ValueError("a list's length is out of range")
        values = iter(self.column(sum(lengths), lengths))
        return [list(islice(values, length)) for length in lengths]

    def _table(self, count: int) -> list[dict[str, Any]]:
        names = self.text().decode().split("\n")
        number = self.count()
        if len(names) > _MAX_NAMES or number > _MAX_NAMES:
            raise ValueError("a table has too many names")
        sets = [list(self.text()) for _ in range(number)]
        of_rows = self.take(count)
        rows_of = Counter(of_rows)
        columns = [
            iter(self.column(sum(rows_of[at] for at, each in enumerate(sets) if index in each)))
            for index in range(len(names))
        ]
        pairs = [[(names[index], columns[index]) for index in each] for each in sets]
        return [{name: next(column) for name, column in pairs[each]} for each in of_rows]
