"""Forecasts of people's replies to our moves, at most one per decision."""

from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy import bindparam, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from engine.human.reply_forecast import Expectations, ReplyForecast, without_person
from storage.filters import standing_conditions
from storage.inserts import core_table, insert_newer
from storage.ledger.persons import is_person_of_decision_forgotten
from storage.tables.games import DecisionRow, ForecastRow, OutcomeRow
from storage.tables.types import now_utc

# Built once, and on the tables themselves, as in `storage.ledger.decisions`.
_FORECASTS, _OUTCOMES = core_table(ForecastRow), core_table(OutcomeRow)
_REPLY = select(_OUTCOMES.c.reply).where(_OUTCOMES.c.decision_id == bindparam("decision"))
_UNSETTLED = (
    select(_FORECASTS.c.record, _OUTCOMES.c.reply)
    .join(_OUTCOMES, _OUTCOMES.c.decision_id == _FORECASTS.c.decision_id)
    .where(_FORECASTS.c.decision_id == bindparam("decision"), _OUTCOMES.c.reply.is_not(None))
)
_RECORD_OUTCOME = update(_FORECASTS).where(_FORECASTS.c.decision_id == bindparam("decision"))


async def store_forecast(
    session: AsyncSession, decision_id: int, made: ReplyForecast, expected: Expectations
) -> bool:
    """Store a forecast, replacing one made by earlier rules; return False if a current forecast exists.

    What it says of a person who was forgotten meanwhile is left out.

    Args:
        expected: The forecast's expectations, such as the expected cost of the reply.
    """
    bait, record = made.bait, made.to_record()
    if made.person is not None and await is_person_of_decision_forgotten(session, decision_id):
        record = without_person(record)
    inserted = await insert_newer(
        session,
        ForecastRow,
        decision_id=decision_id,
        rule=made.rule,
        model_kind=made.model.kind,
        model_name=made.model.name,
        model_sha256=made.model.sha256,
        prior=made.prior,
        **asdict(expected),
        bait=None if bait is None else bait.reply,
        bait_probability=None if bait is None else bait.p_reply,
        bait_cost=None if bait is None else bait.cost.cost,
        confirm_depth=0 if made.costs is None else made.costs.depth,
        is_taken=None,
        reply_probability=None,
        at=now_utc(),
        record=record,
    )
    if inserted is None:  # the one that is kept may not be settled
        await settle(session, decision_id)
        return False
    reply = (await session.execute(_REPLY, {"decision": decision_id})).scalar_one_or_none()
    if reply is not None:
        await record_bait_outcome(session, decision_id, made, reply)
    return True


async def get_forecast(session: AsyncSession, decision_id: int) -> ReplyForecast | None:
    """A decision's forecast, or None.

    Raises:
        RecordError: The forecast cannot be read.
    """
    return (await load_forecasts(session, [decision_id])).get(decision_id)


async def load_forecasts(session: AsyncSession, decisions: Sequence[int]) -> dict[int, ReplyForecast]:
    """The stored forecasts of the given decisions, keyed by decision.

    Raises:
        RecordError: A forecast cannot be read.
    """
    columns = select(ForecastRow.decision_id, ForecastRow.record)
    rows = await session.execute(columns.where(ForecastRow.decision_id.in_(decisions)))
    return {row.decision_id: ReplyForecast.from_record(row.record) for row in rows}


async def forecasts_of_game(session: AsyncSession, game_id: int) -> dict[int, ReplyForecast]:
    """The forecasts of a game's decisions that were not taken back, keyed by decision.

    Raises:
        RecordError: A forecast cannot be read.
    """
    rows = await session.execute(
        select(ForecastRow.decision_id, ForecastRow.record)
        .join(DecisionRow, DecisionRow.id == ForecastRow.decision_id)
        .where(DecisionRow.game_id == game_id, DecisionRow.takeback == 0)
    )
    return {row.decision_id: ReplyForecast.from_record(row.record) for row in rows}


async def list_unforecast(session: AsyncSession, game_id: int, rule: int) -> set[int]:
    """Keys of a game's decisions that count, have a complete profile, and lack a forecast under this rule."""
    rows = await session.scalars(
        select(DecisionRow.id)
        .outerjoin(ForecastRow, ForecastRow.decision_id == DecisionRow.id)
        .where(
            DecisionRow.game_id == game_id,
            *standing_conditions(),
            DecisionRow.is_complete.is_(True),
            (ForecastRow.rule.is_(None)) | (ForecastRow.rule < rule),
        )
    )
    return set(rows)


async def settle(session: AsyncSession, decision_id: int) -> None:
    """Record how likely the reply was and whether it takes a bait, once forecast and outcome are stored."""
    row = (await session.execute(_UNSETTLED, {"decision": decision_id})).one_or_none()
    if row is not None:
        await record_bait_outcome(session, decision_id, ReplyForecast.from_record(row.record), row.reply)


async def record_bait_outcome(
    session: AsyncSession, decision_id: int, made: ReplyForecast, reply: str
) -> None:
    """Record in a decision's forecast how likely the reply was and whether it takes a bait."""
    outcome = {"is_taken": made.takes_bait(reply), "reply_probability": made.probability_of(reply)}
    await session.execute(_RECORD_OUTCOME, {"decision": decision_id, **outcome})
