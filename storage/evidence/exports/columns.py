"""The columns of exports: the SQL expressions they read, and the functions that compute their values."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, Select

from engine.expected import WHOLE
from storage.filters import Filters, filter_conditions, of_games, phase_conditions
from storage.tables.games import GameRow, OpponentRow

Value = int | float | str | None


class ColumnKind(StrEnum):
    """The type of a column."""

    WHOLE = "whole"
    NUMBER = "number"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class ExportColumn:
    """One column of an export."""

    name: str
    kind: ColumnKind
    about: str
    """The column's meaning, in one line."""
    read: Callable[..., Value] = str
    """Computes the column's value from the values of `sources`."""
    sources: tuple[Any, ...] = ()
    """The SQL expressions whose values `read` takes as arguments."""
    unnamed: Callable[..., Value] | None = None
    """As `read`, without people's names; None if there are none."""


@dataclass(frozen=True, slots=True)
class Export:
    """A table that can be exported."""

    about: str
    columns: tuple[ExportColumn, ...]
    statement: Select[Any]
    """Selects all rows, oldest first, with `game_id` and the `id` that errors give for damaged rows."""
    rows: Callable[..., Iterable[tuple[Value, ...]]]
    """Converts one row of the statement to one or more exported rows; the second argument says whether people
    are named (default: no)."""
    selected: Callable[[Filters], Sequence[ColumnElement[bool]]] = filter_conditions
    """Converts filters to SQL conditions for the statement."""

    @property
    def is_of_moves(self) -> bool:
        """Whether this export accepts filters that select moves."""
        return self.selected is of_moves


def export_of(
    about: str,
    base: Any,
    columns: Sequence[ExportColumn],
    selected: Callable[[Filters], Sequence[ColumnElement[bool]]] = filter_conditions,
) -> Export:
    """Build an export with one row for each row of its statement.

    Args:
        about: The meaning of a row.
        base: The statement without the columns: it selects `id` and `game_id`.
        columns: The columns of the export.
        selected: See `Export`.
    """
    sources = [source for column in columns for source in column.sources]
    statement = base.add_columns(*(source.label(f"c{number}") for number, source in enumerate(sources)))

    readers = {
        with_names: [(column.read if with_names else column.unnamed or column.read) for column in columns]
        for with_names in (False, True)
    }

    def rows(row: Any, with_names: bool = False) -> list[tuple[Value, ...]]:
        values = iter(row[2:])
        each = zip(readers[with_names], columns, strict=True)
        return [tuple(read(*(next(values) for _ in column.sources)) for read, column in each)]

    return Export(about, tuple(columns), statement, rows, selected)


def of_moves(filters: Filters) -> Sequence[ColumnElement[bool]]:
    """Convert filters to SQL conditions on games and moves, for an export of moves."""
    return [*filter_conditions(of_games(filters)), *phase_conditions(filters)]


def computed(
    name: str, kind: ColumnKind, about: str, read: Callable[..., Value], *sources: Any
) -> ExportColumn:
    """A column that is computed from the values of its sources."""
    return ExportColumn(name, kind, about, read, sources)


def _of(
    kind: ColumnKind,
    usual: Callable[[Any], Value],
    name: str,
    about: str,
    source: Any,
    convert: Callable[[Any], Value] | None = None,
) -> ExportColumn:
    """A column that converts the value of its only source; null stays null."""
    read = convert or usual
    return ExportColumn(name, kind, about, lambda value: None if value is None else read(value), (source,))


whole = partial(_of, ColumnKind.WHOLE, int)
"""Makes a column of whole numbers from a name, a meaning, a source and a conversion (default `int`)."""
text = partial(_of, ColumnKind.TEXT, str)
flag = partial(_of, ColumnKind.WHOLE, lambda value: int(bool(value)))
"""Makes a Boolean column, exported as 0 or 1."""
number = partial(_of, ColumnKind.NUMBER, float)
share = partial(_of, ColumnKind.NUMBER, lambda value: value / WHOLE)
"""Makes a column that converts units of 0.01 % to a share of the game, from 0 to 1."""


def opponent_text(name: str, about: str, source: Any) -> ExportColumn:
    """A text column by which the opponent is known; null for a person if people are not named."""

    def unnamed(value: str, is_program: bool) -> Value:
        return value if is_program else None

    return ExportColumn(
        name, ColumnKind.TEXT, about, lambda value, _: value, (source, OpponentRow.is_bot), unnamed
    )


def timestamp_text(value: datetime | None) -> str | None:
    """Format a time for exports, in UTC."""
    return None if value is None else value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


timestamp = partial(_of, ColumnKind.TEXT, timestamp_text)


def seconds(start: datetime | None, end: datetime | None) -> Value:
    """Seconds between two times, rounded to a thousandth."""
    return None if start is None or end is None else round((end - start).total_seconds(), 3)


OF_GAME: list[ExportColumn] = [
    text("site", "site, for instance arena", GameRow.site),
    text("game", "othello, chess, xiangqi or connect4", GameRow.game),
    text("player", "old name of strategy", GameRow.strategy),
    whole("opponent_id", "key of the opponent's account", GameRow.opponent_id),
    opponent_text("opponent", "opponent's name; null: a person, without --names", OpponentRow.name),
    flag("is_program", "1: the opponent is a program, according to the site", OpponentRow.is_bot),
    whole("opponent_rating", "opponent's rating at the start; null: unknown", GameRow.opponent_rating),
]
STRATEGY = text("strategy", "our strategy, for instance trappy", GameRow.strategy)
