"""Summaries: finished games with their replies, stored in the form that statistics use.

A summary (`storage.tables.summaries`) is created when a game is closed, and recomputed after every change to
a decision, an outcome, a forecast or a judgement of a closed game; `summarise` is called in the same
transaction and locks the games, so that the later of two transactions sees what the earlier one wrote. A
summary is *valid* if its game is settled and the summary has the current layout, rules and judge. Games
without a valid summary are read from their decisions (`storage.evidence.reading`), so summaries make
statistics faster but never change them.

``desdemona db upgrade`` and the daemon create missing or outdated summaries; ``desdemona db recheck``
compares each summary with its game (`repair_summaries`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from secrets import randbits
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, delete, insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.bait_rule import FORECAST_RULE
from engine.figure_9 import FIGURE_9_RULE
from engine.judge import JUDGE_VERSION
from storage.evidence.game_records import GameSummary, game_records
from storage.evidence.replies import LAYOUT
from storage.records import GameStatus
from storage.tables.games import GameRow
from storage.tables.summaries import GameSummaryRow

SUMMARY_BATCH_GAMES = 50
"""Number of games summarised in one transaction. It takes 0.1 s, during which SQLite stores no moves."""
SUMMARY_BATCH_GAMES_IN_PLAY = 5
"""Number of games summarised in one transaction while games are in progress; the transaction takes 0.01 s."""
_ANY_STAMP = {"stamp": 0}
"""Replaces the stamps of two summaries before they are compared, so that the comparison ignores stamps."""


def is_valid() -> ColumnElement[bool]:
    """SQL condition that joins each game with its summary if the summary is valid."""
    return and_(GameSummaryRow.game_id == GameRow.id, GameRow.is_settled.is_(True), *is_current())


def is_current() -> tuple[ColumnElement[bool], ...]:
    """Conditions on `GameSummaryRow`: the summary was made with the current layout and rules."""
    return (
        GameSummaryRow.layout == LAYOUT,
        GameSummaryRow.rule == FIGURE_9_RULE,
        GameSummaryRow.forecast_rule == FORECAST_RULE,
        GameSummaryRow.judge_version == JUDGE_VERSION,
    )


def without_summary(*which: ColumnElement[bool]) -> Select[int]:
    """Keys of the games, including open ones, that have no valid summary.

    Args:
        which: Conditions on `GameRow` that select games.
    """
    return (
        select(GameRow.id)
        .outerjoin(GameSummaryRow, is_valid())
        .where(GameSummaryRow.game_id.is_(None), *which)
        .order_by(GameRow.id)
    )


async def games_to_summarise(session: AsyncSession, after: int, limit: int) -> list[int]:
    """The first `limit` keys above `after`, ascending, of settled games without a valid summary."""
    statement = without_summary(GameRow.id > after, GameRow.is_settled.is_(True))
    return list(await session.scalars(statement.limit(limit)))


async def list_finished_games(session: AsyncSession, after: int, limit: int) -> list[int]:
    """The first `limit` keys above `after`, ascending, of settled games."""
    statement = select(GameRow.id).where(GameRow.id > after, GameRow.is_settled.is_(True))
    return list(await session.scalars(statement.order_by(GameRow.id).limit(limit)))


async def summarise(session: AsyncSession, games: Sequence[int]) -> int:
    """Recompute the summaries of the given games; delete the summaries of open games.

    Returns:
        The number of summaries that these games now have; a game with an unreadable row has none.
    """
    records = await game_records(session, await _locked(session, games))
    await _replace(session, games, [*records.values()])
    return len(records)


async def delete_summaries(session: AsyncSession, games: Sequence[int]) -> None:
    """Remove the summaries of the given games; `games_to_summarise` then returns those that are settled."""
    await _replace(session, games, [])


async def repair_summaries(session: AsyncSession, games: Sequence[int]) -> list[int]:
    """Compare the given games' summaries with newly computed summaries, and replace wrong ones.

    Returns:
        Keys of the games whose summary was marked valid but was wrong.
    """
    records = await game_records(session, await _locked(session, games))
    stored = await _stored(session, games)
    rows = {key: {**_row(record), **_ANY_STAMP} for key, record in records.items()}
    changed = [game for game in games if stored.get(game) != rows.get(game)]
    await _replace(session, changed, [records[game] for game in changed if game in records])
    return [game for game in changed if game in stored]


def _row(record: GameSummary) -> Mapping[str, Any]:
    """The values of a row of `GameSummaryRow`, by column."""
    return {
        "game_id": record.id,
        "layout": LAYOUT,
        "rule": FIGURE_9_RULE,
        "forecast_rule": FORECAST_RULE,
        "judge_version": JUDGE_VERSION,
        "stamp": randbits(63),
        **asdict(record.counts),
        "labels": record.labels,
        "game": record.game,
        "replies": record.replies,
    }


async def _replace(session: AsyncSession, games: Sequence[int], records: Sequence[GameSummary]) -> None:
    """Replace the summary rows of the given games."""
    if games:
        await session.execute(delete(GameSummaryRow).where(GameSummaryRow.game_id.in_(games)))
    if records:
        await session.execute(insert(GameSummaryRow), [_row(record) for record in records])


async def _stored(session: AsyncSession, games: Sequence[int]) -> dict[int, Mapping[str, Any]]:
    """The valid summaries of some games."""
    statement = select(GameSummaryRow.__table__).join(GameRow, is_valid())
    rows = await session.execute(statement.where(GameSummaryRow.game_id.in_(games)))
    return {row.game_id: {**row._asdict(), **_ANY_STAMP} for row in rows}


async def _locked(session: AsyncSession, games: Sequence[int]) -> list[int]:
    """Lock the finished games among those given until the transaction ends; return their keys."""
    closed = select(GameRow.id).where(GameRow.id.in_(games), GameRow.state != GameStatus.OPEN)
    return list(await session.scalars(closed.order_by(GameRow.id).with_for_update()))
