"""Confirmed baits: which fooled whom, and how often they are taken by phase and by rating.

A bait is met when a reply to it is recorded; where the game ended before one it was never answered.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Row, and_, case, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.expected import WHOLE
from engine.judgement import RULE
from storage.filters import Filters
from storage.inference.fixed import FixedInterval, fixed_mean_of_persons
from storage.queries.overview import named_bait
from storage.queries.shown_games import shown_games
from storage.tables.games import DecisionRow, ForecastRow, GameRow, OpponentRow, OutcomeRow

PHASE_PLIES = 20
"""Length of a phase, in plies."""
BAND = 200
"""Width of a band of ratings."""
LEAST_PERSONS = 30
"""Fewer effective persons: no interval."""
MOST_SEARCHED = 20_000
"""The latest answered baits, among which the same one is looked for."""

_BATCH = 500
_LOWEST = -10_000
"""Below every rating, so that a whole division rounds down; a multiple of `BAND`."""


class BaitFate(StrEnum):
    """What became of baits."""

    ALL = "all"
    """Whatever it was: also those never answered."""
    FELL = "fell"
    """Taken."""
    HELD = "held"
    """Answered by another reply."""


class BaitOrder(StrEnum):
    """In which order baits are listed."""

    SURPRISE = "surprise"
    """By falling probability times cost."""
    COST = "cost"
    NEWEST = "newest"


@dataclass(frozen=True, slots=True)
class MetBait:
    """A bait that a move of ours set; costs are shares of the game, from 0 to 1."""

    decision_id: int
    game_id: int
    game: str
    site: str
    player: str
    opponent: str
    opponent_site_id: str
    """The site's key of its account."""
    opponent_rating: int | None
    ply: int
    """Of our move: the moves made before it."""
    move: str
    """Ours, in the game's notation for programs, like the next two."""
    bait: str
    reply: str | None
    """None: the game ended before it, or it is not judged."""
    odds: float
    """How likely people take the bait, by the forecast."""
    cost: float
    """Of the bait."""
    reply_cost: float | None
    """Of the reply; None where that is not judged by today's rules."""
    is_taken: bool | None
    """Whether the reply takes a bait; None: there was none."""
    at: datetime
    """When we decided."""

    @property
    def surprise(self) -> float:
        """Probability times cost."""
        return self.odds * self.cost


@dataclass(frozen=True, slots=True)
class RepeatedBait:
    """One bait that was set by the same move after the same moves, again and again."""

    met: int
    taken: int
    """How often the reply took a bait."""
    latest: MetBait

    @property
    def share(self) -> float:
        """How often it is taken, from 0 to 1."""
        return self.taken / self.met


@dataclass(frozen=True, slots=True)
class BaitGroup:
    """The baits of one phase or of one band of ratings."""

    start: int | None
    """First ply of the phase, or lowest rating of the band; None: unrated opponents, or all baits."""
    met: int
    """With a reply."""
    taken: int
    unanswered: int
    """Without a reply, since the game was over."""
    expected: float
    """How many would have been taken by the forecasts; of those met."""
    persons: int
    interval: FixedInterval | None
    """Of the share that is taken, by person; None: fewer than `LEAST_PERSONS` effective persons."""
    effective_persons: float
    """Persons of equally many baits who would make the share as uncertain."""

    @property
    def share(self) -> float | None:
        """How often baits were taken, from 0 to 1; None: none was met."""
        return self.taken / self.met if self.met else None

    @property
    def expected_share(self) -> float | None:
        """How often they were expected to be."""
        return self.expected / self.met if self.met else None


@dataclass(frozen=True, slots=True)
class BaitSummary:
    """All baits of some games."""

    everything: BaitGroup
    by_phase: tuple[BaitGroup, ...]
    """In the order of play; phases without a bait are left out."""
    by_rating: tuple[BaitGroup, ...]
    """By rating, unrated opponents last."""


async def list_baits(
    session: AsyncSession, filters: Filters, fate: BaitFate, order: BaitOrder, limit: int, offset: int = 0
) -> list[MetBait]:
    """Baits that games set, each as often as it was set."""
    orders: dict[BaitOrder, Any] = {
        BaitOrder.SURPRISE: ForecastRow.bait_odds * ForecastRow.bait_cost,
        BaitOrder.COST: ForecastRow.bait_cost,
        BaitOrder.NEWEST: ForecastRow.decision_id,
    }
    # First the keys alone, from an index: sorting whole rows of all baits takes twice as long.
    keys = await session.scalars(
        select(ForecastRow.decision_id)
        .join(DecisionRow, DecisionRow.id == ForecastRow.decision_id)
        .join(GameRow, GameRow.id == DecisionRow.game_id)
        .where(*named_bait(), *shown_games(filters), *_fate(fate))
        .order_by(orders[order].desc(), ForecastRow.decision_id.desc())
        .limit(limit)
        .offset(offset)
    )
    return await _with_keys(session, keys.all())


async def list_repeated(
    session: AsyncSession, filters: Filters, fate: BaitFate, limit: int, offset: int = 0
) -> tuple[list[RepeatedBait], int]:
    """Baits that were met several times, those that are taken most often first.

    The same bait: the same moves from the same start led to it.  Among the latest `MOST_SEARCHED` that were
    met.

    Args:
        fate: `FELL`: that somebody took; `HELD`: that nobody did.

    Returns:
        Those from `offset` on, at most `limit`; and how many there are.
    """
    # First by columns that every row has: the moves of all games would be too much to read.
    latest = (
        select(
            ForecastRow.decision_id,
            ForecastRow.is_taken,
            ForecastRow.bait,
            DecisionRow.game_id,
            DecisionRow.ply,
            DecisionRow.move,
            GameRow.game,
        )
        .select_from(ForecastRow)
        .join(DecisionRow, DecisionRow.id == ForecastRow.decision_id)
        .join(GameRow, GameRow.id == DecisionRow.game_id)
        .where(*named_bait(), *shown_games(filters), ForecastRow.is_taken.is_not(None))
        .order_by(ForecastRow.decision_id.desc())
        .limit(MOST_SEARCHED)
        .subquery()
    )
    alike = (latest.c.game, latest.c.ply, latest.c.move, latest.c.bait)
    counted = select(latest, func.count().over(partition_by=alike).label("alike")).subquery()
    rows = await session.execute(
        select(counted, GameRow.initial_position, GameRow.moves)
        .join(GameRow, GameRow.id == counted.c.game_id)
        .where(counted.c.alike > 1)
        .order_by(counted.c.decision_id.desc())
    )
    groups: dict[tuple[object, ...], list[Row[Any]]] = defaultdict(list)
    for row in rows:
        line = tuple(row.moves.split(" ", row.ply)[: row.ply])
        groups[row.game, row.initial_position, line, row.move, row.bait].append(row)
    found = [
        (sum(row.is_taken for row in group), len(group), group[0].decision_id)
        for group in groups.values()
        if len(group) > 1
    ]
    if fate is not BaitFate.ALL:
        found = [each for each in found if bool(each[0]) is (fate is BaitFate.FELL)]
    found.sort(key=lambda each: (-each[0] / each[1], -each[1], -each[2]))
    shown = found[offset : offset + limit]
    met = {bait.decision_id: bait for bait in await _with_keys(session, [key for *_, key in shown])}
    return [RepeatedBait(many, taken, met[key]) for taken, many, key in shown], len(found)


async def bait_counts(session: AsyncSession, filters: Filters) -> BaitSummary:
    """How often baits were set, met and taken."""
    band = (GameRow.opponent_rating - _LOWEST) // BAND * BAND + _LOWEST
    phase = DecisionRow.ply // PHASE_PLIES * PHASE_PLIES
    is_met = ForecastRow.is_taken.is_not(None)
    rows = (
        await session.execute(
            select(
                phase.label("phase"),
                band.label("band"),
                GameRow.opponent_id.label("person"),
                _sum(is_met, 1).label("met"),
                _sum(ForecastRow.is_taken.is_(True), 1).label("taken"),
                _sum(ForecastRow.is_taken.is_(None), 1).label("unanswered"),
                _sum(is_met, ForecastRow.bait_expected).label("expected"),
            )
            .select_from(ForecastRow)
            .join(DecisionRow, DecisionRow.id == ForecastRow.decision_id)
            .join(GameRow, GameRow.id == DecisionRow.game_id)
            .where(*named_bait(), *shown_games(filters))
            .group_by(phase, band, GameRow.opponent_id)
        )
    ).all()
    phases, bands = {row.phase for row in rows}, {row.band for row in rows}
    return BaitSummary(
        _group(None, rows),
        tuple(_group(start, (row for row in rows if row.phase == start)) for start in sorted(phases)),
        tuple(
            _group(start, (row for row in rows if row.band == start))
            for start in sorted(bands, key=lambda each: (each is None, each))
        ),
    )


def _group(start: int | None, rows: Iterable[Row[Any]]) -> BaitGroup:
    counts: dict[int, list[float]] = defaultdict(lambda: [0.0] * 4)
    for row in rows:
        sums = counts[row.person]
        for at, value in enumerate((row.met, row.taken, row.unanswered, row.expected)):
            sums[at] += value
    table = np.array(list(counts.values()), np.float64).reshape(-1, 4)
    met = table[table[:, 0] > 0]
    interval = fixed_mean_of_persons(met[:, 1], met[:, 0])
    totals = table.sum(axis=0)
    return BaitGroup(
        start=start,
        met=round(totals[0]),
        taken=round(totals[1]),
        unanswered=round(totals[2]),
        expected=float(totals[3]),
        persons=len(met),
        interval=interval if interval.effective_persons >= LEAST_PERSONS else None,
        effective_persons=interval.effective_persons,
    )


async def _with_keys(session: AsyncSession, keys: Sequence[int]) -> list[MetBait]:
    """The baits of these decisions, in this order."""
    found = {}
    for start in range(0, len(keys), _BATCH):
        rows = await session.execute(
            select(
                DecisionRow.id,
                DecisionRow.game_id,
                GameRow.game,
                GameRow.site,
                GameRow.player,
                OpponentRow.name,
                OpponentRow.site_id,
                GameRow.opponent_rating,
                DecisionRow.ply,
                DecisionRow.move,
                ForecastRow.bait,
                ForecastRow.bait_odds,
                ForecastRow.bait_cost,
                ForecastRow.is_taken,
                OutcomeRow.reply,
                OutcomeRow.cost,
                DecisionRow.created_at,
            )
            .select_from(ForecastRow)
            .join(DecisionRow, DecisionRow.id == ForecastRow.decision_id)
            .join(GameRow, GameRow.id == DecisionRow.game_id)
            .join(OpponentRow, OpponentRow.id == GameRow.opponent_id)
            .outerjoin(OutcomeRow, and_(OutcomeRow.decision_id == DecisionRow.id, OutcomeRow.rule == RULE))
            .where(ForecastRow.decision_id.in_(keys[start : start + _BATCH]))
        )
        found.update({row.id: _met(row) for row in rows})
    return [found[key] for key in keys if key in found]


def _met(row: Any) -> MetBait:
    return MetBait(
        decision_id=row.id,
        game_id=row.game_id,
        game=row.game,
        site=row.site,
        player=row.player,
        opponent=row.name,
        opponent_site_id=row.site_id,
        opponent_rating=row.opponent_rating,
        ply=row.ply,
        move=row.move,
        bait=row.bait,
        reply=row.reply,
        odds=row.bait_odds,
        cost=row.bait_cost / WHOLE,
        reply_cost=None if row.cost is None or row.reply is None else row.cost / WHOLE,
        is_taken=row.is_taken,
        at=row.created_at,
    )


def _fate(fate: BaitFate) -> Sequence[ColumnElement[bool]]:
    match fate:
        case BaitFate.FELL:
            return (ForecastRow.is_taken.is_(True),)
        case BaitFate.HELD:
            return (ForecastRow.is_taken.is_(False),)
        case BaitFate.ALL:
            return ()


def _sum(condition: ColumnElement[bool], value: Any) -> ColumnElement[Any]:
    return func.sum(case((condition, value), else_=0))
