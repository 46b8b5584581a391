"""The games of people as `storage.inference.suspects` sees them, and their flags.

The rules compare a game with the person's other games and with those of other accounts, so all games are
looked at, whatever a report selects; matches between programs and aborted games are left out.  Few games can
have a flag by the numbers in their summaries, and only those are read (`_candidates`).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Select, and_, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.decision import OutcomeKind
from engine.errors import RecordError
from engine.judgement import RULE
from engine.temptation import RULE as FORECAST_RULE
from storage.damage import read_rows, require_texts
from storage.filters import count_where, standing
from storage.inference.persons import Floats, codes_of
from storage.inference.suspects import (
    COPIED_PLIES,
    COPIED_WITHIN,
    EARLY_PLY,
    ENGINE_ERRORS,
    ENGINE_REPLIES,
    FAST_S,
    PlayedGame,
    SuspectFlag,
    suspects,
)
from storage.records import MATCH_SITE, GameResult, GameStatus
from storage.statistics.packed_games import (
    LEFT,
    UNKNOWN,
    PackedGames,
    ReplyCounts,
)
from storage.statistics.summary_rows import read_summaries
from storage.statistics.valid_summaries import is_valid, without_summary
from storage.tables.games import DecisionRow, ForecastRow, GameRow, OpponentRow, OutcomeRow, ReplyTimeRow
from storage.tables.summaries import GameSummaryRow

Flags = Mapping[int | str, tuple[SuspectFlag, ...]]
"""The flags of each game that has any, by the game's key."""

_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_BATCH = 5_000
"""Games in one statement."""
_WHICH = GameRow.state != GameStatus.ABORTED, GameRow.site != MATCH_SITE
_ROUNDING = 1e-9
_LEAST_LENGTH = 2 * COPIED_PLIES - 1
"""Characters of `COPIED_PLIES` moves, of a letter each, and the spaces between them: the fewest there are."""


async def suspect_games(session: AsyncSession, everything: PackedGames | None = None) -> Flags:
    """The flags of all games with people; programs have none.

    Args:
        session: Of the transaction.
        everything: All games, matches between programs and aborted ones apart, as
            `storage.statistics.summary_rows.read_summaries` gives them; None: read them.
    """
    games, persons = _candidates(await _everything(session) if everything is None else everything)
    rows = await played_games(session, games)
    person_of = {game.game_id: game.person for game in rows}
    found: dict[int | str, tuple[SuspectFlag, ...]] = {}
    for key, flags in suspects(rows).items():
        # Of other persons not all games were read, which says nothing of how well they play.
        is_known = person_of[key] in persons
        if some := tuple(flag for flag in flags if flag is not SuspectFlag.ENGINE_LIKE or is_known):
            found[key] = some
    people: set[int | str] = set()
    keys = [key for key in found if isinstance(key, int)]
    for start in range(0, len(keys), _BATCH):
        statement = select(GameRow.id).join(OpponentRow, OpponentRow.id == GameRow.opponent_id)
        some_keys = GameRow.id.in_(keys[start : start + _BATCH])
        people |= set(await session.scalars(statement.where(some_keys, OpponentRow.is_bot.is_(False))))
    return {key: flags for key, flags in found.items() if key in people}


async def suspect_games_of(session: AsyncSession, opponent: int) -> Flags:
    """The flags of one opponent's games, as `suspect_games` finds them, without looking at all games.

    Args:
        session: Of the transaction.
        opponent: Key of the opponent's account.

    Raises:
        RecordError: What is stored of a game is damaged; the message names it.
    """
    if await session.scalar(select(OpponentRow.is_bot).where(OpponentRow.id == opponent)) is not False:
        return {}
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
    rows = {row.game_id: row for row in await _played_games(session, *_WHICH, theirs)}
    for source in sources:
        rows |= {row.game_id: row for row in await _played_games(session, *_WHICH, source, ~theirs)}
    mine = {key for key, row in rows.items() if row.person == opponent}
    return {key: flags for key, flags in suspects(rows.values()).items() if key in mine}


async def _everything(session: AsyncSession) -> PackedGames:
    return (await read_summaries(session, GameSummaryRow.facts, lambda _: ("[]", b""))).games


def _candidates(games: PackedGames) -> tuple[list[int], Collection[int]]:
    """Keys of the games without which no flag would be found, and the persons who may play like engines.

    A game may be suspect by its own numbers, or begin as another one.  All games of a person are candidates
    who finds so many optimal replies that independent ones would be `ENGINE_ERRORS` standard errors away,
    which is necessary.
    """
    persons = games["person"]
    is_strong = _may_be_engines(
        persons, *(games[name].astype(np.float64) for name in ("judged", "optimal", "optimal_expected"))
    )
    # Of a game without a summary these numbers are not known.
    is_strong |= np.isin(persons, persons[games["is_counted"] == 0])
    has_left = (games["has_left"] == 1) & (games["plies"] < EARLY_PLY)
    is_fast = (games["timed"] > 0) & (2 * games["fast"] >= games["timed"])
    is_chosen = is_strong | has_left | is_fast | _repeats(games["opening"])
    return games["id"][is_chosen].tolist(), set(persons[is_strong].tolist())


def _repeats(openings: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which openings occur twice or more."""
    known = np.flatnonzero(openings != UNKNOWN)
    found = np.zeros(len(openings), bool)
    _, numbers, counts = np.unique(openings[known], return_inverse=True, return_counts=True)
    found[known] = counts[numbers] > 1
    return found


def _may_be_engines(
    persons: NDArray[np.int64], judged: Floats, optimal: Floats, expected: Floats
) -> NDArray[np.bool_]:
    """Of each game, whether its person may be flagged by `SuspectFlag.ENGINE_LIKE`.

    Args:
        persons: Of each game, shape (n,), like the other three.
        judged: Judged replies.
        optimal: Optimal ones among them.
        expected: Optimal ones that were expected.
    """
    code = codes_of(persons)
    n = judged
    likely = np.minimum(expected, n)
    spread = likely * (1 - np.divide(likely, n, out=np.zeros(len(n)), where=n > 0))
    replies, surplus, variance = (np.bincount(code, each) for each in (n, optimal - likely, spread))
    limit = ENGINE_ERRORS * np.sqrt(np.maximum(variance, 0)) * (1 - _ROUNDING) - _ROUNDING
    found: NDArray[np.bool_] = ((replies >= ENGINE_REPLIES) & (surplus > 0) & (surplus >= limit))[code]
    return found


async def played_games(session: AsyncSession, games: Sequence[int] | None = None) -> list[PlayedGame]:
    """All games that are not aborted, in the order in which they began, programs' games included.

    A person's first move, before our first one, is no reply.  A reply without a choice has no time.
    Judged replies are those that the statistics count (`storage.statistics.facts.reply_facts`), outside
    decided positions.

    Args:
        session: Of the transaction.
        games: Keys of those that are wanted; None: all.

    Raises:
        RecordError: What is stored of a game is damaged; the message names it.
    """
    if games is None:
        return await _played_games(session, *_WHICH)
    found = []
    for start in range(0, len(games), _BATCH):
        found += await _played_games(session, *_WHICH, GameRow.id.in_(games[start : start + _BATCH]))
    return sorted(found, key=lambda game: (game.started_at, game.game_id))


async def _played_games(session: AsyncSession, *which: ColumnElement[bool]) -> list[PlayedGame]:
    others = list(await session.scalars(without_summary(*which)))
    counted = await reply_counts_of_games(session, others)
    rows = await session.execute(
        select(
            GameRow.id,
            GameRow.site,
            GameRow.opponent_id,
            OpponentRow.site_id,
            GameRow.started_at,
            GameRow.game,
            GameRow.initial_position,
            GameRow.moves,
            GameRow.result,
            GameRow.end_reason,
            GameSummaryRow.timed,
            GameSummaryRow.fast,
            GameSummaryRow.judged,
            GameSummaryRow.optimal,
            GameSummaryRow.optimal_expected,
        )
        .join(OpponentRow, OpponentRow.id == GameRow.opponent_id)
        .outerjoin(GameSummaryRow, is_valid())
        .where(*which)
        .order_by(GameRow.started_at, GameRow.id)
    )

    def played(row: Any) -> PlayedGame:
        require_texts(row, "moves")
        if row.started_at < _EARLIEST:  # the rules reckon with the time before it
            raise RecordError(f"started_at is {row.started_at:%Y-%m-%d}, long before this program")
        moves = row.moves.split()
        replies = counted.get(row.id, row)
        return PlayedGame(
            game_id=row.id,
            person=row.opponent_id,
            account=f"{row.site}/{row.site_id}",
            started_at=row.started_at,
            game=f"{row.game} {row.initial_position or ''}",
            moves=tuple(moves[:COPIED_PLIES]),
            plies=len(moves),
            person_left=row.result is GameResult.WIN and row.end_reason in LEFT,
            timed_replies=replies.timed,
            fast_replies=replies.fast,
            judged=replies.judged,
            optimal=replies.optimal,
            expected_optimal=min(replies.optimal_expected, float(replies.judged)),
        )

    return read_rows("game", rows, played)


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
