"""Decisions by lot in the database: which ones they are, and how many a game has."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, case, false, select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.decision import SearchMode
from engine.strategies.registry import STRATEGIES
from storage.evidence.statistics.valid_summaries import is_valid
from storage.filters import Filters, count_where, filter_conditions
from storage.records import MATCH_SITE, GameStatus
from storage.tables.games import DecisionRow, GameRow, OpponentRow, OutcomeRow
from storage.tables.summaries import GameSummaryRow

DRAWING = tuple(sorted(kind.name for kind in STRATEGIES.values() if kind.draws_decisions))
"""Names of the players that draw single decisions."""
_BATCH = 500
"""Games in one statement."""


@dataclass(frozen=True, slots=True)
class LotTraffic:
    """How often a lot decided in games with people."""

    games: int
    """Finished and settled games of players that draw single decisions."""
    lots: int
    """Their decisions by lot that got a reply, the only ones that count in a trial."""


def is_by_lot(otherwise: ColumnElement[bool]) -> ColumnElement[bool]:
    """Whether a lot made a decision, as a condition on `DecisionRow`.

    Args:
        otherwise: The condition where nobody knows: the record was damaged when migration 0012 read it.
    """
    mode = DecisionRow.search_mode
    return case((mode.is_(None), otherwise), else_=mode == SearchMode.TRIAL)


@dataclass(frozen=True, slots=True)
class LotCounts:
    """Decisions by lot in a game; fields as in its summary."""

    lots: int = 0
    """All of them, also those whose record does not say so of players that draw."""
    lots_answered: int = 0
    """Those that `LotTraffic.lots` counts."""


async def lots_of_games(session: AsyncSession, games: Sequence[int]) -> dict[int, LotCounts]:
    """The counts of some games, by the game's key; a game without decisions is absent."""
    found: dict[int, LotCounts] = {}
    for start in range(0, len(games), _BATCH):
        is_answered = and_(OutcomeRow.reply.is_not(None), is_by_lot(false()))
        statement = (
            select(
                DecisionRow.game_id,
                count_where(is_by_lot(GameRow.player.in_(DRAWING))).label("lots"),
                count_where(is_answered).label("answered"),
            )
            .join(GameRow, GameRow.id == DecisionRow.game_id)
            .outerjoin(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
            # By the games' keys, so that no database reads all decisions.
            .where(DecisionRow.game_id.in_(games[start : start + _BATCH]))
            .group_by(DecisionRow.game_id)
        )
        found |= {row.game_id: LotCounts(row.lots, row.answered) for row in await session.execute(statement)}
    return found


async def lot_traffic(session: AsyncSession, filters: Filters | None = None) -> LotTraffic:
    """How often a lot decided in the finished games with people that pass the filters."""
    which = (
        GameRow.player.in_(DRAWING),
        GameRow.state == GameStatus.FINISHED,
        GameRow.is_settled.is_(True),
        GameRow.site != MATCH_SITE,
        OpponentRow.is_bot.is_(False),
        *filter_conditions(filters or Filters()),
    )
    statement = (
        select(GameRow.id, GameSummaryRow.lots_answered)
        .join(OpponentRow, OpponentRow.id == GameRow.opponent_id)
        .outerjoin(GameSummaryRow, is_valid())
        .where(*which)
    )
    games = (await session.execute(statement)).all()
    others = await lots_of_games(session, [row.id for row in games if row.lots_answered is None])
    known = sum(row.lots_answered or 0 for row in games)
    return LotTraffic(len(games), known + sum(each.lots_answered for each in others.values()))
