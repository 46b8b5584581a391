"""The games of people as `storage.inference.suspects` sees them, and their flags.

The rules compare a game with the person's other games and with those of other accounts, so all games are
read, whatever a report selects; matches between programs and aborted games are left out.
"""

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from math import inf
from typing import Any

from sqlalchemy import case, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.decision import OutcomeKind
from engine.errors import RecordError
from engine.judgement import RULE
from engine.temptation import RULE as FORECAST_RULE
from storage.damage import decoding, read_rows, require_number, require_texts
from storage.filters import standing
from storage.inference.suspects import COPIED_PLIES, PlayedGame, SuspectFlag, suspects
from storage.records import MATCH_SITE, GameResult, GameStatus
from storage.tables.games import DecisionRow, ForecastRow, GameRow, OpponentRow, OutcomeRow, ReplyTimeRow

Flags = Mapping[int | str, tuple[SuspectFlag, ...]]
"""The flags of each game that has any, by the game's key."""

_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_LEFT = ("resignation", "left", "time")


async def suspect_games(session: AsyncSession) -> Flags:
    """The flags of all games with people; programs have none."""
    rows = await played_games(session)
    people = set(
        await session.scalars(
            select(GameRow.id)
            .join(OpponentRow, OpponentRow.id == GameRow.opponent_id)
            .where(OpponentRow.is_bot.is_(False))
        )
    )
    return {key: flags for key, flags in suspects(rows).items() if key in people}


async def played_games(session: AsyncSession) -> list[PlayedGame]:
    """All games that are not aborted, in the order in which they began, programs' games included.

    A person's first move, before our first one, is no reply.  A reply without a choice has no time.
    Judged replies are those that the statistics count (`storage.statistics.facts.reply_facts`), outside
    decided positions.

    Raises:
        RecordError: What is stored of a game is damaged; the message names it.
    """
    judged = await _judged(session)
    times = await _reply_times(session)
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
        )
        .join(OpponentRow, OpponentRow.id == GameRow.opponent_id)
        .where(GameRow.state != GameStatus.ABORTED, GameRow.site != MATCH_SITE)
        .order_by(GameRow.started_at, GameRow.id)
    )

    def played(row: Any) -> PlayedGame:
        require_texts(row, "moves")
        if row.started_at < _EARLIEST:  # the rules reckon with the time before it
            raise RecordError(f"started_at is {row.started_at:%Y-%m-%d}, long before this program")
        moves = row.moves.split()
        replies, optimal, expected = judged.get(row.id, (0, 0, 0.0))
        return PlayedGame(
            game_id=row.id,
            person=row.opponent_id,
            account=f"{row.site}/{row.site_id}",
            started_at=row.started_at,
            game=f"{row.game} {row.initial_position or ''}",
            moves=tuple(moves[:COPIED_PLIES]),
            plies=len(moves),
            person_left=row.result is GameResult.WIN and row.end_reason in _LEFT,
            reply_times_s=tuple(times[row.id]),
            judged=replies,
            optimal=optimal,
            expected_optimal=min(expected, float(replies)),
        )

    return read_rows("game", rows, played)


async def _judged(session: AsyncSession) -> dict[int, tuple[int, int, float]]:
    """For each game the judged replies, the optimal ones among them, and how many were expected."""
    optimal = func.sum(case((OutcomeRow.kind == OutcomeKind.OPTIMAL, 1), else_=0))
    rows = await session.execute(
        select(
            DecisionRow.game_id,
            func.count().label("replies"),
            optimal.label("optimal"),
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
    return {row.game_id: (row.replies, row.optimal, row.expected) for row in rows}


async def _reply_times(session: AsyncSession) -> dict[int, list[float]]:
    """For each game the times of its replies, also of those taken back; of these the first one counts."""
    rows = await session.execute(
        select(DecisionRow.game_id, ReplyTimeRow.time_s)
        .join(DecisionRow, DecisionRow.id == ReplyTimeRow.decision_id)
        .where(func.coalesce(DecisionRow.reply_count, 2) >= 2)
        .order_by(DecisionRow.id)
    )
    found: dict[int, list[float]] = defaultdict(list)
    for row in rows:
        with decoding(f"game {row.game_id}"):
            require_number("the time of a reply", row.time_s, 0, inf)
        found[row.game_id].append(row.time_s)
    return found
