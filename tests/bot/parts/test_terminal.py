"""Parts of a view in a terminal."""

from datetime import UTC, datetime

import pytest
from rich.console import Console

from bot.charts.intervals import IntervalChart, IntervalRow
from bot.charts.lines import ChartLine, LineChart
from bot.parts.terminal import bars, terminal
from bot.parts.values import (
    Beside,
    ChartPart,
    Choice,
    Column,
    Heading,
    Note,
    Pager,
    Part,
    TableCell,
    TablePart,
    VerdictPart,
)

COLUMNS = (Column("Name", is_text=True), Column("Games"))


def lines(*parts: Part) -> list[str]:
    console = Console(width=100, markup=False)
    with console.capture() as capture:
        for part in terminal(parts):
            console.print(part)
    return [" ".join(line.split()) for line in capture.get().splitlines()]


def test_a_table_has_its_small_print_and_its_tags() -> None:
    rows = ((TableCell("Anna", "arena", tags=(("program", ""),)), TableCell("12", "of 20")), ("Ben", "3"))
    assert lines(TablePart("Who", COLUMNS, rows, "A note.")) == [
        "Who", "name games", "Anna (program) (arena) 12 (of 20)", "Ben 3", "A note.",
    ]  # fmt: skip


def test_an_empty_table_says_so() -> None:
    assert lines(TablePart("Who", COLUMNS, (), nothing="Nobody.", aside="today")) == ["Who (today): Nobody."]


def test_no_character_controls_the_terminal() -> None:
    told = lines(TablePart("\x1b[2J", COLUMNS, (("\x1b[31mred", "1"),)), Heading("x\x1by"), Note("a\x1bb"))
    assert not any("\x1b" in line for line in told)


def test_parts_follow_each_other_and_choices_are_left_out() -> None:
    parts = (
        Heading("games", "12", "More."),
        Choice("By", (("week", "?by=week", True),)),
        Beside((Note("one"), Note("two", "Title"))),
        Pager(2, 3, "?page=1", "?page=3"),
        Pager(2, None, "?number=1", ""),
        Pager(1, 1, "", ""),
    )
    assert lines(*parts) == [
        "12 games",
        "More.",
        "one",
        "Title: two",
        "Page 2 of 3; use --page to show another.",
        "Page 2; use --page to show another.",
    ]


def test_a_verdict_is_its_sentences() -> None:
    said = VerdictPart(
        (("Too early", True),), "DO NOT USE", "Nobody knows.", ("Why.", "More."), ("Cost.",), None, "T"
    )
    assert lines(said) == ["DO NOT USE", "Nobody knows.", "Why.", "More.", "Cost.", "T"]


def test_charts_are_tables_or_bars() -> None:
    rows = (IntervalRow("all", 12, 1.5, -0.5, 3.5), IntervalRow("few", 2))
    chart = IntervalChart("t", "d", "Group", "value", "95 %", "games", rows)
    assert lines(ChartPart("Whom", chart, note="Note.")) == [
        "Whom", "group value 95 % games", "all +1.5 \N{MINUS SIGN}0.5 to +3.5 12", "few 2", "Note.",
    ]  # fmt: skip
    moments = tuple(datetime(2026, 11, day, tzinfo=UTC) for day in (1, 2, 3))
    line = LineChart("t", "d", "day", (ChartLine("rating", moments, (1500, None, 1600)),))
    assert lines(ChartPart("Rating", line)) == ["Rating, rating: ▁█ 1,600 (1,500 to 1,600)"]
    assert lines(ChartPart("Rating", LineChart("t", "d", "day", (ChartLine("rating", (), ()),)))) == []


@pytest.mark.parametrize(
    ("values", "drawn"),
    [([1500], "▁"), ([1, 8], "▁█"), ([5, 5, 5], "▁▁▁"), (range(60), "▁▁▁▁▂▂▂▂▃▃▃▃▄▄▄▅▅▅▅▆▆▆▆▆▇▇▇▇██")],
)
def test_bars(values: list[float], drawn: str) -> None:
    assert len(bars(values)) == len(drawn)
    assert bars(values)[0] in "▁"
    assert bars(values)[-1] == drawn[-1]
