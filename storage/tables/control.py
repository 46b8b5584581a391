"""The operator's table of accounts that ours refuse to play against."""

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped

from storage.tables.base import Base
from storage.tables.types import IntPk, KeyColumn, UtcTime


class BlockRow(Base):
    """An account that the operator has blocked: none of our accounts at its site plays against it."""

    __tablename__ = "blocks"
    __table_args__ = (UniqueConstraint("site", "name"),)

    id: Mapped[IntPk]
    site: Mapped[KeyColumn]
    name: Mapped[KeyColumn]
    """The account's name or ID at the site, in lower case."""
    at: Mapped[UtcTime]
