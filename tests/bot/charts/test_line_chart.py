import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.charts.figure import NARROW_WIDTH, ChartSize
from bot.charts.line_chart import line_chart
from bot.charts.lines import ChartLine, LineChart
from bot.charts.numbers import DIFFERENCE, MINUS
from tests.bot.charts.parsing import (
    Element,
    numbers_of,
    parsed,
    polylines,
    runs,
    strays,
    table_of,
    texts,
    with_class,
)
from tests.bot.charts.samples import difference_by_games, performance, time_to_move

FINITE = st.floats(-1e4, 1e4)
MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
NAMES = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=30
)


@st.composite
def lines(draw: st.DrawFn, places: st.SearchStrategy[Any]) -> ChartLine:
    x = sorted(draw(st.lists(places, max_size=8)))
    y = draw(st.lists(st.none() | FINITE, min_size=len(x), max_size=len(x)))
    ends = [
        tuple(sorted(draw(st.tuples(FINITE, FINITE)))) if draw(st.booleans()) else (None, None) for _ in x
    ]
    low, high = zip(*ends, strict=True) if ends else ((), ())
    return ChartLine(draw(NAMES), tuple(x), tuple(y), low, high, draw(NAMES))


@st.composite
def charts(draw: st.DrawFn) -> LineChart:
    places = draw(st.sampled_from([FINITE, MOMENTS]))
    found = draw(st.lists(lines(places), max_size=2))
    references = draw(st.lists(FINITE, max_size=2))
    return LineChart(
        draw(NAMES),
        draw(NAMES),
        draw(NAMES),
        tuple(found),
        references=tuple(references),
        limits=draw(st.none() | st.just((0.0, 100.0))),
        trims_bands=draw(st.booleans()),
        size=draw(st.sampled_from(ChartSize)),
    )


def drawn(chart: LineChart) -> tuple[Element, Element, Element]:
    """The whole figure, the wide drawing and the narrow one."""
    root = parsed(line_chart(chart))
    (wide,), (narrow,) = with_class(root, "drawing-wide"), with_class(root, "drawing-narrow")
    return root, wide, narrow


@given(charts())
@settings(deadline=None)
def test_any_finite_numbers_can_be_drawn(chart: LineChart) -> None:
    root = parsed(line_chart(chart))
    assert all(abs(number) < 1e6 for each in root.iter("svg") for number in numbers_of_drawing(each))
    for kind in ("drawing-wide", "drawing-narrow"):
        for svg in with_class(root, kind):
            assert (svg.get("role"), svg.findtext("title"), svg.findtext("desc")) == (
                "img",
                chart.title,
                chart.description,
            )
    assert not list(root.iter("script"))


def numbers_of_drawing(svg: Element) -> list[float]:
    """Coordinates, without the values of the x axis, which may be any."""
    for each in svg.iter():
        each.attrib.pop("data-span", None)
    return numbers_of(svg)


def test_nothing_is_said() -> None:
    root = parsed(line_chart(replace(performance(), lines=(), nothing="No <games> yet.")))
    assert [each.text for each in with_class(root, "chart-nothing")] == ["No <games> yet."]
    assert not list(root.iter("svg"))
    only_gaps = ChartLine("a", (1.0,), (None,))
    assert with_class(parsed(line_chart(replace(performance(), lines=(only_gaps,)))), "chart-nothing")


def values_of(svg: Element, number: int, chart: LineChart) -> list[list[tuple[float, float]]]:
    """The points of a line in the units of its axes, by the drawing's own ticks."""
    left, right, low, high = map(float, svg.get("data-span", "").split())
    scale = {}
    for text in with_class(svg, "tick"):
        if "end" in text.get("class", ""):
            label = "".join(text.itertext()).replace(MINUS, "-").replace(",", "")
            scale[float(label.removesuffix(chart.y_style.unit))] = float(text.get("y", "")) - 4
    bottom, top = min(scale), max(scale)
    per_unit = (scale[top] - scale[bottom]) / (top - bottom)
    (path,) = with_class(svg, f"line-{number}")
    return [
        [
            (low + (x - left) / (right - left) * (high - low), bottom + (y - scale[bottom]) / per_unit)
            for x, y in stretch
        ]
        for stretch in polylines(path.get("d", ""))
    ]


def number_in(cell: str, chart: LineChart) -> float:
    return float(cell.replace(MINUS, "-").replace(",", "").removesuffix(chart.y_style.unit))


@pytest.mark.parametrize("chart", [difference_by_games(), time_to_move(), performance()])
def test_the_table_has_what_is_drawn(chart: LineChart) -> None:
    root, wide, narrow = drawn(chart)
    head, rows = table_of(root)
    positions = [float(row.get("data-x", "")) for row in root.iter("tr") if row.get("data-x")]
    assert len(positions) == len(rows)
    for number, line in enumerate(chart.lines, start=1):
        column = head.index(line.name)
        stretches = values_of(wide, number, chart)
        cells = runs([row[column] for row in rows])
        assert [len(stretch) for stretch in stretches] == [len(stretch) for stretch in cells]
        there = [x for x, row in zip(positions, rows, strict=True) if row[column]]
        points = [point for stretch in stretches for point in stretch]
        told = [number_in(cell, chart) for stretch in cells for cell in stretch]
        across, height = (max(there) - min(there)), (max(told) - min(told))
        for (x, y), place, value in zip(points, there, told, strict=True):
            assert x == pytest.approx(place, abs=across / 1000)
            assert y == pytest.approx(value, abs=height / 100 + 10**-chart.y_style.decimals)
        in_narrow = [point for stretch in values_of(narrow, number, chart) for point in stretch]
        assert len(in_narrow) <= NARROW_WIDTH
        for x, y in in_narrow:  # no point that the table has not
            assert any(
                x == pytest.approx(place, abs=across / 300)
                and y == pytest.approx(value, abs=height / 40 + 10**-chart.y_style.decimals)
                for place, value in zip(there, told, strict=True)
            )


def test_bands_go_there_and_back() -> None:
    line = ChartLine(
        "a", (0.0, 1.0, 2.0, 3.0), (0.0, 1.0, None, 1.0), (-1.0, 0.0, None, 0.0), (1.0, 2.0, None, 2.0), "i"
    )
    _, wide, _ = drawn(LineChart("t", "d", "x", (line,)))
    (path,) = with_class(wide, "band-1")
    first, _, last = path.get("d", "").partition("Z")
    ((a, b, c, d),) = polylines(first)
    assert a[0] == d[0]
    assert b[0] == c[0]
    assert (d[1] - a[1]) == pytest.approx(c[1] - b[1], abs=0.2)
    assert a[1] < d[1]  # up is more
    assert "h3V" in last  # the interval at a single place is a bar


def test_a_line_with_one_point_is_a_dot() -> None:
    root, wide, _ = drawn(LineChart("t", "d", "x", (ChartLine("a", (7.0,), (3.0,)),)))
    (path,) = with_class(wide, "line-1")
    assert path.get("d", "").endswith("h0")
    left, right, low, high = map(float, wide.get("data-span", "").split())
    (((x, _),),) = polylines(path.get("d", ""))
    assert x == pytest.approx((left + right) / 2, abs=0.1)
    assert low < 7 < high
    assert table_of(root)[1] == [["7", "3"]]


def test_one_moment_has_the_day_before_it() -> None:
    noon = datetime(2026, 11, 25, 12, tzinfo=UTC)
    _, wide, _ = drawn(LineChart("t", "d", "x", (ChartLine("a", (noon,), (3.0,)),)))
    _, _, low, high = map(float, wide.get("data-span", "").split())
    assert high == noon.timestamp()  # nothing lies in the future
    assert high - low == 86_400


def test_ends_are_labelled_with_the_value_or_the_names() -> None:
    _, wide, _ = drawn(difference_by_games())
    (label,) = with_class(wide, "end-1")
    assert label.text == table_of(drawn(difference_by_games())[0])[1][-1][1]
    _, wide, _ = drawn(performance())
    assert [with_class(wide, f"end-{n}")[0].text for n in (1, 2)] == ["trappy", "standard"]


@pytest.mark.parametrize("last", [(5.0, 5.0), (5.0, 5.01), (5.01, 5.0)])
def test_labels_at_the_ends_do_not_cover_each_other(last: tuple[float, float]) -> None:
    both = [ChartLine(f"line {n}", (0.0, 1.0), (0.0, y)) for n, y in enumerate(last)]
    _, wide, _ = drawn(LineChart("t", "d", "x", tuple(both)))
    heights = [float(with_class(wide, f"end-{n}")[0].get("y", "")) for n in (1, 2)]
    assert abs(heights[0] - heights[1]) == pytest.approx(16)
    assert (heights[0] < heights[1]) == (last[0] >= last[1])


def test_references_are_drawn() -> None:
    for chart in (time_to_move(), difference_by_games()):
        assert len(with_class(drawn(chart)[1], "axis")) == 1
    beyond = replace(time_to_move(), limits=(0.0, 2.0))
    assert not with_class(drawn(beyond)[1], "axis")


def test_the_axis_holds_the_references() -> None:
    _, wide, _ = drawn(replace(performance(), references=(2150.0,)))
    assert "2200" in texts(wide)


def test_limits_cut_bands_off() -> None:
    whole = replace(difference_by_games(), trims_bands=False)
    trimmed = difference_by_games()
    given_ = replace(whole, limits=(-5.0, 15.0))
    labels = [texts(drawn(chart)[1]) for chart in (whole, trimmed, given_)]
    assert "+50" in labels[0]
    assert "+50" not in labels[1]
    assert "+30" in labels[1]
    assert "+15" in labels[2]
    assert "+20" not in labels[2]


def test_the_legend_tells_lines_and_bands_apart() -> None:
    root, *_ = drawn(performance())
    (legend,) = with_class(root, "chart-legend")
    assert [item.tail or "".join(item.itertext()) for item in legend] == [
        "trappy",
        "95 %, trappy",
        "standard",
        "95 %, standard",
    ]
    swatches = [shape.get("class") for item in legend for svg in item.iter("svg") for shape in svg]
    assert swatches == ["line-1", "band-1", "line-2", "band-2"]


@given(NAMES, NAMES)
@settings(max_examples=20, deadline=None)
def test_texts_stay_texts(name: str, text: str) -> None:
    hostile = f"<img onerror='{name}'>"
    line = ChartLine(hostile, (0.0, 1.0), (1.0, 2.0), (0.0, 1.0), (2.0, 3.0), hostile)
    root, *_ = drawn(LineChart(hostile, text, hostile, (line,)))
    assert not list(root.iter("img"))
    assert table_of(root)[0] == [hostile, hostile, hostile]


@pytest.mark.parametrize("chart", [difference_by_games(), time_to_move(), performance()])
def test_ticks_are_labelled_where_they_are(chart: LineChart) -> None:
    _, *drawings = drawn(chart)
    for svg in drawings:
        assert strays(svg) == []
        (grid,) = with_class(svg, "grid")
        lines = re.findall(r"M([\d.]+) ([\d.]+)H([\d.]+)", grid.get("d", ""))
        assert "".join(f"M{a} {b}H{c}" for a, b, c in lines) == grid.get("d")
        left, right, low, high = map(float, svg.get("data-span", "").split())
        assert all(abs(float(a) - left) < 0.1 and abs(float(c) - right) < 0.1 for a, _, c in lines)
        beside = [each for each in with_class(svg, "tick") if "end" in each.get("class", "").split()]
        assert [float(each.get("y", "")) - 4 for each in beside] == pytest.approx(
            [float(b) for _, b, _ in lines], abs=0.1
        )
        below = [each for each in with_class(svg, "tick") if float(each.get("y", "")) > float(lines[0][1])]
        below = [each for each in below if "mid" in each.get("class", "").split()]
        assert below
        if not chart.is_over_time:
            for each in below:
                value = float((each.text or "").replace(",", ""))
                assert float(each.get("x", "")) == pytest.approx(
                    left + (value - low) / (high - low) * (right - left), abs=0.1
                )


@pytest.mark.parametrize("apart_us", [400_000, 1_500_000])
def test_one_moment_of_both_lines_is_at_the_end(apart_us: int) -> None:
    noon = datetime(2026, 11, 25, 12, tzinfo=UTC)
    near = noon + timedelta(microseconds=apart_us)
    both = (ChartLine("a", (noon,), (3.0,)), ChartLine("b", (near,), (4.0,)))
    _, wide, _ = drawn(LineChart("t", "d", "x", both))
    _, _, low, high = map(float, wide.get("data-span", "").split())
    assert high == pytest.approx(near.timestamp(), abs=1e-2)
    assert high - low == pytest.approx(86_400)


@pytest.mark.parametrize("size", ChartSize)
def test_plies_are_counted_in_whole_numbers(size: ChartSize) -> None:
    line = ChartLine("e2e4", (2, 3, 4), (51.5, 50.2, 48.9))
    drawn = parsed(line_chart(LineChart("Scores", "", "plies ahead", (line,), DIFFERENCE, size=size)))
    below = [each.text for each in with_class(drawn, "mid")]
    assert below == ["2", "3", "4"] * 2, "on a desktop and on a phone"


def test_a_count_has_no_half_ticks() -> None:
    line = ChartLine("games", (1, 2), (0, 1))
    drawn = parsed(line_chart(LineChart("Games", "", "day", (line,))))
    assert {each.text for each in with_class(drawn, "end")} == {"0", "1"}
