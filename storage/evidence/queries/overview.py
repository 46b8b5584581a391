"""Counts for the last few days, the latest baits, and move times."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import numpy as np
from sqlalchemy import Double, case, cast, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.expected import WHOLE
from engine.figure_9 import FIGURE_9_RULE
from engine.judge import MIN_SMALL_COST
from storage.evidence.game_records import named_bait
from storage.evidence.queries.sql_time import hour_of, latest_moves, quantiles
from storage.evidence.reading import NOT_A_MATCH, read_games
from storage.evidence.replies import FIRST_DAY, GameArray, days_of
from storage.evidence.slips import is_slip
from storage.ledger.judgements import judgement_of_decision
from storage.records import MATCH_SITE, GameStatus
from storage.tables.games import DecisionRow, ForecastRow, GameRow, JudgementRow, OpponentRow, OutcomeRow

_MAX_TIMED_MOVES = 50_000
"""The times are read for only this many of the latest moves."""


@dataclass(frozen=True, slots=True)
class Day:
    """Counts of the games that began on one day (UTC), excluding matches on this machine."""

    day: date
    games: int = 0
    """Number of games that were not aborted."""
    decided: int = 0
    """Number of games with a result."""
    points: float = 0.0
    """Our points in the games with a result (1, 1/2 or 0 per game)."""
    baits_set: int = 0
    """Number of our moves with a bait."""
    baits_taken: int = 0
    """Number of replies that took a bait."""

    @property
    def score(self) -> float | None:
        """Our share of the points; None if no game has a result."""
        return self.points / self.decided if self.decided else None


@dataclass(frozen=True, slots=True)
class BaitEvent:
    """A bait that an opponent has answered."""

    game_id: int
    game: str
    site: str
    opponent: str
    ply: int
    """Ply of our move, that is, the number of moves before it."""
    at: datetime
    is_taken: bool
    reply: str
    """The reply played, in the game's notation for programs."""
    cost: float | None
    """The judge's cost of the reply, from 0 to 1; None if it is not judged yet."""
    is_best: bool = False
    """Whether the judge calls the reply good."""
    opponent_site_id: str = ""
    """The opponent's account key on the site."""

    @property
    def is_slip(self) -> bool:
        """Whether the reply avoided the bait but was still an error."""
        cost = None if self.cost is None else self.cost * WHOLE
        return is_slip(cost, is_taken=self.is_taken, is_decided=False)


@dataclass(frozen=True, slots=True)
class MoveTimes:
    """Our move times within one hour, in seconds."""

    hour: datetime
    moves: int
    median_s: float
    p95_s: float
    longest_s: float


async def last_days(session: AsyncSession, now: datetime, days: int = 14) -> list[Day]:
    """Counts for each of the last `days` days, oldest first, including days without games."""
    first = now.astimezone(UTC).date() - timedelta(days=days - 1)
    since = datetime(first.year, first.month, first.day, tzinfo=UTC)
    which = (GameRow.started_at >= since, GameRow.state != GameStatus.ABORTED, NOT_A_MATCH)
    games = (await read_games(session, *which)).games
    return games_by_day(games, first, days)


def games_by_day(games: GameArray, first: date, days: int) -> list[Day]:
    """Counts for consecutive days, in order, including days without games.

    Args:
        games: The games that began on these days, excluding aborted games.
        first: The first day.
        days: The number of days.
    """
    day = days_of(games["began_us"]) - (first - FIRST_DAY).days
    known = ~np.isnan(games["score"])
    columns = {
        "games": np.ones(len(games)),
        "decided": known,
        "points": np.where(known, games["score"], 0.0),
        "baits_set": games["baits_set"],
        "baits_taken": games["baits_taken"],
    }
    sums = {name: np.bincount(day, values, days).tolist() for name, values in columns.items()}
    return [
        Day(
            first + timedelta(days=number),
            **{name: its[number] if name == "points" else round(its[number]) for name, its in sums.items()},
        )
        for number in range(days)
    ]


async def latest_baits(session: AsyncSession, limit: int = 8) -> list[BaitEvent]:
    """The answered baits among the latest moves, newest first."""
    # The cost of the bait is known before the reply is judged.
    is_bait = OutcomeRow.reply == ForecastRow.bait
    cost = func.coalesce(JudgementRow.cost, case((is_bait, ForecastRow.bait_cost)))
    rows = await session.execute(
        select(
            GameRow.id.label("game_id"),
            GameRow.game,
            GameRow.site,
            OpponentRow.name.label("opponent"),
            DecisionRow.ply,
            OutcomeRow.at,
            ForecastRow.is_taken,
            OutcomeRow.reply,
            (cast(cost, Double) / WHOLE).label("cost"),
            func.coalesce(JudgementRow.cost < MIN_SMALL_COST, False).label("is_best"),
            OpponentRow.site_id.label("opponent_site_id"),
        )
        .select_from(ForecastRow)
        .join(DecisionRow, DecisionRow.id == ForecastRow.decision_id)
        .join(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
        .join(GameRow, GameRow.id == DecisionRow.game_id)
        .join(OpponentRow, OpponentRow.id == GameRow.opponent_id)
        .outerjoin(JudgementRow, judgement_of_decision())
        .where(
            *named_bait(),
            ForecastRow.is_taken.is_not(None),
            OutcomeRow.reply.is_not(None),
            OutcomeRow.rule == FIGURE_9_RULE,
            GameRow.state != GameStatus.ABORTED,
            GameRow.site != MATCH_SITE,
        )
        .order_by(ForecastRow.decision_id.desc())
        .limit(limit)
    )
    return [BaitEvent(**row._asdict()) for row in rows]


async def move_times(session: AsyncSession, now: datetime, hours: int = 24) -> list[MoveTimes]:
    """Our move times by hour, oldest first; hours without moves are omitted."""
    since = now - timedelta(hours=hours)
    latest = latest_moves(
        hour_of(session, DecisionRow.created_at).label("name"),
        DecisionRow.time_s.label("value"),
        # Games of correspondence that began earlier are few; the index on games serves this.
        games=(GameRow.started_at >= since - timedelta(days=2), GameRow.site != MATCH_SITE),
        most=_MAX_TIMED_MOVES,
        which=(DecisionRow.created_at >= since,),
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
