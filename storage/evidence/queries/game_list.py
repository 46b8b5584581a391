"""Lists of games, and the annotated moves of one game."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, String, and_, case, func, select, type_coerce
from sqlalchemy.ext.asyncio import AsyncSession

from engine.bait_rule import RULE as FORECAST_RULE
from engine.expected import WHOLE
from engine.judgement import RULE
from storage.evidence.game_records import named_bait
from storage.evidence.slips import is_slip
from storage.evidence.statistics.encounters import BaitCounts, counts_of_games
from storage.evidence.summaries import is_valid
from storage.filters import Filters, shown_games
from storage.records import GameResult, GameStatus
from storage.tables.games import DecisionRow, ForecastRow, GameRow, OpponentRow, OutcomeRow, ReplyTimeRow
from storage.tables.summaries import GameSummaryRow


class WhichResult(StrEnum):
    """Games by how they ended, our view."""

    ANY = "any"
    WIN = "win"
    DRAW = "draw"
    LOSS = "loss"
    OPEN = "open"
    """Still being played."""
    ABORTED = "aborted"
    UNKNOWN = "unknown"
    """Over, but the site does not say how it ended."""


class GameOrder(StrEnum):
    """Orders of the list of games."""

    NEWEST = "newest"
    OLDEST = "oldest"
    STRONGEST = "strongest"
    """By the opponent's rating; unrated ones last."""
    LONGEST = "longest"
    """By moves."""
    MOST_BAITS_TAKEN = "fallen"
    """By baits taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameLine:
    """One game of a list."""

    game_id: int
    site: str
    site_game_id: str
    game: str
    speed: str
    rated: bool
    player: str
    opponent: str
    opponent_site_id: str
    """The site's key of its account."""
    opponent_is_bot: bool
    our_rating: int | None
    opponent_rating: int | None
    our_side: int
    """0: we moved first."""
    state: str
    """See `storage.records.GameStatus`; a damaged row may have any text."""
    result: str | None
    """See `storage.records.GameResult`."""
    end_reason: str | None
    plies: int
    """Moves of both sides."""
    started_at: datetime
    baits_set: int
    """Moves of ours with a confirmed bait."""
    baits_taken: int
    """Replies that took one."""
    slips: int
    """See `storage.evidence.slips`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveMark:
    """One of our moves with its outcome, without its record."""

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
    """The confirmed bait, in positions that are not decided."""
    is_taken: bool | None
    cost: float | None
    """Of the reply, as a share of the game; None: it is not judged."""
    is_slip: bool
    """See `storage.evidence.slips`."""
    created_at: datetime
    sent_at: datetime | None
    confirmed_at: datetime | None
    reply_time_s: float | None
    """The opponent's time for the reply; None: not timed."""


async def count_games(session: AsyncSession, filters: Filters, result: WhichResult) -> int:
    """How many games there are."""
    statement = select(func.count()).select_from(GameRow).where(*shown_games(filters), *_result(result))
    return int(await session.scalar(statement) or 0)


async def list_game_lines(
    session: AsyncSession,
    filters: Filters,
    result: WhichResult,
    order: GameOrder,
    limit: int,
    offset: int = 0,
) -> list[GameLine]:
    """Games, with the numbers of their baits by outcome."""
    statement = (
        select(
            GameRow.id,
            GameRow.site,
            GameRow.site_game_id,
            GameRow.game,
            GameRow.speed,
            GameRow.rated,
            GameRow.player,
            OpponentRow.name,
            OpponentRow.site_id.label("opponent_site_id"),
            OpponentRow.is_bot,
            GameRow.our_rating,
            GameRow.opponent_rating,
            GameRow.our_side,
            _text(GameRow.state).label("state"),
            _text(GameRow.result).label("result"),
            GameRow.end_reason,
            plies().label("plies"),
            GameRow.started_at,
        )
        .join(OpponentRow, OpponentRow.id == GameRow.opponent_id)
        .where(*shown_games(filters), *_result(result))
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
            # Of a game without a valid summary its baits are counted.
            counted = (
                select(func.count())
                .select_from(DecisionRow)
                .join(ForecastRow, ForecastRow.decision_id == DecisionRow.id)
                .where(DecisionRow.game_id == GameRow.id, *named_bait(), ForecastRow.is_taken.is_(True))
                .correlate(GameRow)
                .scalar_subquery()
            )
            fallen = func.coalesce(GameSummaryRow.baits_taken, counted)
            statement = statement.outerjoin(GameSummaryRow, is_valid()).order_by(fallen.desc(), *latest)
    rows = (await session.execute(statement.limit(limit).offset(offset))).all()
    counts = await counts_of_games(session, [row.id for row in rows])
    return [_line(row, counts.get(row.id, BaitCounts())) for row in rows]


async def list_marks(session: AsyncSession, game_id: int) -> list[MoveMark]:
    """Our standing moves of a game, in the order of play."""
    rows = await session.execute(
        select(
            DecisionRow.id,
            DecisionRow.ply,
            DecisionRow.move,
            _text(DecisionRow.state).label("state"),
            DecisionRow.depth,
            DecisionRow.time_s,
            DecisionRow.is_complete,
            DecisionRow.is_decided,
            ForecastRow.bait,
            ForecastRow.is_taken,
            OutcomeRow.reply,
            OutcomeRow.cost,
            DecisionRow.created_at,
            DecisionRow.sent_at,
            DecisionRow.confirmed_at,
            ReplyTimeRow.time_s.label("reply_time_s"),
        )
        .outerjoin(
            ForecastRow, and_(ForecastRow.decision_id == DecisionRow.id, ForecastRow.rule == FORECAST_RULE)
        )
        .outerjoin(OutcomeRow, and_(OutcomeRow.decision_id == DecisionRow.id, OutcomeRow.rule == RULE))
        .outerjoin(ReplyTimeRow, ReplyTimeRow.decision_id == DecisionRow.id)
        .where(DecisionRow.game_id == game_id, DecisionRow.takeback == 0)
        .order_by(DecisionRow.ply)
    )
    return [_mark(row) for row in rows]


def plies() -> ColumnElement[int]:
    """How many moves a game has, both sides': its list of moves has a space between two."""
    moves = GameRow.moves
    spaces = func.length(moves) - func.length(func.replace(moves, " ", ""))
    return case((moves == "", 0), else_=spaces + 1)


def _mark(row: Any) -> MoveMark:
    counts = row.is_decided is False
    is_taken = row.is_taken if counts and row.bait is not None else None
    return MoveMark(
        decision_id=row.id,
        ply=row.ply,
        move=row.move,
        state=row.state,
        depth=row.depth,
        time_s=row.time_s,
        is_complete=row.is_complete,
        is_decided=row.is_decided,
        bait=row.bait if counts else None,
        is_taken=is_taken,
        cost=None if row.cost is None or row.reply is None else row.cost / WHOLE,
        is_slip=is_slip(row.cost, is_taken=bool(row.is_taken), is_decided=row.is_decided),
        created_at=row.created_at,
        sent_at=row.sent_at,
        confirmed_at=row.confirmed_at,
        reply_time_s=row.reply_time_s,
    )


def _line(row: Any, counts: BaitCounts) -> GameLine:
    return GameLine(
        game_id=row.id,
        site=row.site,
        site_game_id=row.site_game_id,
        game=row.game,
        speed=row.speed,
        rated=row.rated,
        player=row.player,
        opponent=row.name,
        opponent_site_id=row.opponent_site_id,
        opponent_is_bot=row.is_bot,
        our_rating=row.our_rating,
        opponent_rating=row.opponent_rating,
        our_side=row.our_side,
        state=row.state,
        result=row.result,
        end_reason=row.end_reason,
        plies=row.plies,
        started_at=row.started_at,
        baits_set=counts.baits_set,
        baits_taken=counts.baits_taken,
        slips=counts.slips,
    )


def _result(result: WhichResult) -> tuple[ColumnElement[bool], ...]:
    match result:
        case WhichResult.ANY:
            return ()
        case WhichResult.OPEN:
            return (GameRow.state == GameStatus.OPEN,)
        case WhichResult.ABORTED:
            return (GameRow.state == GameStatus.ABORTED,)
        case WhichResult.UNKNOWN:
            return (GameRow.state == GameStatus.FINISHED, GameRow.result.is_(None))
        case _:
            return (GameRow.result == GameResult(result.value),)


def _text(column: Any) -> ColumnElement[str]:
    """A column of a `StrEnum` as the text that is stored: one damaged row must not hide a list."""
    return type_coerce(column, String)
