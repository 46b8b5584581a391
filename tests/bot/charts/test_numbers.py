import math
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.charts.numbers import (
    DIFFERENCE,
    MINUS,
    PLAIN,
    Axis,
    NumberStyle,
    span_of,
    ticks_around,
    ticks_within,
    time_text,
    time_ticks,
)

FINITE = st.floats(-1e12, 1e12)
SPANS = st.lists(FINITE).map(span_of)
MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


@given(st.lists(FINITE))
def test_a_span_holds_its_values_and_has_a_length(values: list[float]) -> None:
    low, high = span_of(values)
    assert low < high
    assert math.isfinite(high - low)
    assert all(low <= value <= high for value in values)


def test_spans_of_few_values() -> None:
    assert span_of([]) == (0, 1)
    assert span_of([0]) == (-1, 1)
    assert span_of([50]) == (45, 55)
    assert span_of([-50, -50]) == (-55, -45)
    assert span_of([3, -2, 1]) == (-2, 3)


@given(SPANS, st.integers(2, 20))
def test_ticks_around_enclose_the_span(span: tuple[float, float], most: int) -> None:
    low, high = span
    values = ticks_around(low, high, most).values
    slack = (high - low) * 1e-6
    assert values[0] <= low + slack
    assert values[-1] >= high - slack
    assert 2 <= len(values) <= most + 1
    assert list(values) == sorted(set(values))
    # No finer step would have done: a fifth of the steps is used, or the span fits into two.
    assert len(values) - 1 >= most / 5 or len(values) <= 3


@given(SPANS, st.integers(2, 20))
def test_ticks_within_lie_in_the_span(span: tuple[float, float], most: int) -> None:
    low, high = span
    values = ticks_within(low, high, most).values
    slack = (high - low) * 1e-6
    assert all(low - slack <= value <= high + slack for value in values)
    assert len(values) <= most + 1


@given(SPANS, st.integers(2, 20))
def test_steps_between_ticks_are_equal_and_round(span: tuple[float, float], most: int) -> None:
    ticks = ticks_around(*span, most)
    step = (ticks.values[-1] - ticks.values[0]) / (len(ticks.values) - 1)
    digits = f"{step:.6e}".partition("e")[0].rstrip("0").rstrip(".")
    assert digits in ("1", "2", "5")
    for a, b in zip(ticks.values, ticks.values[1:], strict=False):
        assert b - a == pytest.approx(step, rel=1e-3)


@given(SPANS.filter(lambda span: 1e-4 < max(map(abs, span)) < 1e12), st.integers(2, 9))
def test_labels_of_ticks_differ(span: tuple[float, float], most: int) -> None:
    ticks = ticks_around(*span, most)
    if ticks.decimals <= 6:
        labels = [PLAIN.text(value, ticks.decimals) for value in ticks.values]
        assert len(set(labels)) == len(labels)


def test_the_ticks_of_a_usual_axis() -> None:
    assert ticks_around(-18, 30, 6).values == (-20, -10, 0, 10, 20, 30)
    assert ticks_around(0.31, 0.69, 4).values == (0.3, 0.4, 0.5, 0.6, 0.7)
    assert ticks_around(0.31, 0.69, 4).decimals == 1
    assert ticks_within(80, 2914, 7).values == (500, 1000, 1500, 2000, 2500)
    assert ticks_within(0, 10, 2).values == (0, 5, 10)


def test_an_axis_is_straight() -> None:
    axis = Axis(-10, 30, 0, 400)
    assert [axis.at(value) for value in (-10, 0, 10, 30, 40)] == [0, 100, 200, 400, 500]


@pytest.mark.parametrize(
    ("style", "value", "text"),
    [
        (PLAIN, 2400, "2,400"),
        (PLAIN, -3, f"{MINUS}3"),
        (PLAIN, -0.2, "0"),
        (DIFFERENCE, 5.94, "+5.9"),
        (DIFFERENCE, -0.04, "0.0"),
        (DIFFERENCE, 0, "0.0"),
        (DIFFERENCE, -12, f"{MINUS}12.0"),
        (NumberStyle(1, unit=" s"), 4.25, "4.3 s"),
        (NumberStyle(is_grouped=False), 1800, "1800"),
    ],
)
def test_numbers_are_written_for_people(style: NumberStyle, value: float, text: str) -> None:
    assert style.text(value) == text


def test_intervals_are_written_without_the_unit() -> None:
    assert NumberStyle(1, is_signed=True, unit=" %").interval(-0.7, 11) == f"{MINUS}0.7 to +11.0"
    assert NumberStyle(is_grouped=False).interval(1648, 1686) == "1648 to 1686"


@given(MOMENTS, MOMENTS, st.integers(2, 14))
def test_time_ticks_lie_in_their_span(one: datetime, other: datetime, most: int) -> None:
    low, high = sorted(((one).timestamp(), (other).timestamp()))
    if high - low < 1:
        return
    ticks = time_ticks(low, high, most)
    assert len(ticks) <= most
    assert all(low <= at <= high for at, _ in ticks)
    assert [at for at, _ in ticks] == sorted({at for at, _ in ticks})


def ticks_of(start: datetime, length: timedelta, most: int) -> list[str]:
    return [text for _, text in time_ticks((start).timestamp(), (start + length).timestamp(), most)]


def test_time_ticks_are_where_people_expect_them() -> None:
    start = datetime(2026, 11, 24, 15, 0, tzinfo=UTC)
    assert ticks_of(start, timedelta(days=1), 7) == ["16:00", "20:00", "25 Nov", "04:00", "08:00", "12:00"]
    assert ticks_of(start, timedelta(days=3), 4) == ["25 Nov", "26 Nov", "27 Nov"]
    assert ticks_of(start, timedelta(weeks=4), 4) == ["30 Nov", "7 Dec", "14 Dec", "21 Dec"]  # Mondays
    assert ticks_of(start, timedelta(days=200), 5) == ["2027", "Mar", "May"]
    assert ticks_of(start, timedelta(days=1500), 6) == ["2027", "2028", "2029", "2030", "2031"]


MINUTE, HOUR, DAY = 60, 3600, 86_400
STEPS = (
    *(MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE),
    *(HOUR, 2 * HOUR, 3 * HOUR, 4 * HOUR, 6 * HOUR, 8 * HOUR, 12 * HOUR),
    *(DAY, 2 * DAY, 7 * DAY, 14 * DAY),
)


@pytest.mark.parametrize("step", STEPS)
def test_time_ticks_have_round_distances(step: int) -> None:
    start = (datetime(2026, 11, 24, 0, 0, 1, tzinfo=UTC)).timestamp()
    ticks = time_ticks(start, start + 6 * step, 6)
    assert len(ticks) == 6
    assert {b - a for (a, _), (b, _) in pairwise(ticks)} == {step}


def test_months_and_years_have_round_distances() -> None:
    new_year = datetime(2025, 1, 1, tzinfo=UTC)
    every = ["2025", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    assert ticks_of(new_year, timedelta(days=364), 12) == every
    assert ticks_of(new_year, timedelta(days=364), 6) == every[::2]
    assert ticks_of(new_year, timedelta(days=364), 4) == every[::3]
    assert ticks_of(new_year, timedelta(days=364), 2) == every[::6]
    assert ticks_of(new_year, timedelta(days=3 * 366), 4) == ["2025", "2026", "2027", "2028"]
    assert ticks_of(new_year, timedelta(days=30 * 366), 4) == ["2030", "2040", "2050"]
    assert ticks_of(new_year, timedelta(days=8 * 366), 5) == ["2026", "2028", "2030", "2032"]


def test_moments_are_written_in_utc() -> None:
    at = datetime(2026, 11, 5, 9, 7, tzinfo=UTC)
    assert time_text((at).timestamp(), is_daily=False) == "5 Nov 2026, 09:07"
    assert time_text((at).timestamp(), is_daily=True) == "5 Nov 2026"


@given(SPANS.filter(lambda span: span[1] - span[0] >= 1), st.integers(2, 20))
def test_counts_have_whole_ticks(span: tuple[float, float], most: int) -> None:
    for ticks in (ticks_around(*span, most, is_whole=True), ticks_within(*span, most, is_whole=True)):
        assert all(value.is_integer() for value in ticks.values)
        assert ticks.decimals == 0
        assert len(set(ticks.values)) == len(ticks.values) <= most + 1


def test_few_counts_have_a_tick_each() -> None:
    assert ticks_within(2, 4, 9, is_whole=True).values == (2, 3, 4)
    assert ticks_around(0, 1, 5, is_whole=True).values == (0, 1)
