"""Tables of xiangqi games: tab-separated text, one game a line after a header.

Columns: ``year``, ``red`` and ``black`` (each may be empty), ``result`` (``1-0``, ``0-1``, ``1/2-1/2`` or
``*``) and ``moves`` (``b1a3 b10c8 ...``); other columns are ignored. The Chinese Chess Practical Dataset
(Tseng and Chen, 2026) has this form.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from engine.formats.record import BadGame, GameRecord, clean
from engine.formats.xiangqi_moves import moves_of_words
from engine.games import GAMES

_COLUMNS = ("year", "red", "black", "result", "moves")
_POINTS = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5, "*": None, "": None}
_YEAR = re.compile(r"[0-9]{1,4}|")


class BadGameTable(BadGame):
    """The text is not such a table, or a line is not a game; the message says where."""


class TableRow(NamedTuple):
    """One game as written; its moves are not checked."""

    line: int
    """The line's number, from 1."""
    year: int | None
    red: str
    black: str
    points: float | None
    """Red's points: 1, 1/2 or 0; None if unfinished or unknown."""
    moves: str


def is_header(line: str) -> bool:
    """Whether a line has the names of all columns."""
    return set(_COLUMNS) <= set(_cells(line))


def rows(lines: Iterable[str]) -> Iterator[TableRow | BadGameTable]:
    """Yield each game of a table; for a line that is no game, yield the reason instead.

    Raises:
        BadGameTable: There is no header, or it lacks a column.
    """
    columns: list[str] | None = None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if columns is None:
            columns = _cells(line)
            if missing := [name for name in _COLUMNS if name not in columns]:
                raise BadGameTable(f"line {number}: no column {', '.join(missing)}")
            if twice := [name for name in _COLUMNS if columns.count(name) > 1]:
                raise BadGameTable(f"line {number}: several columns {', '.join(twice)}")
            continue
        found = _cells(line)
        if len(found) != len(columns):
            yield BadGameTable(f"line {number} has {len(found)} columns, not {len(columns)}")
            continue
        cells = dict(zip(columns, found, strict=True))
        year, result = cells["year"].strip(), cells["result"].strip()
        if not _YEAR.fullmatch(year):
            yield BadGameTable(f"line {number}: {year!r:.20} is not a year")
        elif result not in _POINTS:
            yield BadGameTable(f"line {number}: {result!r:.20} is not a result")
        else:
            yield TableRow(
                number,
                int(year) if year else None,
                cells["red"].strip(),
                cells["black"].strip(),
                _POINTS[result],
                cells["moves"].strip(),
            )
    if columns is None:
        raise BadGameTable("no header")


def read(lines: Iterable[str]) -> Iterator[GameRecord | BadGame]:
    """Yield each game of a table; for an unreadable game, yield the reason instead.

    Raises:
        BadGameTable: As `rows`.
    """
    for row in rows(lines):
        if isinstance(row, BadGameTable):
            yield row
            continue
        try:
            moves = moves_of_words(GAMES["xiangqi"].initial(), row.moves.split())
        except BadGame as error:
            yield BadGameTable(f"line {row.line}: {error}")
            continue
        yield GameRecord(
            game="xiangqi",
            players=(clean(row.red), clean(row.black)),
            moves=moves,
            points=row.points,
            date="" if row.year is None else str(row.year),
        )


def _cells(line: str) -> list[str]:
    return line.rstrip("\r\n").split("\t")
