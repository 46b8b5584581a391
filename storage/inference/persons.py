"""Groups of values: numbers for their keys, how many persons they are worth, and sums of earlier values."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

PersonId = int | str
"""Who played: the key of an opponent's account at a site."""

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


def codes_of(keys: Sequence[Hashable] | NDArray[Any]) -> Codes:
    """Numbers 0 .. G-1 for the keys, shape (n,): equal numbers for equal keys."""
    if isinstance(keys, np.ndarray):
        return np.asarray(np.unique(keys, return_inverse=True)[1], np.intp)
    numbers: defaultdict[Hashable, int] = defaultdict(count().__next__)
    return np.fromiter(map(numbers.__getitem__, keys), np.intp, len(keys))


def effective_persons(counts: Floats) -> float:
    """P = n^2 / sum n_c^2: persons of equally many values who would make a mean as uncertain as these.

    Args:
        counts: Number of values of each person, shape (G,).

    Returns:
        0 without values.
    """
    squares = float((counts * counts).sum())
    return float(counts.sum()) ** 2 / squares if squares else 0.0


def earlier_sums(values: Floats, codes: Codes) -> Floats:
    """For each value the sum of all earlier values of the same code, shape (n,)."""
    order = np.argsort(codes, kind="stable")
    grouped = codes[order]
    before = np.cumsum(values[order]) - values[order]
    starts = np.flatnonzero(np.diff(grouped, prepend=-1))
    lengths = np.diff(starts, append=len(codes))
    sums = np.empty(len(codes))
    sums[order] = before - np.repeat(before[starts], lengths)
    return sums


def earlier_counts(codes: Codes) -> Floats:
    """For each value the number of earlier values of the same code, shape (n,)."""
    return np.round(earlier_sums(np.ones(len(codes)), codes))
