"""The trend of one opponent's replies: errors and costs, in blocks of games.

Replies to moves that set a trap are counted separately from all others.  Only what the statistics count is
here: judged replies outside decided positions (`storage.evidence.replies.ReplyFlag`).

Replies of one game are alike, so an interval is by game: it leaves out one game at a time
(`storage.evidence.inference.fixed`). A few replies may all happen to be alike. So the interval of the error
rate is at least as wide as Wilson's, and the interval of the cost is widened in proportion
(docs/statistics.md says how often they cover the truth).
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from engine.judgement import ERROR
from storage.evidence.inference.fixed import fixed_mean_of_persons
from storage.evidence.intervals import share
from storage.evidence.reading import replies_of
from storage.evidence.replies import ReplyFlag, costs, has

BLOCK_GAMES = 20
"""Games of a block."""
LEAST_REPLIES = 20
"""Fewer replies: neither number nor interval."""
LEAST_GAMES = 10.0
"""Fewer effective games: the same."""


@dataclass(frozen=True, slots=True)
class GameReplies:
    """Totals of the judged replies of one game and one kind."""

    replies: int = 0
    errors: int = 0
    """Replies that cost a tenth of the game or more."""
    cost: float = 0.0
    """Sum of their costs, in games."""


@dataclass(frozen=True, slots=True)
class PlayedReplies:
    """The replies of one game."""

    game_id: int
    at: datetime
    """When the game began."""
    tempting: GameReplies
    """To moves that set a tempting trap."""
    elsewhere: GameReplies


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyQuality:
    """The quality of the replies of one kind in some games; shares and costs from 0 to 1.

    Shares, costs and their ends are None where there are too few replies or games.
    """

    replies: int
    errors: int
    games: int
    """Games with such a reply."""
    effective_games: float
    """Effective number of games."""
    error_share: float | None
    error_low: float | None
    error_high: float | None
    cost: float | None
    """Mean cost of a reply."""
    cost_low: float | None
    """None also without an error, since its cost is then unknown."""
    cost_high: float | None

    @property
    def is_shown(self) -> bool:
        """Whether there are enough replies."""
        return self.error_share is not None


@dataclass(frozen=True, slots=True)
class ProgressBlock:
    """Games that follow each other."""

    first: int
    """Number of its first game, from 1."""
    last: int
    since: datetime
    """When the first began."""
    until: datetime
    """When the last began."""
    tempting: ReplyQuality
    elsewhere: ReplyQuality

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, with times as ISO 8601."""
        return {
            **asdict(self),
            "since": self.since.isoformat(),
            "until": self.until.isoformat(),
        }


async def replies_by_game(
    session: AsyncSession, games: Sequence[int]
) -> dict[int, tuple[GameReplies, GameReplies]]:
    """The replies of some games, by the game's key: to moves with a bait, and all others."""
    read = await replies_of(session, games)
    counted = read.where(has(read.replies, ReplyFlag.JUDGED, ReplyFlag.DECIDED))
    cost = costs(counted.replies)
    # Two numbers for each game: 0 with a bait, 1 without.
    kinds = 2 * counted.game + ~has(counted.replies, ReplyFlag.BAIT)
    size = 2 * len(read.of)
    sums = (
        np.bincount(kinds, minlength=size).tolist(),
        np.bincount(kinds, counted.replies["cost"] >= ERROR, size).astype(np.intp).tolist(),
        np.bincount(kinds, cost, size).tolist(),
    )
    quality = [GameReplies(*each) for each in zip(*sums, strict=True)]
    found = {game: (GameReplies(), GameReplies()) for game in games}
    for number, key in enumerate(read.of.games["id"].tolist()):
        found[key] = quality[2 * number], quality[2 * number + 1]
    return found


def progress(games: Sequence[PlayedReplies], size: int = BLOCK_GAMES) -> list[ProgressBlock]:
    """Blocks of equal numbers of games, the oldest first; the last one may have fewer.

    Args:
        games: Of one kind of game, in the order in which they began.
        size: Games of a block, 1 or more.
    """
    return [block_of(games[start : start + size], start + 1) for start in range(0, len(games), size)]


def block_of(games: Sequence[PlayedReplies], first: int = 1) -> ProgressBlock:
    """The block of these games, of which there is at least one.

    Args:
        games: In the order in which they began.
        first: Number of the first one.
    """
    return ProgressBlock(
        first=first,
        last=first + len(games) - 1,
        since=games[0].at,
        until=games[-1].at,
        tempting=reply_quality([game.tempting for game in games]),
        elsewhere=reply_quality([game.elsewhere for game in games]),
    )


def reply_quality(games: Sequence[GameReplies]) -> ReplyQuality:
    """The quality of the replies of some games."""
    counted = [game for game in games if game.replies]
    counts = np.array([game.replies for game in counted], np.float64)
    errors = np.array([game.errors for game in counted], np.float64)
    costs = np.array([game.cost for game in counted], np.float64)
    erred, cost = fixed_mean_of_persons(errors, counts), fixed_mean_of_persons(costs, counts)
    replies, count = round(counts.sum()), round(errors.sum())
    is_enough = replies >= LEAST_REPLIES and erred.effective_persons >= LEAST_GAMES
    by_reply = share(count, replies)
    error_ends: tuple[float | None, float | None] = (None, None)
    cost_ends = error_ends
    if is_enough:
        error_ends = _widest(erred.low, erred.high, by_reply.low, by_reply.high)
        if count and cost.value is not None:
            # Nearly all of the cost is that of errors: where they are few, their number is the larger doubt.
            in_proportion = (cost.value * end * replies / count for end in error_ends if end is not None)
            cost_ends = _widest(cost.low, cost.high, *in_proportion)
    return ReplyQuality(
        replies=replies,
        errors=count,
        games=len(counted),
        effective_games=erred.effective_persons,
        error_share=erred.value if is_enough else None,
        error_low=error_ends[0],
        error_high=error_ends[1],
        cost=cost.value if is_enough else None,
        cost_low=cost_ends[0],
        cost_high=cost_ends[1],
    )


def _widest(*ends: float | None) -> tuple[float | None, float | None]:
    """The union of some intervals, within 0 to 1."""
    known = [end for end in ends if end is not None]
    return (max(min(known), 0.0), min(max(known), 1.0)) if known else (None, None)
