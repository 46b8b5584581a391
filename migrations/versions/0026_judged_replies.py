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
DRAWS = ("trial_draws", "trial_draws_answered")
PACKED = ("game", "replies")
OLD_COUNTS = ("lots", "lots_answered")
OLD_PACKED = ("facts", "sums", "bait_phases", "phase_sums", "forecasts")
STAMPED = [*VERSIONS, "game_id", "stamp"]
VIEWS = import_module("migrations.versions.0017_views")


def upgrade() -> None:
    op.drop_index("ix_game_summaries_stamp", "game_summaries")
    if op.get_bind().dialect.name == "sqlite":
        VIEWS.downgrade()
        _make_again(*map(_number, (*VERSIONS, *COUNTS, *DRAWS)), _text("labels"), *map(_bytes, PACKED))
        _rename_bait("surprise", "expected_loss")
        VIEWS.upgrade()
    else:
        # Its views stay, and with them the rights to read them.
        op.execute("DELETE FROM game_summaries")
        for name in ("stamp", "outdated", *OLD_COUNTS, "models", *OLD_PACKED):
            op.drop_column("game_summaries", name)
        new: list[sa.Column[Any]] = [*map(_number, DRAWS), *map(_bytes, PACKED)]
        for column in new:
            op.add_column("game_summaries", column)
        # A game's replies lie in its row, uncompressed, as long as they fit into a page.
        op.execute("ALTER TABLE game_summaries SET (toast_tuple_target = 8160)")
        _rename_bait("surprise", "expected_loss")


def downgrade() -> None:
    stamp = sa.Column("stamp", KEY, nullable=False)
    old: list[sa.Column[Any]] = [*map(_number, ("outdated", *OLD_COUNTS)), _text("models")]
    old += map(_bytes, OLD_PACKED)
    if op.get_bind().dialect.name == "sqlite":
        VIEWS.downgrade()
        _make_again(*map(_number, (*VERSIONS, *COUNTS)), stamp, _text("labels"), *old)
        _rename_bait("expected_loss", "surprise")
        VIEWS.upgrade()
    else:
        op.execute("DELETE FROM game_summaries")
        op.execute("ALTER TABLE game_summaries RESET (toast_tuple_target)")
        for name in (*DRAWS, *PACKED):
            op.drop_column("game_summaries", name)
        for column in [stamp, *old]:
            op.add_column("game_summaries", column)
        _rename_bait("expected_loss", "surprise")
    op.create_index("ix_game_summaries_stamp", "game_summaries", STAMPED)


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


def _rename_bait(old: str, new: str) -> None:
    op.drop_index(f"ix_game_baits_{old}", "game_baits")
    op.alter_column("game_baits", old, new_column_name=new)
    op.create_index(f"ix_game_baits_{new}", "game_baits", [new, "decision_id"])


def _number(name: str) -> "sa.Column[int]":
    return sa.Column(name, sa.Integer(), nullable=False)


def _text(name: str) -> "sa.Column[str]":
    return sa.Column(name, sa.Text(), nullable=False)


def _bytes(name: str) -> "sa.Column[bytes]":
    return sa.Column(name, sa.LargeBinary(), nullable=False)
