import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.evidence.inference.persons import (
    codes_of,
    earlier_counts,
    earlier_sums,
    effective_persons,
    first_and_codes,
)


def test_codes_are_equal_for_equal_keys_only() -> None:
    assert codes_of(["b", 2, "b", "a", 2]).tolist() == [0, 1, 0, 2, 1]
    assert codes_of(np.array([7, 3, 7])).tolist() == [1, 0, 1]
    assert codes_of([]).tolist() == []


def test_effective_persons() -> None:
    assert effective_persons(np.array([3.0, 3.0, 3.0])) == pytest.approx(3)
    assert effective_persons(np.array([4.0, 1.0, 1.0])) == pytest.approx(36 / 18)
    assert effective_persons(np.array([])) == 0


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-50, 50))))
def test_earlier_sums_are_those_of_the_definition(rows: list[tuple[int, int]]) -> None:
    codes, values = np.array([c for c, _ in rows], np.intp), np.array([v for _, v in rows], np.float64)
    sums = [sum(v for c, v in rows[:at] if c == rows[at][0]) for at in range(len(rows))]
    counts = [sum(c == rows[at][0] for c, _ in rows[:at]) for at in range(len(rows))]
    assert earlier_sums(values, codes).tolist() == pytest.approx(sums)
    assert earlier_counts(codes).tolist() == counts


@given(st.lists(st.integers(-50, 50) | st.integers(-(2**63), 2**63 - 1), max_size=30))
def test_codes_of_an_array_are_the_places_of_its_keys(keys: list[int]) -> None:
    """Whether they are close together, as a database's are, or far apart."""
    found = codes_of(np.array(keys, np.int64))
    first, same = first_and_codes(np.array(keys, np.int64))
    assert same.tolist() == found.tolist()
    assert first.tolist() == [keys.index(key) for key in sorted(set(keys))]
    assert found.tolist() == [sorted(set(keys)).index(key) for key in keys]


def test_sums_of_more_groups_than_two_bytes_tell_apart() -> None:
    codes = np.tile(np.arange(70_000), 2)
    assert earlier_counts(codes).tolist() == [0] * 70_000 + [1] * 70_000
