"""The table of malformed rows in quarantine (`storage.quarantine`)."""

from sqlalchemy import String, Text
from sqlalchemy.orm import Mapped, mapped_column

from storage.tables.base import Base
from storage.tables.types import IntPk, UtcTime


class QuarantineRow(Base):
    """A row in quarantine, or a removed reference; several must be restored in reverse order."""

    __tablename__ = "quarantine"

    id: Mapped[IntPk]
    at: Mapped[UtcTime]
    table_name: Mapped[str] = mapped_column(String(64))
    # The primary key as SQL literals.
    row_key: Mapped[str] = mapped_column(Text)
    reason: Mapped[str] = mapped_column(Text)
    # SQL that restores it.
    statement: Mapped[str] = mapped_column(Text)
