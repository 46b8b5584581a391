"""The games of people as `storage.inference.suspects` sees them, and their flags.

The rules compare a game with the person's other games and with those of other accounts, so all games are
looked at, whatever a report selects; matches between programs and aborted games are left out.  Few games can
have a flag by the numbers in their summaries, and only those are read (`_candidates`).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Select, and_, case, func, or_, select
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
    EARLY_PLY,
    ENGINE_ERRORS,
    ENGINE_REPLIES,
    FAST_S,
    PlayedGame,
    SuspectFlag,
    suspects,
)
from storage.records import MATCH_SITE, GameResult, GameStatus
from storage.statistics.read_columns import read_columns
from storage.statistics.valid_summaries import is_valid, without_summary
from storage.tables.games import DecisionRow, ForecastRow, GameRow, OpponentRow, OutcomeRow, ReplyTimeRow
from storage.tables.summaries import GameSummaryRow

Flags = Mapping[int | str, tuple[SuspectFlag, ...]]
"""The flags of each game that has any, by the game's key."""

_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_BATCH = 500
"""Games in one statement."""
_LEFT = ("resignation", "left", "time")
_WHICH = GameRow.state != GameStatus.ABORTED, GameRow.site != MATCH_SITE
_ROUNDING = 1e-9


async def suspect_games(session: AsyncSession) -> Flags:
    """The flags of all games with people; programs have none."""
    games, persons = await _candidates(session)
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


async def _candidates(session: AsyncSession) -> tuple[list[int], Collection[int]]:
    """Keys of the games without which no flag would be found, and the persons who may play like engines.

    A game may be suspect by its own numbers, or begin as another one.  All games of a person are candidates
    who finds so many optimal replies that independent ones would be `ENGINE_ERRORS` standard errors away,
    which is necessary.
    """
    left = and_(
        GameRow.result == GameResult.WIN, GameRow.end_reason.in_(_LEFT), GameSummaryRow.plies < EARLY_PLY
    )
    fast = and_(GameSummaryRow.timed > 0, 2 * GameSummaryRow.fast >= GameSummaryRow.timed)
    columns = await read_columns(
        session,
        select(
            GameRow.id,
            GameRow.opponent_id,
            GameSummaryRow.plies,
            GameSummaryRow.opening,
            case((or_(left, fast), 1), else_=0).label("marked"),
            GameSummaryRow.judged,
            GameSummaryRow.optimal,
            GameSummaryRow.optimal_expected,
        )
        .outerjoin(GameSummaryRow, is_valid())
        .where(*_WHICH),
    )
    keys = np.array(columns["id"], np.int64)
    persons = np.array(columns["opponent_id"], np.int64)
    is_other = np.array([plies is None for plies in columns["plies"]], bool)
    found = await openings_of_games(session, keys[is_other].tolist())
    openings = [
        found[key].key if key in found else opening
        for key, opening in zip(columns["id"], columns["opening"], strict=True)
    ]
    numbers = (columns[name] for name in ("judged", "optimal", "optimal_expected"))
    is_strong = _may_be_engines(persons, *(np.array(each, np.float64) for each in numbers))
    # Of a game without a summary these numbers are not known.
    is_strong |= np.isin(persons, persons[is_other])
    is_chosen = is_strong | (np.array(columns["marked"], np.int64) == 1) | _repeats(openings)
    return keys[is_chosen].tolist(), set(persons[is_strong].tolist())


def _repeats(openings: Sequence[int | None]) -> NDArray[np.bool_]:
    """Which values occur twice or more; None is no value."""
    known = np.array([each is not None for each in openings], bool)
    found = np.zeros(len(openings), bool)
    values = np.array([each for each in openings if each is not None], np.int64)
    _, numbers, counts = np.unique(values, return_inverse=True, return_counts=True)
    found[known] = counts[numbers] > 1
    return found


def _may_be_engines(
    persons: NDArray[np.int64], judged: Floats, optimal: Floats, expected: Floats
) -> NDArray[np.bool_]:
    """Of each game, whether its person may be flagged by `SuspectFlag.ENGINE_LIKE`.

    Args:
        persons: Of each game, shape (n,), like the other three.
        judged: Judged replies; NaN: unknown.
        optimal: Optimal ones among them.
        expected: Optimal ones that were expected.
    """
    code = codes_of(persons)
    n = np.nan_to_num(judged)
    likely = np.minimum(np.nan_to_num(expected), n)
    spread = likely * (1 - np.divide(likely, n, out=np.zeros(len(n)), where=n > 0))
    replies, surplus, variance = (
        np.bincount(code, each) for each in (n, np.nan_to_num(optimal) - likely, spread)
    )
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
            person_left=row.result is GameResult.WIN and row.end_reason in _LEFT,
            timed_replies=replies.timed,
            fast_replies=replies.fast,
            judged=replies.judged,
            optimal=replies.optimal,
            expected_optimal=min(replies.optimal_expected, float(replies.judged)),
        )

    return read_rows("game", rows, played)


@dataclass(frozen=True, slots=True)
class GameBeginning:
    """How a game began."""

    plies: int
    """Of the whole game."""
    key: int | None
    """Games share it only if they were the same for `COPIED_PLIES`; None: it is shorter."""


async def openings_of_games(session: AsyncSession, games: Sequence[int]) -> dict[int, GameBeginning]:
    """How some games began, by the game's key.

    Raises:
        RecordError: The moves of one are no text; the message names the game.
    """
    found: dict[int, GameBeginning] = {}
    for start in range(0, len(games), _BATCH):
        statement = select(GameRow.id, GameRow.game, GameRow.initial_position, GameRow.moves)
        rows = await session.execute(statement.where(GameRow.id.in_(games[start : start + _BATCH])))
        found |= dict(read_rows("game", rows, lambda row: (row.id, _opening(row))))
    return found


def _opening(row: Any) -> GameBeginning:
    require_texts(row, "moves")
    moves = row.moves.split()
    if len(moves) < COPIED_PLIES:
        return GameBeginning(len(moves), None)
    text = "\n".join((f"{row.game} {row.initial_position or ''}", *moves[:COPIED_PLIES]))
    digest = blake2b(text.encode(), digest_size=8).digest()
    return GameBeginning(len(moves), int.from_bytes(digest, "little", signed=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyCounts:
    """What `PlayedGame` says of the replies in a game."""

    timed: int = 0
    fast: int = 0
    judged: int = 0
    optimal: int = 0
    optimal_expected: float = 0.0


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
