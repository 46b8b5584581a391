"""Baits: a list with their outcomes, and the share taken, by phase and by rating.

A bait is encountered when a reply to our move is recorded; if the game ended first, it is unanswered.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Double, and_, cast, select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.expected import WHOLE
from engine.figure_9 import FIGURE_9_RULE
from storage.evidence.inference.fixed import FixedInterval, fixed_mean_of_persons
from storage.evidence.inference.persons import codes_of
from storage.evidence.rating_bands import BAND_WIDTH
from storage.evidence.reading import read_replies
from storage.evidence.replies import (
    REPLY,
    ReplyArray,
    ReplyFlag,
    expected,
    expected_losses,
    has,
    phases_of,
    some,
)
from storage.filters import PHASE_PLIES, Filters, game_conditions, of_games
from storage.ledger.judgements import judgement_of_decision
from storage.records import BaitOutcome, GameStatus
from storage.tables.games import DecisionRow, ForecastRow, GameRow, JudgementRow, OpponentRow, OutcomeRow

MIN_BAIT_PERSONS = 30
"""An interval requires at least this effective number of persons."""
MAX_SEARCHED_BAITS = 20_000
"""Only this many of the latest answered baits are searched for repetitions."""


class BaitOrder(StrEnum):
    """The orders in which baits can be listed."""

    EXPECTED_LOSS = "expected_loss"
    """By probability times cost, descending."""
    COST = "cost"
    NEWEST = "newest"


@dataclass(frozen=True, slots=True)
class BaitEncounter:
    """A bait that one of our moves set; costs are shares of the game, from 0 to 1."""

    decision_id: int
    game_id: int
    game: str
    site: str
    strategy: str
    opponent: str
    opponent_site_id: str
    """The site's key for the opponent's account."""
    opponent_rating: int | None
    ply: int
    """Ply of our move, that is, the number of moves before it."""
    move: str
    """Our move, in the game's notation for programs; `bait` and `reply` use the same notation."""
    bait: str
    reply: str | None
    """The reply played; None if the game ended first or the reply is not classified."""
    probability: float
    """Forecast probability that people take the bait."""
    cost: float
    """Cost of the bait by the judge."""
    reply_cost: float | None
    """The judge's cost of the reply; None if it is not judged yet."""
    is_taken: bool | None
    """Whether the reply took a bait; None if there was no reply."""
    at: datetime
    """Time of our decision."""

    @property
    def expected_loss(self) -> float:
        """Expected loss: probability times cost."""
        return self.probability * self.cost


@dataclass(frozen=True, slots=True)
class RepeatedBait:
    """A bait that was set repeatedly, by the same move after the same moves."""

    encounters: int
    taken: int
    """Number of times the reply took a bait."""
    latest: BaitEncounter

    @property
    def share(self) -> float:
        """Share of the encounters in which a bait was taken, from 0 to 1."""
        return self.taken / self.encounters


@dataclass(frozen=True, slots=True)
class BaitGroup:
    """The baits of one phase or of one rating band."""

    start: int | None
    """First ply of the phase, or lowest rating of the band; None for unrated opponents, or for all baits."""
    encounters: int
    """Number of baits with a reply."""
    taken: int
    unanswered: int
    """Number of baits without a reply, because the game ended first."""
    expected: float
    """Forecast number of baits taken, among the baits with a reply."""
    persons: int
    interval: FixedInterval | None
    """Interval of the share taken, clustered by person; None below `MIN_BAIT_PERSONS` effective persons."""
    effective_persons: float
    """Effective number of persons."""

    @property
    def share(self) -> float | None:
        """Share of baits taken, from 0 to 1; None if no bait has a reply."""
        return self.taken / self.encounters if self.encounters else None

    @property
    def expected_share(self) -> float | None:
        """Forecast share of baits taken; None if no bait has a reply."""
        return self.expected / self.encounters if self.encounters else None


@dataclass(frozen=True, slots=True)
class BaitSummary:
    """All baits in the selected games."""

    everything: BaitGroup
    by_phase: tuple[BaitGroup, ...]
    """The baits by phase, in the order of play; phases without a bait are left out."""
    by_rating: tuple[BaitGroup, ...]
    """The baits by rating band, with unrated opponents last."""
    replies: ReplyArray = field(compare=False, repr=False)
    """The baits themselves, in no particular order."""


async def list_baits(
    session: AsyncSession,
    summary: BaitSummary,
    outcome: BaitOutcome | None,
    order: BaitOrder,
    limit: int,
    offset: int = 0,
) -> list[BaitEncounter]:
    """The baits with this outcome (None for any); a bait that was set several times occurs several times."""
    baits = some(summary.replies, _have_outcome(summary.replies, outcome))
    values = {
        BaitOrder.EXPECTED_LOSS: expected_losses(baits),
        BaitOrder.COST: baits["bait_cost"],
        BaitOrder.NEWEST: baits["decision"],
    }
    keys = baits["decision"][np.lexsort((baits["decision"], values[order]))[::-1]]
    return await _with_keys(session, keys[offset : offset + limit].tolist())


async def list_repeated(
    session: AsyncSession,
    summary: BaitSummary,
    outcome: BaitOutcome | None,
    limit: int,
    offset: int = 0,
) -> tuple[list[RepeatedBait], int]:
    """Baits that were encountered several times, those taken most often first.

    Two baits are the same if the same moves from the same start led to them. Only the latest
    `MAX_SEARCHED_BAITS` baits with a reply are searched.

    Args:
        session: The transaction's session.
        summary: The baits to search.
        outcome: `TAKEN` for baits taken at least once, `HELD` for baits never taken, None for all.
        limit: Maximum number of baits.
        offset: Number of baits to skip.

    Returns:
        At most `limit` baits, starting at `offset`, and the total number of baits.
    """
    encounters = some(summary.replies, has(summary.replies, ReplyFlag.ANSWERED))
    latest = encounters[np.argsort(-encounters["decision"])[:MAX_SEARCHED_BAITS]]
    _, first, line, many = np.unique(
        latest["line"], return_index=True, return_inverse=True, return_counts=True
    )
    taken = np.bincount(line, has(latest, ReplyFlag.TAKEN), len(many)).astype(np.int64)
    columns = (taken, many, latest["decision"][first])
    repeated = [*zip(*(each[many > 1].tolist() for each in columns), strict=True)]
    if outcome is not None:
        repeated = [each for each in repeated if BaitOutcome.of(each[0] > 0) is outcome]
    repeated.sort(key=lambda each: (-each[0] / each[1], -each[1], -each[2]))
    shown = repeated[offset : offset + limit]
    by_key = {bait.decision_id: bait for bait in await _with_keys(session, [key for *_, key in shown])}
    return [RepeatedBait(many, taken, by_key[key]) for taken, many, key in shown], len(repeated)


async def read_baits(session: AsyncSession, filters: Filters) -> BaitSummary:
    """The baits set during the filters' phase in games that pass the filters.

    Aborted games are excluded.
    """
    parts = [(np.zeros(0, REPLY), np.zeros(0, np.int64), np.zeros(0))]
    async for part in read_replies(
        session, GameRow.state != GameStatus.ABORTED, *game_conditions(of_games(filters))
    ):
        is_bait = has(part.replies, ReplyFlag.BAIT, ReplyFlag.DECIDED)
        if filters.phase is not None:
            is_bait &= phases_of(part.replies) == filters.phase.number
        games = part.of.games.take(part.game[is_bait])
        parts.append((some(part.replies, is_bait), games["person"], games["rating"]))
    replies, persons, ratings = map(np.concatenate, zip(*parts, strict=True))
    # One column a name, since each group takes some of each.
    columns = (
        codes_of(persons),
        has(replies, ReplyFlag.ANSWERED),
        has(replies, ReplyFlag.ANSWERED | ReplyFlag.TAKEN),
        expected(replies, "bait_expected"),
    )

    def groups(starts: NDArray[Any]) -> tuple[BaitGroup, ...]:
        """Return one group for each value in `starts`, with NaN last."""
        return tuple(
            _group(None if np.isnan(start) else int(start), *(column[is_member] for column in columns))
            for start in np.unique(starts).tolist()
            for is_member in [np.isnan(starts) if np.isnan(start) else starts == start]
        )

    return BaitSummary(
        _group(None, *columns),
        groups(phases_of(replies) * PHASE_PLIES),
        groups(ratings // BAND_WIDTH * BAND_WIDTH),
        replies,
    )


def _group(
    start: int | None,
    persons: NDArray[np.intp],
    is_encounter: NDArray[np.bool_],
    is_taken: NDArray[np.bool_],
    expected: NDArray[np.float64],
) -> BaitGroup:
    encounters, taken = (np.bincount(persons, which).astype(np.float64) for which in (is_encounter, is_taken))
    interval = fixed_mean_of_persons(taken[encounters > 0], encounters[encounters > 0])
    return BaitGroup(
        start=start,
        encounters=int(is_encounter.sum()),
        taken=int(is_taken.sum()),
        unanswered=int((~is_encounter).sum()),
        expected=float((is_encounter * expected).sum()),
        persons=int((encounters > 0).sum()),
        interval=interval if interval.effective_persons >= MIN_BAIT_PERSONS else None,
        effective_persons=interval.effective_persons,
    )


def _have_outcome(baits: ReplyArray, outcome: BaitOutcome | None) -> NDArray[np.bool_]:
    match outcome:
        case BaitOutcome.TAKEN:
            return has(baits, ReplyFlag.ANSWERED | ReplyFlag.TAKEN)
        case BaitOutcome.HELD:
            return has(baits, ReplyFlag.ANSWERED, ReplyFlag.TAKEN)
        case BaitOutcome.UNANSWERED:
            return ~has(baits, ReplyFlag.ANSWERED)
        case None:
            return np.ones(len(baits), bool)


async def _with_keys(session: AsyncSession, keys: Sequence[int]) -> list[BaitEncounter]:
    """The baits of these decisions, in the same order."""
    rows = await session.execute(
        select(
            DecisionRow.id.label("decision_id"),
            DecisionRow.game_id,
            GameRow.game,
            GameRow.site,
            GameRow.strategy,
            OpponentRow.name.label("opponent"),
            OpponentRow.site_id.label("opponent_site_id"),
            GameRow.opponent_rating,
            DecisionRow.ply,
            DecisionRow.move,
            ForecastRow.bait,
            ForecastRow.bait_probability.label("probability"),
            (cast(ForecastRow.bait_cost, Double) / WHOLE).label("cost"),
            ForecastRow.is_taken,
            OutcomeRow.reply,
            (cast(JudgementRow.cost, Double) / WHOLE).label("reply_cost"),
            DecisionRow.created_at.label("at"),
        )
        .select_from(ForecastRow)
        .join(DecisionRow, DecisionRow.id == ForecastRow.decision_id)
        .join(GameRow, GameRow.id == DecisionRow.game_id)
        .join(OpponentRow, OpponentRow.id == GameRow.opponent_id)
        .outerjoin(
            OutcomeRow, and_(OutcomeRow.decision_id == DecisionRow.id, OutcomeRow.rule == FIGURE_9_RULE)
        )
        .outerjoin(JudgementRow, judgement_of_decision())
        .where(ForecastRow.decision_id.in_(keys))
    )
    encounters = {row.decision_id: BaitEncounter(**row._asdict()) for row in rows}
    return [encounters[key] for key in keys]
