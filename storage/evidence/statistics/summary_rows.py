"""Reads tens of thousands of games by column, each with its packed summary, for arithmetic on columns."""

import gc
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Select, String, cast, func, select, type_coerce
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.types import NullType

from storage.damage import decoding
from storage.evidence.inference.persons import Codes, codes_of
from storage.evidence.statistics.facts import ReplyFact, replies_of_games
from storage.evidence.statistics.packed_games import (
    ABORTED,
    PackedGames,
    game_records,
    labels_of,
    unpacked_games,
)
from storage.evidence.statistics.valid_summaries import is_of_today, is_valid, without_summary
from storage.filters import Filters, can_be_matches, filter_conditions, shown_games
from storage.records import MATCH_SITE, GameStatus
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


@dataclass(frozen=True, slots=True)
class SummaryPart:
    """A column of summaries with rows of numbers, beside what each has of the game itself."""

    column: InstrumentedAttribute[bytes]
    """Of `GameSummaryRow`."""
    row: np.dtype[Any]
    """What it has any number of."""
    made: Callable[[Sequence[ReplyFact]], tuple[str, bytes]]
    """The column `models`, and this one, of a game with these replies."""


@dataclass(frozen=True, slots=True)
class SharedTexts:
    """The text of each game, where many games have the same."""

    codes: Codes
    """Number of each game's text."""
    texts: Sequence[str]
    """Different ones; some may be no game's."""

    @classmethod
    def of(cls, texts: Sequence[str]) -> "SharedTexts":
        """Those of games in this order."""
        return cls(codes_of(texts), [*dict.fromkeys(texts)])

    @classmethod
    def joined(cls, parts: Sequence["SharedTexts"]) -> "SharedTexts":
        """Those of all games, part by part, without texts of none."""
        texts: dict[str, int] = {}
        codes = [np.zeros(0, np.intp)]
        for part in parts:
            is_used = np.bincount(part.codes, minlength=len(part.texts)) > 0
            numbers = [
                texts.setdefault(text, len(texts)) if used else 0
                for text, used in zip(part.texts, is_used.tolist(), strict=True)
            ]
            codes.append(np.array(numbers, np.intp)[part.codes])
        return cls(np.concatenate(codes), [*texts])

    def where(self, is_wanted: NDArray[np.bool_]) -> "SharedTexts":
        """Those of some games."""
        return SharedTexts(self.codes[is_wanted], self.texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRows:
    """Games with one part of their summaries, or none; made for those that have no summary."""

    games: PackedGames
    labels: SharedTexts
    models: SharedTexts
    """The column `models`."""
    parts: NDArray[Any]
    """The rows of the part, game by game."""
    lengths: Codes
    """How many of them each game has."""
    is_other: NDArray[np.bool_]
    """Which games have no valid summary."""

    @classmethod
    def of_columns(cls, columns: Mapping[str, Sequence[Any]], part: SummaryPart | None) -> "SummaryRows":
        """Those with these columns.

        Raises:
            ValueError: One has something else.
        """
        games = unpacked_games(columns["facts"])
        if part is None:
            rows, lengths = np.zeros(0), np.zeros(len(games), np.intp)
        else:
            sizes = np.fromiter(map(len, columns["part"]), np.intp, len(games))
            lengths, rest = np.divmod(sizes, part.row.itemsize)
            if rest.any():
                raise ValueError(f"{part.column.key} has a part of a row")
            rows = np.frombuffer(b"".join(columns["part"]), part.row)
        return cls(
            games=games,
            labels=SharedTexts.of(columns["labels"]),
            models=SharedTexts.of(columns["models"]),
            parts=rows,
            lengths=lengths,
            is_other=np.zeros(len(games), bool),
        )

    @classmethod
    def joined(cls, parts: Sequence["SummaryRows"]) -> "SummaryRows":
        """Those of one or more, one after the other."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            games=np.concatenate([each.games for each in parts]),
            labels=SharedTexts.joined([each.labels for each in parts]),
            models=SharedTexts.joined([each.models for each in parts]),
            parts=np.concatenate([each.parts for each in parts]),
            lengths=np.concatenate([each.lengths for each in parts]),
            is_other=np.concatenate([each.is_other for each in parts]),
        )

    def where(self, is_wanted: NDArray[np.bool_]) -> "SummaryRows":
        """Some of them."""
        if is_wanted.all():
            return self
        return SummaryRows(
            games=self.games[is_wanted],
            labels=self.labels.where(is_wanted),
            models=self.models.where(is_wanted),
            parts=self.parts[np.repeat(is_wanted, self.lengths)],
            lengths=self.lengths[is_wanted],
            is_other=self.is_other[is_wanted],
        )

    def among(self, is_wanted: Callable[[int], bool]) -> "SummaryRows":
        """Those of some games, by their keys."""
        return self.where(np.array([is_wanted(key) for key in self.games["id"].tolist()], bool))

    def without_aborted(self) -> "SummaryRows":
        """Those of games that were played."""
        return self.where(self.games["state"] != ABORTED)

    def without_matches(self) -> "SummaryRows":
        """Those of games that were not between programs on this machine."""
        with decoding("the summaries of games"):
            is_shown = np.array([labels_of(text).site != MATCH_SITE for text in self.labels.texts], bool)
        return self.where(is_shown[self.labels.codes])

    @property
    def game_of_row(self) -> Codes:
        """Number of the game of each row of the part."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def __len__(self) -> int:
        return len(self.games)


def is_everything(filters: Filters | None) -> bool:
    """Whether all games pass, matches between programs apart."""
    return filters is None or filters == Filters()


async def read_summaries(
    session: AsyncSession, part: SummaryPart | None, filters: Filters | None = None
) -> SummaryRows:
    """The games that pass the filters, with a part of their summaries; aborted ones are left out.

    Args:
        session: Of the transaction.
        part: Which; None: the games alone.
        filters: Which games; None: all.  Matches between programs count only if the filters name their site
            or one of them.

    Raises:
        RecordError: Something that is stored is damaged; the message names the game or decision.
    """
    if is_everything(filters):
        return await shown_summaries(session, part, with_aborted=False)
    return await summaries_of(session, part, GameRow.state != GameStatus.ABORTED, *shown_games(filters))


async def shown_summaries(
    session: AsyncSession,
    part: SummaryPart | None,
    *,
    with_aborted: bool = True,
    read_today: Callable[[AsyncSession], Awaitable[SummaryRows]] | None = None,
) -> SummaryRows:
    """All games but matches between programs, also open ones, in any order.

    To find each summary's game takes a database as long as everything else, so it is asked which games have
    none.

    Args:
        session: Of the transaction.
        part: Which part of their summaries; None: the games alone.
        with_aborted: Also aborted games.
        read_today: Does what `summaries_of_today` does; None: that.

    Raises:
        RecordError: Something that is stored is damaged; the message names the game or decision.
    """
    is_shown = GameRow.site != MATCH_SITE
    count = await session.scalar(select(func.count()).select_from(GameRow).where(is_shown)) or 0
    unsettled = select(GameRow.id).where(is_shown, GameRow.is_settled.is_(False))
    others = list(await session.scalars(unsettled))
    found = await (summaries_of_today(session, part) if read_today is None else read_today(session))
    if others:
        found = found.where(~np.isin(found.games["id"], np.array(others, np.int64)))
    if len(found) + len(others) != count:
        others = list(await session.scalars(without_summary(is_shown)))
    which = () if with_aborted else (GameRow.state != GameStatus.ABORTED,)
    more = [
        await summaries_of(session, part, GameRow.id.in_(others[start : start + _BATCH]), *which)
        for start in range(0, len(others), _BATCH)
    ]
    found = SummaryRows.joined([found, *more])
    return found if with_aborted else found.without_aborted()


async def filtered_games(
    session: AsyncSession, part: SummaryPart | None, shown: SummaryRows, filters: Filters
) -> SummaryRows:
    """The games that pass the filters, also aborted ones; see `read_summaries`.

    Args:
        session: Of the transaction.
        part: Which part of their summaries; None: the games alone.
        shown: What `shown_summaries` gives.
        filters: Which games.
    """
    if is_everything(filters):
        return shown
    if can_be_matches(filters):
        return await summaries_of(session, part, *shown_games(filters))
    # In one text, which takes a fifth of the time of as many rows; and not by site, for which the database
    # would look at each game's row.
    keys = func.aggregate_strings(cast(GameRow.id, String), ",")
    found = await session.scalar(select(keys).where(*filter_conditions(filters))) or ""
    return shown.where(np.isin(shown.games["id"], np.fromstring(found, np.int64, sep=",")))


async def summaries_of_today(
    session: AsyncSession, part: SummaryPart | None, *which: ColumnElement[bool]
) -> SummaryRows:
    """The summaries of today's layout and rules that fulfil conditions on `GameSummaryRow`.

    Those of games that are open again are among them, those of matches between programs are not.
    """
    columns = await read_columns(session, _columns(part).where(*is_of_today(), *which))
    with decoding("the summaries of games"):
        return SummaryRows.of_columns(columns, part).without_matches()


async def summaries_of(
    session: AsyncSession, part: SummaryPart | None, *which: ColumnElement[bool]
) -> SummaryRows:
    """The same of the games that fulfil conditions on `GameRow`, aborted ones too."""
    statement = _columns(part).add_columns(GameRow.id).select_from(GameRow)
    known = await read_columns(session, statement.outerjoin(GameSummaryRow, is_valid()).where(*which))
    columns = {name: list(values) for name, values in known.items()}
    others = {n: columns["id"][n] for n, facts in enumerate(columns["facts"]) if facts is None}
    records = await game_records(session, [*others.values()])
    replies = {} if part is None else await replies_of_games(session, [*others.values()])
    for number, key in others.items():
        columns["labels"][number], columns["facts"][number] = records[key].labels_text, records[key].packed()
        if part is None:
            columns["models"][number] = "[]"
        else:
            columns["models"][number], columns["part"][number] = part.made(replies[key])
    is_other = np.zeros(len(columns["id"]), bool)
    is_other[[*others]] = True
    with decoding("the summaries of games"):
        return replace(SummaryRows.of_columns(columns, part), is_other=is_other)


def _columns(part: SummaryPart | None) -> Select[*tuple[Any, ...]]:
    # Without types, which would copy each value.
    wanted = {"facts": GameSummaryRow.facts} | ({} if part is None else {"part": part.column})
    columns = (type_coerce(column, NullType()).label(name) for name, column in wanted.items())
    return select(GameSummaryRow.labels, GameSummaryRow.models, *columns)
