from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.charts.bars import BarCategory, BarKind, BarRow, StackedBars, stacked_bars
from bot.charts.figure import NARROW_WIDTH, ChartSize
from tests.bot.charts.parsing import (
    Element,
    numbers_of,
    parsed,
    strays,
    table_of,
    texts,
    with_class,
)
from tests.bot.charts.samples import trap_outcomes

KINDS = {"bar-good", "bar-trap", "bar-slip"}


def drawing_of(chart: StackedBars, kind: str = "wide") -> tuple[Element, Element]:
    root = parsed(stacked_bars(chart))
    (drawn,) = with_class(root, f"drawing-{kind}")
    return root, drawn


def spans(drawn: Element) -> list[tuple[str, float, float]]:
    """Kind, left and right edge of each part of the bars."""
    found = []
    for each in drawn.iter("path"):
        if each.get("class") in KINDS:
            text = each.get("d", "")
            right = float(text.partition("H")[2].partition("q")[0]) + float(text.partition("q")[2].split()[0])
            back = float(text.rpartition("H")[2].partition("q")[0])
            left = back - float(text.rpartition("H")[2].partition("q-")[2].split()[0])
            found.append((each.get("class", ""), left, right))
    return found


@given(st.lists(st.tuples(*[st.integers(0, 10**12)] * 3), max_size=5), st.sampled_from(ChartSize))
@settings(deadline=None)
def test_bars_fill_the_width_in_proportion(counts: list[tuple[int, int, int]], size: ChartSize) -> None:
    chart = replace(
        trap_outcomes(), rows=tuple(BarRow(f"row {n}", each) for n, each in enumerate(counts)), size=size
    )
    if not counts:
        assert with_class(parsed(stacked_bars(chart)), "chart-nothing")
        return
    for kind, width in (("wide", size.width), ("narrow", NARROW_WIDTH)):
        root, drawn = drawing_of(chart, kind)
        parts = spans(drawn)
        assert all(abs(number) <= 2 * width for number in numbers_of(drawn))
        assert len(parts) == sum(1 for row in counts for count in row if count)
        left = iter(parts)
        for row in counts:
            total, before = sum(row), 0
            for count, expected in zip(row, ("bar-good", "bar-trap", "bar-slip"), strict=True):
                if count:
                    found, start, end = next(left)
                    assert found == expected
                    assert start == pytest.approx(width * before / total, abs=0.31)
                    assert (
                        width * (before + count) / total - 2.31
                        <= end
                        <= width * (before + count) / total + 0.31
                    )
                before += count
        assert len(with_class(drawn, "bar-none")) == sum(1 for row in counts if not sum(row))
        assert [row[-1] for row in table_of(root)[1]] == [f"{sum(row):,}" for row in counts]


def test_the_table_has_what_is_drawn() -> None:
    root, drawn = drawing_of(trap_outcomes())
    head, rows = table_of(root)
    assert head == ["moves", "found the best reply", "fell for the bait", "erred elsewhere", "answered"]
    assert rows[0] == ["trappy, baits", "1,770 (52 %)", "1,055 (31 %)", "579 (17 %)", "3,404"]
    assert rows[2][2] == "0 (0 %)"
    assert rows[4][1:] == ["0", "0", "0", "0"]
    shown = texts(drawn)
    assert shown[:5] == ["trappy, baits", "3,404 answered", "52 %", "31 %", "17 %"]
    assert "1 %" not in shown  # its part is too narrow
    titles = [each.text for each in drawn.iter("title")]
    assert "fell for the bait: 1,055 (31 %)" in titles


def test_kinds_differ_without_colours() -> None:
    root, drawn = drawing_of(trap_outcomes())
    assert len(with_class(drawn, "stripes")) == 3
    assert len(with_class(drawn, "dots")) == 4
    (legend,) = with_class(root, "chart-legend")
    shapes = [[shape.get("class") for shape in svg] for svg in legend.iter("svg")]
    assert shapes == [["bar-good"], ["bar-trap", "stripes"], ["bar-slip", "dots"]]


def test_texts_stay_texts() -> None:
    hostile = "<img onerror='x'>"
    chart = StackedBars(
        hostile, hostile, hostile, (BarCategory(hostile, BarKind.GOOD),), (BarRow(hostile, (3,)),), hostile
    )
    root, drawn = drawing_of(chart)
    assert not list(root.iter("img"))
    assert texts(drawn) == [hostile, f"3 {hostile}", "100 %"]


def test_bars_lie_below_their_labels_and_inside_the_drawing() -> None:
    for kind in ("wide", "narrow"):
        _, drawn = drawing_of(trap_outcomes(), kind)
        assert strays(drawn) == []
        height = float(drawn.get("viewBox", "").split()[3])
        for number, group in enumerate(each for each in drawn if each.tag == "g"):
            label = float(next(group.iter("text")).get("y", ""))
            path = next(each for each in group.iter("path") if each.get("class", "").startswith("bar-"))
            top = float(path.get("d", "").split("H")[0].split()[1])
            assert label < top == 58 * number + 20
        assert height == 4 * 58 + 48


def test_only_the_ends_of_a_bar_are_round() -> None:
    _, drawn = drawing_of(trap_outcomes())
    shapes = [each.get("d", "") for each in drawn.iter("path") if each.get("class") in KINDS]
    first, middle, last = shapes[:3]
    assert "q0.0 0 0.0" in first
    assert first.endswith("q0 -7.0 7.0 -7.0Z")
    assert "q7" not in middle
    assert middle.endswith("q0 -0.0 0.0 -0.0Z")
    assert "q7.0 0 7.0 7.0" in last
