"""Reads games and their judged replies, tens of thousands at a time, for arithmetic on columns.

Games without a valid summary (`storage.evidence.summaries`) are made from their decisions.  Replies come in
batches, so that the memory that a report takes does not grow with the replies.
"""

import gc
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Select, String, cast, func, select, type_coerce
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.types import NullType

from storage.evidence.game_records import game_records
from storage.evidence.replies import GameRows, ReplyTable
from storage.evidence.summaries import is_of_today
from storage.filters import Filters, can_be_matches, filter_conditions, shown_games
from storage.records import MATCH_SITE, GameStatus
from storage.tables.games import GameRow
from storage.tables.summaries import GameSummaryRow

_GAMES = 10_000
"""Games in one statement."""
_WITH_REPLIES = 2_000
"""The same with their replies: 3 MB."""
_OTHERS = 200
"""Games without a summary that are made at once."""
_DENSEST = 3
"""Up to this ratio of range to wanted keys, a range of keys is read faster than a list."""
SHOWN: ColumnElement[bool] = GameRow.site != MATCH_SITE
"""All games but matches between programs on this machine, which count only on request."""

Keys = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class GameKeys:
    """Keys of games, ascending."""

    settled: Keys
    """Of those whose summary is valid, if it was made by today's rules."""
    others: Keys

    @classmethod
    async def read(cls, session: AsyncSession, *which: ColumnElement[bool]) -> Self:
        """Those of the games that fulfil conditions on `GameRow`."""
        # In two texts, which takes a fifth of the time of as many rows.
        text = func.aggregate_strings(cast(GameRow.id, String), ",")
        rows = await session.execute(
            select(GameRow.is_settled, text).where(*which).group_by(GameRow.is_settled)
        )
        found = {bool(row[0]): np.sort(np.fromstring(row[1], np.int64, sep=",")) for row in rows}
        none = np.zeros(0, np.int64)
        return cls(found.get(True, none), found.get(False, none))


async def read_games(session: AsyncSession, *which: ColumnElement[bool]) -> GameRows:
    """The games that fulfil conditions on `GameRow`, aborted ones too, in any order."""
    keys = await GameKeys.read(session, *which)
    return GameRows.joined([part async for part in _parts(session, keys)])


async def passing_games(session: AsyncSession, shown: GameRows, filters: Filters) -> GameRows:
    """The games that pass the filters, also aborted ones.

    Args:
        session: Of the transaction.
        shown: All that `SHOWN` holds for.
        filters: Which games.
    """
    if is_everything(filters):
        return shown
    if can_be_matches(filters):
        return await read_games(session, *shown_games(filters))
    keys = await GameKeys.read(session, *filter_conditions(filters))
    return shown.where(np.isin(shown.games["id"], np.concatenate([keys.settled, keys.others])))


async def read_replies(session: AsyncSession, *which: ColumnElement[bool]) -> AsyncIterator[ReplyTable]:
    """The games that fulfil conditions on `GameRow` with their replies, batch by batch."""
    keys = await GameKeys.read(session, *which)
    for start in range(0, len(keys.settled), _WITH_REPLIES):
        some = keys.settled[start : start + _WITH_REPLIES]
        known = await _summaries(session, some, with_replies=True)
        yield ReplyTable.unpacked(GameRows.of(known["labels"], known["game"]), known["replies"])
        async for part in _made(session, _missing(some, known)):
            yield part
    async for part in _made(session, keys.others):
        yield part


async def replies_of(session: AsyncSession, games: Sequence[int]) -> ReplyTable:
    """Some games with their replies."""
    parts = [part async for part in read_replies(session, GameRow.id.in_(games))]
    return ReplyTable.joined(parts)


def played(filters: Filters | None) -> tuple[ColumnElement[bool], ...]:
    """Conditions on `GameRow`: games that pass the filters, without aborted ones.

    Matches between programs count only if the filters name their site or one of them.
    """
    return GameRow.state != GameStatus.ABORTED, *shown_games(filters)


def is_everything(filters: Filters | None) -> bool:
    """Whether all games pass, matches between programs apart."""
    return filters is None or filters == Filters()


async def _parts(session: AsyncSession, keys: GameKeys) -> AsyncIterator[GameRows]:
    """The games with these keys, without their replies."""
    for start in range(0, len(keys.settled), _GAMES):
        some = keys.settled[start : start + _GAMES]
        known = await _summaries(session, some, with_replies=False)
        yield GameRows.of(known["labels"], known["game"])
        async for part in _made(session, _missing(some, known)):
            yield part.of
    async for part in _made(session, keys.others):
        yield part.of


async def _made(session: AsyncSession, keys: Keys) -> AsyncIterator[ReplyTable]:
    """Games that have no valid summary, from their decisions."""
    for start in range(0, len(keys), _OTHERS):
        records = await game_records(session, keys[start : start + _OTHERS].tolist())
        packed = [record.packed for record in records.values()]
        games = GameRows.of([each.labels for each in packed], [each.game for each in packed])
        yield ReplyTable.unpacked(games, [each.replies for each in packed])


async def _summaries(session: AsyncSession, keys: Keys, *, with_replies: bool) -> Mapping[str, Sequence[Any]]:
    """Columns of today's summaries of settled games with these keys, ascending and one at least."""
    key, columns = GameSummaryRow.game_id, [GameSummaryRow.game]
    if with_replies:
        columns.append(GameSummaryRow.replies)
    # Without types, which would copy each value.
    bare = (type_coerce(column, NullType()).label(column.key) for column in columns)
    first, last = int(keys[0]), int(keys[-1])
    is_dense = last - first < _DENSEST * len(keys)
    chosen = key.between(first, last) if is_dense else key.in_(keys.tolist())
    statement = select(key.label("id"), GameSummaryRow.labels, *bare).where(chosen, *is_of_today())
    found = await read_columns(session, statement)
    is_wanted = np.isin(np.array(found["id"], np.int64), keys)
    if is_wanted.all():
        return found
    return {
        name: [value for value, wanted in zip(values, is_wanted.tolist(), strict=True) if wanted]
        for name, values in found.items()
    }


def _missing(keys: Keys, known: Mapping[str, Sequence[Any]]) -> Keys:
    return np.setdiff1d(keys, np.array(known["id"], np.int64), assume_unique=True)


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

    The garbage collector is off meanwhile: it would repeatedly traverse all objects.
    """
    if not gc.isenabled():  # somebody else is at it
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
