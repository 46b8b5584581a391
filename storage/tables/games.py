"""The bot's own tables: opponents, trials, games, decisions, outcomes and events.

A column has the meaning of the field with the same name in `storage.records`, unless documented here.

::

    opponents --+
                +--< games --< decisions --- outcomes
    engine_configs --+   |               +-- forecasts
    trials ----------+   +--< events     +-- reply_times
                                         +--< judgements
    arena_*                      (storage.tables.arena: the embedded server's state)
    imported_games               (storage.tables.archive: other players' games)
      +--< analysed_positions    (storage.tables.analysis: the results of analyses and models)
"""

from typing import Any

from sqlalchemy import (
    CheckConstraint,
    ColumnElement,
    Float,
    ForeignKey,
    Index,
    String,
    Text,
    UniqueConstraint,
    case,
    func,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column, relationship

from engine.decision import OutcomeKind
from storage.records import (
    MAX_RATING,
    MIN_RATING,
    DecisionState,
    Endpoint,
    GameResult,
    GameStatus,
    TimeSource,
)
from storage.tables.base import Base as Base
from storage.tables.types import (
    BigInt,
    EnumText,
    IntPk,
    JsonColumn,
    JsonType,
    KeyColumn,
    NameColumn,
    PackedRecord,
    RepliesType,
    UtcTime,
)

_WHOLE = 10_000
"""The number stored for a cost of 100 % of the game."""


class OpponentRow(Base):
    """An opponent's account that we have played against."""

    __tablename__ = "opponents"
    __table_args__ = (UniqueConstraint("site", "site_id"),)

    id: Mapped[IntPk]
    site: Mapped[KeyColumn]
    site_id: Mapped[NameColumn]
    name: Mapped[NameColumn]
    is_bot: Mapped[bool]
    first_seen_at: Mapped[UtcTime]


class EngineConfigRow(Base):
    """A strategy with its parameters and the engine's version; one row for each distinct combination."""

    __tablename__ = "engine_configs"
    __table_args__ = (
        UniqueConstraint(
            "strategy",
            "engine_version",
            "assessment",
            "margin_centi",
            "decided",
            "threshold_centi",
            "scale",
            "risk_percent",
            "risk_share_percent",
            "logistic_centi",
            "threshold_percent",
            name="uq_engine_configs_all",
        ),
    )

    id: Mapped[IntPk]
    strategy: Mapped[KeyColumn] = mapped_column("player", key="strategy")
    engine_version: Mapped[KeyColumn]
    assessment: Mapped[KeyColumn]
    margin_centi: Mapped[int]
    decided: Mapped[KeyColumn]
    # Only for engines before 2026-11-25; 0 since then.
    threshold_centi: Mapped[int]
    scale: Mapped[KeyColumn]
    risk_percent: Mapped[float]
    risk_share_percent: Mapped[float]
    # As configured: 0 means each game's own; a decision's record has the number used.
    logistic_centi: Mapped[float]
    threshold_percent: Mapped[float]


class TrialRow(Base):
    """A comparison of strategies, planned before its first game; see `storage.evidence.trials`."""

    __tablename__ = "trials"

    id: Mapped[IntPk]
    name: Mapped[KeyColumn] = mapped_column(unique=True)
    # Names of the players, sorted.
    arms: Mapped[list[str]] = mapped_column(JsonType)
    configurations: Mapped[JsonColumn]
    strata: Mapped[JsonColumn]
    planned_n: Mapped[int] = mapped_column("opt", key="planned_n")
    alpha: Mapped[float] = mapped_column(Float(53))
    cap: Mapped[int]
    endpoint: Mapped[Endpoint] = mapped_column(EnumText(Endpoint))
    started_at: Mapped[UtcTime]
    ended_at: Mapped[UtcTime | None]
    # 1 while the trial is open, null afterwards: unique, so that two can never be open at once.
    open_slot: Mapped[int | None] = mapped_column(unique=True)


class GameRow(Base):
    """A game that we play or have played on a server."""

    __tablename__ = "games"
    __table_args__ = (
        UniqueConstraint("site", "account", "site_game_id"),
        CheckConstraint("our_side IN (0, 1)", name="our_side"),
        CheckConstraint(f"our_rating BETWEEN {MIN_RATING} AND {MAX_RATING}", name="our_rating"),
        CheckConstraint(f"opponent_rating BETWEEN {MIN_RATING} AND {MAX_RATING}", name="opponent_rating"),
        # For the program's start, when it resumes games that are not settled.
        Index("ix_games_account_settled", "site", "account", "is_settled", "state"),
        Index("ix_games_started_at", "started_at"),
        # For balanced selection, which counts games before every new game.
        Index("ix_games_selection", "site", "account", "game", "strategy", "state"),
        # With the columns by which `storage.evidence.trials` counts a trial's games.
        Index("ix_games_trial", "trial_id", "is_settled"),
        Index("ix_games_opponent", "opponent_id", "game", "strategy", "state"),
    )

    id: Mapped[IntPk]
    site: Mapped[KeyColumn]
    account: Mapped[KeyColumn]
    site_game_id: Mapped[KeyColumn]
    game: Mapped[KeyColumn]
    variant: Mapped[KeyColumn]
    initial_position: Mapped[str | None] = mapped_column(Text)
    our_side: Mapped[int]
    rated: Mapped[bool]
    speed: Mapped[KeyColumn]
    clock_initial_s: Mapped[int | None]
    clock_increment_s: Mapped[int | None]
    opponent_id: Mapped[int] = mapped_column(BigInt, ForeignKey("opponents.id"))
    our_rating: Mapped[int | None]
    opponent_rating: Mapped[int | None]
    engine_config_id: Mapped[int] = mapped_column(BigInt, ForeignKey("engine_configs.id"))
    # Also in engine_configs: every statistic groups by it, and a game never changes its player.
    strategy: Mapped[KeyColumn] = mapped_column("player", key="strategy")
    state: Mapped[GameStatus] = mapped_column(EnumText(GameStatus), default=GameStatus.OPEN)
    # False: the game is open, or some of its decisions are yet to be judged or forecast.
    is_settled: Mapped[bool] = mapped_column(default=False)
    result: Mapped[GameResult | None] = mapped_column(EnumText(GameResult))
    end_reason: Mapped[KeyColumn | None]
    rating_diff: Mapped[int | None]
    started_at: Mapped[UtcTime]
    ended_at: Mapped[UtcTime | None]
    selection: Mapped[JsonColumn]
    trial_id: Mapped[int | None] = mapped_column(BigInt, ForeignKey("trials.id"))
    # In the game's notation, separated by spaces.
    moves: Mapped[str] = mapped_column(Text, default="")

    opponent: Mapped[OpponentRow] = relationship(lazy="raise")
    engine_config: Mapped[EngineConfigRow] = relationship(lazy="raise")


_SECOND_SIDE_TO_MOVE = {"othello": "% w", "connect4": "% y", "tictactoe": "% o"}
"""The pattern of positions with the second side to move, for each game whose positions end with the side."""
_SECOND_SIDE_IN_FEN = "% b %"


def move_order() -> ColumnElement[int]:
    """SQL: 0 if we make a game's first move, 1 if the opponent does.

    This differs from `GameRow.our_side` if the second side, such as black in chess, is to move in the
    starting position.
    """
    start = GameRow.initial_position
    is_second = case(
        *((GameRow.game == game, start.like(text)) for game, text in _SECOND_SIDE_TO_MOVE.items()),
        else_=start.like(_SECOND_SIDE_IN_FEN),
    )
    return case((func.coalesce(is_second, False), 1 - GameRow.our_side), else_=GameRow.our_side)


class DecisionRow(Base):
    """A move chosen by a strategy, stored before it is sent."""

    __tablename__ = "decisions"
    __table_args__ = (
        UniqueConstraint("game_id", "ply", "takeback"),
        CheckConstraint("ply >= 0", name="ply"),
        CheckConstraint("takeback >= 0", name="takeback"),
        CheckConstraint("reply_count >= 0", name="reply_count"),
    )

    id: Mapped[IntPk]
    game_id: Mapped[int] = mapped_column(BigInt, ForeignKey("games.id"))
    ply: Mapped[int]
    # 0: the decision stands.  n: it was the nth decision at this ply to be taken back.
    takeback: Mapped[int] = mapped_column(default=0)
    state: Mapped[DecisionState] = mapped_column(EnumText(DecisionState), default=DecisionState.COMMITTED)
    move: Mapped[KeyColumn]
    depth: Mapped[int]
    nodes: Mapped[int] = mapped_column(BigInt)
    time_s: Mapped[float]
    is_complete: Mapped[bool]
    # The next five are null until the profile is complete (`engine.figure_9`; is_decided also by rule 1).
    is_trap: Mapped[bool | None]
    trap_quality: Mapped[float | None]
    reply_count: Mapped[int | None]
    is_decided: Mapped[bool | None]
    rule: Mapped[int | None]
    created_at: Mapped[UtcTime]
    sent_at: Mapped[UtcTime | None]
    confirmed_at: Mapped[UtcTime | None]
    # `Decision.search_mode`; null: the record was damaged when the column was added.
    search_mode: Mapped[KeyColumn | None]
    # For each reply to the move its text, s_2, s_(D-1) and s_D (`storage.ledger.decisions.reply_scores`);
    # null until
    # the profile is complete.
    replies: Mapped[list[list[Any]] | None] = mapped_column(RepliesType)
    # `Decision.to_record`; the last column, so that reading the others never touches its pages.
    record: Mapped[dict[str, Any]] = mapped_column(PackedRecord)

    outcome: Mapped["OutcomeRow | None"] = relationship(lazy="raise", viewonly=True)


class OutcomeRow(Base):
    """The opponent's reply to our move, classified; at most one for each decision."""

    __tablename__ = "outcomes"
    __table_args__ = (
        CheckConstraint(f"cost BETWEEN 0 AND {_WHOLE}", name="cost"),
        CheckConstraint("cost IS NOT NULL OR rule = 1", name="cost_by_rule"),
    )

    decision_id: Mapped[int] = mapped_column(BigInt, ForeignKey("decisions.id"), primary_key=True)
    kind: Mapped[OutcomeKind] = mapped_column(EnumText(OutcomeKind))
    reply: Mapped[KeyColumn | None]
    fell_for_best: Mapped[bool]
    quality: Mapped[float]
    cost_centi: Mapped[int]
    # Null under rule 1.
    cost: Mapped[int | None]
    rule: Mapped[int]
    at: Mapped[UtcTime]


class ForecastRow(Base):
    """The forecast of people's replies to our move (`engine.bait_rule.ReplyForecast`)."""

    __tablename__ = "forecasts"
    __table_args__ = (
        # Few forecasts have a bait; includes all columns that lists and counts of baits read.
        Index(
            "ix_forecasts_bait",
            *("decision_id", "rule", "is_taken", "bait", "bait_probability", "bait_cost", "bait_expected"),
            sqlite_where=text("bait IS NOT NULL"),
            postgresql_where=text("bait IS NOT NULL"),
        ),
        *(
            CheckConstraint(f"{column} BETWEEN -0.01 AND 1.01", name=column)  # rounding
            for column in (
                *("error_uniform", "error_expected", "fall_uniform", "fall_expected"),
                *("bait_uniform", "bait_expected", "optimal_uniform", "optimal_expected"),
            )
        ),
        *(
            CheckConstraint(f"{column} BETWEEN -0.01 AND {_WHOLE}.01", name=column)
            for column in ("cost_uniform", "cost_expected")
        ),
    )

    decision_id: Mapped[int] = mapped_column(BigInt, ForeignKey("decisions.id"), primary_key=True)
    rule: Mapped[int]
    model_kind: Mapped[KeyColumn]
    model_name: Mapped[NameColumn]
    model_sha256: Mapped[KeyColumn]
    prior: Mapped[KeyColumn]
    # The fields of `engine.bait_rule.Expectations`.
    error_uniform: Mapped[float]
    error_expected: Mapped[float]
    cost_uniform: Mapped[float]
    cost_expected: Mapped[float]
    fall_uniform: Mapped[float]
    fall_expected: Mapped[float]
    bait_uniform: Mapped[float]
    bait_expected: Mapped[float]
    # Null where a forecast from before 2026-11-25 could not be summed (migration 0010).
    optimal_uniform: Mapped[float | None]
    optimal_expected: Mapped[float | None]
    bait: Mapped[KeyColumn | None]
    bait_probability: Mapped[float | None] = mapped_column("bait_odds", key="bait_probability")
    bait_cost: Mapped[int | None]
    confirm_depth: Mapped[int]
    # Null until the reply is judged: whether it takes a bait, and its probability.
    is_taken: Mapped[bool | None]
    reply_probability: Mapped[float | None] = mapped_column("reply_odds", key="reply_probability")
    at: Mapped[UtcTime]
    # `ReplyForecast.to_record`.
    record: Mapped[dict[str, Any]] = mapped_column(PackedRecord)


class JudgementRow(Base):
    """What the opponent's reply to our move cost, by one version of the judge (`engine.judge.ReplyCosts`)."""

    __tablename__ = "judgements"
    __table_args__ = (CheckConstraint(f"cost BETWEEN 0 AND {_WHOLE}", name="cost"),)

    decision_id: Mapped[int] = mapped_column(BigInt, ForeignKey("decisions.id"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    # Of the reply that was played.
    cost: Mapped[int]
    best: Mapped[KeyColumn]
    best_centi: Mapped[int]
    # For the reply played and the best one its text, its score for the person, its cost, the depth, and 1 if
    # the cost is exact.
    replies: Mapped[list[list[Any]]] = mapped_column(RepliesType)


class JudgedGameRow(Base):
    """A game whose replies have all been judged by one version of the judge."""

    __tablename__ = "judged_games"
    __table_args__ = (Index("ix_judged_games_version", "version"),)

    game_id: Mapped[int] = mapped_column(BigInt, ForeignKey("games.id"), primary_key=True)
    version: Mapped[int]


class ReplyTimeRow(Base):
    """The opponent's time for the reply to our move; if a reply was taken back, the time for the first reply.

    There is no row if there was no reply, the reply was not timed, or the game was played before 2026-11-25.
    """

    __tablename__ = "reply_times"
    __table_args__ = (CheckConstraint("time_s >= 0", name="time"),)

    decision_id: Mapped[int] = mapped_column(BigInt, ForeignKey("decisions.id"), primary_key=True)
    time_s: Mapped[float]
    source: Mapped[TimeSource] = mapped_column(EnumText(TimeSource))


class EventRow(Base):
    """A recorded incident other than a move."""

    __tablename__ = "events"
    __table_args__ = (Index("ix_events_at", "at"), Index("ix_events_game_id", "game_id"))

    id: Mapped[IntPk]
    at: Mapped[UtcTime]
    site: Mapped[KeyColumn]
    account: Mapped[KeyColumn]
    kind: Mapped[str] = mapped_column(String(64))
    game_id: Mapped[int | None] = mapped_column(BigInt, ForeignKey("games.id"))
    detail: Mapped[JsonColumn]
