"""Games that are over as statistics read them; derived from the other tables (`storage.evidence`)."""

from sqlalchemy import ForeignKey, Index, LargeBinary, Text
from sqlalchemy.orm import Mapped, mapped_column

from storage.tables.base import Base
from storage.tables.types import BigInt


class GameSummaryRow(Base):
    """One game with its judged replies; see `storage.evidence.summaries`."""

    __tablename__ = "game_summaries"

    game_id: Mapped[int] = mapped_column(BigInt, ForeignKey("games.id"), primary_key=True)
    # By which layout of this row, and which rules of judging and forecasting it was made.
    layout: Mapped[int]
    rule: Mapped[int]
    forecast_rule: Mapped[int]
    # The fields of `storage.evidence.game_records.BaitCounts`, for lists.
    baits_set: Mapped[int]
    baits_taken: Mapped[int]
    slips: Mapped[int]
    # `storage.evidence.game_records.GameSummary`.
    trial_draws: Mapped[int]
    trial_draws_answered: Mapped[int]
    # `storage.evidence.replies.PackedGame`.  The largest is the last one, so that reading the others seldom
    # touches its pages.
    labels: Mapped[str] = mapped_column(Text)
    game: Mapped[bytes] = mapped_column(LargeBinary)
    replies: Mapped[bytes] = mapped_column(LargeBinary)


class GameBaitRow(Base):
    """A confirmed bait of a game that has a summary; see `storage.evidence.game_records.SetBait`."""

    __tablename__ = "game_baits"
    __table_args__ = (
        Index("ix_game_baits_game_id", "game_id"),
        # For the gallery, which lists the first ones in either order.
        Index("ix_game_baits_expected_loss", "expected_loss", "decision_id"),
        Index("ix_game_baits_cost", "cost", "decision_id"),
    )

    decision_id: Mapped[int] = mapped_column(BigInt, ForeignKey("decisions.id"), primary_key=True)
    game_id: Mapped[int] = mapped_column(BigInt, ForeignKey("games.id"))
    # `storage.evidence.game_records.line_key`.
    line: Mapped[int] = mapped_column(BigInt)
    # Probability times cost.
    expected_loss: Mapped[float]
    cost: Mapped[int]
    # Null: the game ended before the reply.
    is_taken: Mapped[bool | None]
    # Of the reply, 0 for the first.
    phase: Mapped[int]
