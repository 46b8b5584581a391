"""What the program has learned of persons from their games, and who asked to be forgotten.

::

    opponents --+--< person_states     (one for each game that the person plays)
                +--o forgotten_persons
    games ------o games_to_fold        (judged games that are not in the person's state yet)
    site_states                        (for each site and game, the sum of its persons' evidence)
"""

from sqlalchemy import BigInteger, ForeignKey, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from storage.tables.base import Base
from storage.tables.types import BigInt, KeyColumn, UtcTime


class PersonStateRow(Base):
    """What is known of a person in one game: the fold of their judged games (`storage.ledger.persons`)."""

    __tablename__ = "person_states"

    opponent_id: Mapped[int] = mapped_column(BigInt, ForeignKey("opponents.id"), primary_key=True)
    game: Mapped[KeyColumn] = mapped_column(primary_key=True)
    # `engine.person.site.SiteModel.version` when it was made, of which the state's own version is a part.
    version: Mapped[KeyColumn]
    # The numbers of games and replies in the state.
    games: Mapped[int]
    replies: Mapped[int]
    # The end and the key of the latest game in it; states fold games in this order.
    last_ended_at: Mapped[UtcTime]
    last_game_id: Mapped[int] = mapped_column(BigInteger)
    # `engine.person.site_state.SiteState.to_bytes`: what the same games tell about the site's people.
    evidence: Mapped[bytes] = mapped_column(LargeBinary)
    # `engine.person.state.PersonState.to_bytes`; the last column, since it is the largest.
    state: Mapped[bytes] = mapped_column(LargeBinary)


class ForgottenPersonRow(Base):
    """A person who asked to be forgotten: nothing is learned of them any more."""

    __tablename__ = "forgotten_persons"

    opponent_id: Mapped[int] = mapped_column(BigInt, ForeignKey("opponents.id"), primary_key=True)
    forgotten_at: Mapped[UtcTime]


class GameToFoldRow(Base):
    """A judged game of a person that is to be added to the person's state."""

    __tablename__ = "games_to_fold"

    game_id: Mapped[int] = mapped_column(BigInt, ForeignKey("games.id"), primary_key=True)


class SiteStateRow(Base):
    """What is known of a site's people in one game, all together (`storage.ledger.sites`)."""

    __tablename__ = "site_states"

    site: Mapped[KeyColumn] = mapped_column(primary_key=True)
    game: Mapped[KeyColumn] = mapped_column(primary_key=True)
    # As in `person_states`; empty before the first sum.
    version: Mapped[KeyColumn]
    # The number of games in the state.
    games: Mapped[int]
    # `engine.person.site_state.SiteState.to_bytes`, some kilobytes for any number of games.
    state: Mapped[bytes] = mapped_column(LargeBinary)
