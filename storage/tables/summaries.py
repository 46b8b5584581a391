"""Per-game aggregates for statistics, derived from the other tables (`storage.evidence`)."""

from sqlalchemy import ForeignKey, Index, LargeBinary, Text
from sqlalchemy.orm import Mapped, mapped_column

from storage.tables.base import Base
from storage.tables.types import BigInt


class GameSummaryRow(Base):
    """One game with its replies; see `storage.evidence.summaries`."""

    __tablename__ = "game_summaries"
    __table_args__ = (
        # Lets a query find new summaries without touching the rows.
        Index(
            "ix_game_summaries_stamp", "layout", "rule", "forecast_rule", "judge_version", "game_id", "stamp"
        ),
    )

    game_id: Mapped[int] = mapped_column(BigInt, ForeignKey("games.id"), primary_key=True)
    # The layout of this row, and the rules for classifying and forecasting and the judge's version with which
    # it was made.
    layout: Mapped[int]
    rule: Mapped[int]
    forecast_rule: Mapped[int]
    judge_version: Mapped[int]
    # A new number whenever the row is written, so that readers recognise rows that they have read.
    stamp: Mapped[int] = mapped_column(BigInt)
    # The fields of `storage.evidence.game_records.BaitCounts`, for the views of `storage.sql`.
    baits_set: Mapped[int]
    baits_taken: Mapped[int]
    slips: Mapped[int]
    unjudged: Mapped[int]
    # `storage.evidence.game_records.GameSummary`.  The largest column is the last one, so that reading
    # the others seldom touches its pages.
    labels: Mapped[str] = mapped_column(Text)
    game: Mapped[bytes] = mapped_column(LargeBinary)
    replies: Mapped[bytes] = mapped_column(LargeBinary)
