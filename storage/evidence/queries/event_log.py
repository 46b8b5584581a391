"""Events for the operator (errors, declined challenges and their reasons), and sites' response times."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, String, cast, func, select, union_all
from sqlalchemy.ext.asyncio import AsyncSession

from storage.evidence.queries.sql_time import latest_moves, quantiles, seconds_between
from storage.records import MATCH_SITE
from storage.tables.games import DecisionRow, EventRow, GameRow, OpponentRow

_MAX_REASON_LENGTH = 300
"""Reasons are truncated to this many characters."""
_MAX_TIMED_MOVES = 50_000
_SENT, _CONFIRMED = "sent ", "confirmed "
"""Prefixes of a site's name that distinguish the two kinds of response times."""


@dataclass(frozen=True, slots=True)
class EventCount:
    """Events of the same kind."""

    kind: str
    site: str
    reason: str
    """The stated reason; empty if none was stated."""
    count: int
    last_at: datetime


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """One event."""

    id: int
    at: datetime
    site: str
    account: str
    kind: str
    game_id: int | None
    opponent: str
    """Name of the game's opponent; empty if the event belongs to no game."""
    detail: dict[str, Any]


@dataclass(frozen=True, slots=True)
class SiteTimes:
    """Response times of a site to our moves, in seconds."""

    site: str
    moves: int
    send_median_s: float
    """Median time from the decision to the site's acceptance of the move."""
    send_p95_s: float
    confirmed: int
    """Number of our moves that appeared in the site's move list."""
    confirm_median_s: float | None
    """Median time from acceptance until the move appears in the site's move list; None if none appeared."""
    confirm_p95_s: float | None


def _reason() -> ColumnElement[str]:
    """SQL for an event's reason, which is in the field `reason` or `error` of its details."""
    return func.coalesce(
        EventRow.detail["reason"].as_string(), EventRow.detail["error"].as_string(), cast("", String)
    )


async def count_events(
    session: AsyncSession, since: datetime, *, kind: str = "", site: str = "", limit: int = 100
) -> list[EventCount]:
    """Counts of the events after a given time, by kind, site and reason, the most frequent first."""
    reason = func.substr(_reason(), 1, _MAX_REASON_LENGTH).label("reason")
    rows = await session.execute(
        select(
            EventRow.kind,
            EventRow.site,
            reason,
            func.count().label("times"),
            func.max(EventRow.at).label("last_at"),
        )
        .where(*_event_conditions(since, kind, site))
        .group_by(EventRow.kind, EventRow.site, reason)
        .order_by(func.count().desc(), EventRow.kind, EventRow.site, reason)
        .limit(limit)
    )
    return [EventCount(row.kind, row.site, row.reason, row.times, row.last_at) for row in rows]


async def event_kinds(session: AsyncSession, since: datetime) -> list[str]:
    """The kinds of the events that happened after a given time."""
    statement = select(EventRow.kind).where(EventRow.at >= since).distinct().order_by(EventRow.kind)
    return list(await session.scalars(statement))


async def latest_events(
    session: AsyncSession,
    since: datetime,
    *,
    kind: str = "",
    site: str = "",
    limit: int = 50,
    offset: int = 0,
) -> list[LoggedEvent]:
    """The events after a given time, the latest first."""
    rows = await session.execute(
        select(EventRow, OpponentRow.name)
        .outerjoin(GameRow, GameRow.id == EventRow.game_id)
        .outerjoin(OpponentRow, OpponentRow.id == GameRow.opponent_id)
        .where(*_event_conditions(since, kind, site))
        .order_by(EventRow.at.desc(), EventRow.id.desc())
        .limit(limit)
        .offset(offset)
    )
    return [
        LoggedEvent(
            row.id, row.at, row.site, row.account, row.kind, row.game_id, name or "", dict(row.detail)
        )
        for row, name in rows
    ]


async def site_times(session: AsyncSession, since: datetime, *, site: str = "") -> list[SiteTimes]:
    """Response times of all sites, or of one site, to our moves in games that began after a given time."""
    of_site = GameRow.site == site if site else GameRow.site != MATCH_SITE
    latest = latest_moves(
        *(GameRow.site, DecisionRow.created_at, DecisionRow.sent_at, DecisionRow.confirmed_at),
        games=(GameRow.started_at >= since, of_site),
        most=_MAX_TIMED_MOVES,
        which=(DecisionRow.sent_at.is_not(None),),
    ).cte("latest")
    sent = seconds_between(session, latest.c.created_at, latest.c.sent_at)
    confirmed = seconds_between(session, latest.c.sent_at, latest.c.confirmed_at)
    times = union_all(
        select((_SENT + latest.c.site).label("name"), sent.label("value")),
        select((_CONFIRMED + latest.c.site).label("name"), confirmed.label("value")).where(
            latest.c.confirmed_at.is_not(None)
        ),
    )
    by_site = {row.name: row for row in await session.execute(quantiles(times, (50, 95)))}
    return [
        SiteTimes(
            name.removeprefix(_SENT),
            row.size,
            row.q50,
            row.q95,
            0 if shown is None else shown.size,
            None if shown is None else shown.q50,
            None if shown is None else shown.q95,
        )
        for name, row in by_site.items()
        if name.startswith(_SENT)
        for shown in [by_site.get(_CONFIRMED + name.removeprefix(_SENT))]
    ]


def _event_conditions(since: datetime, kind: str, site: str) -> list[ColumnElement[bool]]:
    conditions = [EventRow.at >= since]
    if kind:
        conditions.append(EventRow.kind == kind)
    if site:
        conditions.append(EventRow.site == site)
    return conditions
