"""Reads tens of thousands of games by column, each with its packed summary, for arithmetic on columns."""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Select, func, select, type_coerce
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.types import NullType

from storage.damage import decoding
from storage.filters import Filters, count_where, shown_games
from storage.inference.persons import Codes
from storage.records import MATCH_SITE, GameStatus
from storage.statistics.facts import ReplyFact, replies_of_games
from storage.statistics.packed_games import ABORTED, PackedGames, game_records, labels_of, unpacked_games
from storage.statistics.valid_summaries import is_of_today, is_valid
from storage.tables.games import GameRow
from storage.tables.summaries import GameSummaryRow

_BATCH = 5_000
"""Games in one statement."""


async def read_columns(
    session: AsyncSession, statement: Select[*tuple[Any, ...]]
) -> Mapping[str, Sequence[Any]]:
    """The rows of a statement, by the name of the column, as the driver gives them.

    Values are not converted to their columns' types: on SQLite a truth value is 0 or 1, and a moment a text.
    """
    with many_objects():
        # Not by the session, nor by the result, which would make each row twice.
        result = await (await session.connection()).execute(statement)
        names = [*result.keys()]
        columns = [*zip(*result.cursor.fetchall(), strict=True)] or [()] * len(names)
    return dict(zip(names, columns, strict=True))


@contextmanager
def many_objects() -> Iterator[None]:
    """Make tens of thousands of objects that have no cycles.

    Meanwhile the garbage collector rests, which would look again and again through everything there is.
    """
    if not gc.isenabled():  # somebody else is at it
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRows:
    """Games with one column of their summaries; made for those that have none."""

    games: PackedGames
    labels: Sequence[str]
    models: Sequence[str]
    """The column `models`."""
    parts: Sequence[bytes]
    """The other column."""
    is_other: NDArray[np.bool_]
    """Which games have no valid summary."""

    def among(self, is_wanted: Callable[[int], bool]) -> "SummaryRows":
        """Those of some games, by their keys."""
        return self.where(np.array([is_wanted(key) for key in self.games["id"].tolist()], bool))

    def of(self, keys: Sequence[int]) -> "SummaryRows":
        """Those of the games with these keys that are here."""
        return self.where(np.isin(self.games["id"], np.array(keys, np.int64)))

    def where(self, is_wanted: NDArray[np.bool_]) -> "SummaryRows":
        """Some of them."""
        if is_wanted.all():
            return self
        chosen = is_wanted.tolist()
        labels, models = ([*compress(each, chosen)] for each in (self.labels, self.models))
        return SummaryRows(
            games=self.games[is_wanted],
            labels=labels,
            models=models,
            parts=[*compress(self.parts, chosen)],
            is_other=self.is_other[is_wanted],
        )

    @classmethod
    def of_columns(cls, columns: Mapping[str, Sequence[Any]]) -> "SummaryRows":
        """Those with these columns.

        Raises:
            ValueError: The column `facts` has something else.
        """
        games = unpacked_games(columns["facts"])
        return cls(
            games=games,
            labels=columns["labels"],
            models=columns["models"],
            parts=columns["part"],
            is_other=np.zeros(len(games), bool),
        )

    def __add__(self, more: "SummaryRows") -> "SummaryRows":
        return SummaryRows(
            games=np.concatenate([self.games, more.games]),
            labels=[*self.labels, *more.labels],
            models=[*self.models, *more.models],
            parts=[*self.parts, *more.parts],
            is_other=np.concatenate([self.is_other, more.is_other]),
        )

    def __len__(self) -> int:
        return len(self.parts)


def games_of_rows(parts: Sequence[bytes], row_bytes: int) -> Codes:
    """The number of the game of each packed row, given the rows of each game."""
    lengths = np.array([len(part) for part in parts], np.intp) // row_bytes
    return np.repeat(np.arange(len(parts)), lengths)


def is_everything(filters: Filters | None) -> bool:
    """Whether all games pass, matches between programs apart."""
    return filters is None or filters == Filters()


Made = Callable[[Sequence[ReplyFact]], tuple[str, bytes]]
"""The column `models` of a game's summary, and another one, from its replies."""


async def read_summaries(
    session: AsyncSession,
    column: InstrumentedAttribute[bytes],
    made: Made,
    filters: Filters | None = None,
    everything: SummaryRows | None = None,
) -> SummaryRows:
    """The games that pass the filters, with one column of their summaries; aborted ones are left out.

    Args:
        session: Of the transaction.
        column: Of `GameSummaryRow`.
        made: What a game has that has no summary.
        filters: Which games; None: all.  Matches between programs count only if the filters name their site
            or one of them.
        everything: What this gives without filters; None: only what is needed is read.

    Raises:
        RecordError: Something that is stored is damaged; the message names the game or decision.
    """
    if is_everything(filters):
        found = await _all_summaries(session, column, made) if everything is None else everything
        if found is not None:
            return found
    which = (GameRow.state != GameStatus.ABORTED, *shown_games(filters))
    if everything is not None:
        games = await read_columns(session, select(GameRow.id).where(*which))
        return await completed(session, column, made, everything, games["id"])
    return await summaries_of(session, column, made, *which)


async def _all_summaries(
    session: AsyncSession, column: InstrumentedAttribute[bytes], made: Made
) -> SummaryRows | None:
    """The same of all games, without a look at those that have a summary; None: some lack one.

    To find each summary's game takes a database as long as everything else.
    """
    counts = select(func.count(), count_where(GameRow.is_settled.is_(True))).select_from(GameRow)
    all_games, settled = (await session.execute(counts)).one()
    others = list(await session.scalars(select(GameRow.id).where(GameRow.is_settled.is_(False))))
    columns = await read_columns(session, _columns(column).where(*is_of_today()))
    with decoding("the summaries of games"):
        rows = SummaryRows.of_columns(columns)
        labels = {text: labels_of(text).site != MATCH_SITE for text in set(rows.labels)}
    is_valid_one = ~np.isin(rows.games["id"], np.array(others, np.int64))
    if all_games != (settled or 0) + len(others) or int(is_valid_one.sum()) != (settled or 0):
        return None
    is_shown = np.fromiter(map(labels.__getitem__, rows.labels), bool, len(rows))
    found = rows.where(is_valid_one & is_shown & (rows.games["state"] != ABORTED))
    for start in range(0, len(others), _BATCH):
        some = GameRow.id.in_(others[start : start + _BATCH])
        which = (some, GameRow.state != GameStatus.ABORTED, *shown_games(None))
        found += await summaries_of(session, column, made, *which)
    return found


async def completed(
    session: AsyncSession,
    column: InstrumentedAttribute[bytes],
    made: Made,
    known: SummaryRows,
    games: Sequence[int],
) -> SummaryRows:
    """The same of games with these keys, aborted ones too, in any order; those not known are read."""
    found = known.of(games)
    missing = np.setdiff1d(games, found.games["id"]).tolist()
    for start in range(0, len(missing), _BATCH):
        found += await summaries_of(session, column, made, GameRow.id.in_(missing[start : start + _BATCH]))
    return found


async def summaries_of(
    session: AsyncSession, column: InstrumentedAttribute[bytes], made: Made, *which: ColumnElement[bool]
) -> SummaryRows:
    """The same of the games that fulfil conditions on `GameRow`, aborted ones too."""
    statement = _columns(column).add_columns(GameRow.id).select_from(GameRow)
    known = await read_columns(session, statement.outerjoin(GameSummaryRow, is_valid()).where(*which))
    columns = {name: list(values) for name, values in known.items()}
    others = {n: columns["id"][n] for n, part in enumerate(columns["facts"]) if part is None}
    records = await game_records(session, [*others.values()])
    replies = await replies_of_games(session, [*others.values()])
    for number, key in others.items():
        columns["labels"][number], columns["facts"][number] = records[key].labels_text, records[key].packed()
        columns["models"][number], columns["part"][number] = made(replies[key])
    is_other = np.zeros(len(columns["id"]), bool)
    is_other[[*others]] = True
    with decoding("the summaries of games"):
        return replace(SummaryRows.of_columns(columns), is_other=is_other)


def _columns(column: InstrumentedAttribute[bytes]) -> Select[*tuple[Any, ...]]:
    return select(
        GameSummaryRow.labels,
        GameSummaryRow.models,
        # Without a type, which would copy each value.
        type_coerce(GameSummaryRow.facts, NullType()).label("facts"),
        type_coerce(column, NullType()).label("part"),
    )
