"""Events such as lost connections, rate limits, and declined challenges with their reasons."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from storage.records import AccountKey, StoredEvent, from_row
from storage.tables.games import EventRow, GameRow
from storage.tables.types import now_utc

PROGRAM = AccountKey("")
"""The owner of events that concern the whole program rather than one account."""
OPPONENT_RENAMED = "opponent_renamed"
"""Kind of event that records a renamed opponent: ``name`` is the former name, ``new_name`` the new one."""

REPORT_LATE = "report_late"
"""Kind of event that records that the farewell and the report of a trial's game came later than planned:
``after_s`` is the time since the game's end, in seconds."""


async def record_event(
    session: AsyncSession,
    owner: AccountKey,
    kind: str,
    detail: Mapping[str, Any],
    game_id: int | None = None,
) -> None:
    """Store an event.

    Args:
        owner: The account that the event concerns.
        kind: A short key such as ``challenge_declined``.
        detail: Plain JSON values; must not contain secrets.
        game_id: Our key of the game that the event belongs to.
    """
    session.add(
        EventRow(
            at=now_utc(),
            site=owner.site,
            account=owner.name,
            kind=kind,
            detail=dict(detail),
            game_id=game_id,
        )
    )
    await session.flush()


@dataclass(frozen=True, slots=True)
class RecordSpan:
    """The times of an account's first and last records of any kind."""

    earliest: datetime
    latest: datetime
    is_clean_stop: bool
    """Whether the last record is the program's clean stop."""


async def record_span(session: AsyncSession, owner: AccountKey, stopped: str) -> RecordSpan | None:
    """The span of an account's records; None if there are none.

    Args:
        stopped: Kind of the event that records a clean stop.
    """
    of_owner = (EventRow.site == owner.site, EventRow.account == owner.name)
    games = select(func.min(GameRow.started_at), func.max(GameRow.started_at), func.max(GameRow.ended_at))
    games = games.where(GameRow.site == owner.site, GameRow.account == owner.name)
    first = await session.scalar(select(func.min(EventRow.at)).where(*of_owner))
    known = [*(await session.execute(games)).one(), first]
    last = select(EventRow.at, EventRow.kind).where(*of_owner)
    event = (await session.execute(last.order_by(EventRow.at.desc(), EventRow.id.desc()).limit(1))).first()
    times = [at for at in (*known, event and event.at) if at is not None]
    if not times:
        return None
    is_clean_stop = event is not None and event.kind == stopped and event.at == max(times)
    return RecordSpan(min(times), max(times), is_clean_stop)


async def list_events(
    session: AsyncSession,
    *,
    owner: AccountKey | None = None,
    kind: str | None = None,
    game_id: int | None = None,
    since: datetime | None = None,
    limit: int | None = None,
) -> list[StoredEvent]:
    """Return the events that match all given arguments, latest first."""
    statement = select(EventRow).order_by(EventRow.at.desc(), EventRow.id.desc()).limit(limit)
    if owner is not None:
        statement = statement.where(EventRow.site == owner.site, EventRow.account == owner.name)
    if kind is not None:
        statement = statement.where(EventRow.kind == kind)
    if game_id is not None:
        statement = statement.where(EventRow.game_id == game_id)
    if since is not None:
        statement = statement.where(EventRow.at >= since)
    return [from_row(StoredEvent, row) for row in (await session.execute(statement)).scalars()]
