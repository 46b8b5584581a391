from collections.abc import Iterable, Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bot.charts import thinning
from bot.charts.thinning import LineSample, samples_of

VALUE = st.integers(-1000, 1000).map(float)
MAYBE = st.none() | VALUE
WIDTH = 10
"""Of a bucket."""


def thin(samples: Sequence[LineSample], buckets: int) -> tuple[LineSample, ...]:
    columns = np.array(samples, np.float64).reshape(-1, 4)
    return samples_of(thinning.thin(columns, buckets))


@st.composite
def series(draw: st.DrawFn) -> tuple[int, list[LineSample]]:
    """A number of buckets, and samples none of which lies at the edge of two."""
    count = draw(st.integers(1, 12))
    inside = st.integers(1, WIDTH * count - 1).filter(lambda x: x % WIDTH)
    samples = []
    for x in (0, *sorted(draw(st.lists(inside, max_size=60))), WIDTH * count):
        low, high = sorted(draw(st.tuples(VALUE, VALUE))) if draw(st.booleans()) else (None, None)
        samples.append(LineSample(float(x), draw(MAYBE), low, high))
    return count, samples


def in_bucket(samples: Iterable[LineSample], number: int, count: int) -> list[LineSample]:
    return [sample for sample in samples if min(sample.x // WIDTH, count - 1) == number]


def extremes(samples: list[LineSample]) -> tuple[float | None, ...]:
    y = [sample.y for sample in samples if sample.y is not None]
    low = [sample.low for sample in samples if sample.low is not None]
    high = [sample.high for sample in samples if sample.high is not None]
    return min(y, default=None), max(y, default=None), min(low, default=None), max(high, default=None)


@given(series())
def test_every_bucket_keeps_its_extremes_and_its_gap(given_: tuple[int, list[LineSample]]) -> None:
    count, samples = given_
    kept = thin(samples, count)
    if len(samples) <= count:
        assert kept == tuple(samples)
        return
    assert len(kept) <= 5 * count + 2
    assert (kept[0], kept[-1]) == (samples[0], samples[-1])
    left = iter(samples)
    assert all(sample in left for sample in kept)  # the same samples in the same order
    for number in range(count):
        thinned, whole = (in_bucket(each, number, count) for each in (kept, samples))
        assert extremes(thinned) == extremes(whole)
        assert any(each.y is None for each in thinned) == any(each.y is None for each in whole)
        ends = (number == 0) + (number == count - 1)
        assert len(thinned) <= 5 + ends


def test_a_single_spike_survives() -> None:
    samples = [LineSample(float(n), 99.0 if n == 777 else 0.0, -1.0, 1.0) for n in range(5000)]
    kept = thin(samples, 10)
    assert LineSample(777.0, 99.0, -1.0, 1.0) in kept
    assert len(kept) <= 52


def test_samples_at_one_place_are_one_bucket() -> None:
    samples = [LineSample(3.0, float(n), None, None) for n in range(50)]
    assert [sample.y for sample in thin(samples, 7)] == [0, 49]


def test_the_last_sample_counts_for_the_buckets() -> None:
    samples = [LineSample(float(x), float(x), None, None) for x in (*range(9), 1000)]
    assert [sample.x for sample in thin(samples, 2)] == [0, 8, 1000]


def test_no_more_samples_than_buckets_stay_as_they_are() -> None:
    samples = [LineSample(x, y, None, None) for x, y in zip((0, 1, 2, 3, 99), (0, 5, 3, 9, 4), strict=True)]
    assert thin(samples, 5) == tuple(samples)
    assert len(thin(samples, 4)) == 3
