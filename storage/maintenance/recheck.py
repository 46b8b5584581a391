"""Reads every decision of the database in batches, and stores missing outcomes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import LargeBinary, Select, delete, func, select, type_coerce, update
from sqlalchemy.ext.asyncio import AsyncSession

from engine.bait_rule import ReplyForecast
from engine.decision import Decision, Outcome
from engine.judgement import RULE
from storage.evidence.summaries import forget
from storage.ledger.decisions import judgement_columns, reply_scores, store_profile
from storage.ledger.forecasts import store_forecast
from storage.ledger.outcomes import record_outcome
from storage.packing.records import unpack
from storage.records import DecisionState, GameStatus
from storage.tables.games import DecisionRow, ForecastRow, GameRow, OutcomeRow
from storage.tables.training import SearchedGame
from storage.tables.types import as_stored

_Statement = Select[*tuple[Any, ...]]
_COPIED = ("depth", "nodes", "time_s", "search_mode", "is_complete")
"""Columns that are attributes of the decision."""
_JUDGED = ("is_trap", "trap_quality", "reply_count", "is_decided")
"""Columns that `judgement_columns` computes."""


@dataclass(frozen=True, slots=True)
class RecordedDecision:
    """A decision as its row has it, possibly taken back; its record has not been parsed yet."""

    id: int
    game_id: int
    site: str
    site_game_id: str
    game: str
    """Name in `engine.games`."""
    initial_position: str | None
    selection: object
    """Why the game's player was chosen."""
    game_state: GameStatus
    is_settled: bool
    """Of its game, as `storage.records.StoredGame.is_settled`."""
    moves: tuple[str, ...]
    """The game's, as the server showed them."""
    ply: int
    is_taken_back: bool
    move: str
    state: DecisionState
    outcome_rule: int | None
    """The version of the rules that judged its outcome; None: it has none."""
    outcome_reply: str | None
    """The reply that it judges; None: it has none, or there was no reply."""
    rule: int | None
    """The version of the rules that judged its profile; None: that is incomplete."""
    forecast_rule: int | None
    """The version of the rules that made its forecast; None: it has none."""
    forecast: object
    """Input of `unpack`; None: it has none."""
    opponent_rating: int | None
    clock_initial_s: int | None
    clock_increment_s: int | None
    derived: Mapping[str, object]
    """The columns that follow from the record, by name (`columns_from`)."""
    record: object
    """Input of `unpack`."""
    created_at: datetime


def columns_from(decision: Decision, rule: int | None) -> dict[str, object]:
    """The columns of a decision's row that follow from its record.

    Args:
        decision: From the record.
        rule: The version of the rules in the row; columns judged by another one than today's are left out.
    """
    derived: dict[str, object] = {name: getattr(decision, name) for name in _COPIED}
    derived["replies"] = reply_scores(decision.chosen) if decision.chosen.is_whole else None
    if rule == RULE:
        judged = judgement_columns(decision)
        derived |= {name: judged.get(name) for name in _JUDGED}
    return derived


async def restore_columns(session: AsyncSession, found: RecordedDecision, decision: Decision) -> int:
    """Compute the columns again that follow from a decision's record, where the row has other values.

    Args:
        session: Of the transaction.
        found: The decision as it was read before.
        decision: From the same record.

    Returns:
        How many columns had other values; 0, and no change, if the record has changed meanwhile.
    """
    expected = columns_from(decision, found.rule)
    wrong = {name: value for name, value in expected.items() if found.derived[name] != value}
    if not wrong:
        return 0
    is_same = type_coerce(DecisionRow.record, LargeBinary) == type_coerce(found.record, LargeBinary)
    restored = update(DecisionRow).where(DecisionRow.id == found.id, is_same).values(**wrong)
    is_restored = (await session.execute(restored.returning(DecisionRow.id))).first() is not None
    return len(wrong) if is_restored else 0


@dataclass(frozen=True, slots=True)
class NextDecision:
    """The first decision made two plies after another one."""

    position: str
    """Shows the reply to the other decision."""
    is_taken_back: bool
    created_at: datetime


async def count_decisions(session: AsyncSession) -> tuple[int, int]:
    """The number of decisions, including taken-back ones, and the highest key (0: there are none)."""
    counted = select(func.count(), func.coalesce(func.max(DecisionRow.id), 0)).select_from(DecisionRow)
    count, highest = (await session.execute(counted)).one()
    return count, highest


async def decisions_between(
    session: AsyncSession, after_id: int, last_id: int, limit: int
) -> list[RecordedDecision]:
    """At most `limit` decisions with keys above `after_id` and up to `last_id`, in the order of keys."""
    in_range = _decisions().where(DecisionRow.id > after_id, DecisionRow.id <= last_id)
    return [_decision(row) for row in await session.execute(in_range.order_by(DecisionRow.id).limit(limit))]


def _decisions() -> _Statement:
    return (
        select(
            DecisionRow.id,
            DecisionRow.game_id,
            GameRow.site,
            GameRow.site_game_id,
            GameRow.game,
            GameRow.initial_position,
            GameRow.selection,
            GameRow.state.label("game_state"),
            GameRow.is_settled,
            GameRow.moves,
            DecisionRow.ply,
            DecisionRow.takeback,
            DecisionRow.move,
            DecisionRow.state,
            OutcomeRow.rule.label("outcome_rule"),
            OutcomeRow.reply.label("outcome_reply"),
            DecisionRow.rule,
            ForecastRow.rule.label("forecast_rule"),
            as_stored(ForecastRow.record).label("forecast"),
            GameRow.opponent_rating,
            GameRow.clock_initial_s,
            GameRow.clock_increment_s,
            *(getattr(DecisionRow, name) for name in (*_COPIED, *_JUDGED)),
            DecisionRow.replies,
            as_stored(DecisionRow.record).label("record"),
            DecisionRow.created_at,
        )
        .join(GameRow, GameRow.id == DecisionRow.game_id)
        .outerjoin(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
        .outerjoin(ForecastRow, ForecastRow.decision_id == DecisionRow.id)
    )


def _decision(row: Any) -> RecordedDecision:
    return RecordedDecision(
        id=row.id,
        game_id=row.game_id,
        site=row.site,
        site_game_id=row.site_game_id,
        game=row.game,
        initial_position=row.initial_position,
        selection=row.selection,
        game_state=row.game_state,
        is_settled=row.is_settled,
        moves=tuple(row.moves.split()),
        ply=row.ply,
        is_taken_back=row.takeback != 0,
        move=row.move,
        state=row.state,
        outcome_rule=row.outcome_rule,
        outcome_reply=row.outcome_reply,
        rule=row.rule,
        forecast_rule=row.forecast_rule,
        forecast=row.forecast,
        opponent_rating=row.opponent_rating,
        clock_initial_s=row.clock_initial_s,
        clock_increment_s=row.clock_increment_s,
        derived={name: getattr(row, name) for name in (*_COPIED, *(_JUDGED if row.rule == RULE else ()))}
        | {"replies": row.replies},
        record=row.record,
        created_at=row.created_at,
    )


async def next_decision(
    session: AsyncSession, game_id: int, ply: int, decision_id: int
) -> NextDecision | None:
    """The decision that followed another one, even if it was taken back.

    Args:
        ply: Of the earlier decision.
        decision_id: The earlier decision's key.
    """
    statement = (
        select(
            as_stored(DecisionRow.record).label("record"),
            DecisionRow.takeback,
            DecisionRow.created_at,
        )
        .where(DecisionRow.game_id == game_id, DecisionRow.ply == ply + 2, DecisionRow.id > decision_id)
        .order_by(DecisionRow.id)
        .limit(1)
    )
    row = (await session.execute(statement)).one_or_none()
    if row is None:
        return None
    return NextDecision(str(unpack(row.record).get("position")), row.takeback != 0, row.created_at)


async def settle_later(
    session: AsyncSession,
    found: RecordedDecision,
    decision: Decision,
    outcome: Outcome | None,
    made: ReplyForecast | None = None,
) -> bool | None:
    """Store what a confirmed decision of a settled game still lacks, or has only by earlier rules.

    The game's summary goes: to make it again after each decision would take longer than the rest.

    Args:
        found: The decision as it was read before.
        decision: The same, with the chosen move's complete profile if it was found.
        outcome: None: the decision has one by today's rules, or cannot be judged.
        made: None: the decision has a forecast, or there can be none.

    Returns:
        Whether the outcome was stored; False if there was none to store, or the decision has one by now.
        None, and no change: the game or the decision has changed meanwhile.
    """
    # On PostgreSQL this keeps the game from being reopened before we commit.
    lock = select(GameRow.is_settled, GameRow.moves).where(GameRow.id == found.game_id).with_for_update()
    game = (await session.execute(lock)).one_or_none()
    if game is None or not game.is_settled or tuple(game.moves.split()) != found.moves:
        return None
    row = (
        await session.execute(
            select(DecisionRow.move, DecisionRow.state, DecisionRow.takeback, DecisionRow.rule).where(
                DecisionRow.id == found.id
            )
        )
    ).one_or_none()
    if row is None or (row.move, row.state, row.takeback) != (decision.move, DecisionState.CONFIRMED, 0):
        return None
    if decision.is_complete and (row.rule is None or row.rule < RULE):
        await store_profile(session, found.id, decision)
    if made is not None:
        await store_forecast(session, found.id, decision, made)
    is_judged = outcome is not None and await record_outcome(session, found.id, outcome)
    if made is not None or is_judged:  # the trainer has to look again
        await session.execute(delete(SearchedGame).where(SearchedGame.game_id == found.game_id))
    await forget(session, [found.game_id])
    return is_judged
