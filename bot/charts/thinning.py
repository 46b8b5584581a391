"""Thins a series to the drawing's resolution without losing extremes, and splits it at its gaps."""

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class LineSample(NamedTuple):
    """One point of a line."""

    x: float
    y: float | None
    """None for a missing value, where the line has a gap."""
    low: float | None
    """Lower end of the interval; None without an interval."""
    high: float | None
    """Upper end of the interval; None without an interval."""


SampleColumns = NDArray[np.float64]
"""The samples of a line, shape (samples, 4): x, y, low, high; NaN where a sample has None."""


def samples_of(columns: SampleColumns) -> tuple[LineSample, ...]:
    """The same samples as a sequence of objects."""
    values = columns.astype(object)
    values[np.isnan(columns)] = None
    return tuple(map(LineSample._make, values.tolist()))


def thin(columns: SampleColumns, buckets: int) -> SampleColumns:
    """Thin a series to its first and last sample and at most five from each of several equally wide buckets.

    Each bucket keeps the samples with the minimum and maximum y, the minimum `low` and the maximum `high`,
    and the first gap.

    Args:
        columns: The samples, with non-decreasing x; up to `buckets` samples are returned unchanged.
        buckets: Number of buckets, at least 1.
    """
    if len(columns) <= buckets:
        return columns
    x, y, low, high = columns.T
    width = (x[-1] - x[0]) or 1.0
    bucket_of = np.minimum(buckets - 1, ((x - x[0]) / width * buckets).astype(np.intp))
    # Of each of these the least value is kept where there is one; gaps are all alike, so that the first is.
    wanted = [np.where(np.isnan(each), np.inf, each) for each in (y, -y, low, -high)]
    wanted.append(np.where(np.isnan(y), 0.0, np.inf))
    indices = {0, len(x) - 1}
    starts = np.flatnonzero(np.diff(bucket_of)) + 1
    for start, stop in pairwise([0, *starts.tolist(), len(x)]):
        for values in wanted:
            index = start + int(values[start:stop].argmin())
            if values[index] < np.inf:
                indices.add(index)
    return columns[sorted(indices)]


def runs_of(samples: Sequence[LineSample], column: str) -> Iterator[list[LineSample]]:
    """The runs of consecutive samples with a value in this column."""
    for is_there, run in groupby(samples, lambda sample: getattr(sample, column) is not None):
        if is_there:
            yield list(run)
