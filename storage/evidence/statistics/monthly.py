"""The report on a period: games, traps, ratings, baits, events, trials."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.decision import Decision
from engine.expected import WHOLE
from engine.games import get_rules
from storage.evidence.queries.baits import read_baits
from storage.evidence.queries.overview import Day, games_by_day
from storage.evidence.queries.rating_curves import RatingCurve, RatingListOf, rating_curves
from storage.evidence.reading import played_game_conditions, read_games
from storage.evidence.replies import ReplyFlag, costs, has
from storage.evidence.statistics.group_rows import read_groups
from storage.evidence.statistics.groups import GroupKey, GroupStatistics
from storage.evidence.trials import StoredTrial, list_trials
from storage.filters import Filters, filter_conditions
from storage.ledger.judgements import judgement_of_decision
from storage.packing.records import unpack
from storage.tables.games import (
    DecisionRow,
    EventRow,
    ForecastRow,
    GameRow,
    JudgementRow,
    OpponentRow,
    OutcomeRow,
)
from storage.tables.types import as_stored

MAX_MONTHLY_BAITS = 8
"""Maximum number of baits in a report."""
MAX_RATING_CURVES = 6
"""Maximum number of rating curves in a report; those with the most games are chosen."""


@dataclass(frozen=True, slots=True)
class CostliestBait:
    """A bait that was taken, with its position."""

    game_id: int
    site: str
    site_game_id: str
    game: str
    opponent: str
    our_side: int
    at: datetime
    move: str
    """Our move, in the notation for humans."""
    reply: str
    """The reply that took the bait, in the same notation."""
    bait_squares: tuple[str, ...]
    move_squares: tuple[str, ...]
    rows: tuple[str, ...]
    """The board after our move, in the form of `Game.board_rows`."""
    cost: float
    """The judge's cost of the reply, in expected score (0 to 1)."""
    probability: float
    """Forecast probability of this reply."""


@dataclass(frozen=True, slots=True)
class MonthlyReport:
    """The contents of a report."""

    since: datetime
    until: datetime
    days: tuple[Day, ...]
    """All days, including those without games."""
    groups: tuple[GroupStatistics, ...]
    """Statistics by strategy and game."""
    ratings: tuple[RatingCurve, ...]
    baits: tuple[CostliestBait, ...]
    """The baits taken, the most costly first."""
    events: tuple[tuple[str, int], ...]
    """The kinds of events and their counts, the most frequent first."""
    trials: tuple[tuple[StoredTrial, Mapping[str, int]], ...]
    """The trials that ran in the period, with the number of each arm's games that began in the period."""
    unjudged: int
    """Number of the games with replies that the judge has yet to judge."""


async def monthly_report(
    session: AsyncSession, filters: Filters, rating_list_of: RatingListOf
) -> MonthlyReport:
    """Build the report on the games that match the filters.

    Args:
        session: Session of a transaction with a consistent view of the database.
        filters: Must have `since` and `until`, in UTC.
        rating_list_of: Tells which of our ratings a game changes.

    Raises:
        ValueError: The filters lack `since` or `until`.
    """
    since, until = filters.since, filters.until
    if since is None or until is None:
        raise ValueError("the filters must include since and until")
    first, last = (at.astimezone(UTC).date() for at in (since, until - timedelta(microseconds=1)))
    games = (await read_games(session, *played_game_conditions(filters))).games
    grouped = await read_groups(session, filters, (GroupKey.STRATEGY, GroupKey.GAME))
    return MonthlyReport(
        since,
        until,
        tuple(games_by_day(games, first, (last - first).days + 1)),
        tuple(grouped.statistics()),
        tuple(sorted(await rating_curves(session, filters, rating_list_of), key=_rank)[:MAX_RATING_CURVES]),
        await _baits(session, filters),
        await _events(session, filters, since, until),
        await _trials(session, filters, since, until),
        grouped.unjudged,
    )


def _rank(curve: RatingCurve) -> tuple[int, str, str, str, str]:
    return -len(curve.points), curve.site, curve.account, curve.game, curve.speed


async def _baits(session: AsyncSession, filters: Filters) -> tuple[CostliestBait, ...]:
    baits = (await read_baits(session, filters)).replies
    taken = baits[has(baits, ReplyFlag.TAKEN | ReplyFlag.JUDGED)]
    order = np.lexsort((taken["decision"], -costs(taken)))[:MAX_MONTHLY_BAITS]
    rows = await session.execute(
        select(
            GameRow.id,
            GameRow.site,
            GameRow.site_game_id,
            GameRow.game,
            GameRow.our_side,
            OpponentRow.name.label("opponent"),
            OutcomeRow.reply,
            JudgementRow.cost,
            ForecastRow.reply_probability,
            DecisionRow.created_at,
            as_stored(DecisionRow.record).label("record"),
        )
        .select_from(ForecastRow)
        .join(DecisionRow, DecisionRow.id == ForecastRow.decision_id)
        .join(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
        .join(JudgementRow, judgement_of_decision())
        .join(GameRow, GameRow.id == DecisionRow.game_id)
        .join(OpponentRow, OpponentRow.id == GameRow.opponent_id)
        .where(DecisionRow.id.in_(taken["decision"][order].tolist()))
        .order_by(JudgementRow.cost.desc(), DecisionRow.id)
    )
    return tuple(map(_bait, rows))


def _bait(row: Any) -> CostliestBait:
    decision = Decision.from_record(unpack(row.record))
    game = get_rules(decision.game)
    before = game.for_search(game.parse_position(decision.position))
    move = game.parse_move(before, decision.move)
    after = game.play(before, move)
    reply = game.parse_move(after, row.reply)
    return CostliestBait(
        row.id,
        row.site,
        row.site_game_id,
        row.game,
        row.opponent,
        row.our_side,
        row.created_at,
        game.move_name(before, move),
        game.move_name(after, reply),
        tuple(game.move_squares(reply)),
        tuple(game.move_squares(move)),
        tuple(game.board_rows(after)),
        row.cost / WHOLE,
        row.reply_probability or 0.0,
    )


async def _events(
    session: AsyncSession, filters: Filters, since: datetime, until: datetime
) -> tuple[tuple[str, int], ...]:
    """Count the period's events. Only the site and account filters apply; all others select games."""
    number = func.count().label("number")
    statement = select(EventRow.kind, number).where(EventRow.at >= since, EventRow.at < until)
    if filters.site is not None:
        statement = statement.where(EventRow.site == filters.site)
    if filters.account is not None:
        statement = statement.where(EventRow.account == filters.account.lower())
    rows = await session.execute(statement.group_by(EventRow.kind).order_by(number.desc(), EventRow.kind))
    return tuple((row.kind, row.number) for row in rows)


async def _trials(
    session: AsyncSession, filters: Filters, since: datetime, until: datetime
) -> tuple[tuple[StoredTrial, Mapping[str, int]], ...]:
    between = [
        each
        for each in reversed(await list_trials(session))
        if each.started_at < until and (each.ended_at is None or each.ended_at >= since)
    ]
    rows = await session.execute(
        select(GameRow.trial_id, GameRow.strategy).where(
            *filter_conditions(filters), GameRow.trial_id.in_([each.id for each in between])
        )
    )
    counts = Counter((row.trial_id, row.strategy) for row in rows)
    return tuple((each, {arm: counts[each.id, arm] for arm in each.arms}) for each in between)
