from bisect import bisect_right
from collections import defaultdict

from hypothesis import given
from hypothesis import strategies as st

from bot.dashboard.charts.thinning import LineSample, thin

VALUE = st.integers(-1000, 1000).map(float)
MAYBE = st.none() | VALUE


@st.composite
def series(draw: st.DrawFn) -> list[LineSample]:
    places = sorted(draw(st.lists(st.integers(0, 500), max_size=120)))
    samples = []
    for x in places:
        ends = sorted(draw(st.tuples(VALUE, VALUE)))
        has_interval = draw(st.booleans())
        low, high = ends if has_interval else (None, None)
        samples.append(LineSample(float(x), draw(MAYBE), low, high))
    return samples


def buckets_of(samples: list[LineSample], count: int) -> dict[int, list[LineSample]]:
    begin, end = samples[0].x, samples[-1].x
    edges = [begin + (end - begin) * n / count for n in range(1, count)]
    found = defaultdict(list)
    for sample in samples:
        found[bisect_right(edges, sample.x)].append(sample)
    return found


def extremes(samples: list[LineSample]) -> tuple[float | None, ...]:
    y = [sample.y for sample in samples if sample.y is not None]
    low = [sample.low for sample in samples if sample.low is not None]
    high = [sample.high for sample in samples if sample.high is not None]
    return min(y, default=None), max(y, default=None), min(low, default=None), max(high, default=None)


@given(series(), st.integers(1, 30))
def test_every_bucket_keeps_its_extremes_and_its_gap(samples: list[LineSample], count: int) -> None:
    kept = thin(samples, count)
    if len(samples) <= count:
        assert kept == tuple(samples)
        return
    assert len(kept) <= 5 * count + 2
    assert (kept[0], kept[-1]) == (samples[0], samples[-1])
    assert extremes(list(kept)) == extremes(samples)
    left = iter(samples)
    assert all(sample in left for sample in kept)  # the same samples in the same order
    if count in (1, 2, 4, 5, 10, 20, 25):  # others have edges that a rounding error may move
        begin, end = samples[0].x, samples[-1].x
        if (end - begin) % count:
            return
        thinned = buckets_of(list(kept), count) if begin < end else {0: list(kept)}
        whole = buckets_of(samples, count) if begin < end else {0: samples}
        assert thinned.keys() == whole.keys() or any(
            not any(each is not None for each in extremes(there)) for there in whole.values()
        )
        for number, there in thinned.items():
            assert extremes(there) == extremes(whole[number])
            assert any(each.y is None for each in there) == any(each.y is None for each in whole[number])


def test_a_single_spike_survives() -> None:
    samples = [LineSample(float(n), 99.0 if n == 777 else 0.0, -1.0, 1.0) for n in range(5000)]
    kept = thin(samples, 10)
    assert LineSample(777.0, 99.0, -1.0, 1.0) in kept
    assert len(kept) <= 52


def test_samples_at_one_place_are_one_bucket() -> None:
    samples = [LineSample(3.0, float(n), None, None) for n in range(50)]
    assert [sample.y for sample in thin(samples, 7)] == [0, 49]
    far = [LineSample(x, 0.0, None, None) for x in (-1.7e308, 0.0, 1.7e308)]
    assert thin(far, 2) == tuple(far)
