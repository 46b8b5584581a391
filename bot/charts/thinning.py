"""Thins a series to what a drawing can show, without losing an extreme, and parts it at its gaps."""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple


class LineSample(NamedTuple):
    """One point of a line."""

    x: float
    y: float | None
    """None: no value here; the line has a gap."""
    low: float | None
    """Lower end of the interval; None where there is none."""
    high: float | None
    """None exactly where `low` is."""


_LOW: tuple[Callable[[LineSample], float | None], ...] = (lambda s: s.y, lambda s: s.low)
_HIGH: tuple[Callable[[LineSample], float | None], ...] = (lambda s: s.y, lambda s: s.high)


def thin(samples: Sequence[LineSample], buckets: int) -> tuple[LineSample, ...]:
    """Samples of a series: the first, the last, and at most five from each of so many buckets of equal width.

    A bucket keeps the samples with its least and its greatest y, its least `low`, its greatest `high`, and
    its first gap.

    Args:
        samples: With x never falling.  Returned as they are when there are no more of them than buckets.
        buckets: At least 1.
    """
    if len(samples) <= buckets:
        return tuple(samples)
    begin, end = samples[0].x, samples[-1].x
    kept = {0, len(samples) - 1}
    start, number = 0, 0
    for index, sample in enumerate(samples):
        bucket = _bucket(sample.x, begin, end, buckets)
        if bucket != number:
            kept |= _extremes(samples, start, index)
            start, number = index, bucket
    kept |= _extremes(samples, start, len(samples))
    return tuple(samples[index] for index in sorted(kept))


def _bucket(x: float, begin: float, end: float, buckets: int) -> int:
    width = end / 2 - begin / 2  # halves, because the difference of two huge numbers may overflow
    return min(buckets - 1, int((x / 2 - begin / 2) / width * buckets)) if width > 0 else 0


def _extremes(samples: Sequence[LineSample], start: int, stop: int) -> set[int]:
    """Indices of the samples between two indices that their bucket keeps."""
    kept = set()
    for values, best in ((_LOW, min), (_HIGH, max)):
        for value in values:
            there = [(y, i) for i in range(start, stop) if (y := value(samples[i])) is not None]
            if there:
                kept.add(best(there, key=lambda each: each[0])[1])
    gap = next((i for i in range(start, stop) if samples[i].y is None), None)
    return kept if gap is None else kept | {gap}


def runs_of(samples: Sequence[LineSample], column: str) -> Iterator[list[LineSample]]:
    """The stretches of samples that have a value in this column."""
    for is_there, run in groupby(samples, lambda sample: getattr(sample, column) is not None):
        if is_there:
            yield list(run)
