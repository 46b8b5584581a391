"""Finished games in the form that statistics use, derived from the other tables (`storage.evidence`)."""

from sqlalchemy import ForeignKey, Index, LargeBinary, Text
from sqlalchemy.orm import Mapped, mapped_column

from storage.tables.base import Base
from storage.tables.types import BigInt


class GameSummaryRow(Base):
    """One game with its judged replies; see `storage.evidence.summaries`."""

    __tablename__ = "game_summaries"
    __table_args__ = (
        # So that finding out which ones are new never touches the rows.
        Index("ix_game_summaries_stamp", "layout", "rule", "forecast_rule", "game_id", "stamp"),
    )

    game_id: Mapped[int] = mapped_column(BigInt, ForeignKey("games.id"), primary_key=True)
    # By which layout of this row, and which rules of judging and forecasting it was made.
    layout: Mapped[int]
    rule: Mapped[int]
    forecast_rule: Mapped[int]
    # Another number whenever it is made, so that readers know the ones that they have read.
    stamp: Mapped[int] = mapped_column(BigInt)
    # The fields of `storage.evidence.game_records.BaitCounts`, for the views of `storage.ask`.
    baits_set: Mapped[int]
    baits_taken: Mapped[int]
    slips: Mapped[int]
    # `storage.evidence.game_records.GameSummary`.  The largest is the last one, so that reading the others
    # seldom touches its pages.
    labels: Mapped[str] = mapped_column(Text)
    game: Mapped[bytes] = mapped_column(LargeBinary)
    replies: Mapped[bytes] = mapped_column(LargeBinary)
