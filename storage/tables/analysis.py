"""Tables for analyses of recorded games: reply profiles, predictions by models, and what replies cost.

These tables are separate from those of the bot's own games; statistics of its games never read them.
"""

from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, Float, ForeignKey, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from storage.tables.base import Base
from storage.tables.types import BigInt, IntPk, JsonColumn, JsonType, KeyColumn, NameColumn


class AnalysisRow(Base):
    """Settings for analysing positions; the columns are fields of
    `lab.analysis.analysed_games.AnalysisSettings`."""

    __tablename__ = "analyses"

    id: Mapped[IntPk]
    # SHA-256 in hexadecimal of all the columns below.
    content_key: Mapped[str] = mapped_column(String(64), unique=True)
    game: Mapped[KeyColumn]
    source: Mapped[NameColumn]
    depth: Mapped[int]
    engine_version: Mapped[KeyColumn]
    settings: Mapped[JsonColumn]


class AnalysedPositionRow(Base):
    """A move and its reply; the columns are fields of `lab.analysis.analysed_games.AnalysedPosition`."""

    __tablename__ = "analysed_positions"
    __table_args__ = (UniqueConstraint("analysis_id", "imported_game_id", "ply"),)

    id: Mapped[IntPk]
    analysis_id: Mapped[int] = mapped_column(BigInt, ForeignKey("analyses.id"))
    imported_game_id: Mapped[int] = mapped_column(BigInt, ForeignKey("imported_games.id"))
    ply: Mapped[int]
    side: Mapped[int]
    position: Mapped[str] = mapped_column(Text)
    move: Mapped[KeyColumn]
    reply: Mapped[KeyColumn]
    rating: Mapped[int | None]
    clock_s: Mapped[float | None] = mapped_column(Float(53))
    logistic_centi: Mapped[float] = mapped_column(Float(53))
    nodes: Mapped[int] = mapped_column(BigInteger)
    time_s: Mapped[float] = mapped_column(Float(53))
    # The text and the scores of each reply, in the game's order: [["e7e5", -31, -28], ...].
    profile: Mapped[list[list[Any]]] = mapped_column(JsonType)


class HumanModelRow(Base):
    """A model that predicted reply probabilities (`engine.human.model.ModelInfo`)."""

    __tablename__ = "human_models"
    __table_args__ = (UniqueConstraint("kind", "name", "sha256"),)

    id: Mapped[IntPk]
    kind: Mapped[KeyColumn]
    name: Mapped[NameColumn]
    sha256: Mapped[str] = mapped_column(String(64))


class PredictionRow(Base):
    """A model's predicted probabilities of the replies in a position."""

    __tablename__ = "predictions"

    position_id: Mapped[int] = mapped_column(BigInt, ForeignKey("analysed_positions.id"), primary_key=True)
    model_id: Mapped[int] = mapped_column(BigInt, ForeignKey("human_models.id"), primary_key=True)
    # In the order of the position's profile.
    probabilities: Mapped[list[float]] = mapped_column("odds", JsonType)


class AnalysedCostRow(Base):
    """What a reply cost, by one version of the judge; the columns are fields of `engine.judge.ReplyCost`."""

    __tablename__ = "analysed_costs"
    __table_args__ = (CheckConstraint("cost BETWEEN 0 AND 10000", name="cost"),)

    position_id: Mapped[int] = mapped_column(BigInt, ForeignKey("analysed_positions.id"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    reply: Mapped[KeyColumn] = mapped_column(primary_key=True)
    score_centi: Mapped[int]
    cost: Mapped[int]
    depth: Mapped[int]
    is_solved: Mapped[bool]
    # Whether the judge chose it in the position before the reply.
    is_best: Mapped[bool]
