"""Tables of xiangqi games."""

from typing import Any

import pytest

from engine.formats import files
from engine.formats.files import GameFormat
from engine.formats.record import GameRecord
from engine.formats.tables import BadGameTable, rows

HEADER = "year\tred\tblack\tresult\trecord\tmoves"


def read(*lines: str) -> list[Any]:
    return list(files.read(lines, GameFormat.TABLE))


def test_games() -> None:
    found = read(
        HEADER,
        "1999\t胡榮華\t\t1-0\twhole\th3e3 h10g8",
        "",
        "\t\tb\t*\tcut\th2e2 h9g7",  # ranks from 0
        "2001\ta\tb\t1/2-1/2\twhole\th3e3",
    )
    assert found == [
        GameRecord(game="xiangqi", players=("胡榮華", ""), moves=("h3e3", "h10g8"), points=1.0, date="1999"),
        GameRecord(game="xiangqi", players=("", "b"), moves=("h3e3", "h10g8")),
        GameRecord(game="xiangqi", players=("a", "b"), moves=("h3e3",), points=0.5, date="2001"),
    ]


def test_columns_may_stand_in_any_order() -> None:
    (found,) = read("moves\tresult\tblack\tred\tyear", "h3e3\t0-1\tb\tr\t")
    assert (found.players, found.points, found.moves) == (("r", "b"), 0.0, ("h3e3",))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("1999\ta\tb", "line 2 has 3 columns, not 6"),
        ("1999\ta\tb\t1-0\twhole\th3e3\tmore", "line 2 has 7 columns, not 6"),
        ("then\ta\tb\t1-0\twhole\th3e3", "line 2: 'then' is not a year"),
        ("\u0661\ta\tb\t1-0\twhole\th3e3", "line 2: '\u0661' is not a year"),
        ("9" * 5000 + "\ta\tb\t1-0\twhole\th3e3", "is not a year"),
        ("1999\ta\tb\t1-O\twhole\th3e3", "line 2: '1-O' is not a result"),
        ("1999\ta\tb\t1-0\twhole\th3e3 a1a9", "line 2: move 2"),
    ],
)
def test_a_bad_line_is_in_its_place(line: str, why: str) -> None:
    bad, good = read(HEADER, line, "2001\ta\tb\t0-1\twhole\th3e3")
    assert isinstance(bad, BadGameTable)
    assert why in str(bad)
    assert good.points == 0.0


@pytest.mark.parametrize("lines", [[], ["", " "], ["year\tred", "1999\ta"], [f"{HEADER}\tred"]])
def test_a_text_without_header_is_refused(lines: list[str]) -> None:
    with pytest.raises(
        BadGameTable, match=r"no header|line 1: no column black, result, moves|line 1: several columns red"
    ):
        list(rows(lines))
