"""What some games add up to for the people who played them: results, baits and slips.

Chat and farewell speak of the same things as the page of a game (docs/trials.md), so the words mean the same
there: a *trap* is a move of ours with a confirmed bait (`engine.bait_rule`), answered or not; somebody falls
into it by taking one; any other reply that costs a tenth of the game or more is a *slip*.  Decided positions
count nowhere, as in the statistics (`storage.evidence.statistics.groups`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.bait_rule import RULE as FORECAST_RULE
from engine.judgement import ERROR, RULE
from storage.evidence.statistics.valid_summaries import is_valid, without_summary
from storage.filters import Filters, count_where, filter_conditions, standing
from storage.records import GameResult, GameStatus
from storage.tables.games import DecisionRow, ForecastRow, GameRow, OutcomeRow
from storage.tables.summaries import GameSummaryRow

_BATCH = 500
"""Games in one statement."""
_COUNTS = ("baits_set", "baits_taken", "slips")
"""The fields of `BaitCounts`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaitCounts:
    """Moves of ours and replies of theirs, in positions that were not decided."""

    baits_set: int = 0
    """Moves with a confirmed bait."""
    baits_taken: int = 0
    """Replies that take one."""
    slips: int = 0
    """Other replies that are errors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Encounters(BaitCounts):
    """Games, results from our view, and what stood in them."""

    games: int = 0
    """All except aborted ones, whose baits and slips count."""
    wins: int = 0
    draws: int = 0
    losses: int = 0


async def bait_counts(session: AsyncSession, game_id: int) -> BaitCounts:
    """The counts of one game."""
    return await _counted(session, DecisionRow.game_id == game_id)


async def encounters(session: AsyncSession, filters: Filters) -> Encounters:
    """The games that pass the filters."""
    conditions = filter_conditions(filters)
    found = select(
        _sum(GameRow.state != GameStatus.ABORTED).label("games"),
        _sum(GameRow.result == GameResult.WIN).label("wins"),
        _sum(GameRow.result == GameResult.DRAW).label("draws"),
        _sum(GameRow.result == GameResult.LOSS).label("losses"),
    ).where(*conditions)
    row = (await session.execute(found)).one()
    of_summaries = select(
        *(func.coalesce(func.sum(GameSummaryRow.__table__.c[name]), 0).label(name) for name in _COUNTS)
    ).select_from(GameRow)
    summed = (await session.execute(of_summaries.join(GameSummaryRow, is_valid()).where(*conditions))).one()
    others = list(await session.scalars(without_summary(*conditions)))
    counted = [summed, *(await counts_of_games(session, others)).values()]
    return Encounters(
        **{name: sum(getattr(each, name) for each in counted) for name in _COUNTS},
        games=row.games,
        wins=row.wins,
        draws=row.draws,
        losses=row.losses,
    )


async def counts_of_games(session: AsyncSession, games: Sequence[int]) -> dict[int, BaitCounts]:
    """The counts of some games, by the game's key; a game without our decisions is absent."""
    found: dict[int, BaitCounts] = {}
    for start in range(0, len(games), _BATCH):
        some = DecisionRow.game_id.in_(games[start : start + _BATCH])
        statement = _counts(DecisionRow.game_id).where(some).group_by(DecisionRow.game_id)
        found |= {row.game_id: _bait_counts(row) for row in await session.execute(statement)}
    return found


async def _counted(session: AsyncSession, which: ColumnElement[bool]) -> BaitCounts:
    return _bait_counts((await session.execute(_counts().where(which))).one())


def _counts(*columns: Any) -> Select[*tuple[Any, ...]]:
    is_taken = func.coalesce(ForecastRow.is_taken, False)
    return (
        select(
            *columns,
            _sum(ForecastRow.bait.is_not(None)).label("baits_set"),
            _sum(is_taken).label("baits_taken"),
            _sum(and_(OutcomeRow.cost >= ERROR, ~is_taken)).label("slips"),
        )
        .select_from(DecisionRow)
        .outerjoin(
            ForecastRow,
            and_(ForecastRow.decision_id == DecisionRow.id, ForecastRow.rule == FORECAST_RULE),
        )
        .outerjoin(OutcomeRow, and_(OutcomeRow.decision_id == DecisionRow.id, OutcomeRow.rule == RULE))
        .where(*standing(), DecisionRow.is_decided.is_(False))
    )


def _bait_counts(row: Any) -> BaitCounts:
    return BaitCounts(**{name: getattr(row, name) for name in _COUNTS})


def _sum(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.coalesce(count_where(condition), 0)
