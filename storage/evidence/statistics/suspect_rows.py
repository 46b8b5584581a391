"""The games of people as `storage.evidence.inference.suspects` sees them, and their flags.

The rules compare a game with the person's other games and with those of other accounts, so all games are
looked at, whatever a report selects; matches between programs and aborted games are left out.
"""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Select, and_, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.bait_rule import RULE as FORECAST_RULE
from engine.decision import OutcomeKind
from engine.judgement import RULE
from storage.damage import decoding
from storage.evidence.inference.persons import first_and_codes
from storage.evidence.inference.suspects import (
    COPIED_PLIES,
    COPIED_WITHIN,
    FAST_S,
    NO_SUSPECTS,
    SuspectGames,
    require_possible,
    suspects,
)
from storage.evidence.statistics.packed_games import ABORTED, PackedGames, ReplyCounts
from storage.evidence.statistics.summary_rows import read_summaries, summaries_of
from storage.filters import count_where, standing
from storage.records import MATCH_SITE, GameStatus
from storage.tables.games import DecisionRow, ForecastRow, GameRow, OpponentRow, OutcomeRow, ReplyTimeRow

_BATCH = 5_000
"""Games in one statement."""
_WHICH = GameRow.state != GameStatus.ABORTED, GameRow.site != MATCH_SITE
_LEAST_LENGTH = 2 * COPIED_PLIES - 1
"""Characters of `COPIED_PLIES` moves, of a letter each, and the spaces between them: the fewest there are."""


async def suspect_games(session: AsyncSession, shown: PackedGames | None = None) -> SuspectGames:
    """The flags of all games with people; programs have none.

    Args:
        session: Of the transaction.
        shown: All games but matches between programs; None: they are read.

    Raises:
        RecordError: What is stored of a game is damaged; the message names it.
    """
    if shown is None:
        shown = (await read_summaries(session, None)).games
    games = await with_reply_counts(session, shown[shown["state"] != ABORTED])
    of_programs = games["id"][await are_programs(session, games["person"])]
    return suspects(games).where(lambda keys: ~np.isin(keys, of_programs))


async def suspect_games_of(session: AsyncSession, opponent: int) -> SuspectGames:
    """The flags of one opponent's games, as `suspect_games` finds them, without looking at all games.

    Args:
        session: Of the transaction.
        opponent: Key of the opponent's account.

    Raises:
        RecordError: What is stored of a game is damaged; the message names it.
    """
    if await session.scalar(select(OpponentRow.is_bot).where(OpponentRow.id == opponent)) is not False:
        return NO_SUSPECTS
    own = await session.execute(
        select(GameRow.started_at, func.substr(GameRow.moves, 1, _LEAST_LENGTH).label("opening")).where(
            GameRow.opponent_id == opponent
        )
    )
    begun = [(row.started_at, row.opening) for row in own if len(row.opening) == _LEAST_LENGTH]
    # All that a game of theirs can be copied from; these games' own flags do not matter.
    sources = [
        and_(
            func.substr(GameRow.moves, 1, _LEAST_LENGTH).in_({opening for _, opening in some}),
            GameRow.started_at >= min(at for at, _ in some) - COPIED_WITHIN,
            GameRow.started_at <= max(at for at, _ in some),
        )
        for some in (begun[start : start + _BATCH] for start in range(0, len(begun), _BATCH))
    ]
    theirs = GameRow.opponent_id == opponent
    parts = [
        (await summaries_of(session, None, *_WHICH, which)).games
        for which in (theirs, *(and_(source, ~theirs) for source in sources))
    ]
    several = np.concatenate(parts)
    first, _ = first_and_codes(several["id"])
    games = await with_reply_counts(session, several[first])
    mine = games["id"][games["person"] == opponent]
    return suspects(games).where(lambda keys: np.isin(keys, mine))


async def are_programs(session: AsyncSession, persons: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Of each key of an opponent's account, whether it is a program's."""
    programs = await session.scalars(select(OpponentRow.id).where(OpponentRow.is_bot.is_(True)))
    return np.isin(persons, np.array(list(programs), np.int64))


async def with_reply_counts(session: AsyncSession, games: PackedGames) -> PackedGames:
    """Games with the counts of their replies, also those that have no valid summary.

    Raises:
        RecordError: What is stored of a game cannot be.
    """
    unknown = np.flatnonzero(games["is_counted"] == 0)
    if len(unknown):
        games = games.copy()  # they may be read-only, and somebody else's
        games["is_counted"] = 1
        counts = await reply_counts_of_games(session, games["id"][unknown].tolist())
        names = [field.name for field in fields(ReplyCounts)]
        for number in unknown.tolist():
            its = counts[int(games["id"][number])]
            for name in names:
                games[name][number] = getattr(its, name)
    with decoding("the summaries of games"):
        require_possible(games)
    return games


async def reply_counts_of_games(session: AsyncSession, games: Sequence[int]) -> dict[int, ReplyCounts]:
    """The counts of some games, by the game's key; a game without replies is absent."""
    found = {game: ReplyCounts() for game in games}
    for start in range(0, len(games), _BATCH):
        some = DecisionRow.game_id.in_(games[start : start + _BATCH])
        for row in await session.execute(_judged().where(some)):
            found[row.game_id] = ReplyCounts(
                judged=row.replies, optimal=row.optimal, optimal_expected=row.expected
            )
        for row in await session.execute(_times().where(some)):
            found[row.game_id] = replace(found[row.game_id], timed=row.timed, fast=row.fast)
    return found


def _judged() -> Select[*tuple[Any, ...]]:
    """For each game the judged replies, the optimal ones among them, and how many were expected."""
    return (
        select(
            DecisionRow.game_id,
            func.count().label("replies"),
            count_where(OutcomeRow.kind == OutcomeKind.OPTIMAL).label("optimal"),
            func.sum(ForecastRow.optimal_expected).label("expected"),
        )
        .join(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
        .join(ForecastRow, ForecastRow.decision_id == DecisionRow.id)
        .where(
            *standing(),
            DecisionRow.rule == RULE,
            DecisionRow.reply_count >= 2,
            DecisionRow.is_decided.is_(False),
            OutcomeRow.rule == RULE,
            OutcomeRow.reply.is_not(None),
            ForecastRow.rule == FORECAST_RULE,
            ForecastRow.optimal_expected.is_not(None),
        )
        .group_by(DecisionRow.game_id)
    )


def _times() -> Select[*tuple[Any, ...]]:
    """For each game the replies that were timed, also those taken back, of which the first one counts."""
    return (
        select(
            DecisionRow.game_id,
            func.count().label("timed"),
            count_where(ReplyTimeRow.time_s < FAST_S).label("fast"),
        )
        .join(ReplyTimeRow, DecisionRow.id == ReplyTimeRow.decision_id)
        .where(func.coalesce(DecisionRow.reply_count, 2) >= 2)
        .group_by(DecisionRow.game_id)
    )
