"""Reads what the statistics of groups of games are made of: games by column, and their summaries.

One statement reads the games that are selected, each with the packed sums of its summary, and another names
those beyond a person's first games.  A database could also add the sums up itself, from a table with a column
for each; SQLite takes several times as long for that as for handing them over (docs/performance.md).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Select, String, case, func, select, tuple_, type_coerce
from sqlalchemy.ext.asyncio import AsyncSession

from engine.errors import RecordError
from storage.damage import naming
from storage.filters import Filters, TrapSettings
from storage.inference.defaults import CAP_GAMES
from storage.records import GameResult, GameStatus
from storage.statistics.facts import outdated_of_games, replies_of_games, require_rating, selected
from storage.statistics.group_sums import CellCollector, CellTable, GameTable, grouped_sums
from storage.statistics.groups import OF_GAME, By, GroupStatistics, band_text, complete_keys
from storage.statistics.reply_sums import ReplySums, reply_sums, row_bytes, unpacked
from storage.statistics.summaries import model_names
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
    games: Sequence[Any]
    """Rows of `_games`."""
    late: frozenset[int]
    """Keys of games beyond their person's first `CAP_GAMES`."""
    configured: Mapping[int, tuple[str, str]]
    """Version and settings of each engine configuration."""
    others: Mapping[int, ReplySums]
    """The sums of the games that have no valid summary, by their keys."""
    outdated: int
    """Decisions that `storage.statistics.facts.count_outdated` counts in these games."""

    def statistics(self) -> list[GroupStatistics]:
        """The statistics of each group, in the order of the groups' names.

        Raises:
            RecordError: Something that is stored is damaged; the message names the game.
        """
        return grouped_sums(self._table(), self._cells(), self.by)

    def _table(self) -> GameTable:
        games = self.games
        for row in games:
            is_number = row.opponent_rating is None or type(row.opponent_rating) is int
            if row.result not in _SCORES or row.state not in _STATES or not is_number:
                _refuse(row)
        return GameTable(
            keys={key: self._texts(key) for key in self.by if key in OF_GAME},
            persons=np.array([row.opponent_id for row in games], np.int64),
            ratings=np.array(
                [np.nan if row.opponent_rating is None else row.opponent_rating for row in games], np.float64
            ),
            scores=np.array([_SCORES[row.result] for row in games], np.float64),
            is_open=np.array([row.state == GameStatus.OPEN for row in games], bool),
            is_first=np.array([row.id not in self.late for row in games], bool),
        )

    def _texts(self, key: By) -> list[str]:
        """What a key of games says of each."""
        if key is By.RATING_BAND:
            bands = {rating: band_text(rating) for rating in {row.opponent_rating for row in self.games}}
            return [bands[row.opponent_rating] for row in self.games]
        if key is By.OPPONENT_KIND:
            return ["program" if row.is_bot else "person" for row in self.games]
        if key in _CONFIGURED:
            at = _CONFIGURED.index(key)
            return [self.configured[row.engine_config_id][at] for row in self.games]
        found: list[str] = [getattr(row, key.value) for row in self.games]
        if key is By.MONTH and (odd := {text for text in set(found) if not _MONTH.fullmatch(str(text))}):
            number = next(row.id for row in self.games if row.month in odd)
            raise RecordError(f"game {number}: it began in no month, but in {min(odd, key=str)!r:.60}")
        return found

    def _cells(self) -> CellTable:
        cells = CellCollector()
        by_models: dict[str, tuple[list[int], list[bytes]]] = {}
        for number, row in enumerate(self.games):
            if row.sums is None:
                found = self.others[row.id]
                cells.add(number, found.models, found.rows)
            else:
                numbers, parts = by_models.setdefault(row.models, ([], []))
                numbers.append(number)
                parts.append(row.sums)
        size = row_bytes()
        for models, (numbers, parts) in by_models.items():
            with naming(f"a summary like that of game {self.games[numbers[0]].id}"):
                lengths = [len(part) // size for part in parts]
                cells.add(np.repeat(numbers, lengths), model_names(models), unpacked(b"".join(parts)))
        return cells.table()


_STATES = {state.value for state in GameStatus}


def _refuse(row: Any) -> None:
    """Name what is damaged of a game's row."""
    with naming(f"game {row.id}"):
        require_rating("opponent_rating", row.opponent_rating)
        GameStatus(row.state)
        GameResult(row.result)


async def read_groups(
    session: AsyncSession,
    filters: Filters | None = None,
    by: Sequence[By] = (By.PLAYER,),
    *,
    suspects: Mapping[int | str, Any] | None = None,
    is_suspect: bool = False,
) -> GroupRows:
    """Read what the statistics of the games that pass the filters need; those games are `game_facts`'s.

    Args:
        session: Of the transaction.
        filters: Which games; None: all.
        by: What to group by; the game is added, and the site for rating bands.
        suspects: The games that have flags (`storage.statistics.suspect_rows.suspect_games`); None: games are
            not chosen by that.
        is_suspect: Whether those with flags are wanted, or those without.

    Raises:
        RecordError: Something that is stored is damaged; the message names the game or decision.
    """
    keys = complete_keys(by)
    rows = (await session.execute(_games(session, keys, filters))).all()
    outdated = sum(row.outdated for row in rows if row.sums is not None and row.state == GameStatus.FINISHED)
    over = [row.id for row in rows if row.sums is None and row.state == GameStatus.FINISHED]
    outdated += sum((await outdated_of_games(session, over)).values())
    if suspects is not None:
        rows = [row for row in rows if (row.id in suspects) is is_suspect]
    others = await replies_of_games(session, [row.id for row in rows if row.sums is None])
    return GroupRows(
        by=keys,
        games=rows,
        late=frozenset(await session.scalars(_late())),
        configured=await _configured(session) if set(keys) & set(_CONFIGURED) else {},
        others={game: reply_sums(replies) for game, replies in others.items()},
        outdated=outdated,
    )


def _games(session: AsyncSession, keys: Sequence[By], filters: Filters | None) -> Select[*tuple[Any, ...]]:
    columns: dict[By, ColumnElement[Any]] = {
        By.PLAYER: GameRow.player.expression,
        By.GAME: GameRow.game.expression,
        By.SITE: GameRow.site.expression,
        By.SPEED: GameRow.speed.expression,
        By.MONTH: _month(session),
        By.OPPONENT_KIND: OpponentRow.is_bot.label("is_bot"),
    }
    chosen = [columns[key] for key in keys if key in columns]
    if set(keys) & set(_CONFIGURED):
        chosen.append(GameRow.engine_config_id.expression)
    statement = select(
        GameRow.id,
        GameRow.opponent_id,
        # As text, to do without a conversion of each.
        type_coerce(GameRow.state, String).label("state"),
        type_coerce(GameRow.result, String).label("result"),
        GameRow.opponent_rating,
        GameSummaryRow.outdated,
        GameSummaryRow.models,
        GameSummaryRow.sums,
        *chosen,
    ).outerjoin(GameSummaryRow, is_valid())
    if By.OPPONENT_KIND in keys:
        statement = statement.join(OpponentRow, OpponentRow.id == GameRow.opponent_id)
    return statement.where(GameRow.state != GameStatus.ABORTED, *selected(filters))


def _month(session: AsyncSession) -> ColumnElement[str]:
    """The month in which a game began, in UTC."""
    if session.get_bind().dialect.name == "sqlite":  # which stores UTC as text
        return func.substr(type_coerce(GameRow.started_at, String), 1, 7).label("month")
    return func.to_char(func.timezone("UTC", GameRow.started_at), "YYYY-MM").label("month")


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
    found = await session.execute(
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
    return {each[0]: (each[1], TrapSettings(*each[2:]).text) for each in found}
