"""Reads all decisions in the database in batches, and stores missing outcomes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import LargeBinary, Select, delete, func, select, type_coerce, update
from sqlalchemy.ext.asyncio import AsyncSession

from engine.decision import Decision, Outcome, ProfileVerdict
from engine.human.reply_forecast import Expectations, ReplyForecast
from storage.evidence.summaries import delete_summaries
from storage.ledger.decisions import reply_scores, store_profile
from storage.ledger.forecasts import store_forecast
from storage.ledger.judgements import forget_judgement
from storage.ledger.outcomes import record_outcome
from storage.packing.records import unpack
from storage.records import DecisionState, GameStatus, from_row
from storage.tables.games import DecisionRow, ForecastRow, GameRow, OutcomeRow
from storage.tables.puzzles import SearchedGame
from storage.tables.types import as_stored

_Statement = Select[*tuple[Any, ...]]
_COPIED = ("depth", "nodes", "time_s", "search_mode", "is_complete")
"""Columns that are copies of the decision's attributes of the same names."""
_JUDGED = ("is_trap", "trap_quality", "reply_count", "is_decided")
"""Columns that are copies of the profile verdict's attributes of the same names."""


@dataclass(frozen=True, slots=True)
class RecordedDecision:
    """A decision as stored in its row, with an unparsed record; it may have been taken back."""

    id: int
    game_id: int
    site: str
    site_game_id: str
    game: str
    """The game's name in `engine.games`."""
    initial_position: str | None
    selection: object
    """Why the player of this game was chosen."""
    game_state: GameStatus
    is_settled: bool
    """`storage.records.StoredGame.is_settled` of the decision's game."""
    moves: tuple[str, ...]
    """The game's moves, as the server reported them."""
    ply: int
    is_taken_back: bool
    move: str
    state: DecisionState
    outcome_rule: int | None
    """The version of the rules that judged the outcome; None if there is no outcome."""
    outcome_reply: str | None
    """The reply that the outcome judges; None if there is no outcome or no reply."""
    rule: int | None
    """The version of the rules that judged the profile; None if the profile is incomplete."""
    forecast_rule: int | None
    """The version of the rules by which the forecast was made; None if there is no forecast."""
    forecast: object
    """The packed forecast (see `unpack`); None if there is no forecast."""
    our_rating: int | None
    opponent_rating: int | None
    clock_initial_s: int | None
    clock_increment_s: int | None
    derived: Mapping[str, object]
    """The columns that are derived from the record, by name (`wrong_columns`)."""
    record: object
    """The packed record (see `unpack`)."""
    created_at: datetime


def wrong_columns(
    found: RecordedDecision, decision: Decision, judged: ProfileVerdict | None
) -> dict[str, object]:
    """Return the columns of a decision's row that contradict its record, with their correct values.

    Args:
        found: The decision's row; columns judged under other rules are skipped.
        decision: The decision parsed from its record.
        judged: The verdict on the decision's profile; None if the profile is incomplete.
    """
    expected: dict[str, object] = {name: getattr(decision, name) for name in _COPIED}
    expected["replies"] = reply_scores(decision.chosen) if decision.chosen.is_whole else None
    if found.rule is not None and (judged is None or judged.rule == found.rule):
        expected |= {name: getattr(judged, name, None) for name in _JUDGED}
    return {name: value for name, value in expected.items() if found.derived[name] != value}


async def restore_columns(
    session: AsyncSession, found: RecordedDecision, right: Mapping[str, object]
) -> bool:
    """Set the columns derived from a decision's record; return False if the record has changed since.

    Args:
        session: The transaction's session.
        found: The decision as it was read earlier.
        right: The result of `wrong_columns`, which must not be empty.
    """
    is_same = type_coerce(DecisionRow.record, LargeBinary) == type_coerce(found.record, LargeBinary)
    restored = update(DecisionRow).where(DecisionRow.id == found.id, is_same).values(**right)
    return (await session.execute(restored.returning(DecisionRow.id))).first() is not None


@dataclass(frozen=True, slots=True)
class NextDecision:
    """The first decision made two plies after another decision."""

    position: str
    """The later decision's position, which shows the reply to the earlier decision's move."""
    is_taken_back: bool
    created_at: datetime


async def count_decisions(session: AsyncSession) -> tuple[int, int]:
    """Return the number of decisions, including those taken back, and the highest key (0 if none)."""
    counted = select(func.count(), func.coalesce(func.max(DecisionRow.id), 0)).select_from(DecisionRow)
    count, highest = (await session.execute(counted)).one()
    return count, highest


async def decisions_between(
    session: AsyncSession, after_id: int, last_id: int, limit: int
) -> list[RecordedDecision]:
    """Return up to `limit` decisions with keys above `after_id` and up to `last_id`, in key order."""
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
            GameRow.our_rating,
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
    return from_row(
        RecordedDecision,
        row,
        moves=tuple(row.moves.split()),
        is_taken_back=row.takeback != 0,
        derived={name: getattr(row, name) for name in (*_COPIED, *_JUDGED, "replies")},
    )


async def next_decision(
    session: AsyncSession, game_id: int, ply: int, decision_id: int
) -> NextDecision | None:
    """Find the first decision two plies after an earlier decision, even one that was later taken back.

    Args:
        ply: Ply of the earlier decision.
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


async def complete_decision(
    session: AsyncSession,
    found: RecordedDecision,
    decision: Decision,
    judged: ProfileVerdict | None,
    outcome: Outcome | None,
    made: tuple[ReplyForecast, Expectations] | None = None,
) -> bool | None:
    """For a confirmed decision of a settled game, store data that is missing or was made by earlier rules.

    The game's summary is deleted, not recomputed, because recomputing it would dominate the run time.

    Args:
        found: The decision as it was read before.
        decision: The same decision, with the chosen move's complete profile if it was found.
        judged: The verdict on that profile; None if the profile is incomplete.
        outcome: The new outcome; None if a current outcome exists or the decision cannot be judged.
        made: The new forecast and its sums; None if the decision has a forecast or cannot have one.

    Returns:
        Whether the outcome was stored; False if no outcome was passed or the decision already has one. None
        if nothing was stored, because the game or the decision has changed since it was read.
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
    if judged is not None and (row.rule is None or row.rule < judged.rule):
        await store_profile(session, found.id, decision, judged)
    if made is not None:
        await store_forecast(session, found.id, *made)
    is_judged = outcome is not None and await record_outcome(session, found.id, outcome)
    if made is not None or is_judged:  # the trainer and the judge have to search it again
        await forget_judgement(session, found.game_id, found.id)
        await session.execute(delete(SearchedGame).where(SearchedGame.game_id == found.game_id))
    await delete_summaries(session, [found.game_id])
    return is_judged
