"""Reads what the statistics of groups of games are made of: games with one column of their summaries.

A game comes packed (`storage.evidence.statistics.packed_games`) and with the packed sums of its summary.
A database
could also add the sums up itself, from a table with a column for each; SQLite takes longer for that, by phase
several times (docs/numbers.md).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
from sqlalchemy import Select, case, func, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from storage.damage import decoding, read_rows
from storage.evidence.inference.defaults import CAP_GAMES
from storage.evidence.inference.persons import codes_of, earlier_counts
from storage.evidence.statistics.facts import ReplyFact, outdated_of_games
from storage.evidence.statistics.group_sums import CellTable, GameTable, KeyColumn, cell_table, grouped_sums
from storage.evidence.statistics.groups import (
    OF_GAME,
    By,
    GroupStatistics,
    band_text,
    complete_keys,
    week_text,
)
from storage.evidence.statistics.packed_games import ABORTED, FINISHED, OPEN, days_of, labels_of
from storage.evidence.statistics.reply_sums import AT, ROW, packed, reply_sums
from storage.evidence.statistics.summaries import model_names, models_text
from storage.evidence.statistics.summary_rows import (
    SummaryPart,
    SummaryRows,
    is_everything,
    many_objects,
    read_summaries,
)
from storage.filters import Filters, GamePhase, TrapSettings, can_be_matches, of_games
from storage.records import GameStatus
from storage.tables.games import EngineConfigRow, GameRow, OpponentRow
from storage.tables.summaries import GameSummaryRow

_CONFIGURED = (By.VERSION, By.SETTINGS)
_LABELS = {By.PLAYER: "player", By.GAME: "game", By.SITE: "site", By.SPEED: "speed"}
_BATCH = 500
"""Persons and games in one statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameKeys:
    """What the keys of games need that is in no summary."""

    late: Sequence[int]
    """Keys of games beyond their person's first `CAP_GAMES`."""
    configured: Mapping[int, tuple[str, str]]
    """Version and settings of each engine configuration; empty if nobody asks."""
    programs: Sequence[int]
    """Keys of the opponents that are programs; empty if nobody asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRows:
    """What was read; the arithmetic comes after the transaction, which would blame the database for it."""

    by: tuple[By, ...]
    rows: SummaryRows
    """With their sums."""
    keys: GameKeys
    outdated: int
    """Decisions that `storage.evidence.statistics.facts.count_outdated` counts in these games."""
    phase: GamePhase | None = None
    """Only replies of this phase, and the games that have such; None: all."""

    def statistics(self) -> list[GroupStatistics]:
        """The statistics of each group, in the order of the groups' names.

        Raises:
            RecordError: Something that is stored is damaged; the message says what.
        """
        with many_objects():
            games = game_table(self.rows, self.keys, self.by)
            return grouped_sums(games, self._cells(), self.by, only_with_cells=self.phase is not None)

    def _cells(self) -> CellTable:
        with decoding("the summaries of games"):
            rows, games = self.rows.parts, self.rows.game_of_row
            if self.phase is not None:
                chosen = rows[:, AT["phase"]] == self.phase.number
                rows, games = rows[chosen], games[chosen]
            names = [model_names(text) for text in self.rows.models.texts]
            return cell_table(rows, games, names, self.rows.models.codes)


def game_table(rows: SummaryRows, known: GameKeys, by: Sequence[By]) -> GameTable:
    """The games by column.

    Raises:
        RecordError: A summary is damaged.
    """
    games = rows.games
    return GameTable(
        keys={key: _key_column(rows, known, key) for key in by if key in OF_GAME},
        persons=games["person"],
        ratings=games["rating"],
        scores=games["score"],
        is_open=games["state"] == OPEN,
        is_first=~np.isin(games["id"], np.array(known.late, np.int64)),
    )


def _key_column(rows: SummaryRows, known: GameKeys, key: By) -> KeyColumn:
    """What a key says of each game."""
    games = rows.games
    if key in _LABELS:
        with decoding("the summaries of games"):
            labels = [getattr(labels_of(text), _LABELS[key]) for text in rows.labels.texts]
        return KeyColumn.of(rows.labels.codes, labels)
    if key is By.OPPONENT_KIND:
        is_program = np.isin(games["person"], np.array(known.programs, np.int64))
        return KeyColumn.of(is_program.astype(np.intp), ("person", "program"))
    if key is By.RATING_BAND:
        found, codes = np.unique(games["rating"], return_inverse=True)
        texts = [band_text(None if rating != rating else int(rating)) for rating in found.tolist()]
    elif key in _CONFIGURED:
        found, codes = np.unique(games["config"], return_inverse=True)
        texts = [known.configured[number][_CONFIGURED.index(key)] for number in found.tolist()]
    else:
        found, codes = np.unique(days_of(games["began_us"]), return_inverse=True)
        days = [_FIRST_DAY + timedelta(days=number) for number in found.tolist()]
        texts = [week_text(day) if key is By.WEEK else f"{day:%Y-%m}" for day in days]
    return KeyColumn.of(codes, texts)


_FIRST_DAY = date(1970, 1, 1)


async def read_groups(
    session: AsyncSession,
    filters: Filters | None = None,
    by: Sequence[By] = (By.PLAYER,),
    among: Callable[[int], bool] | None = None,
) -> GroupRows:
    """Read what the statistics of the games that pass the filters need; those games are `game_facts`'s.

    Args:
        session: Of the transaction.
        filters: Which games, and which replies in them; None: all.
        by: What to group by; the game is added, and the site for rating bands.
        among: Whether a game is wanted, by its key; None: all are.  `GroupRows.outdated` is of all.

    Raises:
        RecordError: Something that is stored is damaged; the message names the game or decision.
    """
    keys, filters = complete_keys(by), filters or Filters()
    is_by_phase = By.PHASE in keys or filters.phase is not None
    rows = await read_summaries(session, PHASE_SUMS if is_by_phase else SUMS, of_games(filters))
    outdated = await _outdated(session, rows)
    return GroupRows(
        by=keys,
        rows=rows if among is None else rows.among(among),
        keys=await read_keys(session, keys, rows if is_everything(of_games(filters)) else None),
        outdated=outdated,
        phase=filters.phase,
    )


async def groups_of_games(
    session: AsyncSession, filters: Filters, rows: SummaryRows, shown: SummaryRows, by: Sequence[By]
) -> GroupRows:
    """`read_groups` where games have been read, with `SUMS`.

    Args:
        session: Of the transaction.
        filters: Which games.
        rows: Those games; aborted ones do not count.
        shown: All games but matches between programs.
        by: What to group by, the phase apart; the game is added, and the site for rating bands.

    Raises:
        RecordError: As of `read_groups`.
    """
    keys, rows = complete_keys(by), rows.without_aborted()
    known = await read_keys(session, keys, None if can_be_matches(filters) else shown)
    return GroupRows(by=keys, rows=rows, keys=known, outdated=await _outdated(session, rows))


def _made(replies: Sequence[ReplyFact]) -> tuple[str, bytes]:
    sums = reply_sums(replies)
    return models_text(sums.models), packed(sums.rows)


def _made_by_phase(replies: Sequence[ReplyFact]) -> tuple[str, bytes]:
    sums = reply_sums(replies)
    return models_text(sums.models), packed(sums.phase_rows)


SUMS = SummaryPart(GameSummaryRow.sums, ROW, _made)
"""Sums over the replies of each game, by model."""
PHASE_SUMS = SummaryPart(GameSummaryRow.phase_sums, ROW, _made_by_phase)
"""The same by phase and model."""


async def _outdated(session: AsyncSession, rows: SummaryRows) -> int:
    """Decisions of these games that `storage.evidence.statistics.facts.count_outdated` counts."""
    games = rows.games
    others = rows.is_other & (games["state"] == FINISHED) & (games["is_settled"] == 1)
    found = await outdated_of_games(session, games["id"][others].tolist())
    return int(games["outdated"].sum()) + sum(found.values())


async def read_keys(session: AsyncSession, by: Sequence[By], shown: SummaryRows | None) -> GameKeys:
    """What these keys need.

    Args:
        session: Of the transaction.
        by: The keys.
        shown: All games but matches between programs; None: they have not been read, or matches count, too.
    """
    programs = select(OpponentRow.id).where(OpponentRow.is_bot.is_(True))
    return GameKeys(
        late=await _late(session) if shown is None else _late_among(shown),
        configured=await _configured(session) if set(by) & set(_CONFIGURED) else {},
        programs=list(await session.scalars(programs)) if By.OPPONENT_KIND in by else (),
    )


def _late_among(rows: SummaryRows) -> list[int]:
    """`_late`, among all games; a person is at one site, so no other game is theirs."""
    games = rows.games
    persons, is_played = codes_of(games["person"]), games["state"] != ABORTED
    frequent = np.flatnonzero((np.bincount(persons, is_played) > CAP_GAMES)[persons] & is_played)
    order = frequent[np.lexsort((games["id"][frequent], games["began_us"][frequent]))]
    with decoding("the summaries of games"):
        kinds = codes_of([labels_of(text).game for text in rows.labels.texts])[rows.labels.codes[order]]
    pairs = codes_of(persons[order] * (int(kinds.max(initial=0)) + 1) + kinds)
    late: list[int] = games["id"][order[earlier_counts(pairs) >= CAP_GAMES]].tolist()
    return late


async def _late(session: AsyncSession) -> list[int]:
    """Keys of the games that do not count among the first `CAP_GAMES` of their person, at their game.

    Numbered as in `storage.evidence.statistics.facts.game_facts`, but only the games of persons who have
    so many.
    """
    frequent = await session.execute(
        select(GameRow.opponent_id, GameRow.game)
        .group_by(GameRow.opponent_id, GameRow.game)
        .having(func.count() > CAP_GAMES)
    )
    pairs = [(row.opponent_id, row.game) for row in frequent]
    found: list[int] = []
    # By name, so that no database reads all games.
    for start in range(0, len(pairs), _BATCH):
        found += await session.scalars(_numbered_late(pairs[start : start + _BATCH]))
    return found


def _numbered_late(pairs: Sequence[tuple[int, str]]) -> Select[int]:
    """The same among the games of some persons at some games."""
    is_counted = case((GameRow.state != GameStatus.ABORTED, 1), else_=0)
    numbers = (
        select(
            GameRow.id,
            is_counted.label("own"),
            func.sum(is_counted)
            .over(
                partition_by=(GameRow.opponent_id, GameRow.game),
                order_by=(GameRow.started_at, GameRow.id),
            )
            .label("number"),
        )
        .where(tuple_(GameRow.opponent_id, GameRow.game).in_(pairs))
        .subquery()
    )
    return select(numbers.c.id).where(numbers.c.number - numbers.c.own >= CAP_GAMES)


async def _configured(session: AsyncSession) -> dict[int, tuple[str, str]]:
    row = EngineConfigRow
    rows = await session.execute(
        select(
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
    )
    texts = read_rows(
        "engine configuration", rows, lambda each: (each[0], each[1], TrapSettings(*each[2:]).text)
    )
    return {key: (version, settings) for key, version, settings in texts}
