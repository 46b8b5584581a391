"""The trend of one opponent's replies: errors and costs, in blocks of games.

Replies to moves that set a bait are counted separately from all other replies. As in all statistics, only
judged replies outside decided positions count (`storage.evidence.replies.ReplyFlag`).

Replies within a game are correlated, so intervals are clustered by game: a jackknife leaves out one game at a
time (`storage.evidence.inference.fixed`). A jackknife interval is too narrow if there are few replies and
they happen to be equal, so the interval of the error rate is at least as wide as Wilson's, and the interval
of the cost is widened in proportion (docs/statistics.md states their coverage).
"""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import numpy as np

from engine.figure_9 import MIN_ERROR_COST
from storage.evidence.inference.fixed import fixed_mean_of_persons
from storage.evidence.inference.persons import Codes, Floats
from storage.evidence.inference.timestamps import time_of
from storage.evidence.intervals import share
from storage.evidence.replies import ReplyFlag, ReplyTable, costs, has

BLOCK_GAMES = 20
"""Number of games in a block."""
MIN_SHOWN_REPLIES = 20
"""Values and their intervals are shown only if there are at least this many replies."""
MIN_EFFECTIVE_GAMES = 10.0
"""Values and their intervals are shown only if the effective number of games is at least this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyQuality:
    """The quality of one kind of reply over several games; shares and costs are from 0 to 1.

    Shares, costs and the limits of their intervals are None if there are too few replies or games.
    """

    replies: int
    errors: int
    games: int
    """Number of games with a reply of this kind."""
    effective_games: float
    """Effective number of games."""
    error_share: float | None
    error_low: float | None
    error_high: float | None
    cost: float | None
    """Mean cost of a reply."""
    cost_low: float | None
    """Lower limit of the mean cost's interval; also None if there is no error."""
    cost_high: float | None

    @property
    def is_shown(self) -> bool:
        """Whether there are enough replies and games to show values."""
        return self.error_share is not None


@dataclass(frozen=True, slots=True)
class ProgressBlock:
    """A block of consecutive games."""

    first: int
    """Number of the block's first game, counted from 1."""
    last: int
    since: datetime
    """When the first game began."""
    until: datetime
    """When the last game began."""
    tempting: ReplyQuality
    elsewhere: ReplyQuality

    def to_json(self) -> dict[str, Any]:
        """The block as plain JSON values, with times in ISO 8601."""
        return {
            **asdict(self),
            "since": self.since.isoformat(),
            "until": self.until.isoformat(),
        }


@dataclass(frozen=True, slots=True)
class GameProgress:
    """The trend of an opponent's replies in one game, such as chess."""

    game: str
    everything: ProgressBlock
    """All games as one block."""
    blocks: tuple[ProgressBlock, ...]
    """Blocks of equal size, the oldest first; the last block may have fewer games."""


def progress(table: ReplyTable, size: int = BLOCK_GAMES) -> tuple[GameProgress, ...]:
    """Return the trends of an opponent's replies by game, the most frequently played game first.

    Call this function outside transactions: computing the intervals would keep a transaction open too long.

    Args:
        table: The opponent's games, in any order.
        size: Number of games in a block, 1 or more.
    """
    games, name = table.of.games, table.of.label("game")
    order = np.lexsort((games["id"], games["began_us"]))
    sums = _sums_by_game(table)

    def block_of(members: Codes, first: int) -> ProgressBlock:
        since, until = (time_of(games["began_us"][members[at]].item()) for at in (0, -1))
        tempting, elsewhere = (reply_quality(*sums[:, members, kind]) for kind in (0, 1))
        return ProgressBlock(first, first + len(members) - 1, since, until, tempting, elsewhere)

    members = {
        text: order[np.isin(name.codes[order], [at for at, each in enumerate(name.texts) if each == text])]
        for text in dict.fromkeys(name.texts)
    }
    return tuple(
        GameProgress(
            text,
            block_of(its, 1),
            tuple(block_of(its[start : start + size], start + 1) for start in range(0, len(its), size)),
        )
        for text, its in sorted(members.items(), key=lambda item: (-len(item[1]), item[0]))
        if len(its)
    )


def _sums_by_game(table: ReplyTable) -> Floats:
    """Count judged replies and errors and sum costs per game, separately for moves with and without a bait.

    Returns:
        Replies, errors and costs, by game, with and without a bait: an array of shape (3, games, 2).
    """
    counted = table.where(has(table.replies, ReplyFlag.COUNTED | ReplyFlag.JUDGED, ReplyFlag.DECIDED))
    kinds = 2 * counted.game + ~has(counted.replies, ReplyFlag.BAIT)
    values = (np.ones(len(kinds)), counted.replies["cost"] >= MIN_ERROR_COST, costs(counted.replies))
    size = len(table.of)
    return np.stack([np.bincount(kinds, each, 2 * size).reshape(size, 2) for each in values])


def reply_quality(replies: Floats, errors: Floats, costs: Floats) -> ReplyQuality:
    """Compute the quality of the replies in a set of games.

    Args:
        replies: Number of replies in each game, shape (games,).
        errors: Number of these replies that cost 10 % of the game or more, shape (games,).
        costs: Total cost of these replies, in whole games, shape (games,).
    """
    has_some = replies > 0
    counts, errors, costs = replies[has_some], errors[has_some], costs[has_some]
    erred, cost = fixed_mean_of_persons(errors, counts), fixed_mean_of_persons(costs, counts)
    total, count = round(counts.sum()), round(errors.sum())
    is_enough = total >= MIN_SHOWN_REPLIES and erred.effective_persons >= MIN_EFFECTIVE_GAMES
    by_reply = share(count, total)
    error_ends: tuple[float | None, float | None] = (None, None)
    cost_ends = error_ends
    if is_enough:
        error_ends = _widest(erred.low, erred.high, by_reply.low, by_reply.high)
        if count and cost.value is not None:
            # Nearly all of the cost comes from errors; if they are few, their number is the main uncertainty.
            in_proportion = (cost.value * end * total / count for end in error_ends if end is not None)
            cost_ends = _widest(cost.low, cost.high, *in_proportion)
    return ReplyQuality(
        replies=total,
        errors=count,
        games=len(counts),
        effective_games=erred.effective_persons,
        error_share=erred.value if is_enough else None,
        error_low=error_ends[0],
        error_high=error_ends[1],
        cost=cost.value if is_enough else None,
        cost_low=cost_ends[0],
        cost_high=cost_ends[1],
    )


def _widest(*ends: float | None) -> tuple[float | None, float | None]:
    """Return the smallest interval that contains all the given intervals, clipped to [0, 1]."""
    known = [end for end in ends if end is not None]
    return (max(min(known), 0.0), min(max(known), 1.0)) if known else (None, None)
