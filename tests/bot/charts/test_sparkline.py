from hypothesis import given, settings
from hypothesis import strategies as st

from bot.charts.numbers import NumberStyle
from bot.charts.sparkline import Sparkline, sparkline
from tests.bot.charts.parsing import numbers_of, parsed, polylines, table_of, with_class
from tests.bot.charts.samples import falls_by_day

FINITE = st.floats(-1e9, 1e9)


def of(*values: float | None) -> Sparkline:
    labels = tuple(f"day {n}" for n in range(len(values)))
    return Sparkline("Falls", "day", "falls", labels, values, NumberStyle(1))


@given(st.lists(st.none() | FINITE, max_size=30))
@settings(deadline=None)
def test_any_finite_numbers_can_be_drawn(values: list[float | None]) -> None:
    root = parsed(sparkline(of(*values)))
    (svg,) = root.iter("svg")
    paths = [point for path in svg.iter("path") for run in polylines(path.get("d", "")) for point in run]
    assert all(3 <= x <= 237 and 3 <= y <= 29 for x, y in paths)
    assert all(abs(number) <= 240 for number in numbers_of(svg))
    assert len(paths) == sum(1 for row in table_of(root)[1] if row[1])
    assert bool(paths) == any(value is not None for value in values)


def test_the_table_has_what_is_drawn() -> None:
    root = parsed(sparkline(of(3, None, 5, 4)))
    assert table_of(root) == (
        ["day", "falls"],
        [["day 0", "3.0"], ["day 1", ""], ["day 2", "5.0"], ["day 3", "4.0"]],
    )
    (path,) = with_class(root, "line-1")
    assert polylines(path.get("d", "")) == [[(3.0, 29.0)], [(159.0, 3.0), (237.0, 16.0)]]
    (dot,) = with_class(root, "dot-1")
    assert (dot.get("cx"), dot.get("cy")) == ("237", "16")
    assert root.findtext("svg/desc") == "Lowest 3.0, highest 5.0, last 4.0."
    assert root.find("table").get("class") == "visually-hidden"  # type: ignore[union-attr]


def test_nothing_is_said() -> None:
    for chart in (of(), of(None, None)):
        root = parsed(sparkline(chart))
        assert root.findtext("svg/desc") == "No values yet."
        assert not with_class(root, "line-1")


def test_dangers_are_red() -> None:
    assert with_class(parsed(sparkline(falls_by_day(is_alert=True))), "alert")
    assert not with_class(parsed(sparkline(falls_by_day())), "alert")
