"""Functions on grouped values: codes of keys, effective numbers of persons, sums of earlier values."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from itertools import count
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

PersonId = int | str
"""Identifies a person: the key of an opponent's account at a site."""

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
_MAX_TABLE_RANGE_RATIO = 20
"""Up to this ratio of the keys' range to their number, a lookup table is faster than sorting."""


def codes_of(keys: Sequence[Hashable] | NDArray[Any]) -> Codes:
    """Codes 0 to G-1 of the keys, shape (n,); equal for equal keys; in sorted order if keys are an array."""
    if isinstance(keys, np.ndarray):
        if keys.dtype.kind == "i" and len(keys):
            least, most = int(keys.min()), int(keys.max())
            if most - least < _MAX_TABLE_RANGE_RATIO * len(keys):  # true for database keys: no need to sort
                place = keys.astype(np.intp) - least
                is_there = np.zeros(most - least + 1, np.intp)
                is_there[place] = 1
                return np.asarray((np.cumsum(is_there) - 1)[place])
        return np.asarray(np.unique(keys, return_inverse=True)[1], np.intp)
    numbers: defaultdict[Hashable, int] = defaultdict(count().__next__)
    return np.fromiter(map(numbers.__getitem__, keys), np.intp, len(keys))


def first_and_codes(keys: NDArray[np.integer[Any]]) -> tuple[Codes, Codes]:
    """The index of each key's first occurrence, in the order of the keys, shape (G,); and each key's
    code (see `codes_of`), shape (n,)."""
    codes = codes_of(keys)
    first = np.zeros(int(codes.max(initial=-1)) + 1, np.intp)
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # the last write to a place wins
    return first, codes


def effective_persons(counts: Floats) -> float:
    """P = n^2 / sum n_c^2, the number of equally active persons whose mean would have the same variance.

    Args:
        counts: Number of values of each person, shape (G,).

    Returns:
        The effective number of persons; 0 if there are no values.
    """
    squares = float((counts * counts).sum())
    return float(counts.sum()) ** 2 / squares if squares else 0.0


def earlier_sums(values: Floats, codes: Codes) -> Floats:
    """For each value, the sum of all earlier values with the same code, shape (n,)."""
    # Two-byte numbers are radix-sorted, which is several times as fast.
    is_short = len(codes) == 0 or codes.max() < 1 << 16
    order = np.argsort(codes.astype(np.uint16) if is_short else codes, kind="stable")
    grouped = codes[order]
    before = np.cumsum(values[order]) - values[order]
    starts = np.flatnonzero(np.diff(grouped, prepend=-1))
    lengths = np.diff(starts, append=len(codes))
    sums = np.empty(len(codes))
    sums[order] = before - np.repeat(before[starts], lengths)
    return sums


def earlier_counts(codes: Codes) -> Floats:
    """For each value, the number of earlier values with the same code, shape (n,)."""
    return np.round(earlier_sums(np.ones(len(codes)), codes))


def checked(
    what: str,
    values: Sequence[float] | Floats,
    persons: Sequence[PersonId] | NDArray[Any],
    least: float = -inf,
    most: float = inf,
) -> tuple[Floats, Codes]:
    """Check values and return them as an array of shape (n,), with their persons' codes.

    Args:
        what: The word for a value in messages.
        values: The values, shape (n,).
        persons: Each value's person, shape (n,).
        least: Minimum allowed value.
        most: Maximum allowed value.

    Raises:
        ValueError: The lengths differ, or a value is not finite or outside the limits.
    """
    x = np.asarray(values, np.float64)
    if x.ndim != 1 or len(x) != len(persons):
        raise ValueError(f"{what}: {x.shape} values, but {len(persons)} persons")
    bad = np.flatnonzero(~(np.isfinite(x) & (x >= least) & (x <= most)))
    if len(bad):
        limits = f" from {least:g} to {most:g}" if least > -inf else ""
        raise ValueError(f"{what} {int(bad[0]) + 1} is {x[bad[0]]}, not a finite number{limits}")
    return x, codes_of(persons)
