"""Outcomes: the reply to one of our moves and the time of the reply; at most one per decision."""

from sqlalchemy.ext.asyncio import AsyncSession

from engine.decision import Outcome
from engine.human.reply_forecast import ReplyForecast
from storage.inserts import insert_new, insert_newer
from storage.ledger import forecasts
from storage.records import ReplyTime, columns_of
from storage.tables.games import OutcomeRow, ReplyTimeRow
from storage.tables.types import now_utc


async def record_outcome(
    session: AsyncSession, decision_id: int, outcome: Outcome, made: ReplyForecast | None = None
) -> bool:
    """Store an outcome, or replace one judged by earlier rules; return False if a current outcome exists.

    Args:
        made: The decision's forecast, if the caller has just stored it; None to read it from the database.
    """
    inserted = await insert_newer(
        session,
        OutcomeRow,
        decision_id=decision_id,
        **columns_of(outcome),
        at=now_utc(),
    )
    if inserted is None:
        return False
    if made is None:
        await forecasts.settle(session, decision_id)
    elif outcome.reply is not None:
        await forecasts.record_bait_outcome(session, decision_id, made, outcome.reply)
    return True


async def record_reply_time(session: AsyncSession, decision_id: int, took: ReplyTime) -> bool:
    """Store how long the reply took; return False, changing nothing, if the time is already stored."""
    inserted = await insert_new(session, ReplyTimeRow, decision_id=decision_id, **columns_of(took))
    return inserted is not None
