"""The table of imported games.

The table is separate from the bot's own games; statistics on those games never read it.
"""

from sqlalchemy import Float, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from storage.tables.base import Base
from storage.tables.types import IntPk, JsonColumn, KeyColumn, UtcTime


class ImportedGameRow(Base):
    """One game; the columns are fields of `engine.formats.record.GameRecord`, unless documented here."""

    __tablename__ = "imported_games"
    __table_args__ = (Index("ix_imported_games_game", "game", "id"),)

    id: Mapped[IntPk]
    # See `storage.research.archive.content_key`: SHA-256 in hexadecimal.
    content_key: Mapped[str] = mapped_column(String(64), unique=True)
    game: Mapped[KeyColumn]
    first_player: Mapped[str] = mapped_column(Text)
    second_player: Mapped[str] = mapped_column(Text)
    event: Mapped[str] = mapped_column(Text)
    place: Mapped[str] = mapped_column(Text)
    round: Mapped[str] = mapped_column(Text)
    date: Mapped[str] = mapped_column(Text)
    start: Mapped[str | None] = mapped_column(Text)
    # Separated by spaces.
    moves: Mapped[str] = mapped_column(Text)
    points: Mapped[float | None] = mapped_column(Float(53))
    margin: Mapped[float | None] = mapped_column(Float(53))
    ending: Mapped[KeyColumn]
    # Ratings, clocks, evaluations, times, tags.
    detail: Mapped[JsonColumn]
    # Name of the file, and its format.
    source: Mapped[str] = mapped_column(Text)
    source_format: Mapped[KeyColumn]
    imported_at: Mapped[UtcTime]
