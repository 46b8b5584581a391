import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.charts.figure import ChartSize
from bot.charts.intervals import IntervalChart, IntervalRow, interval_rows
from bot.charts.numbers import MINUS
from tests.bot.charts.parsing import (
    Element,
    numbers_of,
    parsed,
    strays,
    table_of,
    texts,
    with_class,
)
from tests.bot.charts.samples import groups

FINITE = st.floats(-1e9, 1e9)
NAMES = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=60
)


@st.composite
def rows(draw: st.DrawFn) -> IntervalRow:
    row = IntervalRow(draw(NAMES), draw(st.integers(0, 10**9)), is_total=draw(st.booleans()))
    if draw(st.booleans()):
        low, value, high = sorted(draw(st.tuples(FINITE, FINITE, FINITE)))
        row = replace(row, low=low, value=value, high=high)
    return row


def drawing_of(chart: IntervalChart, kind: str = "wide") -> tuple[Element, Element]:
    root = parsed(interval_rows(chart))
    (drawn,) = with_class(root, f"drawing-{kind}")
    return root, drawn


@given(
    st.lists(rows(), max_size=6),
    FINITE,
    st.sampled_from(ChartSize),
)
@settings(deadline=None)
def test_any_finite_numbers_can_be_drawn(found: list[IntervalRow], neutral: float, size: ChartSize) -> None:
    chart = replace(groups(), rows=tuple(found), neutral=neutral, size=size)
    root = parsed(interval_rows(chart))
    assert all(abs(number) < 1e6 for svg in root.iter("svg") for number in numbers_of(svg))
    if not found:
        assert with_class(root, "chart-nothing")
        return
    for kind in ("wide", "narrow"):
        _, drawn = drawing_of(chart, kind)
        assert drawn.findtext("desc") == chart.description
        width = float(drawn.get("viewBox", "").split()[2])
        for each in drawn.iter():
            if (each.get("class") or "").startswith("interval-"):
                first = float(each.get("d", "").split()[0].removeprefix("M"))
                assert 0 <= first <= width


def coordinate(drawn: Element, label: str) -> float:
    return next(float(each.get("x", "")) for each in drawn.iter("text") if each.text == label)


@pytest.mark.parametrize("kind", ["wide", "narrow"])
def test_the_table_has_what_is_drawn(kind: str) -> None:
    chart = groups()
    root, drawn = drawing_of(chart, kind)
    head, told = table_of(root)
    assert head == ["group", "points per 100 games", "95 %", "games"]
    zero, ten = coordinate(drawn, "0"), coordinate(drawn, "+10")
    ends = [each.get("d", "") for each in drawn.iter("path") if each.get("class", "").startswith("interval-")]
    shown = [row for row in told if row[1]]
    assert len(ends) == len(shown) == 6
    for path, row in zip(ends, shown, strict=True):
        start, _, end = path.removeprefix("M").partition("H")
        for place, text in zip((start.split()[0], end), row[2].split(" to "), strict=True):
            value = float(text.replace(MINUS, "-"))
            assert (float(place) - zero) / (ten - zero) * 10 == pytest.approx(value, abs=0.1)
    dots = [float(each.get("cx", "")) for each in drawn.iter("circle")]
    values = [float(row[1].replace(MINUS, "-")) for row in shown if row[1][0] != MINUS]
    assert [(dot - zero) / (ten - zero) * 10 for dot in dots] == pytest.approx(values, abs=0.1)
    assert [row[0] for row in told] == [row.label for row in chart.rows]
    assert [row[3] for row in told] == ["2,914", "742", "508", "731", "497", "436", "3"]
    assert told[-1] == ["Connect Four", "", "", "3"]
    assert "too few to say" in texts(drawn)


def test_intervals_that_leave_the_neutral_value_have_a_colour_and_a_shape() -> None:
    _, drawn = drawing_of(groups())
    kinds = [
        each.get("class", "").removeprefix("interval-")
        for each in drawn.iter()
        if "interval-" in each.get("class", "")
    ]
    assert kinds == ["more", "more", "open", "open", "less", "open"]
    assert [each.tag for each in with_class(drawn, "value-more")] == ["circle", "circle"]
    assert [each.tag for each in with_class(drawn, "value-less")] == ["path"]


@pytest.mark.parametrize(
    ("low", "high", "kind"),
    [(0.0, 1.0, "open"), (-1.0, 0.0, "open"), (0.1, 1.0, "more"), (-1.0, -0.1, "less")],
)
def test_an_interval_that_ends_at_the_neutral_value_holds_it(low: float, high: float, kind: str) -> None:
    row = IntervalRow("a", 5, (low + high) / 2, low, high)
    assert with_class(drawing_of(replace(groups(), rows=(row,)))[1], f"interval-{kind}")
    moved = replace(groups(), rows=(replace(row, low=low + 7, value=row.low, high=high + 7),), neutral=7.0)
    assert with_class(drawing_of(moved)[1], f"interval-{kind}")


def test_rows_have_links_and_say_themselves() -> None:
    root, drawn = drawing_of(groups())
    links = [each.get("href") for each in drawn.iter("a")]
    assert links == [row.link for row in groups().rows if row.link]
    said = [each.findtext("title") for each in drawn.iter("g")]
    assert said[0] == "All games: +5.9 (+0.7 to +11.0), 2,914 games"
    assert said[-1] == "Connect Four: no estimate yet, 3 games"
    assert not [each for each in root.iter("a") if each.get("href") == ""]


def test_long_labels_are_cut_in_the_drawing_only() -> None:
    label = "<b>" + "a very long name " * 9
    root, drawn = drawing_of(replace(groups(), rows=(IntervalRow(label, 5),)))
    assert table_of(root)[1][0][0] == label
    assert any(text.startswith("<b>a very") and text.endswith("…") for text in texts(drawn))
    assert not list(root.iter("b"))


def test_intervals_stay_between_labels_and_counts() -> None:
    shifted = tuple(
        replace(row, low=row.low + 300, value=row.value + 300, high=row.high + 300)
        for row in groups().rows
        if row.low is not None and row.value is not None and row.high is not None
    )
    for chart in (groups(), replace(groups(), rows=shifted, neutral=300.0)):
        for kind, start, end in (("wide", 140, 490), ("narrow", 14, 286)):
            _, drawn = drawing_of(chart, kind)
            assert strays(drawn) == []
            ends = []
            for each in drawn.iter("path"):
                if each.get("class", "").startswith("interval-"):
                    left, right = re.findall(r"^M([\d.]+) [\d.]+H([\d.]+)", each.get("d", ""))[0]
                    ends += [float(left), float(right)]
            assert start <= min(ends) < max(ends) <= end
            # The axis is used, but for a margin on both sides.
            share = (max(ends) - min(ends)) / (end - start)
            assert share > 0.75


def test_the_sum_of_all_rows_stands_out() -> None:
    _, drawn = drawing_of(groups())
    sizes = [float(each.get("r", "")) for each in drawn.iter("circle")]
    assert sizes[0] > sizes[1] == sizes[2]
    assert [each.text for each in with_class(drawn, "row-total")] == ["All games"]
