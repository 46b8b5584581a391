"""Assigns games and replies to groups and computes each group's statistics."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from storage.evidence.inference.defaults import CAP_GAMES
from storage.evidence.inference.persons import Codes, codes_of, earlier_counts, first_and_codes
from storage.evidence.intervals import Performance, performances
from storage.evidence.measures import COUNTS, MEASURES, Cells, GroupSums, cells_of, combined
from storage.evidence.rating_bands import RatingBand
from storage.evidence.reading import many_objects, played_game_conditions, read_games, read_parts
from storage.evidence.replies import ABORTED, FINISHED, FIRST_DAY, OPEN, GameArray, GameRows, days_of
from storage.evidence.statistics.groups import (
    OF_REPLY,
    GroupKey,
    GroupStatistics,
    complete_keys,
    phase_name,
    week_text,
)
from storage.filters import Filters, TrapSettings, of_games
from storage.records import MATCH_SITE
from storage.tables.games import EngineConfigRow, GameRow, OpponentRow

_CONFIG_KEYS = (GroupKey.VERSION, GroupKey.SETTINGS)
_LABELS = (GroupKey.STRATEGY, GroupKey.GAME, GroupKey.SITE, GroupKey.SPEED)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySources:
    """Data about games beyond what the array of games contains."""

    late: Sequence[int]
    """Keys of games that come after the first `CAP_GAMES` games of the same person."""
    configured: Mapping[int, tuple[str, str]]
    """Version and settings of each engine configuration; empty if not needed."""
    programs: Sequence[int]
    """Keys of the opponents that are programs; empty if not needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRows:
    """The data for group statistics, which are computed after the transaction so that errors in the
    computation are not reported as database errors."""

    by: tuple[GroupKey, ...]
    games: GameRows
    cells: Cells
    sources: KeySources
    outdated: int
    """Number of decisions classified or forecast by earlier rules, or without a forecast; includes games that
    `read_groups` leaves out because they were not requested."""
    unjudged: int = 0
    """Number of the games with replies that the judge has yet to judge."""
    left_out: int = 0
    """Number of games left out because they have a row that this program cannot have written."""
    only_with_cells: bool = False
    """Whether to leave out games that have no entry in `cells`."""

    def statistics(self) -> list[GroupStatistics]:
        """The statistics of each group, ordered by the groups' names."""
        with many_objects():
            return grouped_statistics(self)


async def read_groups(
    session: AsyncSession,
    filters: Filters | None = None,
    by: Sequence[GroupKey] = (GroupKey.STRATEGY,),
    among: Callable[[int], bool] | None = None,
) -> GroupRows:
    """Read the data for the statistics of the games that pass the filters; aborted games do not count.

    Args:
        session: The transaction's session.
        filters: Select games and the replies in them; None for all.
        by: Grouping keys; adds the game, and the site if the rating band is a key.
        among: Returns whether the game with a given key is wanted; None if all games are wanted.
    """
    keys, filters = complete_keys(by), filters or Filters()
    cells, games, count, outdated, unjudged = [], [], 0, 0, 0
    which = played_game_conditions(of_games(filters))
    left_out = int(await session.scalar(select(func.count()).select_from(GameRow).where(*which)) or 0)
    async for part, is_wanted in read_parts(session, *which):
        left_out -= int(is_wanted.sum())
        outdated += outdated_of(part.of.where(is_wanted))
        is_wanted &= is_among(part.of, among)
        of_part = cells_of(part)
        if filters.phase is not None:
            of_part = of_part.where(of_part.phases == filters.phase.number)
        cells.append((of_part.of_games(is_wanted), count))
        games.append(part.of.where(is_wanted))
        unjudged += unjudged_games(games[-1])
        count += len(games[-1])
    return GroupRows(
        by=keys,
        games=GameRows.joined(games),
        cells=Cells.joined(cells),
        sources=await read_sources(session, keys),
        outdated=outdated,
        unjudged=unjudged,
        left_out=left_out,
        only_with_cells=filters.phase is not None,
    )


def is_among(games: GameRows, among: Callable[[int], bool] | None) -> NDArray[np.bool_]:
    """Whether `among` returns true for each game's key; all true if `among` is None."""
    if among is None:
        return np.ones(len(games), bool)
    return np.array([among(key) for key in games.games["id"].tolist()], bool)


async def count_outdated(session: AsyncSession, filters: Filters | None = None) -> int:
    """The number of outdated decisions in the games that pass the filters, as in `GroupRows.outdated`."""
    return outdated_of(await read_games(session, *played_game_conditions(filters)))


def outdated_of(games: GameRows) -> int:
    """Number of decisions in settled games that were classified or forecast by earlier rules or lack a
    forecast.

    Statistics omit these decisions until ``desdemona db recheck`` has classified them again.
    """
    records = games.games
    return int(records["outdated"][(records["state"] == FINISHED) & (records["is_settled"] == 1)].sum())


def unjudged_games(games: GameRows) -> int:
    """Number of settled games with replies that the judge has yet to judge; no cost or error counts these."""
    return int(np.count_nonzero(is_unjudged(games.games)))


def is_unjudged(games: GameArray) -> NDArray[np.bool_]:
    """Whether each game is settled and has replies that the judge has yet to judge."""
    return np.asarray((games["unjudged"] > 0) & (games["is_settled"] == 1))


def grouped_statistics(read: GroupRows) -> list[GroupStatistics]:
    """See `GroupRows.statistics`."""
    keys, games, cells = read.by, read.games.games, read.cells
    groups = GroupIndex(read)
    size, members = len(groups.names), groups.members
    is_counted = is_first(read.games, read.sources)[cells.games]
    persons = codes_of(games["person"])[cells.games]
    counted = cells.where(is_counted)
    sums = GroupSums(counted, groups.of_cell[is_counted], persons[is_counted], size)

    def count(which: NDArray[np.bool_]) -> Codes:
        return np.bincount(groups.of_member[which[members]], minlength=size)

    columns = {
        "games": np.bincount(groups.of_member, minlength=size),
        "wins": count(games["score"] == 1),
        "draws": count(games["score"] == 0.5),
        "losses": count(games["score"] == 0),
        "unfinished": count(games["state"] == OPEN),
        "unjudged_games": count(is_unjudged(games)),
        "persons": _distinct(groups.of_member, games["person"][members], size),
        "traps_fell": sums.total("traps_fell").astype(np.int64),
        **{name: sums.total(name).astype(np.int64) for name in COUNTS},
    }
    fields = [key.value for key in keys]
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    return [
        GroupStatistics(
            group=dict(zip(fields, name, strict=True)),
            performance=performance,
            models=models,
            errors=errors,
            cost=cost,
            baits=baits,
            falls=falls,
            **dict(zip(columns, row, strict=True)),
        )
        for name, performance, models, errors, cost, baits, falls, row in zip(
            groups.names,
            _performances(groups, games),
            sums.models,
            *(sums.expected(measure) for measure in MEASURES),
            rows,
            strict=True,
        )
    ]


class GroupIndex:
    """Assigns games and cells (sums over replies) to groups.

    If a grouping key or filter concerns replies, a game belongs to every group that contains one of its
    cells; otherwise it belongs to the one group given by its own keys.
    """

    def __init__(self, read: GroupRows) -> None:
        cells = read.cells
        is_by_reply = read.only_with_cells or bool(OF_REPLY & set(read.by))
        columns = [_key_column(read, key) for key in read.by]
        codes = [
            values[cells.games] if is_by_reply and key not in OF_REPLY else values
            for key, (values, _) in zip(read.by, columns, strict=True)
        ]
        first, group = first_and_codes(combined(codes))
        parts = (
            [texts[number] for number in values[first].tolist()]
            for values, (_, texts) in zip(codes, columns, strict=True)
        )
        names = [*zip(*parts, strict=True)]
        if is_by_reply:
            first, _ = first_and_codes(combined([group, cells.games]))
            of_cell, of_member, members = group, group[first], cells.games[first]
        else:
            of_cell, of_member, members = group[cells.games], group, np.arange(len(group))
        order = sorted(range(len(names)), key=names.__getitem__)
        rank = np.empty(len(names), np.intp)
        rank[order] = np.arange(len(names))
        self.names: list[tuple[str, ...]] = [names[number] for number in order]
        self.members: Codes = members
        """Indexes of games; a game's index occurs once for each group to which the game belongs."""
        self.of_member: Codes = rank[of_member]
        """The group of each entry of `members`."""
        self.of_cell: Codes = rank[of_cell]


def _key_column(read: GroupRows, key: GroupKey) -> tuple[Codes, Sequence[str]]:
    """Index the distinct values of a grouping key: each game's or cell's index, and the values as text."""
    games, cells = read.games.games, read.cells
    texts: Sequence[str]
    if key is GroupKey.PHASE:
        codes, texts = (
            cells.phases,
            [phase_name(each) for each in range(int(cells.phases.max(initial=-1)) + 1)],
        )
    elif key is GroupKey.MODEL:
        codes, texts = cells.models, cells.model_names
    elif key in _LABELS:
        label = read.games.label(key.value)
        codes, texts = label.codes, label.texts
    elif key is GroupKey.OPPONENT_KIND:
        is_program = np.isin(games["person"], np.array(read.sources.programs, np.int64))
        codes, texts = is_program.astype(np.intp), ("person", "program")
    elif key is GroupKey.RATING_BAND:
        values, codes = np.unique(games["rating"], return_inverse=True)
        texts = [RatingBand.of(rating).text for rating in values.tolist()]
    elif key in _CONFIG_KEYS:
        values, codes = np.unique(games["config"], return_inverse=True)
        texts = [read.sources.configured[number][_CONFIG_KEYS.index(key)] for number in values.tolist()]
    else:
        values, codes = np.unique(days_of(games["began_us"]), return_inverse=True)
        days = [FIRST_DAY + timedelta(days=number) for number in values.tolist()]
        texts = [week_text(day) if key is GroupKey.WEEK else f"{day:%Y-%m}" for day in days]
    return codes_of(texts)[codes] if len(texts) else codes, tuple(dict.fromkeys(texts))


def is_first(games: GameRows, sources: KeySources) -> NDArray[np.bool_]:
    """Whether each game is among its person's first `CAP_GAMES`; replies in later games do not count."""
    return ~np.isin(games.games["id"], np.array(sources.late, np.int64))


def _performances(groups: GroupIndex, games: NDArray[np.void]) -> list[Performance]:
    ratings, scores = games["rating"][groups.members], games["score"][groups.members]
    # A result from a position that one side has set, as at odds, says little about ratings.
    is_usual = games["is_challenger_position"][groups.members] == 0
    known = np.flatnonzero(np.isfinite(ratings) & np.isfinite(scores) & is_usual)
    least = int(ratings[known].min(initial=0))
    above = (ratings[known] - least).astype(np.intp)
    code = combined([groups.of_member[known], above])
    first, number = first_and_codes(code)
    count, points = (
        np.bincount(number, each, len(first)).astype(np.float64)
        for each in (np.ones(len(known)), scores[known])
    )
    rated = (above[first] + least).astype(np.float64)
    whose = groups.of_member[known][first]
    return performances(whose, rated, count, points, len(groups.names))


def _distinct(groups: Codes, values: NDArray[Any], size: int) -> Codes:
    """Count the distinct values in each group."""
    first, _ = first_and_codes(combined([groups, codes_of(values)]))
    return np.bincount(groups[first], minlength=size)


async def read_sources(session: AsyncSession, by: Sequence[GroupKey]) -> KeySources:
    """Read the additional data that these grouping keys need."""
    programs = select(OpponentRow.id).where(OpponentRow.is_bot.is_(True))
    return KeySources(
        late=_late(await read_games(session)),
        configured=await _configured(session) if set(by) & set(_CONFIG_KEYS) else {},
        programs=list(await session.scalars(programs)) if GroupKey.OPPONENT_KIND in by else (),
    )


def _late(every: GameRows) -> list[int]:
    """Keys of games that come after a person's first `CAP_GAMES` games of the same kind, such as chess.

    Games count in the order in which they began, whatever the filters; aborted games do not count. Opponents
    in matches are not persons, so all their games count.
    """
    games, site = every.games, every.label("site")
    is_match = np.array([text == MATCH_SITE for text in site.texts], bool)[site.codes]
    persons, is_played = codes_of(games["person"]), (games["state"] != ABORTED) & ~is_match
    frequent = np.flatnonzero((np.bincount(persons, is_played) > CAP_GAMES)[persons] & is_played)
    order = frequent[np.lexsort((games["id"][frequent], games["began_us"][frequent]))]
    kind = every.label("game")
    kinds = codes_of(kind.texts)[kind.codes[order]]
    late: list[int] = games["id"][
        order[earlier_counts(codes_of(combined([persons[order], kinds]))) >= CAP_GAMES]
    ].tolist()
    return late


async def _configured(session: AsyncSession) -> dict[int, tuple[str, str]]:
    row = EngineConfigRow
    statement = select(
        row.id,
        row.engine_version,
        row.assessment,
        row.scale,
        row.margin_centi,
        row.decided,
        row.risk_percent,
        row.risk_share_percent,
        row.threshold_percent,
    )
    rows: Sequence[Any] = (await session.execute(statement)).all()
    return {key: (version, TrapSettings(*settings).text) for key, version, *settings in rows}
