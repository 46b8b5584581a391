"""Summaries of the games that are over, from which statistics of many games are made."""

from sqlalchemy import ForeignKey, Index, LargeBinary, Text
from sqlalchemy.orm import Mapped, mapped_column

from storage.tables.base import Base
from storage.tables.types import BigInt


class GameSummaryRow(Base):
    """What one game adds to statistics; see `storage.evidence.statistics.summaries`."""

    __tablename__ = "game_summaries"
    __table_args__ = (
        # For `storage.evidence.statistics.kept_summaries`, which adds the stamps up.
        Index("ix_game_summaries_stamp", "layout", "rule", "forecast_rule", "game_id", "stamp"),
    )

    game_id: Mapped[int] = mapped_column(BigInt, ForeignKey("games.id"), primary_key=True)
    # By which layout of this row, and which rules of judging and forecasting it was made.
    layout: Mapped[int]
    rule: Mapped[int]
    forecast_rule: Mapped[int]
    # Drawn anew whenever the row is written.
    stamp: Mapped[int] = mapped_column(BigInt)
    # Decisions that `storage.evidence.statistics.facts.count_outdated` counts.
    outdated: Mapped[int]
    # The fields of `storage.evidence.statistics.encounters.BaitCounts`.
    baits_set: Mapped[int]
    baits_taken: Mapped[int]
    slips: Mapped[int]
    # `storage.evidence.statistics.lots.LotCounts`.
    lots: Mapped[int]
    lots_answered: Mapped[int]
    # `storage.evidence.statistics.packed_games`: labels of the game, and its packed row.
    labels: Mapped[str] = mapped_column(Text)
    # JSON: a list of the models that made the forecasts, by `storage.evidence.statistics.facts.model_text`.
    models: Mapped[str] = mapped_column(Text)
    facts: Mapped[bytes] = mapped_column(LargeBinary)
    # `storage.evidence.statistics.reply_sums.packed`: of all replies by model, and by phase and model.
    # Larger columns
    # are the last ones, so that reading the others never touches their pages.
    sums: Mapped[bytes] = mapped_column(LargeBinary)
    # `storage.evidence.statistics.set_baits.packed_phases`.
    bait_phases: Mapped[bytes] = mapped_column(LargeBinary)
    phase_sums: Mapped[bytes] = mapped_column(LargeBinary)
    # `storage.evidence.statistics.reply_sums.packed_forecasts`.
    forecasts: Mapped[bytes] = mapped_column(LargeBinary)


class GameBaitRow(Base):
    """A confirmed bait of a game that has a summary; see `storage.evidence.statistics.set_baits`."""

    __tablename__ = "game_baits"
    __table_args__ = (
        Index("ix_game_baits_game_id", "game_id"),
        # For the gallery, which lists the first ones in either order.
        Index("ix_game_baits_surprise", "surprise", "decision_id"),
        Index("ix_game_baits_cost", "cost", "decision_id"),
    )

    decision_id: Mapped[int] = mapped_column(BigInt, ForeignKey("decisions.id"), primary_key=True)
    game_id: Mapped[int] = mapped_column(BigInt, ForeignKey("games.id"))
    # `storage.evidence.statistics.set_baits.line_key`.
    line: Mapped[int] = mapped_column(BigInt)
    # Probability times cost.
    surprise: Mapped[float]
    cost: Mapped[int]
    # Null: the game ended before the reply.
    is_taken: Mapped[bool | None]
    # Of the reply, 0 for the first.
    phase: Mapped[int]
