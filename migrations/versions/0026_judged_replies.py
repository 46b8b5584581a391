"""summaries of games hold their judged replies, one row each, in place of sums by phase, model and forecast

Revision: 0026, after 0025
Date: 2026-11-28
"""

from importlib import import_module
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
VERSIONS = ("layout", "rule", "forecast_rule")
COUNTS = ("baits_set", "baits_taken", "slips")
PACKED = ("game", "replies")
OLD_COUNTS = ("lots", "lots_answered")
OLD_PACKED = ("facts", "sums", "bait_phases", "phase_sums", "forecasts")
STAMPED = [*VERSIONS, "game_id", "stamp"]
VIEWS = import_module("migrations.versions.0017_views")


def upgrade() -> None:
    op.drop_index("ix_game_summaries_stamp", "game_summaries")
    if op.get_bind().dialect.name == "sqlite":
        VIEWS.downgrade()
        counts = map(_number, COUNTS)
        _make_again(*map(_number, VERSIONS), _stamp(), *counts, _text("labels"), *map(_bytes, PACKED))
        VIEWS.upgrade()
    else:
        # Its views stay, and with them the rights to read them.
        op.execute("DELETE FROM game_summaries")
        for name in ("outdated", *OLD_COUNTS, "models", *OLD_PACKED):
            op.drop_column("game_summaries", name)
        for column in map(_bytes, PACKED):
            op.add_column("game_summaries", column)
        # A game's replies lie in its row, uncompressed, as long as they fit into a page.
        op.execute("ALTER TABLE game_summaries SET (toast_tuple_target = 8160)")
    op.create_index("ix_game_summaries_stamp", "game_summaries", STAMPED)
    op.drop_table("game_baits")


def downgrade() -> None:
    op.drop_index("ix_game_summaries_stamp", "game_summaries")
    old: list[sa.Column[Any]] = [*map(_number, ("outdated", *OLD_COUNTS)), _text("models")]
    old += map(_bytes, OLD_PACKED)
    if op.get_bind().dialect.name == "sqlite":
        VIEWS.downgrade()
        _make_again(*map(_number, (*VERSIONS, *COUNTS)), _stamp(), _text("labels"), *old)
        VIEWS.upgrade()
    else:
        op.execute("DELETE FROM game_summaries")
        op.execute("ALTER TABLE game_summaries RESET (toast_tuple_target)")
        for name in PACKED:
            op.drop_column("game_summaries", name)
        for column in old:
            op.add_column("game_summaries", column)
    op.create_index("ix_game_summaries_stamp", "game_summaries", STAMPED)
    _make_baits()


def _make_again(*columns: "sa.Column[Any]") -> None:
    """The table without rows, which the program makes again."""
    op.drop_table("game_summaries")
    op.create_table(
        "game_summaries",
        sa.Column("game_id", KEY, nullable=False),
        *columns,
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_game_summaries_game_id")),
        sa.PrimaryKeyConstraint("game_id", name=op.f("pk_game_summaries")),
    )


def _make_baits() -> None:
    """The baits of the summaries, without rows like these."""
    op.create_table(
        "game_baits",
        *(sa.Column(name, KEY, nullable=False) for name in ("decision_id", "game_id", "line")),
        sa.Column("surprise", sa.Double(), nullable=False),
        _number("cost"),
        sa.Column("is_taken", sa.Boolean(), nullable=True),
        sa.Column("phase", sa.Integer(), nullable=False, server_default="0"),
        sa.ForeignKeyConstraint(["decision_id"], ["decisions.id"], name=op.f("fk_game_baits_decision_id")),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_game_baits_game_id")),
        sa.PrimaryKeyConstraint("decision_id", name=op.f("pk_game_baits")),
    )
    op.create_index("ix_game_baits_game_id", "game_baits", ["game_id"])
    for name in ("surprise", "cost"):
        op.create_index(f"ix_game_baits_{name}", "game_baits", [name, "decision_id"])


def _stamp() -> "sa.Column[int]":
    return sa.Column("stamp", KEY, nullable=False)


def _number(name: str) -> "sa.Column[int]":
    return sa.Column(name, sa.Integer(), nullable=False)


def _text(name: str) -> "sa.Column[str]":
    return sa.Column(name, sa.Text(), nullable=False)


def _bytes(name: str) -> "sa.Column[bytes]":
    return sa.Column(name, sa.LargeBinary(), nullable=False)
