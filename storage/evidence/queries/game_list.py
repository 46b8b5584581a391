"""Lists of games, and the annotated moves of one game."""

from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, and_, case, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.bait_rule import FORECAST_RULE
from engine.expected import WHOLE
from engine.figure_9 import FIGURE_9_RULE
from storage.errors import decoding
from storage.evidence.reading import read_games
from storage.evidence.slips import is_slip
from storage.evidence.statistics.encounters import BaitCounts, counts_of_games
from storage.filters import Filters, game_conditions
from storage.ledger.judgements import judged_game, judgement_of_decision
from storage.records import GameResult, GameStatus
from storage.tables.games import (
    DecisionRow,
    ForecastRow,
    GameRow,
    JudgedGameRow,
    JudgementRow,
    OpponentRow,
    OutcomeRow,
    ReplyTimeRow,
    move_order,
)


class ResultFilter(StrEnum):
    """Selects games by result, from our point of view."""

    ANY = "any"
    WIN = "win"
    DRAW = "draw"
    LOSS = "loss"
    OPEN = "open"
    """In progress."""
    ABORTED = "aborted"
    UNKNOWN = "unknown"
    """The game is over, but the site did not report the result."""


class GameOrder(StrEnum):
    """The orders in which games can be listed."""

    NEWEST = "newest"
    OLDEST = "oldest"
    STRONGEST = "strongest"
    """By the opponent's rating, with unrated opponents last."""
    LONGEST = "longest"
    """By number of moves."""
    MOST_BAITS_TAKEN = "baits-taken"
    """By number of baits taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameLine:
    """A game in a list."""

    game_id: int
    site: str
    site_game_id: str
    game: str
    speed: str
    rated: bool
    strategy: str
    opponent: str
    opponent_site_id: str
    """The opponent's account id at the site."""
    opponent_is_bot: bool
    our_rating: int | None
    opponent_rating: int | None
    our_side: int
    """0 if we moved first, otherwise 1."""
    state: str
    """See `storage.records.GameStatus`."""
    result: str | None
    """See `storage.records.GameResult`."""
    end_reason: str | None
    plies: int
    """Number of moves of both sides."""
    started_at: datetime
    baits_set: int
    """Number of our moves with a bait."""
    baits_taken: int
    """Number of replies that took a bait."""
    slips: int
    """See `storage.evidence.slips`."""
    unjudged: int
    """Number of replies that the judge has yet to judge; some of them may be slips."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveMark:
    """One of our moves with its outcome, but without its record."""

    decision_id: int
    ply: int
    move: str
    state: str
    """See `storage.records.DecisionState`."""
    depth: int
    time_s: float
    is_complete: bool
    is_decided: bool | None
    bait: str | None
    """The bait; None if there is none or if the position is decided."""
    is_taken: bool | None
    cost: float | None
    """The judge's cost of the reply, as a share of the game; None if it has not been judged yet."""
    is_slip: bool
    """See `storage.evidence.slips`."""
    is_unjudged: bool
    """Whether the judge has yet to judge the reply, which may be a slip."""
    created_at: datetime
    sent_at: datetime | None
    confirmed_at: datetime | None
    reply_time_s: float | None
    """The opponent's time for the reply; None if it was not timed."""


async def count_games(session: AsyncSession, filters: Filters, result: ResultFilter) -> int:
    """Count the games that match the filters and the result."""
    statement = select(func.count()).select_from(GameRow).where(*game_conditions(filters), *_result(result))
    return int(await session.scalar(statement) or 0)


async def list_game_lines(
    session: AsyncSession,
    filters: Filters,
    result: ResultFilter,
    order: GameOrder,
    limit: int,
    offset: int = 0,
) -> list[GameLine]:
    """List the games that match the filters and the result, with their bait counts."""
    statement = (
        select(
            GameRow.id.label("game_id"),
            GameRow.site,
            GameRow.site_game_id,
            GameRow.game,
            GameRow.speed,
            GameRow.rated,
            GameRow.strategy,
            OpponentRow.name.label("opponent"),
            OpponentRow.site_id.label("opponent_site_id"),
            OpponentRow.is_bot.label("opponent_is_bot"),
            GameRow.our_rating,
            GameRow.opponent_rating,
            move_order().label("our_side"),
            GameRow.state,
            GameRow.result,
            GameRow.end_reason,
            plies().label("plies"),
            GameRow.started_at,
        )
        .join(OpponentRow, OpponentRow.id == GameRow.opponent_id)
        .where(*game_conditions(filters), *_result(result))
    )
    latest = (GameRow.started_at.desc(), GameRow.id.desc())
    match order:
        case GameOrder.NEWEST:
            statement = statement.order_by(*latest)
        case GameOrder.OLDEST:
            statement = statement.order_by(GameRow.started_at, GameRow.id)
        case GameOrder.STRONGEST:
            statement = statement.order_by(GameRow.opponent_rating.desc().nulls_last(), *latest)
        case GameOrder.LONGEST:
            statement = statement.order_by(plies().desc(), *latest)
        case GameOrder.MOST_BAITS_TAKEN:
            keys = await _most_baits_taken(
                session, limit, offset, *game_conditions(filters), *_result(result)
            )
            place = {key: number for number, key in enumerate(keys)}
            statement = statement.where(GameRow.id.in_(keys))
    if order is GameOrder.MOST_BAITS_TAKEN:
        rows = sorted((await session.execute(statement)).all(), key=lambda row: place[row.game_id])
    else:
        rows = list(await session.execute(statement.limit(limit).offset(offset)))
    counts = await counts_of_games(session, [row.game_id for row in rows])
    return [GameLine(**row._asdict(), **asdict(counts.get(row.game_id, BaitCounts()))) for row in rows]


async def _most_baits_taken(
    session: AsyncSession, limit: int, offset: int, *which: ColumnElement[bool]
) -> list[int]:
    """Keys of the games, in the order `GameOrder.MOST_BAITS_TAKEN`."""
    games = (await read_games(session, *which)).games
    order = np.lexsort((games["id"], games["began_us"], games["baits_taken"]))[::-1]
    keys: list[int] = games["id"][order[offset : offset + limit]].tolist()
    return keys


async def list_marks(session: AsyncSession, game_id: int) -> list[MoveMark]:
    """List our moves in a game that were not taken back, in the order of play."""
    rows = await session.execute(
        select(
            DecisionRow.id.label("decision_id"),
            DecisionRow.ply,
            DecisionRow.move,
            DecisionRow.state,
            DecisionRow.depth,
            DecisionRow.time_s,
            DecisionRow.is_complete,
            DecisionRow.is_decided,
            ForecastRow.bait,
            ForecastRow.is_taken,
            JudgementRow.cost,
            and_(
                OutcomeRow.reply.is_not(None),
                OutcomeRow.rule == FIGURE_9_RULE,
                DecisionRow.is_decided.is_not(None),
                JudgementRow.cost.is_(None),
                JudgedGameRow.game_id.is_(None),
            ).label("is_unjudged"),
            DecisionRow.created_at,
            DecisionRow.sent_at,
            DecisionRow.confirmed_at,
            ReplyTimeRow.time_s.label("reply_time_s"),
        )
        .outerjoin(
            ForecastRow, and_(ForecastRow.decision_id == DecisionRow.id, ForecastRow.rule == FORECAST_RULE)
        )
        .join(GameRow, GameRow.id == DecisionRow.game_id)
        .outerjoin(JudgedGameRow, judged_game())
        .outerjoin(JudgementRow, judgement_of_decision())
        .outerjoin(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
        .outerjoin(ReplyTimeRow, ReplyTimeRow.decision_id == DecisionRow.id)
        .where(DecisionRow.game_id == game_id, DecisionRow.takeback == 0)
        .order_by(DecisionRow.ply)
    )
    with decoding():
        return [_mark(row) for row in rows]


def plies() -> ColumnElement[int]:
    """SQL for the number of moves in a game, computed from the number of separating spaces."""
    moves = GameRow.moves
    spaces = func.length(moves) - func.length(func.replace(moves, " ", ""))
    return case((moves == "", 0), else_=spaces + 1)


def _mark(row: Any) -> MoveMark:
    values = row._asdict()
    counts = row.is_decided is False
    return MoveMark(
        **values
        | {
            "bait": row.bait if counts else None,
            "is_taken": row.is_taken if counts and row.bait is not None else None,
            "cost": None if row.cost is None else row.cost / WHOLE,
            "is_unjudged": bool(row.is_unjudged),  # null without an outcome
            "is_slip": is_slip(row.cost, is_taken=bool(row.is_taken), is_decided=row.is_decided),
        }
    )


def _result(result: ResultFilter) -> tuple[ColumnElement[bool], ...]:
    match result:
        case ResultFilter.ANY:
            return ()
        case ResultFilter.OPEN:
            return (GameRow.state == GameStatus.OPEN,)
        case ResultFilter.ABORTED:
            return (GameRow.state == GameStatus.ABORTED,)
        case ResultFilter.UNKNOWN:
            return (GameRow.state == GameStatus.FINISHED, GameRow.result.is_(None))
        case _:
            return (GameRow.result == GameResult(result.value),)
