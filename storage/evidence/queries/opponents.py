"""Opponents: their games, return visits and baits taken."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from math import isnan
from typing import Any

import numpy as np
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from storage.evidence.inference.persons import codes_of, first_and_codes
from storage.evidence.inference.timestamps import time_of
from storage.evidence.measures import combined
from storage.evidence.reading import played_game_conditions, read_games
from storage.evidence.replies import GameArray, days_of
from storage.evidence.statistics.encounters import COUNTS
from storage.filters import Filters
from storage.tables.games import OpponentRow

MIN_RANKED_BAITS = 5
"""An opponent is ranked by the share of baits taken only after this many baits."""

_MAX_KEYED_ACCOUNTS = 500
"""Maximum number of accounts to read by key; for more accounts, the whole table is read."""


class OpponentOrder(Enum):
    """The orders in which opponents can be listed."""

    LATEST = "latest"
    GAMES = "games"
    MOST_BAITS_TAKEN = "baits-taken"
    """By share of baits taken, descending, among opponents with `MIN_RANKED_BAITS` or more."""
    SCORE = "score"
    """By score against us, descending."""


@dataclass(frozen=True, slots=True)
class OpponentLine:
    """An opponent's account and totals over its games that pass the filters, excluding aborted games."""

    opponent_id: int
    site: str
    site_id: str
    """The site's key of the account."""
    name: str
    is_bot: bool
    games: int
    days: int
    """Number of days (UTC) on which at least one game began."""
    decided: int
    """Number of games with a result."""
    points: float
    """The opponent's total points in these games."""
    best_rating: int | None
    first_at: datetime
    last_at: datetime
    baits_set: int
    """Number of our moves with a bait, answered or not."""
    baits_taken: int
    slips: int
    unjudged: int
    """Number of replies that the judge has yet to judge; some of them may be slips."""

    @property
    def returned(self) -> bool:
        """Whether the opponent played on more than one day."""
        return self.days > 1

    @property
    def score(self) -> float | None:
        """The opponent's share of the points; None if no game has a result."""
        return self.points / self.decided if self.decided else None

    @property
    def taken_share(self) -> float | None:
        """The share of baits taken; None if no bait was set."""
        return self.baits_taken / self.baits_set if self.baits_set else None


async def list_opponents(session: AsyncSession, filters: Filters, order: OpponentOrder) -> list[OpponentLine]:
    """All opponents with a game that passes the filters, in the requested order."""
    persons = _by_person((await read_games(session, *played_game_conditions(filters))).games)
    row = OpponentRow
    known = select(row.id.label("opponent_id"), row.site, row.site_id, row.name, row.is_bot)
    if len(persons) <= _MAX_KEYED_ACCOUNTS:
        known = known.where(row.id.in_([*persons]))
    lines = [
        OpponentLine(**each._asdict(), **persons[each.opponent_id])
        for each in await session.execute(known)
        if each.opponent_id in persons
    ]
    return sorted(lines, key=lambda line: _rank(line, order))


def _rank(line: OpponentLine, order: OpponentOrder) -> tuple[float, ...]:
    if order is OpponentOrder.GAMES:
        first: tuple[float, ...] = (float(-line.games),)
    elif order is OpponentOrder.MOST_BAITS_TAKEN:
        counts = line.baits_set >= MIN_RANKED_BAITS
        first = (-(line.taken_share or 0.0) if counts else 1.0,)
    elif order is OpponentOrder.SCORE:
        first = (1.0 if line.score is None else -line.score,)
    else:
        first = ()
    return (*first, -line.last_at.timestamp(), float(line.opponent_id))


def _by_person(games: GameArray) -> dict[int, dict[str, Any]]:
    """Compute totals over each person's games, keyed by person.

    Not computed in SQL: to count distinct days, a database would sort the days of all games as text.
    """
    keys, person = np.unique(games["person"], return_inverse=True)
    size, began, scores = len(keys), games["began_us"], games["score"]
    is_decided = ~np.isnan(scores)
    first_us, last_us = np.full(size, began.max(initial=0)), np.full(size, began.min(initial=0))
    np.minimum.at(first_us, person, began)
    np.maximum.at(last_us, person, began)
    best = np.full(size, np.nan)
    np.fmax.at(best, person, games["rating"])
    visits, _ = first_and_codes(combined([person, codes_of(days_of(began))]))
    counts = {
        "games": np.ones(len(games)),
        "days": np.isin(np.arange(len(games)), visits),
        "decided": is_decided,
        **{name: games[name] for name in COUNTS},
    }
    columns = {
        **{
            name: np.bincount(person, values, size).astype(np.int64).tolist()
            for name, values in counts.items()
        },
        "points": np.bincount(person, np.where(is_decided, 1 - scores, 0.0), size).tolist(),
        "best_rating": [None if isnan(each) else int(each) for each in best.tolist()],
        "first_at": [*map(time_of, first_us.tolist())],
        "last_at": [*map(time_of, last_us.tolist())],
    }
    rows = zip(*columns.values(), strict=True)
    return {key: dict(zip(columns, row, strict=True)) for key, row in zip(keys.tolist(), rows, strict=True)}
