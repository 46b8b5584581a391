"""Columns of exports, and how their values are read from rows."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Select

from engine.errors import RecordError
from engine.expected import WHOLE
from storage.filters import Filters, filter_conditions, in_phase, of_games
from storage.tables.games import GameRow, OpponentRow

ERROR_COST = 1000
"""Least cost of an error, in hundredths of a per cent: a tenth of the game."""

Value = int | float | str | None
Read = Callable[[Any], Value]


class ColumnKind(StrEnum):
    """The type of a column."""

    WHOLE = "whole"
    NUMBER = "number"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class ExportColumn:
    """One column."""

    name: str
    kind: ColumnKind
    about: str
    """Its meaning, in one line."""


@dataclass(frozen=True, slots=True)
class Export:
    """An export: a table with these columns."""

    about: str
    columns: tuple[ExportColumn, ...]
    statement: Select[Any]
    """All rows, with `game_id` and an `id` to name damaged ones by, the oldest first."""
    rows: Callable[[Any], Iterable[tuple[Value, ...]]]
    """The exported rows of one row of the statement."""
    selected: Callable[[Filters], Sequence[ColumnElement[bool]]] = filter_conditions
    """Filters as conditions on the statement."""

    @property
    def is_of_moves(self) -> bool:
        """Whether filters can select moves."""
        return self.selected is of_moves

    def checked(self, row: Any) -> list[tuple[Value, ...]]:
        """`rows`, with values of their columns' kinds.

        Raises:
            RecordError: One is of another kind: SQLite stores any value in any column.
        """
        made = [*self.rows(row)]
        for values in made:
            for column, value in zip(self.columns, values, strict=True):
                if value is not None and not _IS[column.kind](value):
                    raise RecordError(f"{column.name} is {value!r:.60}")
        return made


_IS: Mapping[ColumnKind, Callable[[Any], bool]] = {
    ColumnKind.WHOLE: lambda value: isinstance(value, int) and -(2**63) <= value < 2**63,
    ColumnKind.NUMBER: lambda value: isinstance(value, int | float) and math.isfinite(value),
    ColumnKind.TEXT: lambda value: isinstance(value, str),
}


def text_of(value: Any) -> Value:
    """An enumeration's value as a text."""
    return None if value is None else str(value)


def flag(value: Any) -> Value:
    """A truth value as 0 or 1."""
    return None if value is None else int(bool(value))


def number(value: Any) -> Value:
    """A number with a point."""
    return None if value is None else float(value)


def share(value: Any) -> Value:
    """Hundredths of a per cent as a share of the game."""
    return None if value is None else value / WHOLE


def moment_text(value: datetime | None) -> str | None:
    """A time in the format of exports."""
    return None if value is None else value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


def seconds(start: datetime | None, end: datetime | None) -> Value:
    """Seconds between two moments, to a thousandth."""
    return None if start is None or end is None else round((end - start).total_seconds(), 3)


def rating_band(rating: int | None) -> str:
    """The band of 200 points that a rating is in, for instance ``1400-1599``."""
    return "unrated" if rating is None else f"{rating // 200 * 200}-{rating // 200 * 200 + 199}"


Reading = tuple[str, ColumnKind, str, Read]


def of_moves(filters: Filters) -> Sequence[ColumnElement[bool]]:
    """The filters of an export of moves: which games, and which moves in them."""
    return [*filter_conditions(of_games(filters)), *in_phase(filters)]


def export_of(
    about: str,
    statement: Any,
    columns: Sequence[Reading],
    conditions: Sequence[Any] = (),
    selected: Callable[[Filters], Sequence[ColumnElement[bool]]] = filter_conditions,
) -> Export:
    """An export with a row for each row of its statement.

    Args:
        about: What a row is.
        statement: See `Export`.
        columns: Name, kind and meaning of each, and what reads its value.
        conditions: More conditions on the statement.
        selected: See `Export`.
    """
    reads = [read for _, _, _, read in columns]
    return Export(
        about,
        tuple(ExportColumn(name, kind, told) for name, kind, told, _ in columns),
        statement.where(*conditions),
        lambda row: [tuple(read(row) for read in reads)],
        selected,
    )


def named(name: str) -> Read:
    """Reads the value of this name unchanged."""
    return lambda row: getattr(row, name)


OF_GAME: list[Reading] = [
    ("site", ColumnKind.TEXT, "key of the site, for instance arena", named("site")),
    ("game", ColumnKind.TEXT, "othello, chess, xiangqi or connect4", named("game")),
    ("player", ColumnKind.TEXT, "the same as strategy, which replaces it", named("player")),
    ("opponent_id", ColumnKind.WHOLE, "key of the opponent's account", named("opponent_id")),
    ("opponent", ColumnKind.TEXT, "its name", named("opponent")),
    ("is_program", ColumnKind.WHOLE, "1: a program, as far as the site says", lambda row: flag(row.is_bot)),
    ("opponent_rating", ColumnKind.WHOLE, "at the start; null: none", named("opponent_rating")),
]
STRATEGY: Reading = ("strategy", ColumnKind.TEXT, "ours: trappy, standard, ...", named("player"))
GAME_COLUMNS = (
    GameRow.site,
    GameRow.game,
    GameRow.player,
    GameRow.opponent_id,
    OpponentRow.name.label("opponent"),
    OpponentRow.is_bot,
    GameRow.opponent_rating,
)
