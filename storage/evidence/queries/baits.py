"""Confirmed baits: the list with outcomes, and the share taken by phase and by rating.

A bait is met when a reply to it is recorded; where the game ended before one it was never answered.

Lists and counts come from the rows and summaries of finished games (`storage.evidence.summaries`); the baits
of games without a valid summary are made from their
decisions.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Select, and_, select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.expected import WHOLE
from engine.judgement import RULE
from storage.evidence.game_records import SetBait, game_records
from storage.evidence.inference.fixed import FixedInterval, fixed_mean_of_persons
from storage.evidence.inference.persons import codes_of
from storage.evidence.reading import read_columns, read_replies
from storage.evidence.replies import ReplyFlag, ReplyTable, expected, has, phases_of
from storage.evidence.summaries import is_valid, without_summary
from storage.filters import PHASE_PLIES, Filters, of_games, shown_games
from storage.records import GameStatus
from storage.tables.games import DecisionRow, ForecastRow, GameRow, OpponentRow, OutcomeRow
from storage.tables.summaries import GameBaitRow, GameSummaryRow

BAND = 200
"""Width of a band of ratings."""
LEAST_PERSONS = 30
"""Fewer effective persons: no interval."""
MOST_SEARCHED = 20_000
"""Number of latest answered baits that are searched for repetitions."""

FEW = 3000
"""Up to this many baits are found through their games, more through their index."""

_BATCH = 500


class BaitFate(StrEnum):
    """Outcomes of baits."""

    ALL = "all"
    """Any outcome, including baits that were never answered."""
    FELL = "fell"
    """Taken."""
    HELD = "held"
    """Answered by another reply."""


class BaitOrder(StrEnum):
    """Orders of the list of baits."""

    EXPECTED_LOSS = "expected_loss"
    """By falling probability times cost."""
    COST = "cost"
    NEWEST = "newest"


@dataclass(frozen=True, slots=True)
class BaitEncounter:
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
    probability: float
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
    def expected_loss(self) -> float:
        """Probability times cost."""
        return self.probability * self.cost


@dataclass(frozen=True, slots=True)
class RepeatedBait:
    """One bait that was set by the same move after the same moves, again and again."""

    met: int
    taken: int
    """How often the reply took a bait."""
    latest: BaitEncounter

    @property
    def share(self) -> float:
        """The share in which it is taken, from 0 to 1."""
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
    """Effective number of persons."""

    @property
    def share(self) -> float | None:
        """How often baits were taken, from 0 to 1; None: none was met."""
        return self.taken / self.met if self.met else None

    @property
    def expected_share(self) -> float | None:
        """The expected share."""
        return self.expected / self.met if self.met else None


@dataclass(frozen=True, slots=True)
class BaitSummary:
    """All baits of some games."""

    everything: BaitGroup
    by_phase: tuple[BaitGroup, ...]
    """In the order of play; phases without a bait are left out."""
    by_rating: tuple[BaitGroup, ...]
    """By rating, unrated opponents last."""
    others: tuple[int, ...]
    """Keys of the games that have no valid summary."""
    reached: tuple[int, ...] | None
    """Keys of the games with a bait in the phase that the filters name; None: they name none."""
    made: tuple[SetBait, ...] = field(compare=False, repr=False)
    """The baits of the other games, in any phase."""


async def list_baits(
    session: AsyncSession,
    filters: Filters,
    fate: BaitFate,
    order: BaitOrder,
    limit: int,
    offset: int = 0,
    counts: BaitSummary | None = None,
) -> list[BaitEncounter]:
    """Baits that games set, each as often as it was set.

    Args:
        counts: `bait_counts` by the same filters in the same transaction, which saves a look-up and tells
            the quicker way; None: not known.
    """
    if counts is None:
        others = await game_records(session, await _without_summary(session, filters))
        made = tuple(bait for record in others.values() for bait in record.baits)
    else:
        made = counts.made
    value = _VALUES[order]
    last = offset + limit
    columns = (GameBaitRow.decision_id, value.label("value"))
    statement = _rows(filters, counts, value, *columns).where(*_fate(fate)).limit(last)
    found = [(row.value, row.decision_id) for row in await session.execute(statement)]
    found += [
        (_value_of(bait, order), bait.decision_id)
        for bait in made
        if _has_fate(bait, fate) and _is_in_phase(bait, filters)
    ]
    found.sort(reverse=True)
    return await _with_keys(session, [key for _, key in found[offset:last]])


async def list_repeated(
    session: AsyncSession,
    filters: Filters,
    fate: BaitFate,
    limit: int,
    offset: int = 0,
    counts: BaitSummary | None = None,
) -> tuple[list[RepeatedBait], int]:
    """Baits that were met several times, the most often taken first.

    The same bait: the same moves from the same start led to it.  Among the latest `MOST_SEARCHED` that were
    met.

    Args:
        fate: `FELL`: taken at least once; `HELD`: never taken.
        counts: As for `list_baits`.

    Returns:
        Those from `offset` on, at most `limit`; and how many there are.
    """
    counts = await bait_counts(session, filters) if counts is None else counts
    columns = await _latest(session, filters, counts)
    made = [
        (bait.decision_id, bait.line, bait.is_taken)
        for bait in counts.made
        if bait.is_taken is not None and _is_in_phase(bait, filters)
    ]
    keys, lines, taken = np.concatenate([columns, np.array(made, np.int64).reshape(-1, 3)]).T
    latest_first = np.argsort(-keys)[:MOST_SEARCHED]
    _, first, line, many = np.unique(
        lines[latest_first], return_index=True, return_inverse=True, return_counts=True
    )
    fell = np.bincount(line, taken[latest_first], len(many)).astype(np.int64)
    repeated = np.flatnonzero(many > 1)
    found = [
        *zip(*(each[repeated].tolist() for each in (fell, many, keys[latest_first][first])), strict=True)
    ]
    if fate is not BaitFate.ALL:
        found = [each for each in found if bool(each[0]) is (fate is BaitFate.FELL)]
    found.sort(key=lambda each: (-each[0] / each[1], -each[1], -each[2]))
    shown = found[offset : offset + limit]
    by_key = {bait.decision_id: bait for bait in await _with_keys(session, [key for *_, key in shown])}
    return [RepeatedBait(many, taken, by_key[key]) for taken, many, key in shown], len(found)


async def _latest(session: AsyncSession, filters: Filters, counts: BaitSummary) -> NDArray[np.int64]:
    """The latest `MOST_SEARCHED` answered baits of games with a valid summary: key, line, is_taken."""
    key = GameBaitRow.decision_id
    statement = _rows(filters, counts, key, key, GameBaitRow.line, GameBaitRow.is_taken)
    statement = statement.where(GameBaitRow.is_taken.is_not(None)).limit(MOST_SEARCHED)
    return np.array([*(await read_columns(session, statement)).values()], np.int64).T


async def bait_counts(session: AsyncSession, filters: Filters) -> BaitSummary:
    """How often baits were set, met and taken."""
    persons, bands, phases, sums, reached = [], [], [], [], []
    async for part in read_replies(session, *_shown(filters)):
        baits = part.where(_are_baits(part, filters))
        games = part.of.games[baits.game]
        is_met = has(baits.replies, ReplyFlag.ANSWERED)
        persons.append(games["person"])
        bands.append(games["rating"] // BAND * BAND)
        phases.append(phases_of(baits.replies) * PHASE_PLIES)
        is_taken = has(baits.replies, ReplyFlag.ANSWERED | ReplyFlag.TAKEN)
        foreseen = is_met * expected(baits.replies, "bait_expected")
        sums.append(np.stack([is_met, is_taken, ~is_met, foreseen], axis=1))
        reached.append(np.unique(games["id"]))
    others = await _without_summary(session, filters)
    made = await game_records(session, others)
    table = _BaitTable(
        persons=codes_of(np.concatenate([np.zeros(0, np.int64), *persons])),
        phases=np.concatenate([np.zeros(0, np.intp), *phases]),
        bands=np.concatenate([np.zeros(0), *bands]),
        sums=np.concatenate([np.zeros((0, 4)), *sums]),
    )
    return BaitSummary(
        table.group(None, np.ones(len(table.sums), bool)),
        tuple(table.group(start, table.phases == start) for start in np.unique(table.phases).tolist()),
        tuple(table.group(start, which) for start, which in table.each_band()),
        tuple(others),
        None if filters.phase is None else tuple(np.concatenate([np.zeros(0, np.int64), *reached]).tolist()),
        tuple(bait for record in made.values() for bait in record.baits),
    )


def _are_baits(part: ReplyTable, filters: Filters) -> NDArray[np.bool_]:
    """Whether our move before each reply set a bait, in the phase that the filters name."""
    found = has(part.replies, ReplyFlag.BAIT, ReplyFlag.DECIDED)
    if filters.phase is not None:
        found &= phases_of(part.replies) == filters.phase.number
    return found


@dataclass(frozen=True, slots=True)
class _BaitTable:
    """Baits by column; shapes (baits,), and (baits, columns) of the sums."""

    persons: NDArray[np.intp]
    phases: NDArray[np.intp]
    """First ply."""
    bands: NDArray[np.float64]
    """Lowest rating of the band; NaN: unrated."""
    sums: NDArray[np.float64]
    """Met, taken, unanswered; and how likely people take it, if it was met."""

    def each_band(self) -> list[tuple[int | None, NDArray[np.bool_]]]:
        """The bands in the order of `BaitSummary.by_rating`, each with the rows that it has."""
        is_unrated = np.isnan(self.bands)
        starts = np.unique(self.bands[~is_unrated]).tolist()
        found: list[tuple[int | None, NDArray[np.bool_]]] = [
            (int(start), self.bands == start) for start in starts
        ]
        return [*found, (None, is_unrated)] if is_unrated.any() else found

    def group(self, start: int | None, which: NDArray[np.bool_]) -> BaitGroup:
        """The group of some rows."""
        persons, sums = self.persons[which], self.sums[which]
        by_person = [np.asarray(np.bincount(persons, column), np.float64) for column in sums.T]
        met = by_person[0] > 0
        interval = fixed_mean_of_persons(by_person[1][met], by_person[0][met])
        totals = sums.sum(axis=0).tolist()
        return BaitGroup(
            start=start,
            met=round(totals[0]),
            taken=round(totals[1]),
            unanswered=round(totals[2]),
            expected=totals[3],
            persons=int(met.sum()),
            interval=interval if interval.effective_persons >= LEAST_PERSONS else None,
            effective_persons=interval.effective_persons,
        )


async def _with_keys(session: AsyncSession, keys: Sequence[int]) -> list[BaitEncounter]:
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


def _met(row: Any) -> BaitEncounter:
    return BaitEncounter(
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
        probability=row.bait_odds,
        cost=row.bait_cost / WHOLE,
        reply_cost=None if row.cost is None or row.reply is None else row.cost / WHOLE,
        is_taken=row.is_taken,
        at=row.created_at,
    )


async def _without_summary(session: AsyncSession, filters: Filters) -> Sequence[int]:
    """Keys of the shown games that have no valid summary."""
    return (await session.scalars(without_summary(*_shown(filters)))).all()


def _rows(
    filters: Filters, counts: BaitSummary | None, value: Any, *columns: Any
) -> Select[*tuple[Any, ...]]:
    """Columns of the rows of `GameBaitRow` that count, those of the highest value first.

    An added 0 keeps a database from an index: few baits are found by their games, and more by walking along
    the index of their order, whose games are looked up one by one.

    Args:
        value: What they are sorted by, a column with an index.
    """
    is_few = counts is not None and counts.everything.met + counts.everything.unanswered <= FEW
    game = GameBaitRow.game_id if is_few else GameBaitRow.game_id + 0
    order = [column + 0 if is_few else column for column in (value, GameBaitRow.decision_id)]
    statement = (
        select(*columns)
        .select_from(GameBaitRow)
        .join(GameRow, GameRow.id == game)
        .join(GameSummaryRow, is_valid())
        .where(*_shown(filters))
        .order_by(*(column.desc() for column in order))
    )
    if filters.phase is not None:
        statement = statement.where(GameBaitRow.phase == filters.phase.number)
    if is_few and counts is not None and counts.reached is not None:
        statement = statement.where(GameBaitRow.game_id.in_(counts.reached))
    return statement


_VALUES: dict[BaitOrder, Any] = {
    BaitOrder.EXPECTED_LOSS: GameBaitRow.expected_loss,
    BaitOrder.COST: GameBaitRow.cost,
    BaitOrder.NEWEST: GameBaitRow.decision_id,
}


def _value_of(bait: SetBait, order: BaitOrder) -> float:
    """The sort key of a bait."""
    values = {
        BaitOrder.EXPECTED_LOSS: bait.expected_loss,
        BaitOrder.COST: float(bait.cost),
        BaitOrder.NEWEST: float(bait.decision_id),
    }
    return values[order]


def _shown(filters: Filters) -> tuple[ColumnElement[bool], ...]:
    """Games that pass the filters; the baits of aborted games count nowhere."""
    return GameRow.state != GameStatus.ABORTED, *shown_games(of_games(filters))


def _fate(fate: BaitFate) -> Sequence[ColumnElement[bool]]:
    match fate:
        case BaitFate.FELL:
            return (GameBaitRow.is_taken.is_(True),)
        case BaitFate.HELD:
            return (GameBaitRow.is_taken.is_(False),)
        case BaitFate.ALL:
            return ()


def _is_in_phase(bait: SetBait, filters: Filters) -> bool:
    return filters.phase is None or bait.phase == filters.phase.number


def _has_fate(bait: SetBait, fate: BaitFate) -> bool:
    return fate is BaitFate.ALL or bait.is_taken is (fate is BaitFate.FELL)
