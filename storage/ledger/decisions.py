"""Stores decisions: each is committed before its move is sent, then marked as sent and confirmed."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Select, bindparam, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased, joinedload

from engine.decision import Candidate, Decision, Outcome, ProfileVerdict, without_state
from storage.errors import DuplicateDecision
from storage.inserts import core_table, insert_new
from storage.ledger.persons import is_person_of_decision_forgotten, is_person_of_game_forgotten
from storage.records import DecisionState, StoredDecision, columns_of, from_row
from storage.tables.games import DecisionRow
from storage.tables.types import now_utc

# The bot's statements for every move are built once, and on the tables themselves: the ORM costs more than
# SQLite does. The values still go through the columns' types.
_DECISIONS = core_table(DecisionRow)
_ID: BindParameter[int] = bindparam("decision")  # a column's own name would be taken for a value to set
_MARK_SENT = (
    update(_DECISIONS)
    .where(_DECISIONS.c.id == _ID, _DECISIONS.c.state == DecisionState.COMMITTED)
    .values(state=DecisionState.SENT, sent_at=bindparam("at"))
)
_MARK_CONFIRMED = (
    update(_DECISIONS)
    .where(_DECISIONS.c.id == _ID, _DECISIONS.c.state != DecisionState.CONFIRMED)
    .values(state=DecisionState.CONFIRMED, confirmed_at=bindparam("at"))
)
_STORE_PROFILE = (
    update(_DECISIONS)
    .where(_DECISIONS.c.id == _ID, _DECISIONS.c.move == bindparam("chosen"))
    .returning(_DECISIONS.c.id)
)


async def commit_decision(
    session: AsyncSession, game_id: int, ply: int, decision: Decision, judged: ProfileVerdict | None
) -> StoredDecision:
    """Store a decision. Send the move only after the transaction is committed.

    What it used of the state of a person who was forgotten meanwhile is left out.

    Args:
        ply: Number of earlier moves in the game, including passes.
        judged: The verdict on the decision's profile; None if the profile is incomplete.

    Returns:
        The decision in the form that `get_decision` returns.

    Raises:
        DuplicateDecision: The ply already has a decision that was not taken back.
    """
    now, record = now_utc(), decision.to_record()
    if _uses_state(decision) and await is_person_of_game_forgotten(session, game_id):
        record = without_state(record)
    decision_id = await insert_new(
        session,
        DecisionRow,
        game_id=game_id,
        ply=ply,
        takeback=0,
        state=DecisionState.COMMITTED,
        move=decision.move,
        depth=decision.depth,
        nodes=decision.nodes,
        time_s=decision.time_s,
        created_at=now,
        search_mode=decision.search_mode.value,
        record=record,
        **profile_columns(decision, judged),
    )
    if decision_id is None:
        raise DuplicateDecision(game_id, ply)
    return StoredDecision(
        id=decision_id,
        game_id=game_id,
        ply=ply,
        state=DecisionState.COMMITTED,
        decision=decision,
        is_complete=decision.is_complete,
        is_trap=None if judged is None else judged.is_trap,
        outcome=None,
        created_at=now,
        sent_at=None,
        confirmed_at=None,
    )


async def get_decision(session: AsyncSession, game_id: int, ply: int) -> StoredDecision | None:
    """Return the decision at a ply, unless it was taken back; None if there is no such decision."""
    statement = _standing(DecisionRow.game_id == game_id, DecisionRow.ply == ply)
    row = (await session.execute(statement)).scalar_one_or_none()
    return None if row is None else _stored(row)


async def load_decisions_by_id(session: AsyncSession, keys: Sequence[int]) -> dict[int, StoredDecision]:
    """Return the decisions with the given keys, indexed by key; decisions taken back are omitted.

    Raises:
        RecordError: A decision cannot be read.
    """
    rows = (await session.execute(_standing(DecisionRow.id.in_(keys)))).scalars()
    return {row.id: _stored(row) for row in rows}


async def list_decisions(session: AsyncSession, game_id: int) -> list[StoredDecision]:
    """A game's decisions that were not taken back, in order of play."""
    rows = (await session.execute(_standing(DecisionRow.game_id == game_id))).scalars()
    return [_stored(row) for row in rows]


async def list_seeds(session: AsyncSession, game_id: int) -> dict[tuple[int, str], int]:
    """Return the seeds of a game's random choices, including choices taken back, keyed by ply and position;
    if a key has several seeds, only the first is returned."""
    statement = select(DecisionRow.ply, DecisionRow.record)
    rows = await session.execute(statement.where(DecisionRow.game_id == game_id).order_by(DecisionRow.id))
    seeds: dict[tuple[int, str], int] = {}
    for row in rows:
        decision = Decision.from_record(row.record)
        if decision.trial_draw is not None:
            seeds.setdefault((row.ply, decision.position), int(decision.trial_draw.seed, 16))
    return seeds


async def mark_sent(session: AsyncSession, decision_id: int, at: datetime | None = None) -> None:
    """Record that the server accepted the move; do nothing if this is already recorded.

    Args:
        at: When the server accepted the move, as an aware datetime; None means now.
    """
    await session.execute(_MARK_SENT, {"decision": decision_id, "at": at or now_utc()})


async def mark_confirmed(session: AsyncSession, decision_id: int, at: datetime | None = None) -> None:
    """Record that the server's list of moves includes the move; do nothing if this is already recorded.

    Also corrects a decision that was never marked as sent (the response was lost) or marked as dropped.

    Args:
        at: When the server showed the move, as an aware datetime; None means now.
    """
    await session.execute(_MARK_CONFIRMED, {"decision": decision_id, "at": at or now_utc()})


async def mark_dropped(session: AsyncSession, decision_id: int) -> None:
    """Record that the game ended before the server accepted the move; a confirmed move remains confirmed."""
    await session.execute(
        update(DecisionRow)
        .where(DecisionRow.id == decision_id, DecisionRow.state != DecisionState.CONFIRMED)
        .values(state=DecisionState.DROPPED)
    )


async def store_profile(
    session: AsyncSession, decision_id: int, decision: Decision, judged: ProfileVerdict
) -> None:
    """Replace a decision's record with one that includes the chosen move's complete profile.

    What it used of the state of a person who was forgotten is left out.

    Raises:
        ValueError: The profile belongs to another decision.
    """
    columns, record = profile_columns(decision, judged), decision.to_record()
    if _uses_state(decision) and await is_person_of_decision_forgotten(session, decision_id):
        record = without_state(record)
    values = {"decision": decision_id, "chosen": decision.move, "record": record, **columns}
    stored = await session.execute(_STORE_PROFILE, values)
    if stored.scalar_one_or_none() is None:
        raise ValueError(f"decision {decision_id} did not choose {decision.move}")


async def mark_taken_back(session: AsyncSession, game_id: int, ply: int) -> None:
    """Mark the decisions at `ply` and later as taken back: they stay in the database but do not count."""
    other = aliased(DecisionRow)
    taken_back = select(func.max(other.takeback) + 1).where(
        other.game_id == DecisionRow.game_id, other.ply == DecisionRow.ply
    )
    await session.execute(
        update(DecisionRow)
        .where(DecisionRow.game_id == game_id, DecisionRow.ply >= ply, DecisionRow.takeback == 0)
        .values(takeback=taken_back.scalar_subquery())
        .execution_options(synchronize_session=False)
    )


async def restore_decision(
    session: AsyncSession, game_id: int, ply: int, move: str, position: str
) -> StoredDecision | None:
    """Let a decision count again that was marked as taken back, in place of any other at its ply.

    Returns:
        The latest such decision for this move in this position; None if there is none.
    """
    is_here = (DecisionRow.game_id == game_id, DecisionRow.ply == ply)
    known = select(DecisionRow).where(*is_here, DecisionRow.takeback > 0, DecisionRow.move == move)
    known = known.order_by(DecisionRow.takeback.desc()).options(joinedload(DecisionRow.outcome))
    rows = (await session.execute(known.execution_options(populate_existing=True))).scalars()
    found = next((each for each in map(_stored, rows) if each.decision.position == position), None)
    if found is None:
        return None
    await mark_taken_back(session, game_id, ply)
    await session.execute(update(_DECISIONS).where(_DECISIONS.c.id == found.id).values(takeback=0))
    return found


def reply_scores(candidate: Candidate) -> list[list[Any]]:
    """Convert the replies to a move to the value of the database column that queries read.

    Args:
        candidate: The move with its complete profile.

    Returns:
        For each reply ``[reply, s_2, s_(D-1), s_D]``: its text and its scores after two plies, at one ply
        less than the full depth (but at least two) and at full depth, in centi-units, from our side. The
        decision's record has the scores at all depths.
    """
    reply_scores = []
    for each in candidate.replies:
        scores = each.scores_centi
        reply_scores.append([each.reply, scores[0], scores[-2:][0], scores[-1]])
    return reply_scores


def _uses_state(decision: Decision) -> bool:
    return decision.model_use is not None and decision.model_use.state is not None


def _standing(*which: ColumnElement[bool]) -> Select[DecisionRow]:
    return (
        select(DecisionRow)
        .where(*which, DecisionRow.takeback == 0)
        .order_by(DecisionRow.ply)
        .options(joinedload(DecisionRow.outcome))
        .execution_options(populate_existing=True)
    )


def profile_columns(decision: Decision, judged: ProfileVerdict | None) -> dict[str, Any]:
    """Compute the columns derived from a decision's profile; an incomplete one gives only `is_complete`."""
    if judged is None:
        return {"is_complete": False}
    return {"is_complete": True, "replies": reply_scores(decision.chosen), **columns_of(judged)}


def _stored(row: DecisionRow) -> StoredDecision:
    known = row.outcome
    outcome = None if known is None else from_row(Outcome, known, cost=known.cost or 0)
    return from_row(StoredDecision, row, decision=Decision.from_record(row.record), outcome=outcome)
