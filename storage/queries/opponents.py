"""Opponents: who plays us, who returns, and who falls.

Counts come from the summaries of games; those of games without a valid one are made from their decisions.
"""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from sqlalchemy import case, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from storage.filters import Filters
from storage.queries.shown_games import shown_games
from storage.records import GameResult, GameStatus
from storage.statistics.encounters import BaitCounts, counts_of_games
from storage.statistics.valid_summaries import is_valid, without_summary
from storage.tables.games import GameRow, OpponentRow
from storage.tables.summaries import GameSummaryRow

LEAST_BAITS = 5
"""Baits that have to be set for somebody to be among those who fall most often."""

_FEW = 500
"""So many accounts at most are read by their keys, more all together."""


class OpponentOrder(Enum):
    """Who comes first."""

    LATEST = "latest"
    GAMES = "games"
    FALLEN = "fallen"
    """The greatest share of baits taken, of those for whom `LEAST_BAITS` or more were set."""
    SCORE = "score"
    """Who scores most against us."""


@dataclass(frozen=True, slots=True)
class OpponentLine:
    """An opponent's account, and its games that pass the filters, aborted ones aside."""

    opponent_id: int
    site: str
    site_id: str
    """The site's key of the account."""
    name: str
    is_bot: bool
    games: int
    days: int
    """Different days (UTC) on which one began."""
    decided: int
    """Games with a result."""
    points: float
    """The opponent's."""
    best_rating: int | None
    first_at: datetime
    last_at: datetime
    baits_set: int
    """Moves of ours with a confirmed bait, answered or not."""
    baits_taken: int
    slips: int

    @property
    def returned(self) -> bool:
        """Whether they came back on another day."""
        return self.days > 1

    @property
    def score(self) -> float | None:
        """The opponent's share of the points; None without a result."""
        return self.points / self.decided if self.decided else None

    @property
    def taken_share(self) -> float | None:
        """The share of baits that were taken; None: none was set."""
        return self.baits_taken / self.baits_set if self.baits_set else None


async def list_opponents(session: AsyncSession, filters: Filters, order: OpponentOrder) -> list[OpponentLine]:
    """All opponents with a game that passes the filters, in an order."""
    which = (GameRow.state != GameStatus.ABORTED, *shown_games(filters))
    points = case(
        (GameRow.result == GameResult.LOSS, 1.0), (GameRow.result == GameResult.DRAW, 0.5), else_=0.0
    )
    counted = (
        select(
            GameRow.opponent_id,
            func.count().label("games"),
            func.count(func.distinct(func.date(GameRow.started_at))).label("days"),
            func.count(GameRow.result).label("decided"),
            func.sum(points).label("points"),
            func.max(GameRow.opponent_rating).label("best_rating"),
            func.min(GameRow.started_at).label("first_at"),
            func.max(GameRow.started_at).label("last_at"),
            func.coalesce(func.sum(GameSummaryRow.baits_set), 0).label("met"),
            func.coalesce(func.sum(GameSummaryRow.baits_taken), 0).label("taken"),
            func.coalesce(func.sum(GameSummaryRow.slips), 0).label("slips"),
        )
        .select_from(GameRow)
        .outerjoin(GameSummaryRow, is_valid())
        .where(*which)
        .group_by(GameRow.opponent_id)
    )
    found = (await session.execute(counted)).all()
    keys = [row.opponent_id for row in found]
    known = select(
        OpponentRow.id, OpponentRow.site, OpponentRow.site_id, OpponentRow.name, OpponentRow.is_bot
    )
    if len(keys) <= _FEW:
        known = known.where(OpponentRow.id.in_(keys))
    accounts = {row.id: row for row in await session.execute(known)}
    others = await _without_summary(session, filters)
    lines = [
        OpponentLine(
            row.opponent_id,
            accounts[row.opponent_id].site,
            accounts[row.opponent_id].site_id,
            accounts[row.opponent_id].name,
            accounts[row.opponent_id].is_bot,
            row.games,
            row.days,
            row.decided,
            float(row.points),
            row.best_rating,
            row.first_at,
            row.last_at,
            row.met + others[row.opponent_id].baits_set,
            row.taken + others[row.opponent_id].baits_taken,
            row.slips + others[row.opponent_id].slips,
        )
        for row in found
    ]
    return sorted(lines, key=lambda line: _rank(line, order))


def _rank(line: OpponentLine, order: OpponentOrder) -> tuple[float, ...]:
    if order is OpponentOrder.GAMES:
        first: tuple[float, ...] = (float(-line.games),)
    elif order is OpponentOrder.FALLEN:
        counts = line.baits_set >= LEAST_BAITS
        first = (-(line.taken_share or 0.0) if counts else 1.0,)
    elif order is OpponentOrder.SCORE:
        first = (1.0 if line.score is None else -line.score,)
    else:
        first = ()
    return (*first, -line.last_at.timestamp(), float(line.opponent_id))


async def _without_summary(session: AsyncSession, filters: Filters) -> dict[int, BaitCounts]:
    """By opponent, the counts of the games that have no valid summary."""
    which = (GameRow.state != GameStatus.ABORTED, *shown_games(filters))
    statement = without_summary(*which).add_columns(GameRow.opponent_id)
    opponent_of = {row.id: row.opponent_id for row in await session.execute(statement)}
    found: dict[int, BaitCounts] = defaultdict(BaitCounts)
    for game, count in (await counts_of_games(session, list(opponent_of))).items():
        known = found[opponent_of[game]]
        found[opponent_of[game]] = BaitCounts(
            baits_set=known.baits_set + count.baits_set,
            baits_taken=known.baits_taken + count.baits_taken,
            slips=known.slips + count.slips,
        )
    return found
