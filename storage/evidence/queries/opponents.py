"""Opponents: their games, returns, and baits taken.

Counts come from the summaries of games; those of games without a valid one are made from their decisions.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from storage.evidence.inference.timestamps import moment_of
from storage.evidence.reading import played, read_columns, read_games
from storage.evidence.replies import GameArray, days_of
from storage.evidence.statistics.encounters import COUNTS, counts_of_games
from storage.evidence.summaries import is_valid
from storage.filters import Filters
from storage.tables.games import GameRow, OpponentRow
from storage.tables.summaries import GameSummaryRow

LEAST_BAITS = 5
"""Least number of baits set for an opponent to appear in the order by share of baits taken."""

_FEW = 500
"""Up to this many accounts are read by their keys, more in one scan."""


class OpponentOrder(Enum):
    """Orders of the list of opponents."""

    LATEST = "latest"
    GAMES = "games"
    MOST_BAITS_TAKEN = "fallen"
    """The greatest share of baits taken, among opponents with `LEAST_BAITS` or more."""
    SCORE = "score"
    """The highest score against us."""


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
    games, baits = await _games(session, filters)
    found = _by_person(games, baits)
    keys = found["person"]
    known = select(
        OpponentRow.id, OpponentRow.site, OpponentRow.site_id, OpponentRow.name, OpponentRow.is_bot
    )
    if len(keys) <= _FEW:
        known = known.where(OpponentRow.id.in_(keys))
    accounts = {row.id: row for row in await session.execute(known)}
    lines = []
    for row in zip(*found.values(), strict=True):
        each = dict(zip(found, row, strict=True))
        account = accounts[each["person"]]
        lines.append(
            OpponentLine(
                opponent_id=account.id,
                site=account.site,
                site_id=account.site_id,
                name=account.name,
                is_bot=account.is_bot,
                games=each["games"],
                days=each["days"],
                decided=each["decided"],
                points=each["points"],
                best_rating=None if isnan(each["best_rating"]) else int(each["best_rating"]),
                first_at=moment_of(each["first_us"]),
                last_at=moment_of(each["last_us"]),
                baits_set=each["baits_set"],
                baits_taken=each["baits_taken"],
                slips=each["slips"],
            )
        )
    return sorted(lines, key=lambda line: _rank(line, order))


def _rank(line: OpponentLine, order: OpponentOrder) -> tuple[float, ...]:
    if order is OpponentOrder.GAMES:
        first: tuple[float, ...] = (float(-line.games),)
    elif order is OpponentOrder.MOST_BAITS_TAKEN:
        counts = line.baits_set >= LEAST_BAITS
        first = (-(line.taken_share or 0.0) if counts else 1.0,)
    elif order is OpponentOrder.SCORE:
        first = (1.0 if line.score is None else -line.score,)
    else:
        first = ()
    return (*first, -line.last_at.timestamp(), float(line.opponent_id))


async def _games(session: AsyncSession, filters: Filters) -> tuple[GameArray, NDArray[np.int64]]:
    """The games, and their counts: the columns of `COUNTS`, shape (games, columns)."""
    which = played(filters)
    games = (await read_games(session, *which)).games
    statement = select(GameRow.id, *(GameSummaryRow.__table__.c[name] for name in COUNTS))
    rows = await read_columns(session, statement.join(GameSummaryRow, is_valid()).where(*which))
    others = await counts_of_games(session, np.setdiff1d(games["id"], rows["id"]).tolist())
    made = [(key, *(getattr(counts, name) for name in COUNTS)) for key, counts in others.items()]
    found = np.concatenate([np.array([*rows.values()], np.int64).T, np.array(made, np.int64).reshape(-1, 4)])
    found = found[np.argsort(found[:, 0])]
    return games, found[np.searchsorted(found[:, 0], games["id"]), 1:]


def _by_person(games: GameArray, baits: NDArray[np.int64]) -> dict[str, list[Any]]:
    """The games' sums by person, one column each.

    A database would sort the days of all games as texts to count those that differ.
    """
    order = np.lexsort((games["began_us"], games["person"]))
    games, baits = games[order], baits[order]
    persons, began, scores = games["person"], games["began_us"], games["score"]
    is_first = np.ones(len(games), bool)
    is_first[1:] = persons[1:] != persons[:-1]
    starts = np.flatnonzero(is_first)
    ends = np.append(starts[1:], len(games))[: len(starts)] - 1
    days = days_of(began)
    is_new_day = is_first.copy()
    is_new_day[1:] |= days[1:] != days[:-1]
    is_decided = ~np.isnan(scores)

    def summed(values: NDArray[Any]) -> list[Any]:
        added: list[Any] = (np.add.reduceat(values, starts) if len(starts) else values).tolist()
        return added

    return {
        "person": persons[starts].tolist(),
        "games": (ends - starts + 1).tolist(),
        "days": summed(is_new_day.astype(np.int64)),
        "decided": summed(is_decided.astype(np.int64)),
        "points": summed(np.where(is_decided, 1 - scores, 0.0)),
        "best_rating": (np.fmax.reduceat(games["rating"], starts) if len(starts) else starts).tolist(),
        "first_us": began[starts].tolist(),
        "last_us": began[ends].tolist(),
        **{name: summed(column) for name, column in zip(COUNTS, baits.T, strict=True)},
    }
