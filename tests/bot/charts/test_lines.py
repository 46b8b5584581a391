from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from bot.charts.lines import ChartLine, LineChart, drawn_lines, line_table
from bot.charts.numbers import NumberStyle
from bot.charts.thinning import LineSample
from tests.bot.charts.samples import NOW, difference_by_games

LINE = ChartLine("trappy", (1.0, 2.0, 3.0), (5.0, None, -1.0), (4.0, None, -2.0), (6.0, None, 0.0), "95 %")


def chart_of(*lines: ChartLine, **changes: object) -> LineChart:
    return replace(LineChart("Points", "What they are.", "games", lines), **changes)  # type: ignore[arg-type]


def test_lines_become_samples() -> None:
    (line,) = drawn_lines(chart_of(LINE))
    assert line.samples == (
        LineSample(1.0, 5.0, 4.0, 6.0),
        LineSample(2.0, None, None, None),
        LineSample(3.0, -1.0, -2.0, 0.0),
    )
    assert (line.name, line.band) == ("trappy", "95 %")
    (bare,) = drawn_lines(chart_of(replace(LINE, low=(), high=())))
    assert bare.band == ""
    assert bare.samples[0] == LineSample(1.0, 5.0, None, None)


def test_arrays_are_lines_too() -> None:
    """NaN where there is nothing."""
    columns: dict[str, Any] = {
        name: np.array(getattr(LINE, name), float) for name in ("x", "y", "low", "high")
    }
    (line,), (same,) = drawn_lines(chart_of(LINE)), drawn_lines(chart_of(replace(LINE, **columns)))
    assert (same.samples, same.name, same.band) == (line.samples, line.name, line.band)


def test_lines_without_a_value_are_left_out() -> None:
    assert drawn_lines(chart_of()) == ()
    assert drawn_lines(chart_of(ChartLine("a", (), ()), ChartLine("b", (1.0,), (None,)))) == ()
    chart = chart_of(ChartLine("a", (), ()), LINE)
    assert line_table(chart, drawn_lines(chart)).head == ("games", "trappy", "95 %")
    assert line_table(chart, ()).head == ("games", "a", "trappy", "95 %")


def test_lines_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="inhomogeneous"):
        drawn_lines(chart_of(replace(LINE, y=(1.0,))))


def test_the_table_has_a_row_for_each_x() -> None:
    other = ChartLine("standard", (0.0, 2.0, 3.0, 3.0), (6.0, 7.0, 8.0, 9.0))
    chart = chart_of(LINE, other, y_style=NumberStyle(1, is_signed=True, unit=" %"))
    table = line_table(chart, drawn_lines(chart))
    assert table.caption == "Points"
    assert table.head == ("games", "trappy", "95 %", "standard")
    assert table.rows == (
        ("0", "", "", "+6.0 %"),
        ("1", "+5.0 %", "+4.0 to +6.0", ""),
        ("2", "", "", "+7.0 %"),
        ("3", "\N{MINUS SIGN}1.0 %", "\N{MINUS SIGN}2.0 to 0.0", "+8.0 %"),
        ("3", "", "", "+9.0 %"),
    )
    assert table.positions == (0, 1, 2, 3, 3)


def test_the_table_without_lines_has_its_head() -> None:
    chart = chart_of(ChartLine("trappy", (), (), band="95 %"))
    assert line_table(chart, ()).head == ("games", "trappy", "95 %")
    assert line_table(chart, ()).rows == ()


def test_moments_have_a_time_of_day_where_it_matters() -> None:
    days = tuple(datetime(2026, 11, 1, tzinfo=UTC) + timedelta(days=n) for n in range(3))
    chart = chart_of(replace(LINE, x=days))
    assert chart.is_over_time
    assert [row[0] for row in line_table(chart, drawn_lines(chart)).rows] == [
        "1 Nov 2026",
        "2 Nov 2026",
        "3 Nov 2026",
    ]
    chart = chart_of(replace(LINE, x=(*days[:2], NOW)))
    assert line_table(chart, drawn_lines(chart)).rows[0][0] == "1 Nov 2026, 00:00"
    assert not chart_of(LINE).is_over_time
    assert not chart_of().is_over_time


def test_lines_are_thinned_to_what_a_drawing_can_show() -> None:
    (line,) = drawn_lines(difference_by_games(2914, 5))
    assert len(line.samples) == 567
    assert line.thinned(2 * 567) is line
    thinned = line.thinned(2 * 566)
    assert len(thinned.samples) < 567
    assert (thinned.name, thinned.band) == (line.name, line.band)
    assert len(line.thinned(300).samples) <= 5 * 37 + 2
