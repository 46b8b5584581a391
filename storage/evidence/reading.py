"""Reads games and their judged replies as arrays, thousands at a time.

For games without a valid summary (`storage.evidence.summaries`), decisions are read instead. Replies are
read in *parts* (batches of games with adjacent keys), which bounds a report's memory use. A process that
repeatedly reads all replies caches the parts (`enable_reply_cache`) and reads a part again only if one of its
summaries has changed.
"""

import gc
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Select, String, cast, func, select, type_coerce
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.types import NullType

from storage.database import Database
from storage.evidence.game_records import GameSummary, game_records
from storage.evidence.replies import GAME, REPLY, GameRows, ReplyTable
from storage.evidence.summaries import is_current
from storage.filters import Filters, game_conditions
from storage.records import MATCH_SITE, GameStatus
from storage.tables.games import GameRow
from storage.tables.summaries import GameSummaryRow

_PART = 2_000
"""Number of game keys in a part; a part with its replies takes 5 MB."""
_MAX_SUMMARISED_AT_ONCE = 200
"""Maximum number of games to summarise in one batch."""
_FULL_READ_RATIO = 3
"""If a part has at least this many games per wanted game, only the wanted games are read."""
MAX_CACHED_PART_BYTES = 128_000_000
"""Maximum memory for the cached parts of a process, in bytes."""
NOT_A_MATCH: ColumnElement[bool] = GameRow.site != MATCH_SITE
"""Condition that excludes matches between programs on this machine, which are included only on request."""
_CACHE_KEY = "replies"
_SUMMARIES_CACHE_KEY = "summaries of a few games"
_STAMPS_KEY = "stamps"

Keys = NDArray[np.int64]


class PartCache:
    """An LRU cache of parts, keyed by number and by whether they include the replies.

    Args:
        max_bytes: Maximum total size of the cached parts.
    """

    def __init__(self, max_bytes: int = MAX_CACHED_PART_BYTES) -> None:
        self._max_bytes = max_bytes
        self._parts: OrderedDict[tuple[int, bool], tuple[Keys, ReplyTable]] = OrderedDict()

    @property
    def size(self) -> int:
        """Total size of the cached parts, in bytes."""
        return sum(part.nbytes for _, part in self._parts.values())

    def get(self, number: int, stamps: Keys, *, with_replies: bool) -> ReplyTable | None:
        """Return the cached part if it was computed from summaries with these stamps, otherwise None."""
        for key in ((number, True), (number, with_replies)):
            known = self._parts.get(key)
            if known is not None and np.array_equal(known[0], stamps):
                self._parts.move_to_end(key)
                return known[1]
        return None

    def put(self, number: int, stamps: Keys, part: ReplyTable, *, with_replies: bool) -> None:
        """Cache a part, replacing an older version of the same part."""
        for key in ((number, True), (number, False)):
            self._parts.pop(key, None)
        self._parts[number, with_replies] = stamps, part
        while self.size > self._max_bytes:
            self._parts.popitem(last=False)


def enable_reply_cache(database: Database) -> None:
    """Make read-only transactions cache the parts they read; for processes that make many reports."""
    database.info[_CACHE_KEY] = PartCache()


async def read_games(session: AsyncSession, *which: ColumnElement[bool]) -> GameRows:
    """Return the games that meet the conditions on `GameRow`, including aborted games, in any order."""
    parts = read_replies(session, *which, with_replies=False)
    return GameRows.joined([part.of async for part in parts])


async def read_replies(
    session: AsyncSession, *which: ColumnElement[bool], with_replies: bool = True
) -> AsyncIterator[ReplyTable]:
    """Yield the games that meet the conditions on `GameRow`, with their replies, one part at a time.

    Args:
        session: The transaction's session.
        which: SQL conditions that select games.
        with_replies: Whether to include the replies.
    """
    async for part, is_wanted in read_parts(session, *which, with_replies=with_replies):
        yield (part if with_replies else part.without_replies()).of_games(is_wanted)


async def read_parts(
    session: AsyncSession, *which: ColumnElement[bool], with_replies: bool = True
) -> AsyncIterator[tuple[ReplyTable, NDArray[np.bool_]]]:
    """Yield whole parts that contain wanted games, with a mask of each part's wanted games."""
    # As one text, because the driver would make a tuple for each row.
    keys = func.aggregate_strings(cast(GameRow.id, String), " ")
    texts = await session.execute(select(GameRow.is_settled, keys).where(*which).group_by(GameRow.is_settled))
    by_state = {is_settled: np.sort(np.fromstring(text, np.int64, sep=" ")) for is_settled, text in texts}
    settled, unsettled = (by_state.get(is_settled, np.zeros(0, np.int64)) for is_settled in (True, False))
    numbers = settled // _PART
    games, stamps = await _stamps(session, numbers)
    missing = settled
    for number in np.unique(numbers).tolist():
        wanted, of_part = settled[numbers == number], games // _PART == number
        some = games[of_part], stamps[of_part]
        part = await _part(session, number, some, wanted, with_replies=with_replies)
        yield part, np.isin(part.of.games["id"], wanted)
        missing = np.setdiff1d(missing, part.of.games["id"], assume_unique=True)
    others = np.concatenate([missing, unsettled])
    for start in range(0, len(others), _MAX_SUMMARISED_AT_ONCE):
        summaries = await _summaries(session, others[start : start + _MAX_SUMMARISED_AT_ONCE].tolist())
        rows = GameRows.of([each.labels for each in summaries], [each.game for each in summaries])
        yield ReplyTable.unpacked(rows, [each.replies for each in summaries]), np.ones(len(rows), bool)


async def replies_of(session: AsyncSession, *which: ColumnElement[bool]) -> ReplyTable:
    """Return the result of `read_replies` as a single table; for a small number of games."""
    return ReplyTable.joined([part async for part in read_replies(session, *which)])


def played_game_conditions(filters: Filters | None) -> tuple[ColumnElement[bool], ...]:
    """Return conditions on `GameRow` that select the games matching the filters, except aborted games.

    Matches between programs are selected only if the filters name their site or a match.
    """
    return GameRow.state != GameStatus.ABORTED, *game_conditions(filters)


async def _stamps(session: AsyncSession, numbers: Keys) -> tuple[Keys, Keys]:
    """Return the keys (ascending) and stamps of the current summaries in the range of these parts."""
    if not len(numbers):
        return numbers, numbers
    key, span = GameSummaryRow.game_id, (int(numbers[0]) * _PART, int(numbers[-1] + 1) * _PART - 1)
    known: tuple[tuple[int, int], Keys, Keys] | None = session.info.get(_STAMPS_KEY)
    if known is None or known[0] != span:
        statement = select(key, GameSummaryRow.stamp).where(key.between(*span), *is_current()).order_by(key)
        columns = await read_columns(session, statement)
        known = span, np.array(columns["game_id"], np.int64), np.array(columns["stamp"], np.int64)
        if _CACHE_KEY in session.info:
            session.info[_STAMPS_KEY] = known
    return known[1:]


async def _part(
    session: AsyncSession, number: int, some: tuple[Keys, Keys], wanted: Keys, *, with_replies: bool
) -> ReplyTable:
    """Return all games of a part, or only the wanted games if there are few of them.

    Args:
        session: The transaction's session.
        number: Number of the part.
        some: Keys and stamps of the part's summaries.
        wanted: Keys of the wanted games (at least one), ascending.
        with_replies: As for `read_replies`.
    """
    games, stamps = some
    cache: PartCache | None = session.info.get(_CACHE_KEY)
    known = None if cache is None else cache.get(number, stamps, with_replies=with_replies)
    if known is not None:
        return known
    key, columns = GameSummaryRow.game_id, [GameSummaryRow.labels, GameSummaryRow.game]
    if with_replies:
        columns.append(GameSummaryRow.replies)
    is_sparse = _FULL_READ_RATIO * len(wanted) <= len(games)
    which = key.in_(wanted.tolist()) if is_sparse else key.between(number * _PART, (number + 1) * _PART - 1)
    # Without types, which would copy each value.
    bare = (type_coerce(column, NullType()).label(column.key) for column in columns)
    found = await read_columns(session, select(*bare).where(which, *is_current()).order_by(key))
    rows = [
        row
        for row in zip(found["labels"], found["game"], found.get("replies", repeat(b"")), strict=False)
        # Others are damaged, and made from the decisions as if they were missing.
        if len(row[1]) == GAME.itemsize and len(row[2]) % REPLY.itemsize == 0
    ]
    labels, of_games, replies = zip(*rows, strict=True) if rows else ((), (), ())
    part = ReplyTable.unpacked(GameRows.of(labels, of_games), replies)
    if cache is not None and not is_sparse:
        cache.put(number, stamps, part, with_replies=with_replies)
    return part


async def _summaries(session: AsyncSession, games: list[int]) -> list[GameSummary]:
    """Compute summaries for games that have no valid summary.

    In a process that caches replies, the summaries of a few games are computed only once per transaction: a
    report reads all games several times, and games cannot change during the transaction.
    """
    few: dict[int, GameSummary] = {}
    if _CACHE_KEY in session.info:
        few = session.info.setdefault(_SUMMARIES_CACHE_KEY, few)
    missing = await game_records(session, [key for key in games if key not in few])
    known = few | missing
    if len(known) <= _MAX_SUMMARISED_AT_ONCE:
        few |= missing
    return [known[key] for key in games if key in known]


async def read_columns(
    session: AsyncSession, statement: Select[*tuple[Any, ...]]
) -> Mapping[str, Sequence[Any]]:
    """Run a statement; return its columns, keyed by name, with the values that the driver returns.

    Values are not converted to their columns' types: on SQLite, a Boolean is 0 or 1, and a time is a string.
    """
    with many_objects():
        # Not by the session, nor by the result, which would make each row twice.
        result = await (await session.connection()).execute(statement)
        names = [*result.keys()]
        columns = [*zip(*result.cursor.fetchall(), strict=True)] or [()] * len(names)
    return dict(zip(names, columns, strict=True))


@contextmanager
def many_objects() -> Iterator[None]:
    """Context for creating tens of thousands of objects that form no reference cycles.

    Disables the garbage collector, which would otherwise repeatedly traverse all objects.
    """
    if not gc.isenabled():  # somebody else is at it
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
