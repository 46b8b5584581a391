"""summaries with the game itself, packed, its forecasts, and how many of its decisions a lot made

Revision: 0023, after 0022
Date: 2026-11-26
"""

from importlib import import_module
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
FIRST = (
    *("layout", "rule", "forecast_rule", "outdated", "baits_set", "baits_taken", "slips"),
    *("timed", "fast", "judged", "optimal"),
)
VIEWS = import_module("migrations.versions.0017_views")


def upgrade() -> None:
    # Empty: the program recomputes all summaries in the background while it plays.
    VIEWS.downgrade()
    op.drop_table("game_summaries")
    _create(
        sa.Column("lots", sa.Integer(), nullable=False),
        sa.Column("lots_answered", sa.Integer(), nullable=False),
        sa.Column("labels", sa.Text(), nullable=False),
        sa.Column("models", sa.Text(), nullable=False),
        # In this order, so that reading the first ones never touches the pages of the others.
        *(
            sa.Column(name, sa.LargeBinary(), nullable=False)
            for name in ("facts", "sums", "bait_phases", "phase_sums", "forecasts")
        ),
    )
    VIEWS.upgrade()


def downgrade() -> None:
    VIEWS.downgrade()
    op.drop_table("game_summaries")
    _create(
        sa.Column("models", sa.Text(), nullable=False),
        sa.Column("sums", sa.LargeBinary(), nullable=False),
        sa.Column("phase_sums", sa.LargeBinary(), nullable=False),
        sa.Column("plies", sa.Integer(), nullable=True),
        sa.Column("opening", KEY, nullable=True),
        sa.Column("bait_phases", sa.LargeBinary(), nullable=True),
    )
    VIEWS.upgrade()


def _create(*columns: sa.Column[Any]) -> None:
    op.create_table(
        "game_summaries",
        sa.Column("game_id", KEY, nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in FIRST),
        sa.Column("optimal_expected", sa.Double(), nullable=False),
        *columns,
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_game_summaries_game_id")),
        sa.PrimaryKeyConstraint("game_id", name=op.f("pk_game_summaries")),
    )
