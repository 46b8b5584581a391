"""Totals of some games for the people who played them: results, baits and slips.

Chat and farewell speak of the same things as the page of a game (docs/trials.md), so the words mean the same
there: a person falls into a trap by taking its confirmed bait (`engine.bait_rule`), in a position that was
not decided; any other reply that costs a tenth of the game or more is a *slip* (`storage.evidence.slips`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from storage.evidence.game_records import BaitCounts as BaitCounts
from storage.evidence.game_records import game_records
from storage.evidence.summaries import is_valid, without_summary
from storage.filters import Filters, count_where, filter_conditions
from storage.records import GameResult, GameStatus
from storage.tables.games import GameRow
from storage.tables.summaries import GameSummaryRow

COUNTS = ("baits_set", "baits_taken", "slips")
"""The fields of `BaitCounts`, and columns of summaries."""
_BATCH = 500
"""Games in one statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Encounters(BaitCounts):
    """Games, results from our view, baits and slips."""

    games: int = 0
    """All except aborted ones, whose baits and slips count."""
    wins: int = 0
    draws: int = 0
    losses: int = 0


async def bait_counts(session: AsyncSession, game_id: int) -> BaitCounts:
    """The counts of one game."""
    return (await counts_of_games(session, [game_id])).get(game_id, BaitCounts())


async def encounters(session: AsyncSession, filters: Filters) -> Encounters:
    """The games that pass the filters."""
    conditions = filter_conditions(filters)
    found = select(
        _sum(GameRow.state != GameStatus.ABORTED).label("games"),
        _sum(GameRow.result == GameResult.WIN).label("wins"),
        _sum(GameRow.result == GameResult.DRAW).label("draws"),
        _sum(GameRow.result == GameResult.LOSS).label("losses"),
    ).where(*conditions)
    row = (await session.execute(found)).one()
    sums = select(*(func.coalesce(func.sum(column), 0) for column in _columns())).select_from(GameRow)
    summed = (await session.execute(sums.join(GameSummaryRow, is_valid()).where(*conditions))).one()
    others = await _from_decisions(session, list(await session.scalars(without_summary(*conditions))))
    counted = [BaitCounts(**dict(zip(COUNTS, summed, strict=True))), *others.values()]
    return Encounters(
        **{name: sum(getattr(each, name) for each in counted) for name in COUNTS},
        games=row.games,
        wins=row.wins,
        draws=row.draws,
        losses=row.losses,
    )


async def counts_of_games(session: AsyncSession, games: Sequence[int]) -> dict[int, BaitCounts]:
    """The counts of some games, by the game's key."""
    found: dict[int, BaitCounts] = {}
    for start in range(0, len(games), _BATCH):
        some = games[start : start + _BATCH]
        statement = select(GameRow.id, *_columns()).join(GameSummaryRow, is_valid())
        for key, *counts in await session.execute(statement.where(GameRow.id.in_(some))):
            found[key] = BaitCounts(**dict(zip(COUNTS, counts, strict=True)))
        found |= await _from_decisions(session, [key for key in some if key not in found])
    return found


async def _from_decisions(session: AsyncSession, games: Sequence[int]) -> dict[int, BaitCounts]:
    """The same without their summaries."""
    return {key: record.counts for key, record in (await game_records(session, games)).items()}


def _columns() -> list[ColumnElement[int]]:
    return [GameSummaryRow.__table__.c[name] for name in COUNTS]


def _sum(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.coalesce(count_where(condition), 0)
