"""Facts about games and replies, read row by row: what statistics must say, without the array.

Nothing of the program's reading of many games is used here.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, Subquery, case, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.bait_rule import FORECAST_RULE
from engine.decision import OutcomeKind
from engine.expected import WHOLE
from engine.figure_9 import FIGURE_9_RULE, MIN_ERROR_COST
from engine.judge import JUDGE_VERSION
from storage.evidence.replies import EXPECTATIONS, model_text
from storage.filters import (
    Filters,
    TrapSettings,
    game_conditions,
    of_games,
    phase_conditions,
    standing_conditions,
)
from storage.records import MATCH_SITE, GameResult, GameStatus
from storage.tables.games import (
    DecisionRow,
    EngineConfigRow,
    ForecastRow,
    GameRow,
    JudgedGameRow,
    JudgementRow,
    OpponentRow,
    OutcomeRow,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GameFact:
    """A game of ours."""

    id: int
    site: str
    game: str
    speed: str
    strategy: str
    version: str
    """The engine's version."""
    settings: str
    """The trap arithmetic's settings, in one line."""
    person: int
    """Key of the opponent's account."""
    is_bot: bool
    opponent_rating: int | None
    state: GameStatus
    result: GameResult | None
    started_at: datetime
    games_before: int
    """Games that the same person began against any of our accounts before this one, at this game, without
    aborted ones; 0 in a match, whose opponents are no persons."""
    is_unjudged: bool = False
    """It is over, and has replies that the judge has yet to judge."""

    @property
    def score(self) -> float | None:
        """Ours: 1, 1/2 or 0; None: no result."""
        if self.result is None:
            return None
        return {GameResult.WIN: 1.0, GameResult.DRAW: 0.5, GameResult.LOSS: 0.0}[self.result]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyFact:
    """A reply to a move of ours, by today's rules; costs and probabilities from 0 to 1."""

    decision_id: int
    game_id: int
    ply: int
    """Of our move: the moves made before it."""
    reply_count: int
    is_decided: bool
    """Our move won or lost by force."""
    is_trap: bool
    """Our move set a trap in the paper's sense."""
    kind: OutcomeKind
    fell_for_best: bool
    cost: float | None
    """By the judge; None: not judged."""
    is_unjudged: bool
    """The judge has yet to judge it."""
    is_taken: bool
    """The reply took a bait."""
    has_bait: bool
    """Our move set a bait."""
    model: str
    """Who made the forecast, as `model_text` writes it."""
    error_uniform: float
    error_expected: float
    cost_uniform: float
    cost_expected: float
    fall_uniform: float
    fall_expected: float
    bait_uniform: float
    bait_expected: float

    @property
    def erred(self) -> bool:
        """Whether it is judged, and an error."""
        return self.cost is not None and round(self.cost * WHOLE) >= MIN_ERROR_COST


async def game_facts(session: AsyncSession, filters: Filters | None = None) -> list[GameFact]:
    """The games that pass the filters, without aborted ones, in the order in which they began.

    Matches between programs count only if the filters name their site or one of them.
    """
    before, numbers = _games_before()
    statement = (
        select(
            GameRow.id,
            GameRow.site,
            GameRow.game,
            GameRow.speed,
            GameRow.strategy,
            GameRow.opponent_id,
            OpponentRow.is_bot,
            GameRow.opponent_rating,
            GameRow.state,
            GameRow.result,
            GameRow.started_at,
            before.label("before"),
            _is_unjudged().label("is_unjudged"),
            EngineConfigRow.engine_version,
            EngineConfigRow.assessment,
            EngineConfigRow.scale,
            EngineConfigRow.margin_centi,
            EngineConfigRow.decided,
            EngineConfigRow.risk_percent,
            EngineConfigRow.risk_share_percent,
            EngineConfigRow.threshold_percent,
        )
        .join(OpponentRow, OpponentRow.id == GameRow.opponent_id)
        .join(EngineConfigRow, EngineConfigRow.id == GameRow.engine_config_id)
        .join(numbers, numbers.c.id == GameRow.id)
        .where(GameRow.state != GameStatus.ABORTED, *game_conditions(filters))
        .order_by(GameRow.started_at, GameRow.id)
    )
    return [_game_fact(row) for row in await session.execute(statement)]


def _is_unjudged() -> ColumnElement[bool]:
    """`GameFact.is_unjudged`."""
    judged = select(JudgementRow.decision_id).where(
        JudgementRow.decision_id == DecisionRow.id, JudgementRow.version == JUDGE_VERSION
    )
    replies = (
        select(DecisionRow.id)
        .join(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
        .where(DecisionRow.game_id == GameRow.id, *standing_conditions(), DecisionRow.is_decided.is_not(None))
        .where(OutcomeRow.rule == FIGURE_9_RULE, OutcomeRow.reply.is_not(None), ~judged.exists())
    )
    done = select(JudgedGameRow.game_id).where(
        JudgedGameRow.game_id == GameRow.id, JudgedGameRow.version == JUDGE_VERSION
    )
    return GameRow.is_settled.is_(True) & replies.exists() & ~done.exists()


def _games_before() -> tuple[ColumnElement[int], Subquery]:
    """`GameFact.games_before`, and the table that it is a column of.

    It is computed before any filters apply.
    """
    is_counted = case((GameRow.state != GameStatus.ABORTED, 1), else_=0)
    numbers = select(
        GameRow.id,
        is_counted.label("own"),
        func.sum(is_counted)
        .over(
            partition_by=(GameRow.opponent_id, GameRow.game),
            order_by=(GameRow.started_at, GameRow.id),
        )
        .label("number"),
    ).subquery()
    return numbers.c.number - numbers.c.own, numbers


def _game_fact(row: Any) -> GameFact:
    return GameFact(
        id=row.id,
        site=row.site,
        game=row.game,
        speed=row.speed,
        strategy=row.strategy,
        version=row.engine_version,
        settings=TrapSettings(
            row.assessment,
            row.scale,
            row.margin_centi,
            row.decided,
            row.risk_percent,
            row.risk_share_percent,
            row.threshold_percent,
        ).text,
        person=row.opponent_id,
        is_bot=row.is_bot,
        opponent_rating=row.opponent_rating,
        state=row.state,
        result=row.result,
        started_at=row.started_at,
        is_unjudged=bool(row.is_unjudged),
        games_before=0 if row.site == MATCH_SITE else row.before,
    )


async def reply_facts(session: AsyncSession, filters: Filters | None = None) -> list[ReplyFact]:
    """The replies in the same games, with two replies or more to choose from, in the order of play.

    Args:
        session: Of the transaction.
        filters: Which games, and which replies in them; None: all.

    """
    filters = filters or Filters()
    which = (
        GameRow.state != GameStatus.ABORTED,
        *game_conditions(of_games(filters)),
        *phase_conditions(filters),
    )
    statement = (
        _replies(*which)
        .join(GameRow, GameRow.id == DecisionRow.game_id)
        .order_by(GameRow.started_at, DecisionRow.game_id, DecisionRow.ply)
    )
    return [_reply_fact(row) for row in await session.execute(statement)]


def _replies(*which: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    return (
        select(
            DecisionRow.id,
            DecisionRow.game_id,
            DecisionRow.ply,
            DecisionRow.reply_count,
            DecisionRow.is_decided,
            DecisionRow.is_trap,
            OutcomeRow.kind,
            OutcomeRow.fell_for_best,
            JudgementRow.cost,
            JudgedGameRow.version,
            ForecastRow.is_taken,
            ForecastRow.bait,
            ForecastRow.model_name,
            ForecastRow.model_sha256,
            ForecastRow.prior,
            ForecastRow.error_uniform,
            ForecastRow.error_expected,
            ForecastRow.cost_uniform,
            ForecastRow.cost_expected,
            ForecastRow.fall_uniform,
            ForecastRow.fall_expected,
            ForecastRow.bait_uniform,
            ForecastRow.bait_expected,
        )
        .join(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
        .join(ForecastRow, ForecastRow.decision_id == DecisionRow.id)
        .outerjoin(
            JudgementRow,
            (JudgementRow.decision_id == DecisionRow.id) & (JudgementRow.version == JUDGE_VERSION),
        )
        .outerjoin(JudgedGameRow, JudgedGameRow.game_id == DecisionRow.game_id)
        .where(*classified_replies(), *which)
    )


def classified_replies() -> tuple[ColumnElement[bool], ...]:
    """Conditions on decision, outcome and forecast: a reply by today's rules, among two or more."""
    return (
        *standing_conditions(),
        DecisionRow.rule == FIGURE_9_RULE,
        DecisionRow.reply_count >= 2,
        OutcomeRow.rule == FIGURE_9_RULE,
        OutcomeRow.reply.is_not(None),
        ForecastRow.rule == FORECAST_RULE,
    )


def _reply_fact(row: Any) -> ReplyFact:
    expected = {name: getattr(row, name) for name in EXPECTATIONS}
    for name in ("cost_uniform", "cost_expected"):
        expected[name] /= WHOLE
    return ReplyFact(
        decision_id=row.id,
        game_id=row.game_id,
        ply=row.ply,
        reply_count=row.reply_count,
        is_decided=row.is_decided,
        is_trap=row.is_trap,
        kind=row.kind,
        fell_for_best=row.fell_for_best,
        cost=None if row.cost is None else row.cost / WHOLE,
        is_unjudged=row.cost is None and row.version != JUDGE_VERSION,
        is_taken=bool(row.is_taken),
        has_bait=row.bait is not None,
        model=model_text(row.model_name, row.model_sha256, row.prior),
        **expected,
    )
