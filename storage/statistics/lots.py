"""Decisions by lot in the database: which ones they are, and how many a game has."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, case, false, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.decision import TRIAL_MODE
from engine.player_kinds import PLAYER_KINDS
from storage.filters import Filters, filter_conditions
from storage.records import MATCH_SITE, GameStatus
from storage.tables.games import DecisionRow, GameRow, OpponentRow, OutcomeRow

DRAWING = tuple(sorted(kind.name for kind in PLAYER_KINDS.values() if kind.draws_decisions))
"""Names of the players that draw single decisions."""


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
    return case((mode.is_(None), otherwise), else_=mode == TRIAL_MODE)


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
    games = select(GameRow.id).join(OpponentRow, OpponentRow.id == GameRow.opponent_id).where(*which)
    lots = (
        select(func.count(DecisionRow.id))
        .join(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
        # By the games' keys, so that no database reads all decisions.
        .where(DecisionRow.game_id.in_(games), OutcomeRow.reply.is_not(None), is_by_lot(false()))
    )
    count = await session.scalar(select(func.count()).select_from(games.subquery()))
    return LotTraffic(count or 0, await session.scalar(lots) or 0)
