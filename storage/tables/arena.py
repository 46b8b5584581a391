"""The arena's tables: accounts, ratings, games and chat.

They share only the database with the bot's own records: the arena does not know the bot's decisions, and the
bot reads its arena games through the API, as from any other site.
"""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import BigInteger, Boolean, CheckConstraint, Float, ForeignKey, Index, Integer, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from storage.tables.base import Base
from storage.tables.types import EnumText, IntPk, UtcDateTime, UtcTime


class ArenaAccess(StrEnum):
    """The rights of an account at the arena."""

    ACTIVE = "active"
    """All rights of a player."""
    PENDING = "pending"
    """May only watch until the arena's owner approves the account."""
    BANNED = "banned"
    """No rights: the account's token does not work."""
    DELETED = "deleted"
    """The account is deleted: its name and chat have been removed, but its games are kept."""


class ArenaAccount(Base):
    """The account of a person or a program at the arena."""

    __tablename__ = "arena_accounts"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    """The name in lower case, to ensure that no two names differ only in case."""
    name: Mapped[str] = mapped_column(String(32))
    is_bot: Mapped[bool] = mapped_column(Boolean)
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    """SHA-256 of the bearer token in hexadecimal; the token itself is never stored."""
    created_at: Mapped[UtcTime]
    access: Mapped[ArenaAccess] = mapped_column(EnumText(ArenaAccess), server_default="active")


class ArenaRating(Base):
    """An account's rating in one variant (Glicko-2); no row before the first rated game."""

    __tablename__ = "arena_ratings"
    __table_args__ = (Index("ix_arena_ratings_best", "variant", "rating"),)

    account_id: Mapped[str] = mapped_column(ForeignKey("arena_accounts.id"), primary_key=True)
    variant: Mapped[str] = mapped_column(String(32), primary_key=True)
    rating: Mapped[float] = mapped_column(Float)
    deviation: Mapped[float] = mapped_column(Float)
    volatility: Mapped[float] = mapped_column(Float)
    games: Mapped[int] = mapped_column(Integer)
    """Number of rated games."""


class ArenaGame(Base):
    """One game; `first` is the side that moves first, `second` the other side."""

    __tablename__ = "arena_games"
    __table_args__ = (
        CheckConstraint("first_id <> second_id", name="two_players"),
        CheckConstraint("winner IN (0, 1)", name="winner_is_a_side"),
        Index("ix_arena_games_status", "status"),
        Index("ix_arena_games_players", "first_id", "second_id"),
        # For the games of an account, the latest first.
        Index("ix_arena_games_first_at", "first_id", "created_at"),
        Index("ix_arena_games_second_at", "second_id", "created_at"),
    )

    id: Mapped[str] = mapped_column(String(16), primary_key=True)
    variant: Mapped[str] = mapped_column(String(32))
    rated: Mapped[bool] = mapped_column(Boolean)
    initial_s: Mapped[int | None] = mapped_column(Integer)
    """Initial clock time in seconds; without a clock, this and `increment_s` are null."""
    increment_s: Mapped[int | None] = mapped_column(Integer)
    first_id: Mapped[str] = mapped_column(ForeignKey("arena_accounts.id"))
    second_id: Mapped[str] = mapped_column(ForeignKey("arena_accounts.id"))
    first_rating: Mapped[int] = mapped_column(Integer)
    """The players' ratings when the game began."""
    second_rating: Mapped[int] = mapped_column(Integer)
    first_provisional: Mapped[bool] = mapped_column(Boolean)
    second_provisional: Mapped[bool] = mapped_column(Boolean)
    rematch_of: Mapped[str | None] = mapped_column(String(16))
    initial_fen: Mapped[str | None] = mapped_column(Text)
    """Starting position; null for the standard one."""
    moves: Mapped[str] = mapped_column(Text)
    """Every move, including passes, in the game's notation, separated by spaces."""
    first_ms: Mapped[int | None] = mapped_column(Integer)
    """Remaining time after the latest move, in milliseconds."""
    second_ms: Mapped[int | None] = mapped_column(Integer)
    first_draw: Mapped[bool] = mapped_column(Boolean)
    """Whether there is an open draw offer."""
    second_draw: Mapped[bool] = mapped_column(Boolean)
    first_takeback: Mapped[bool] = mapped_column(Boolean)
    """Whether there is an open takeback offer."""
    second_takeback: Mapped[bool] = mapped_column(Boolean)
    status: Mapped[str] = mapped_column(String(32))
    """One of Lichess's status names; `started` while the game is in progress."""
    winner: Mapped[int | None] = mapped_column(Integer)
    """The winning side, 0 or 1; null if there is no winner or the game is not over."""
    first_diff: Mapped[int | None] = mapped_column(Integer)
    """The players' rating changes; null if the game is unrated or not over."""
    second_diff: Mapped[int | None] = mapped_column(Integer)
    unrated: Mapped[str | None] = mapped_column(String(32))
    """Why a rated game did not change the ratings; null if it did, or if the game is casual or not over."""
    turn_began_ms: Mapped[int | None] = mapped_column(BigInteger)
    """The arena's total time (`ArenaElapsed`) when the side to move began to think; null if unknown."""
    created_at: Mapped[UtcTime]
    last_move_at: Mapped[UtcTime]
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime())


class ArenaElapsed(Base):
    """The arena's total time (one row): how long it has been able to serve players, over all its runs."""

    __tablename__ = "arena_elapsed"

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    elapsed_ms: Mapped[int] = mapped_column(BigInteger)
    saved_at: Mapped[UtcTime]


class ArenaChatLine(Base):
    """One chat message in a game."""

    __tablename__ = "arena_chat"
    __table_args__ = (Index("ix_arena_chat_game_id", "game_id"),)

    id: Mapped[IntPk]
    game_id: Mapped[str] = mapped_column(ForeignKey("arena_games.id"))
    account_id: Mapped[str] = mapped_column(ForeignKey("arena_accounts.id"))
    room: Mapped[str] = mapped_column(String(16))
    text: Mapped[str] = mapped_column(Text)
    created_at: Mapped[UtcTime]
