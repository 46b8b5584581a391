"""Columns give back what they were made of, and refuse anything else."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.packing.columns import ColumnReader, from_json, to_json, write_column, write_count

NUMBERS = st.integers(-(2**70), 2**70) | st.integers(-200, 200)
FLOATS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-2000, 2000).map(lambda n: n / 2)
PLAIN = st.none() | st.booleans() | NUMBERS | FLOATS | st.text(max_size=5)
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=2), inner, max_size=3)
        | st.lists(st.dictionaries(st.sampled_from("abc"), inner), max_size=5)
    ),
    max_leaves=20,
)


def written(values: list[Any]) -> bytes:
    out = bytearray()
    write_column(out, values)
    return bytes(out)


def again(values: list[Any]) -> list[Any]:
    reader = ColumnReader(written(values))
    found = reader.column(len(values))
    reader.end()
    return found


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, -1, 0, 109_991, -(2**61)], b"i"),
        ([2**63, -(2**63)], b"j"),
        ([1.0, -2.0, 0.5, 3.5, 0.1], b"f"),
        ([1.0, 1e300], b"j"),
        ([0.123456, 0.876544, 0.0], b"f"),
        ([0.0, -0.0, 1.0, -0.0], b"f"),
        ([True, False], b"b"),
        (["e2e4", "", "O-O"], b"s"),
        (["a\nb", "c"], b"j"),
        ([""], b"s"),
        ([[1, 2], [], [7, 8, 9]], b"l"),
        ([[], []], b"l"),
        ([[[1], [2]], [[3]]], b"l"),
        ([{"a": 1, "b": 2.0}, {"b": 1.0}, {"b": 3.0, "a": 2}], b"t"),
        ([{}, {}], b"j"),
        ([{"a\nb": 1}], b"j"),
        ([1, 1.0], b"j"),
        ([True, 1], b"j"),
        ([None, None], b"j"),
    ],
)
def test_kinds(values: list[Any], kind: bytes) -> None:
    assert written(values)[:1] == kind
    # As text: 1, 1.0 and True are equal, and so are -0.0 and 0.0.
    assert json.dumps(again(values)) == json.dumps(values)


@given(st.lists(VALUES, max_size=8) | st.lists(FLOATS) | st.lists(NUMBERS) | st.lists(st.lists(NUMBERS)))
def test_any_values(values: list[Any]) -> None:
    assert json.dumps(again(values)) == json.dumps(values)


def test_tuples_become_lists() -> None:
    assert again([(1, 2), (3,)]) == [[1, 2], [3]]


def test_more_names_than_a_byte_can_tell() -> None:
    rows = [{str(number): number} for number in range(256)]
    assert written(rows)[:1] == b"j"
    assert again(rows) == rows
    assert again(rows[1:]) == rows[1:]
    assert written(rows[1:])[:1] == b"t"


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_no_json_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        written([1.5, value])
    with pytest.raises(ValueError, match="JSON"):
        to_json([value])
    with pytest.raises(ValueError, match="NaN is not JSON"):
        from_json(b"NaN")


def test_scores_of_moves_are_small() -> None:
    """Differences within each reply, and the higher bytes by themselves."""
    data = written([[310, 312, 309], [-5, -4, -4]])
    lowest, next_ones = (108, 4, 5, 9, 2, 0), (2, 0, 0, 0, 0, 0)
    assert data == b"l\x01" + bytes((6, 0)) + b"i\x02" + bytes(lowest) + bytes(next_ones)


@pytest.mark.parametrize(
    ("data", "count", "complaint"),
    [
        (b"", 1, "it ends early"),
        (b"x", 1, "unknown kind of column"),
        (b"i\x00\x00", 1, "numbers with 0 bytes"),
        (b"i\x09" + bytes(9), 1, "numbers with 9 bytes"),
        (b"i\x01\x00", 2, "it ends early"),
        (b"b\x02", 1, "neither true nor false"),
        (b"s\x01a", 2, "a column does not have 2 values"),
        (b"j\x02{}", 1, "a column does not have 1 values"),
        (b"f\x03\x00\x01\x00", 1, "0 exceptions among 1 multiples of 1/3"),
        (b"f\x01\x02\x01\x00", 1, "2 exceptions among 1 multiples of 1/1"),
        (b"f\x01\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\xf0\x7f", 1, "inf is not JSON"),
        (b"l\x01\x01b", 1, "a list's length is out of range"),
        (b"l\x04\xfe\xff\xff\xff" + b"i\x01", 1, "a list's length is out of range"),
        (b"t\x01a\x80\x02", 1, "a table has too many names"),
        (b"t" + bytes((128, 4)) + b"\n" * 512 + b"\x01", 1, "a table has too many names"),
        (b"\x80" * 11, None, "a count is too long"),
    ],
)
def test_other_bytes_are_refused(data: bytes, count: int | None, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        ColumnReader(data).count() if count is None else ColumnReader(data).column(count)


def test_bytes_after_the_end_are_refused() -> None:
    with pytest.raises(ValueError, match="trailing bytes after"):
        ColumnReader(b"x").end()


@pytest.mark.parametrize("count", [0, 127, 128, 2**60])
def test_counts(count: int) -> None:
    out = bytearray()
    write_count(out, count)
    reader = ColumnReader(bytes(out))
    assert reader.count() == count
    reader.end()
