"""What a person's judged replies say about them: the positions that they met again, and the errors repeated.

Only the person's own page, and the operator's commands, show it.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import and_, select
from sqlalchemy.ext.asyncio import AsyncSession

from storage.filters import standing_conditions
from storage.records import DecisionState, from_row
from storage.tables.games import (
    DecisionRow,
    ForecastRow,
    GameRow,
    JudgedGameRow,
    JudgementRow,
    OutcomeRow,
)
from storage.tables.types import as_stored

MAX_REPLIES = 2_000
"""Number of a person's latest replies that a report reads."""


@dataclass(frozen=True, slots=True)
class ReportedReply:
    """A judged reply of a person."""

    decision_id: int
    game_id: int
    site_game_id: str
    rating: int | None
    """The person's rating when the game began."""
    ply: int
    """Number of moves before our move."""
    reply: str
    cost: int
    """By the judge, in hundredths of a per cent of expected score."""
    forecast: bytes | None
    """The packed forecast of the reply (`storage.packing.records`)."""
    initial_position: str | None
    """The game's starting position; None for the standard one."""
    moves: str
    """The game's moves, separated by spaces."""


async def list_reported_replies(session: AsyncSession, opponent_id: int, game: str) -> list[ReportedReply]:
    """A person's judged replies, the latest first, at most `MAX_REPLIES`."""
    statement = (
        select(
            DecisionRow.id,
            DecisionRow.game_id,
            GameRow.site_game_id,
            GameRow.opponent_rating,
            DecisionRow.ply,
            OutcomeRow.reply,
            JudgementRow.cost,
            as_stored(ForecastRow.record).label("forecast"),
            GameRow.initial_position,
            GameRow.moves,
        )
        .join(GameRow, GameRow.id == DecisionRow.game_id)
        .join(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
        .join(JudgedGameRow, JudgedGameRow.game_id == DecisionRow.game_id)
        .join(
            JudgementRow,
            and_(JudgementRow.decision_id == DecisionRow.id, JudgementRow.version == JudgedGameRow.version),
        )
        .outerjoin(ForecastRow, ForecastRow.decision_id == DecisionRow.id)
        .where(
            GameRow.opponent_id == opponent_id,
            GameRow.game == game,
            *standing_conditions(),
            DecisionRow.state == DecisionState.CONFIRMED,
            DecisionRow.is_complete.is_(True),
            DecisionRow.reply_count >= 2,
            OutcomeRow.reply.is_not(None),
        )
        .order_by(DecisionRow.id.desc())
        .limit(MAX_REPLIES)
    )
    return [
        from_row(ReportedReply, row, decision_id=row.id, rating=row.opponent_rating)
        for row in await session.execute(statement)
    ]


@dataclass(frozen=True, slots=True)
class RepeatedError:
    """An error that a person made more than once in the same position, up to the game's symmetry."""

    latest: ReportedReply
    times: int


def repeated_errors(
    replies: Sequence[ReportedReply], key: Callable[[ReportedReply], tuple[int, int]], min_cost: int
) -> tuple[RepeatedError, ...]:
    """The errors that a person repeated, the most frequent first, then the latest.

    Args:
        replies: From `list_reported_replies`.
        key: The position of a reply and the reply itself, equal for the same reply in the same position.
        min_cost: Cost of an error.
    """
    found: dict[tuple[int, int], list[ReportedReply]] = defaultdict(list)
    for reply in replies:
        if reply.cost >= min_cost:
            found[key(reply)].append(reply)
    repeated = [RepeatedError(each[0], len(each)) for each in found.values() if len(each) > 1]
    return tuple(sorted(repeated, key=lambda each: (-each.times, -each.latest.decision_id)))
