"""Reads what the statistics of groups of games are made of: games by column, and their summaries.

One statement reads the games that are selected, each with the packed sums of its summary, and another names
those beyond a person's first games.  A database could also add the sums up itself, from a table with a column
for each; SQLite takes longer for that, by phase several times (docs/performance.md).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import compress
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Select, String, case, func, select, tuple_, type_coerce
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.types import NullType

from engine.errors import RecordError
from storage.damage import decoding, read_rows
from storage.filters import Filters, GamePhase, TrapSettings, of_games
from storage.inference.defaults import CAP_GAMES
from storage.inference.persons import codes_of
from storage.records import LEAST_RATING, MOST_RATING, GameResult, GameStatus
from storage.statistics.facts import (
    ReplyFact,
    outdated_of_games,
    replies_of_games,
    require_rating,
    selected,
)
from storage.statistics.group_sums import CellTable, GameTable, cell_table, grouped_sums
from storage.statistics.groups import OF_GAME, By, GroupStatistics, band_text, complete_keys, week_text
from storage.statistics.read_columns import read_columns
from storage.statistics.reply_sums import AT, ROW_BYTES, packed, reply_sums, unpacked
from storage.statistics.summaries import model_names, models_text
from storage.statistics.valid_summaries import is_valid
from storage.tables.games import EngineConfigRow, GameRow, OpponentRow
from storage.tables.summaries import GameSummaryRow

_SCORES = {GameResult.WIN.value: 1.0, GameResult.DRAW.value: 0.5, GameResult.LOSS.value: 0.0, None: np.nan}
_MONTH = re.compile(r"[0-9]{4}-[01][0-9]")
_CONFIGURED = (By.VERSION, By.SETTINGS)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRows:
    """What was read; the arithmetic comes after the transaction, which would blame the database for it."""

    by: tuple[By, ...]
    columns: Mapping[str, Sequence[Any]]
    """The rows of `_games`, by column."""
    late: Sequence[int]
    """Keys of games beyond their person's first `CAP_GAMES`."""
    configured: Mapping[int, tuple[str, str]]
    """Version and settings of each engine configuration."""
    others: Mapping[int, tuple[str, bytes]]
    """The columns `models` and `sums` of the summaries that games lack, by the games' keys."""
    outdated: int
    """Decisions that `storage.statistics.facts.count_outdated` counts in these games."""
    phase: GamePhase | None = None
    """Only replies of this phase, and the games that have such; None: all."""

    def statistics(self) -> list[GroupStatistics]:
        """The statistics of each group, in the order of the groups' names.

        Raises:
            RecordError: Something that is stored is damaged; the message names the game.
        """
        return grouped_sums(self._table(), self._cells(), self.by, only_with_cells=self.phase is not None)

    def _table(self) -> GameTable:
        try:
            ratings = np.array(self._column("opponent_rating"), np.float64)
            scores = np.array([_SCORES[result] for result in self._column("result")], np.float64)
            if ((ratings < LEAST_RATING) | (ratings > MOST_RATING)).any():
                raise ValueError("there is a rating that is none")
            if not _STATES.issuperset(self._column("state")):
                raise ValueError("there is a state that is none")
        except (LookupError, TypeError, ValueError):
            names = ("id", "opponent_rating", "state", "result")
            for game in zip(*(self._column(name) for name in names), strict=True):
                _require_game(*game)
            raise
        return GameTable(
            keys={key: self._texts(key) for key in self.by if key in OF_GAME},
            persons=np.array(self._column("opponent_id"), np.int64),
            ratings=ratings,
            scores=scores,
            is_open=np.array([state == _OPEN for state in self._column("state")], bool),
            is_first=~np.isin(np.array(self._column("id"), np.int64), np.array(self.late, np.int64)),
        )

    def _texts(self, key: By) -> Sequence[str]:
        """What a key of games says of each."""
        if key is By.RATING_BAND:
            ratings = self._column("opponent_rating")
            bands = {rating: band_text(rating) for rating in set(ratings)}
            return [bands[rating] for rating in ratings]
        if key is By.OPPONENT_KIND:
            return ["program" if is_bot else "person" for is_bot in self._column("is_bot")]
        if key in _CONFIGURED:
            at = _CONFIGURED.index(key)
            return [self.configured[number][at] for number in self._column("engine_config_id")]
        found = self._column(key.value)
        if key is By.WEEK:
            return self._weeks(found)
        if key is By.MONTH and (odd := {text for text in set(found) if not _MONTH.fullmatch(str(text))}):
            number = next(key for key, text in zip(self._column("id"), found, strict=True) if text in odd)
            raise RecordError(f"game {number}: it began in no month, but in {min(odd, key=str)!r:.60}")
        return found

    def _weeks(self, days: Sequence[Any]) -> Sequence[str]:
        """The week of each of these days, which are texts."""
        weeks = {}
        for number, day in zip(self._column("id"), days, strict=True):
            if day not in weeks:
                with decoding(f"game {number}"):
                    weeks[day] = week_text(date.fromisoformat(day))
        return [weeks[day] for day in days]

    def _cells(self) -> CellTable:
        parts, lists = list(self._column("sums")), list(self._column("models"))
        for number, key in enumerate(self._column("id")):
            if key in self.others:
                lists[number], parts[number] = self.others[key]
        with decoding("the summaries of games"):
            rows = unpacked(b"".join(parts))
            lengths = np.array([len(part) for part in parts], np.intp) // ROW_BYTES
            games = np.repeat(np.arange(len(parts)), lengths)
            if self.phase is not None:
                chosen = rows[:, AT["phase"]] == self.phase.number
                rows, games = rows[chosen], games[chosen]
            names = [model_names(text) for text in dict.fromkeys(lists)]
            return cell_table(rows, games, names, codes_of(lists))

    def _column(self, name: str) -> Sequence[Any]:
        return self.columns[name]


_STATES = {state.value for state in GameStatus}
_OPEN, _FINISHED = GameStatus.OPEN.value, GameStatus.FINISHED.value


def _require_game(key: int, opponent_rating: object, state: str, result: str | None) -> None:
    """Refuse a game's row with values that cannot be.

    Raises:
        RecordError: The message names the game and the value.
    """
    with decoding(f"game {key}"):
        require_rating("opponent_rating", opponent_rating)
        GameStatus(state)
        if result is not None:
            GameResult(result)


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
    by_phase = By.PHASE in keys or filters.phase is not None
    columns = await read_columns(session, _games(session, keys, of_games(filters), by_phase=by_phase))
    rows_of = (columns[name] for name in ("id", "state", "is_settled", "outdated"))
    counts = {
        key: count
        for key, state, settled, count in zip(*rows_of, strict=True)
        if state == _FINISHED and settled
    }
    over = [key for key, count in counts.items() if count is None]
    outdated = sum((await outdated_of_games(session, over)).values(), sum(filter(None, counts.values())))
    if among is not None:
        chosen = [among(key) for key in columns["id"]]
        columns = {name: list(compress(values, chosen)) for name, values in columns.items()}
    others = [key for key, sums in zip(columns["id"], columns["sums"], strict=True) if sums is None]
    return GroupRows(
        by=keys,
        columns=columns,
        late=list(await session.scalars(_late())),
        configured=await _configured(session) if set(keys) & set(_CONFIGURED) else {},
        others={
            key: _made(replies, by_phase=by_phase)
            for key, replies in (await replies_of_games(session, others)).items()
        },
        outdated=outdated,
        phase=filters.phase,
    )


def _made(replies: Sequence[ReplyFact], *, by_phase: bool) -> tuple[str, bytes]:
    """The columns `models` and `sums` of a game's summary."""
    found = reply_sums(replies)
    return models_text(found.models), packed(found.phase_rows if by_phase else found.rows)


def _games(
    session: AsyncSession, keys: Sequence[By], filters: Filters, *, by_phase: bool
) -> Select[*tuple[Any, ...]]:
    columns: dict[By, ColumnElement[Any]] = {
        By.PLAYER: GameRow.player.expression,
        By.GAME: GameRow.game.expression,
        By.SITE: GameRow.site.expression,
        By.SPEED: GameRow.speed.expression,
        By.WEEK: _day(session, 10).label("week"),
        By.MONTH: _day(session, 7).label("month"),
        By.OPPONENT_KIND: OpponentRow.is_bot.label("is_bot"),
    }
    chosen = [columns[key] for key in keys if key in columns]
    if set(keys) & set(_CONFIGURED):
        chosen.append(GameRow.engine_config_id.expression)
    sums = GameSummaryRow.phase_sums if by_phase else GameSummaryRow.sums
    statement = select(
        GameRow.id,
        GameRow.opponent_id,
        # As text, to do without a conversion of each.
        type_coerce(GameRow.state, String).label("state"),
        GameRow.is_settled,
        type_coerce(GameRow.result, String).label("result"),
        GameRow.opponent_rating,
        GameSummaryRow.outdated,
        GameSummaryRow.models,
        # Without a type, which would copy each value.
        type_coerce(sums, NullType()).label("sums"),
        *chosen,
    ).outerjoin(GameSummaryRow, is_valid())
    if By.OPPONENT_KIND in keys:
        statement = statement.join(OpponentRow, OpponentRow.id == GameRow.opponent_id)
    return statement.where(GameRow.state != GameStatus.ABORTED, *selected(filters))


def _day(session: AsyncSession, length: int) -> ColumnElement[str]:
    """The day on which a game began, in UTC: so many characters of a text like ``2026-11-25``."""
    if session.get_bind().dialect.name == "sqlite":  # which stores UTC as text
        return func.substr(type_coerce(GameRow.started_at, String), 1, length)
    return func.to_char(func.timezone("UTC", GameRow.started_at), "YYYY-MM-DD"[:length])


def _late() -> Select[int]:
    """Keys of the games that do not count among the first `CAP_GAMES` of their person, at their game.

    Numbered as in `storage.statistics.facts.game_facts`, but only the games of persons who have so many.
    """
    is_counted = case((GameRow.state != GameStatus.ABORTED, 1), else_=0)
    frequent = (
        select(GameRow.opponent_id, GameRow.game)
        .group_by(GameRow.opponent_id, GameRow.game)
        .having(func.count() > CAP_GAMES)
    )
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
        .where(tuple_(GameRow.opponent_id, GameRow.game).in_(frequent))
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
