"""The trainer's tables: positions in which people took a bait, and each person's results on them.

::

    training_positions --< training_falls (one for each decision whose bait was taken)
                       +-< training_reviews >-- arena_accounts --< training_players
    training_games (games that were searched)
"""

from datetime import datetime

from sqlalchemy import BigInteger, Boolean, Float, ForeignKey, Index, Integer, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from storage.tables.base import Base
from storage.tables.types import BigInt, IntPk, KeyColumn, UtcDateTime


class PuzzlePosition(Base):
    """A puzzle position, shared by all games that reached it from the same start with the same moves."""

    __tablename__ = "training_positions"
    # For choosing a position, which walks upwards and downwards from a rating.
    __table_args__ = (Index("ix_training_positions_rating", "game", "rating", "id"),)

    id: Mapped[IntPk]
    key: Mapped[int] = mapped_column(BigInt, unique=True)
    """`storage.arena.puzzles.positions.position_key`."""
    game: Mapped[KeyColumn]
    rating: Mapped[float] = mapped_column(Float)
    """The position's difficulty, on the same scale as people's ratings (Glicko-2)."""
    deviation: Mapped[float] = mapped_column(Float)
    volatility: Mapped[float] = mapped_column(Float)
    answers: Mapped[int] = mapped_column(Integer)
    """Number of rated answers."""
    solved: Mapped[int] = mapped_column(Integer)
    """Number of rated answers that solved the position."""
    bait_line: Mapped[str | None] = mapped_column(Text)
    """The continuation after the bait under best play, in the game's notation, separated by spaces; null if
    unknown."""


class PuzzleMistake(Base):
    """One of our decisions whose bait was taken."""

    __tablename__ = "training_falls"
    __table_args__ = (
        Index("ix_training_falls_position_id", "position_id"),
        Index("ix_training_falls_game_id", "game_id"),
        Index("ix_training_falls_opponent_id", "opponent_id"),
    )

    decision_id: Mapped[int] = mapped_column(BigInt, ForeignKey("decisions.id"), primary_key=True)
    game_id: Mapped[int] = mapped_column(BigInt, ForeignKey("games.id"))
    position_id: Mapped[int] = mapped_column(BigInt, ForeignKey("training_positions.id"))
    opponent_id: Mapped[int] = mapped_column(BigInt, ForeignKey("opponents.id"))
    """The person who took the bait."""


class SearchedGame(Base):
    """A game that has been searched for puzzle positions."""

    __tablename__ = "training_games"

    game_id: Mapped[int] = mapped_column(BigInt, ForeignKey("games.id"), primary_key=True)


class PuzzleSolver(Base):
    """A person's rating (Glicko-2) for solving positions of one game; no row before the first position."""

    __tablename__ = "training_players"

    account_id: Mapped[str] = mapped_column(ForeignKey("arena_accounts.id"), primary_key=True)
    game: Mapped[str] = mapped_column(String(64), primary_key=True)
    rating: Mapped[float] = mapped_column(Float)
    deviation: Mapped[float] = mapped_column(Float)
    volatility: Mapped[float] = mapped_column(Float)
    answers: Mapped[int] = mapped_column(Integer)
    """Number of rated answers."""
    solved: Mapped[int] = mapped_column(Integer)
    """Number of rated answers that solved a position."""
    position_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey("training_positions.id"))
    """The position that is shown but not yet completed; null if there is none."""


class PuzzleReview(Base):
    """A person's attempts at a position."""

    __tablename__ = "training_reviews"
    __table_args__ = (
        Index("ix_training_reviews_due", "account_id", "game", "due_at"),
        Index("ix_training_reviews_position_id", "position_id"),
    )

    account_id: Mapped[str] = mapped_column(ForeignKey("arena_accounts.id"), primary_key=True)
    position_id: Mapped[int] = mapped_column(BigInt, ForeignKey("training_positions.id"), primary_key=True)
    game: Mapped[KeyColumn]
    answers: Mapped[int] = mapped_column(Integer)
    """Number of attempts of all kinds, including views of the solution."""
    has_hint: Mapped[bool] = mapped_column(Boolean)
    """Whether the person used the hint before the first answer."""
    stage: Mapped[int | None] = mapped_column(Integer)
    """Number of due reviews solved since the last miss; null if the position was never missed."""
    due_at: Mapped[datetime | None] = mapped_column(UtcDateTime())
    """When to show the position again; null for never."""
