"""Numbers of the last days, the latest baits, and move times."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, case, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.decision import OutcomeKind
from engine.expected import WHOLE
from engine.judgement import RULE
from storage.evidence.game_records import named_bait
from storage.evidence.queries.elapsed import day_of, hour_of, quantiles
from storage.evidence.slips import is_slip
from storage.evidence.statistics.encounters import BaitCounts, counts_of_games
from storage.evidence.summaries import is_valid
from storage.filters import count_where, standing
from storage.records import MATCH_SITE, GameResult, GameStatus
from storage.tables.games import DecisionRow, ForecastRow, GameRow, OpponentRow, OutcomeRow
from storage.tables.summaries import GameSummaryRow

_MOST_TIMES = 50_000
"""Moves of which the times are read; the latest count."""


@dataclass(frozen=True, slots=True)
class Day:
    """One day (UTC) of games that began on it; those of matches on this machine do not count."""

    day: date
    games: int = 0
    """All except aborted ones."""
    decided: int = 0
    """Games with a result."""
    points: float = 0.0
    """Ours in these: 1, 1/2 or 0 a game."""
    baits_set: int = 0
    """Moves of ours with a confirmed bait."""
    baits_taken: int = 0
    """Replies that took one."""

    @property
    def score(self) -> float | None:
        """Our share of the points; None without a result."""
        return self.points / self.decided if self.decided else None


@dataclass(frozen=True, slots=True)
class BaitEvent:
    """A bait that an opponent met."""

    game_id: int
    game: str
    site: str
    opponent: str
    ply: int
    """Of our move: the moves made before it."""
    at: datetime
    is_taken: bool
    reply: str
    """In the game's notation for programs."""
    cost: float
    """The cost of the reply, from 0 to 1."""
    is_best: bool = False
    """Whether the reply was one of the best."""
    opponent_site_id: str = ""
    """The site's key of the opponent's account."""

    @property
    def is_slip(self) -> bool:
        """Whether the reply left the bait alone and was an error all the same."""
        return is_slip(self.cost * WHOLE, is_taken=self.is_taken, is_decided=False)


@dataclass(frozen=True, slots=True)
class MoveTimes:
    """How long our moves took that were made in one hour, in seconds."""

    hour: datetime
    moves: int
    median_s: float
    p95_s: float
    longest_s: float


async def last_days(session: AsyncSession, now: datetime, days: int = 14) -> list[Day]:
    """The last days, the oldest first, including days without games."""
    first = now.astimezone(UTC).date() - timedelta(days=days - 1)
    since = datetime(first.year, first.month, first.day, tzinfo=UTC)
    day = day_of(session, GameRow.started_at)
    counted = (GameRow.started_at >= since, GameRow.state != GameStatus.ABORTED, GameRow.site != MATCH_SITE)
    points = case(
        (GameRow.result == GameResult.WIN, 1.0), (GameRow.result == GameResult.DRAW, 0.5), else_=0.0
    )
    games = {
        str(row.day): row
        for row in await session.execute(
            select(
                day.label("day"),
                func.count().label("games"),
                count_where(GameRow.result.is_not(None)).label("decided"),
                func.sum(points).label("points"),
            )
            .where(*counted)
            .group_by(day)
        )
    }
    baits = await _baits_by_day(session, day, counted)
    found = []
    for number in range(days):
        each = first + timedelta(days=number)
        game, bait = games.get(str(each)), baits.get(str(each), BaitCounts())
        found.append(
            Day(
                each,
                games=0 if game is None else game.games,
                decided=0 if game is None else game.decided,
                points=0.0 if game is None else float(game.points),
                baits_set=bait.baits_set,
                baits_taken=bait.baits_taken,
            )
        )
    return found


async def _baits_by_day(
    session: AsyncSession, day: ColumnElement[Any], which: Sequence[ColumnElement[bool]]
) -> dict[str, BaitCounts]:
    """The baits in each day's games, from their summaries or their decisions."""
    summary = GameSummaryRow
    statement = select(GameRow.id, day.label("day"), summary.baits_set, summary.baits_taken)
    rows = (await session.execute(statement.outerjoin(summary, is_valid()).where(*which))).all()
    others = await counts_of_games(session, [row.id for row in rows if row.baits_set is None])
    found: dict[str, BaitCounts] = defaultdict(BaitCounts)
    for row in rows:
        known = found[str(row.day)]
        count = others.get(row.id, BaitCounts()) if row.baits_set is None else row
        found[str(row.day)] = BaitCounts(
            baits_set=known.baits_set + count.baits_set, baits_taken=known.baits_taken + count.baits_taken
        )
    return found


async def latest_baits(session: AsyncSession, limit: int = 8) -> list[BaitEvent]:
    """The answered baits of the latest moves, the latest first."""
    rows = await session.execute(
        select(
            GameRow.id,
            GameRow.game,
            GameRow.site,
            OpponentRow.name,
            OpponentRow.site_id,
            DecisionRow.ply,
            OutcomeRow.at,
            ForecastRow.is_taken,
            OutcomeRow.reply,
            OutcomeRow.cost,
            OutcomeRow.kind,
        )
        .select_from(ForecastRow)
        .join(DecisionRow, DecisionRow.id == ForecastRow.decision_id)
        .join(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
        .join(GameRow, GameRow.id == DecisionRow.game_id)
        .join(OpponentRow, OpponentRow.id == GameRow.opponent_id)
        .where(
            *named_bait(),
            ForecastRow.is_taken.is_not(None),
            OutcomeRow.reply.is_not(None),
            OutcomeRow.rule == RULE,
            GameRow.state != GameStatus.ABORTED,
            GameRow.site != MATCH_SITE,
        )
        .order_by(ForecastRow.decision_id.desc())
        .limit(limit)
    )
    return [
        BaitEvent(
            game_id=row.id,
            game=row.game,
            site=row.site,
            opponent=row.name,
            ply=row.ply,
            at=row.at,
            is_taken=row.is_taken,
            reply=row.reply,
            cost=(row.cost or 0) / WHOLE,
            is_best=row.kind is OutcomeKind.OPTIMAL,
            opponent_site_id=row.site_id,
        )
        for row in rows
    ]


async def move_times(session: AsyncSession, now: datetime, hours: int = 24) -> list[MoveTimes]:
    """Our move times by the hour in which the moves were made, the oldest first; hours without moves are left
    out."""
    since = now - timedelta(hours=hours)
    # Games of correspondence that began earlier are few; the index on games serves this.
    games = select(GameRow.id).where(
        GameRow.started_at >= since - timedelta(days=2), GameRow.site != MATCH_SITE
    )
    latest = (
        select(hour_of(session, DecisionRow.created_at).label("name"), DecisionRow.time_s.label("value"))
        # By the games' keys, or SQLite would walk all decisions.
        .where(DecisionRow.game_id.in_(games), DecisionRow.created_at >= since, *standing())
        # Not by the key itself, or SQLite would walk all decisions in its order.
        .order_by((DecisionRow.id + 0).desc())
        .limit(_MOST_TIMES)
    )
    return [
        MoveTimes(
            datetime.strptime(row.name, "%Y-%m-%d %H").replace(tzinfo=UTC),
            row.size,
            row.q50,
            row.q95,
            row.longest,
        )
        for row in await session.execute(quantiles(latest, (50, 95)))
    ]
